//! Finds the parts of a file that form a wanted schema, and their columns' decoded types.

use std::sync::Arc;

use herringbone_arrow::schema::{DataType, Field, FieldRef, Fields};
use herringbone_format::{Error, Result};
use herringbone_schema::{ArrowWrapper, Node, NodeKind, VARIANT_EXTENSION_NAME};

use super::matching::Group;
use super::{Place, WantedSchema, places};
use herringbone_core::cast::{Cast, TimeCasts};

/// The part of the file found for a wanted field.
#[derive(Debug)]
pub(super) struct FoundNode {
    /// The index of the part's node in the Parquet schema.
    pub(super) schema_node: usize,
    /// The field to decode the part to.
    pub(super) hint: FieldRef,
    pub(super) below: Below,
}

#[derive(Debug)]
pub(super) enum Below {
    /// The values themselves.
    Values,
    /// The wanted fields of a struct.
    Fields(Vec<Option<FoundNode>>),
    /// The elements of a list or the entries of a map.
    Elements(Box<FoundNode>),
    /// Nothing, since the file has none of the wanted fields.
    Nothing,
}

impl FoundNode {
    fn is_nothing(&self) -> bool {
        matches!(self.below, Below::Nothing)
    }
}

/// A search for the wanted fields among the file's fields.
pub(super) struct Search<'a> {
    wanted: &'a WantedSchema,
    /// The ordinals of the leaves to decode.
    pub(super) leaves: Vec<usize>,
}

impl<'a> Search<'a> {
    pub(super) fn new(wanted: &'a WantedSchema) -> Self {
        Self {
            wanted,
            leaves: Vec::new(),
        }
    }

