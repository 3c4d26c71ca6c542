//! The search for the parts of a file that form a wanted schema, and for the types to which their columns decode.

use std::sync::Arc;

use herringbone_arrow::schema::{DataType, Field, FieldRef};
use herringbone_format::Result;
use herringbone_schema::{ArrowWrapper, Node, NodeKind};

use super::WantedSchema;
use super::matching::find;
use herringbone_core::cast::Cast;

/// The part of the file found for a wanted field.
#[derive(Debug)]
pub(super) struct Part {
    /// The index of the node in the Parquet schema.
    pub(super) schema_node: usize,
    /// The field to which it is to be decoded.
    pub(super) hint: FieldRef,
    pub(super) below: Below,
}

#[derive(Debug)]
pub(super) enum Below {
    /// The values themselves.
    Values,
    /// The wanted fields of a struct.
    Fields(Vec<Option<Part>>),
    /// The elements of a list, or the entries of a map.
    Elements(Box<Part>),
}

/// A search for the wanted fields among those of the file.
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

    /// Returns the field of a group that matches the wanted one, and its ordinal.
    ///
    /// # Errors
    /// Argument if several fields match.
    pub(super) fn field(
        &mut self,
        fields: &[Node],
        wanted: &FieldRef,
        position: usize,
        path: &mut Vec<String>,
    ) -> Result<Option<(usize, Part)>> {
        let found = find(&self.wanted.matching, fields, wanted, position)
            .map_err(|error| error.in_column(path.join(".")))?;
        let Some((ordinal, node)) = found.and_then(|it| Some((it, fields.get(it)?))) else {
            return Ok(None);
        };
        Ok(Some((ordinal, self.part(node, wanted, path)?)))
    }

    fn part(&mut self, node: &Node, wanted: &FieldRef, path: &mut Vec<String>) -> Result<Part> {
        if is_made_otherwise(node) {
            return Ok(self.whole(node, node.field.data_type().clone()));
        }
        let inner = within_layout(node);
        match (&node.kind, wanted.data_type()) {
            (NodeKind::Struct(fields), DataType::Struct(wanted_fields)) => {
                let mut hints: Vec<FieldRef> = fields.iter().map(|it| it.field.clone()).collect();
                let (mut parts, known) = (Vec::new(), self.leaves.len());
                for (position, field) in wanted_fields.iter().enumerate() {
                    path.push(field.name().clone());
                    let found = self.field(fields, field, position, path)?;
                    path.pop();
                    if let Some((ordinal, part)) = &found
                        && let Some(hint) = hints.get_mut(*ordinal)
                    {
                        *hint = part.hint.clone();
                    }
                    parts.push(found.map(|(_, part)| part));
                }
                // A leaf must determine which of the structs are null, and how many there are.
                if self.leaves.len() == known {
                    self.leaves.extend(node.first_leaf());
                }
                let data_type = DataType::Struct(hints.into());
                Ok(part(node, data_type, Below::Fields(parts)))
            }
            (NodeKind::List { child, .. }, data_type) => {
                let Some(element) = list_element(data_type) else {
                    return Ok(self.whole(node, inner));
                };
                let element = self.part(child, element, path)?;
                let hint = element.hint.clone();
                let data_type = match (inner, data_type) {
                    // A list becomes a fixed-size list only if it is known to have that size.
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
                    parts.push(Some(self.part(field, wanted, path)?));
                    path.pop();
                }
                let hints = parts.iter().flatten().map(|part| part.hint.clone());
                let data_type = DataType::Struct(hints.collect());
                let entries = part(entries, data_type, Below::Fields(parts));
                let is_sorted = matches!(inner, DataType::Map(_, true));
                let data_type = DataType::Map(entries.hint.clone(), is_sorted);
                Ok(part(node, data_type, Below::Elements(Box::new(entries))))
            }
            (NodeKind::Leaf { .. }, wanted) => Ok(self.whole(node, asked(&inner, wanted))),
            _ => Ok(self.whole(node, inner)),
        }
    }

    /// Returns the part for a field with everything below it.
    fn whole(&mut self, node: &Node, data_type: DataType) -> Part {
        node.for_each_leaf(&mut |leaf| self.leaves.push(leaf));
        part(node, data_type, Below::Values)
    }
}

fn part(node: &Node, data_type: DataType, below: Below) -> Part {
    let hint = Field::clone(&node.field).with_data_type(data_type);
    Part {
        schema_node: node.schema_node,
        hint: Arc::new(hint),
        below,
    }
}

/// Returns true if a wrapper other than a layout (runs or a dictionary) creates the arrays of a field.
fn is_made_otherwise(node: &Node) -> bool {
    let is_layout = |wrapper: &ArrowWrapper| {
        matches!(
            wrapper,
            ArrowWrapper::RunEnds { .. } | ArrowWrapper::Dictionary { .. }
        )
    };
    !node.wrappers.iter().all(is_layout)
}

/// Returns the type of a field without the runs and dictionaries around it.
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

/// Returns the element of a list of any layout.
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

/// Returns the type to which a column is to decode: the wanted type, or the type from which it is cast.
fn asked(file: &DataType, wanted: &DataType) -> DataType {
    use DataType as T;
    match (file, wanted) {
        (_, T::Dictionary(key, values)) => {
            T::Dictionary(key.clone(), Box::new(asked(file, values)))
        }
        (_, T::RunEndEncoded(run_ends, values)) => {
            let inner = asked(file, values.data_type());
            let values = Field::clone(values).with_data_type(inner);
            T::RunEndEncoded(run_ends.clone(), Arc::new(values))
        }
        // The file determines the kind of the values, and the caller their layout.
        (T::Utf8 | T::LargeUtf8 | T::Utf8View, T::Binary | T::Utf8) => T::Utf8,
        (T::Utf8 | T::LargeUtf8 | T::Utf8View, T::LargeBinary | T::LargeUtf8) => T::LargeUtf8,
        (T::Utf8 | T::LargeUtf8 | T::Utf8View, T::BinaryView | T::Utf8View) => T::Utf8View,
        (T::Binary | T::LargeBinary | T::BinaryView, T::Binary | T::Utf8) => T::Binary,
        (T::Binary | T::LargeBinary | T::BinaryView, T::LargeBinary | T::LargeUtf8) => {
            T::LargeBinary
        }
        (T::Binary | T::LargeBinary | T::BinaryView, T::BinaryView | T::Utf8View) => T::BinaryView,
        (T::Timestamp(unit, _), T::Timestamp(_, zone)) => T::Timestamp(*unit, zone.clone()),
        _ if Cast::new(file, wanted).is_some() => file.clone(),
        _ => wanted.clone(),
    }
}