    /// Returns a group's field matching the wanted one, with its ordinal.
    ///
    /// # Errors
    /// Fails with `Argument` if several fields match, or if the rule cannot be applied to the wanted field.
    pub(super) fn field(
        &mut self,
        (group, fields): (&mut Group<'_>, &[Node]),
        wanted: &FieldRef,
        place: Place,
        path: &mut Vec<String>,
    ) -> Result<Option<(usize, FoundNode)>> {
        let found = group.find(wanted, place);
        let found = found.map_err(|error| error.in_column(path.join(".")))?;
        let Some((ordinal, node)) = found.and_then(|found| Some((found, fields.get(found)?)))
        else {
            self.wanted.check_missing(path, wanted)?;
            return Ok(None);
        };
        Ok(Some((ordinal, self.part(node, wanted, path)?)))
    }

    fn part(
        &mut self,
        node: &Node,
        wanted: &FieldRef,
        path: &mut Vec<String>,
    ) -> Result<FoundNode> {
        if is_made_otherwise(node) {
            return Ok(self.whole(node, node.field.data_type().clone()));
        }
        let inner = within_layout(node);
        match (&node.kind, wanted.data_type()) {
            (NodeKind::Struct(fields), DataType::Struct(wanted_fields)) => {
                check_variant(node, fields, wanted, wanted_fields)
                    .map_err(|error| error.in_column(path.join(".")))?;
                self.fields(node, fields, wanted_fields, path)
            }
            (NodeKind::List { child, .. }, data_type) => {
                let Some(element) = list_element(data_type) else {
                    return Ok(self.whole(node, inner));
                };
                let element = self.part(child, element, path)?;
                if element.is_nothing() {
                    return Ok(nothing(node));
                }
                let hint = element.hint.clone();
                let data_type = match (inner, data_type) {
                    // A list only becomes a fixed-size list if it's known to have that size.
                    (DataType::FixedSizeList(_, size), DataType::FixedSizeList(_, wanted))
                        if size == *wanted =>
                    {
                        DataType::FixedSizeList(hint, size)
                    }
                    (_, DataType::LargeList(_)) => DataType::LargeList(hint),
                    (_, DataType::ListView(_)) => DataType::ListView(hint),
                    (_, DataType::LargeListView(_)) => DataType::LargeListView(hint),
                    _ => DataType::List(hint),
                };
                Ok(part(node, data_type, Below::Elements(Box::new(element))))
            }
            (NodeKind::Map { entries, .. }, DataType::Map(wanted_entries, _)) => {
                let (NodeKind::Struct(fields), DataType::Struct(wanted_fields)) =
                    (&entries.kind, wanted_entries.data_type())
                else {
                    return Ok(self.whole(node, inner));
                };
                let mut parts = Vec::new();
                for (field, wanted) in fields.iter().zip(wanted_fields) {
                    path.push(wanted.name().clone());
                    parts.push(self.part(field, wanted, path)?);
                    path.pop();
                }
                if parts.first().is_none_or(FoundNode::is_nothing) {
                    return Ok(nothing(node));
                }
                // Maps are decoded with their values, even if these get replaced.
                for (field, _) in fields.iter().zip(&parts).filter(|(_, it)| it.is_nothing()) {
                    field.for_each_leaf(&mut |leaf| self.leaves.push(leaf));
                }
                let hints = parts.iter().map(|part| part.hint.clone());
                let data_type = DataType::Struct(hints.collect());
                let parts = parts.into_iter().map(Some).collect();
                let entries = part(entries, data_type, Below::Fields(parts));
                let is_sorted = matches!(inner, DataType::Map(_, true));
                let data_type = DataType::Map(entries.hint.clone(), is_sorted);
                Ok(part(node, data_type, Below::Elements(Box::new(entries))))
            }
            (NodeKind::Leaf { .. }, wanted) => {
                Ok(self.whole(node, asked(&inner, wanted, self.wanted.times)))
            }
            _ => Ok(self.whole(node, inner)),
        }
    }

    /// Returns the part found for a struct.
    fn fields(
        &mut self,
        node: &Node,
        fields: &[Node],
        wanted_fields: &Fields,
        path: &mut Vec<String>,
    ) -> Result<FoundNode> {
        let mut hints: Vec<FieldRef> = fields.iter().map(|field| field.field.clone()).collect();
        let (mut parts, known) = (Vec::new(), self.leaves.len());
        let mut group = Group::new(&self.wanted.matching, fields, wanted_fields);
        for (field, place) in wanted_fields.iter().zip(places(wanted_fields)) {
            path.push(field.name().clone());
            let found = self.field((&mut group, fields), field, place, path)?;
            path.pop();
            if let Some((ordinal, part)) = &found
                && let Some(hint) = hints.get_mut(*ordinal)
            {
                *hint = part.hint.clone();
            }
            parts.push(found.map(|(_, part)| part));
        }
        if self.leaves.len() == known {
            if self.wanted.nulls_without_fields {
                return Ok(nothing(node));
            }
            // We decode one of the struct's leaves, because only a leaf shows which structs are null and how many there
            // are.
            self.leaves.extend(node.first_leaf());
        }
        let data_type = DataType::Struct(hints.into());
        Ok(part(node, data_type, Below::Fields(parts)))
    }

    /// Returns the part for a field, including everything below it.
    fn whole(&mut self, node: &Node, data_type: DataType) -> FoundNode {
        node.for_each_leaf(&mut |leaf| self.leaves.push(leaf));
        part(node, data_type, Below::Values)
    }
}

fn part(node: &Node, data_type: DataType, below: Below) -> FoundNode {
    let hint = Field::clone(&node.field).with_data_type(data_type);
    FoundNode {
        schema_node: node.schema_node,
        hint: Arc::new(hint),
        below,
    }
}

/// Returns the part for a field with none of its wanted subfields in the file.
fn nothing(node: &Node) -> FoundNode {
    part(node, node.field.data_type().clone(), Below::Nothing)
}

/// Rejects a shredded VARIANT read without its shredded values, since `value` only has the rest of them.
fn check_variant(node: &Node, fields: &[Node], field: &Field, wanted: &Fields) -> Result<()> {
    let is_it = |field: &Field| field.extension_type_name() == Some(VARIANT_EXTENSION_NAME);
    let is_variant = is_it(&node.field) || is_it(field);
    let is_shredded = is_variant
        && fields
            .iter()
            .any(|field| field.field.name() == "typed_value");
    let wants = |name| wanted.find(name).is_some();
    match is_shredded && wants("value") && !wants("typed_value") {
        false => Ok(()),
        true => Err(Error::argument(
            "the file has a shredded VARIANT, and the wanted schema has `value` without `typed_value`",
        )),
    }
}

/// Returns true if a field's arrays are created by a wrapper other than a layout. Runs and dictionaries are layouts.
fn is_made_otherwise(node: &Node) -> bool {
    let is_layout = |wrapper: &ArrowWrapper| {
        matches!(
            wrapper,
            ArrowWrapper::RunEnds { .. } | ArrowWrapper::Dictionary { .. }
        )
    };
    !node.wrappers.iter().all(is_layout)
}

/// Returns a field's type without any runs and dictionaries around it.
fn within_layout(node: &Node) -> DataType {
    let mut inner = node.field.data_type();
    loop {
        inner = match inner {
            DataType::Dictionary(_, values) => values,
            DataType::RunEndEncoded(_, values) => values.data_type(),
            _ => return inner.clone(),
        };
    }
}

/// Returns the element field of a list with any layout.
pub(super) fn list_element(data_type: &DataType) -> Option<&FieldRef> {
    match data_type {
        DataType::List(element)
        | DataType::LargeList(element)
        | DataType::ListView(element)
        | DataType::LargeListView(element)
        | DataType::FixedSizeList(element, _) => Some(element),
        _ => None,
    }
}

/// Returns the type that a column should decode to. This is the wanted type if columns decode to it by themselves,
/// otherwise the type to cast from.
fn asked(file: &DataType, wanted: &DataType, times: TimeCasts) -> DataType {
    use DataType as T;
    match (file, wanted) {
        (_, T::Dictionary(key, values)) => {
            T::Dictionary(key.clone(), Box::new(asked(file, values, times)))
        }
        (_, T::RunEndEncoded(run_ends, values)) => {
            let inner = asked(file, values.data_type(), times);
            let values = Field::clone(values).with_data_type(inner);
            T::RunEndEncoded(run_ends.clone(), Arc::new(values))
        }
        // The file determines the kind of value, and the caller determines its layout.
        (T::Utf8 | T::LargeUtf8 | T::Utf8View, T::Binary | T::Utf8) => T::Utf8,
        (T::Utf8 | T::LargeUtf8 | T::Utf8View, T::LargeBinary | T::LargeUtf8) => T::LargeUtf8,
        (T::Utf8 | T::LargeUtf8 | T::Utf8View, T::BinaryView | T::Utf8View) => T::Utf8View,
        (T::Binary | T::LargeBinary | T::BinaryView, T::Binary | T::Utf8) => T::Binary,
        (T::Binary | T::LargeBinary | T::BinaryView, T::LargeBinary | T::LargeUtf8) => {
            T::LargeBinary
        }
        (T::Binary | T::LargeBinary | T::BinaryView, T::BinaryView | T::Utf8View) => T::BinaryView,
        (T::Timestamp(unit, _), T::Timestamp(_, zone)) => T::Timestamp(*unit, zone.clone()),
        _ if Cast::with(times, file, wanted).is_some() => file.clone(),
        _ => wanted.clone(),
    }
}
