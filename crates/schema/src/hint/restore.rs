//! Applying the hints that fit the file's fields.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;

use herringbone_arrow::schema::extension::{EXTENSION_TYPE_METADATA_KEY, EXTENSION_TYPE_NAME_KEY};
use herringbone_arrow::schema::{DataType, Field, FieldRef};
use herringbone_format::Type;

use super::value::{negative_scale, restored};
use super::{ArrowSchemaHint, Hint, HintKind, ListKind};
use crate::warnings::Warnings;
use crate::{
    ADJUSTED_TO_UTC_KEY, ArrowWrapper, DictionaryOutput, EMPTY_STRUCT_CHILD, LOGICAL_TYPE_KEY,
    ListLayout, Node, NodeKind, ParquetSchema, SchemaOptions,
};

/// A hinted dictionary, without its values.
pub(crate) struct HintedDictionary {
    pub(crate) key: DataType,
    pub(crate) is_ordered: bool,
}

/// The state while applying a file's hints to its fields.
pub(crate) struct Restore<'a> {
    schema: &'a ParquetSchema,
    options: &'a SchemaOptions,
    /// One flag per node, true if its annotation is ignored. The hint is then ignored too, since it
    /// agrees with the annotation.
    ignored: &'a [bool],
    /// True if the hints come from Herringbone or the caller, and so never promise more than the
    /// file contains.
    pub(crate) is_exact: bool,
    pub(crate) warnings: &'a mut Warnings,
    /// Hinted dictionaries by leaf, for columns that were dictionaries in Arrow.
    pub(crate) dictionaries: HashMap<usize, HintedDictionary>,
}

impl<'a> Restore<'a> {
    pub(crate) fn new(
        schema: &'a ParquetSchema,
        options: &'a SchemaOptions,
        ignored: &'a [bool],
        warnings: &'a mut Warnings,
    ) -> Self {
        Self {
            schema,
            options,
            ignored,
            is_exact: false,
            warnings,
            dictionaries: HashMap::new(),
        }
    }

    /// Applies the hints to the top-level fields. Each field comes with its position among all the
    /// file's top-level fields. Fields are matched as in [`Self::fields`], but only these fields'
    /// hints are decoded.
    pub(crate) fn schema(
        &mut self,
        places: &[usize],
        nodes: &mut [Node],
        hint: &mut ArrowSchemaHint<'_>,
    ) {
        let mut by_name = None;
        for (&place, node) in places.iter().zip(nodes) {
            let name = node.field.name();
            let place = hint.has_name(place, name).map(|is_here| {
                if is_here {
                    return Some(place);
                }
                let by_name = by_name.get_or_insert_with(|| unique(hint.names()));
                by_name.get(name.as_bytes()).copied().flatten()
            });
            match place.and_then(|place| place.map(|place| hint.field(place)).transpose()) {
                Ok(Some(hint)) => self.node(node, &hint),
                Ok(None) => {}
                Err(_) if self.warnings.is_full() => {}
                Err(why) => {
                    let path = self.schema.node_path(node.schema_node).join(".");
                    let warning = format!("ARROW:schema is ignored for `{path}`: {why}");
                    self.warnings.push(warning);
                }
            }
        }
    }

    /// Applies the hints to sibling fields, by position if the names agree, or by name if they
    /// don't.
    fn fields(&mut self, nodes: &mut [Node], hints: &[Hint]) {
        let mut by_name = None;
        for (place, node) in nodes.iter_mut().enumerate() {
            let name = node.field.name();
            let here = hints
                .get(place)
                .filter(|hint| hint.name.as_deref() == Some(name));
            let hint = here.or_else(|| {
                let names = || hints.iter().map(|hint| hint.name.as_deref());
                let by_name = by_name.get_or_insert_with(|| unique(names()));
                by_name
                    .get(name.as_str())
                    .and_then(|place| hints.get((*place)?))
            });
            if let Some(hint) = hint {
                self.node(node, hint);
            }
        }
    }

    /// Applies a hint to a field. The caller has to restore its name.
    fn node(&mut self, node: &mut Node, outer: &Hint) {
        if self.ignored.get(node.schema_node) == Some(&true) {
            // A map with an ignored annotation is a list here, but its contents keep their hints.
            if let (NodeKind::List { child, .. }, HintKind::Map { entries, .. }) =
                (&mut node.kind, &outer.kind)
            {
                self.entries(child, entries);
                node.rebuild_data_type();
            }
            return;
        }
        let (mut wrappers, hint) = wrappers(outer, node.nullable);
        let fits = match (&mut node.kind, &hint.kind) {
            (NodeKind::Leaf { leaf, .. }, HintKind::Leaf(data_type)) => {
                let leaf = *leaf;
                let fits = self.leaf(node, data_type, &mut wrappers);
                // We take the dictionary out of the wrappers, because columns decode to
                // dictionaries by themselves.
                if fits
                    && let Some(ArrowWrapper::Dictionary { key }) =
                        wrappers.pop_if(|wrapper| is_dictionary(wrapper))
                {
                    // Other writers keep the order only for text and bytes, and never for runs.
                    let leaf_type = self.schema.leaves()[leaf].physical_type;
                    let keeps_order = self.is_exact || leaf_type == Type::ByteArray;
                    let is_ordered = outer.is_ordered && wrappers.is_empty() && keeps_order;
                    let dictionary = HintedDictionary { key, is_ordered };
                    self.dictionaries.insert(leaf, dictionary);
                }
                fits
            }
            (NodeKind::Struct(fields), HintKind::Struct(hints)) if hints.is_empty() => {
                let is_empty = stands_for_no_fields(fields);
                if is_empty {
                    wrappers.push(ArrowWrapper::NoFields);
                }
                is_empty || fields.is_empty()
            }
            (NodeKind::Struct(fields), HintKind::Struct(hints)) => {
                self.fields(fields, hints);
                true
            }
            (NodeKind::List { child, .. }, HintKind::List(kind, element)) => {
                self.named(child, element);
                let child = child.field.clone();
                if self.options.lists == ListLayout::Offsets {
                    node.set_data_type(list_of(*kind, child));
                }
                true
            }
            (
                NodeKind::Map { entries, .. },
                HintKind::Map {
                    entries: hint,
                    sorted,
                },
            ) => {
                self.entries(entries, hint);
                let data_type = DataType::Map(entries.field.clone(), *sorted);
                node.set_data_type(data_type);
                true
            }
            _ => false,
        };
        if fits {
            self.add_wrappers(node, wrappers, outer.nullable);
        }
        node.rebuild_data_type();
        if self.options.arrow_schema.is_some() && outer.nullable && !node.field.is_nullable() {
            node.field = Arc::new(Field::clone(&node.field).with_nullable(true));
        }
        if !fits {
            self.disagreement(node, hint);
        }
        self.merge_metadata(node, &outer.metadata, fits);
        if outer.left_out > 0 && !self.warnings.is_full() {
            let path = self.schema.node_path(node.schema_node).join(".");
            self.warnings.push(format!(
                "metadata of the field `{path}` is left out: {} of its values in ARROW:schema are not UTF-8",
                outer.left_out
            ));
        }
    }

    fn add_wrappers(&self, node: &mut Node, mut wrappers: Vec<ArrowWrapper>, nullable: bool) {
        if !matches!(
            self.options.dictionary,
            DictionaryOutput::Hinted | DictionaryOutput::Always
        ) {
            wrappers.retain(|wrapper| !is_dictionary(wrapper));
        }
        // In a run-end encoded array, only the values can be null. So the file can rule out nulls
        // even if the field doesn't.
        let has_runs = wrappers
            .iter()
            .any(|wrapper| matches!(wrapper, ArrowWrapper::RunEnds { .. }));
        if has_runs && nullable && !node.field.is_nullable() {
            node.field = Arc::new(Field::clone(&node.field).with_nullable(true));
        }
        node.wrappers = wrappers;
    }

    /// Applies a hint to a list's child, or to a map's key or value. These are found by position,
    /// because writers are free to name them.
    fn named(&mut self, node: &mut Node, hint: &Hint) {
        if let Some(name) = &hint.name {
            node.set_name(name);
        }
        self.node(node, hint);
    }

    /// Applies a hint to a map's entries, matching key and value by position.
    fn entries(&mut self, entries: &mut Node, hint: &Hint) {
        let (NodeKind::Struct(fields), HintKind::Struct(hints)) = (&mut entries.kind, &hint.kind)
        else {
            return;
        };
        for (field, hint) in fields.iter_mut().zip(hints) {
            self.named(field, hint);
        }
        if let Some(name) = &hint.name {
            entries.set_name(name);
        }
        entries.rebuild_data_type();
        self.merge_metadata(entries, &hint.metadata, true);
    }

    /// Applies the hinted type of a column's values, adding any wrappers it needs.
    fn leaf(
        &mut self,
        node: &mut Node,
        data_type: &DataType,
        wrappers: &mut Vec<ArrowWrapper>,
    ) -> bool {
        let NodeKind::Leaf { leaf, conversion } = &mut node.kind else {
            return false;
        };
        if let Some(wrapper) = negative_scale(node.field.data_type(), data_type) {
            wrappers.push(wrapper);
            return true;
        }
        let physical = self.schema.leaves()[*leaf].physical_type;
        let Some((data_type, how)) =
            restored(node.field.data_type(), data_type, physical, self.options)
        else {
            return false;
        };
        *conversion = how;
        if node.field.data_type() != &data_type {
            node.set_data_type(data_type);
        }
        true
    }

    /// Adds a hint's metadata, without overriding metadata from the file itself. An extension type
    /// is all or nothing, and requires the field to have the hinted storage.
    fn merge_metadata(&self, node: &mut Node, hint: &[(String, String)], fits: bool) {
        if hint.is_empty() {
            return;
        }
        let stored = &self.schema.nodes()[node.schema_node].element.logical_type;
        let mut metadata = node.field.metadata().clone();
        let is_extension =
            |key: &str| key == EXTENSION_TYPE_NAME_KEY || key == EXTENSION_TYPE_METADATA_KEY;
        if fits && hint.iter().any(|(key, _)| key == EXTENSION_TYPE_NAME_KEY) {
            metadata.remove(EXTENSION_TYPE_NAME_KEY);
            metadata.remove(EXTENSION_TYPE_METADATA_KEY);
        }
        let is_time = matches!(
            node.field.data_type(),
            DataType::Time32(_) | DataType::Time64(_)
        );
        for (key, value) in hint {
            let refused = match key.as_str() {
                // The file decides this, so we only use a hint that agrees.
                LOGICAL_TYPE_KEY => {
                    stored.as_ref().map(ToString::to_string).as_ref() != Some(value)
                }
                ADJUSTED_TO_UTC_KEY if is_time => value != "false",
                key => key.starts_with("PARQUET:") || (is_extension(key) && !fits),
            };
            if !refused && !metadata.contains_key(key.as_str()) {
                metadata.insert(key.clone(), value.clone());
            }
        }
        // Some writers give a UUID an empty string as metadata, although it should have none.
        let is_uuid =
            metadata.get(EXTENSION_TYPE_NAME_KEY).map(String::as_str) == Some("arrow.uuid");
        if is_uuid && !self.is_exact {
            metadata.remove(EXTENSION_TYPE_METADATA_KEY);
        }
        if node.field.metadata() != &metadata {
            node.field = Arc::new(Field::clone(&node.field).with_metadata(metadata));
        }
    }

    fn disagreement(&mut self, node: &Node, hint: &Hint) {
        if self.warnings.is_full() {
            return;
        }
        let said = match &hint.kind {
            HintKind::Leaf(data_type) => data_type.to_string(),
            HintKind::Struct(_) => "a struct".to_owned(),
            HintKind::List(..) => "a list".to_owned(),
            HintKind::Map { .. } => "a map".to_owned(),
            HintKind::RunEndEncoded { .. } => "runs".to_owned(),
            HintKind::Foreign(what) => what.clone(),
        };
        let stored = match &node.kind {
            NodeKind::Leaf { .. } => node.field.data_type().to_string(),
            NodeKind::Struct(_) => "a struct".to_owned(),
            NodeKind::List { .. } => "a list".to_owned(),
            NodeKind::Map { .. } => "a map".to_owned(),
        };
        let path = self.schema.node_path(node.schema_node).join(".");
        self.warnings.push(match &hint.kind {
            HintKind::Foreign(_) => format!(
                "ARROW:schema declares `{path}` as {said}, which Arrow does not support: it is \
                 read as {stored}, and files written from it store {stored} only"
            ),
            _ => format!("ARROW:schema declares `{path}` as {said}, but it is stored as {stored}"),
        });
    }
}

/// Returns the dictionaries and runs around a field, from the outside in, and the innermost field.
///
/// A run-end encoded array has its nulls among the values, so the values are nullable if the field
/// is.
fn wrappers(outer: &Hint, nullable: bool) -> (Vec<ArrowWrapper>, &Hint) {
    let mut wrappers = Vec::new();
    let mut hint = outer;
    let mut nullable = nullable;
    loop {
        if let Some(key) = &hint.dictionary_key {
            wrappers.push(ArrowWrapper::Dictionary { key: key.clone() });
            // Null slots have a null key, so no value has to be null.
            nullable = false;
        }
        let HintKind::RunEndEncoded { run_ends, values } = &hint.kind else {
            return (wrappers, hint);
        };
        let type_of_ends = match &run_ends.kind {
            HintKind::Leaf(data_type) => data_type.clone(),
            _ => DataType::Int32,
        };
        wrappers.push(ArrowWrapper::RunEnds {
            run_ends: run_ends.to_field("run_ends", type_of_ends, false),
            values: values.to_field("values", DataType::Null, values.nullable || nullable),
        });
        hint = values;
    }
}

fn is_dictionary(wrapper: &ArrowWrapper) -> bool {
    matches!(wrapper, ArrowWrapper::Dictionary { .. })
}

/// Returns true if the fields are only the placeholder column of an empty struct.
fn stands_for_no_fields(fields: &[Node]) -> bool {
    match fields {
        [only] => only.field.name() == EMPTY_STRUCT_CHILD && only.field.data_type().is_null(),
        _ => false,
    }
}

/// Returns the position of each name, or `None` for duplicate names.
fn unique<N: Eq + Hash>(names: impl IntoIterator<Item = Option<N>>) -> HashMap<N, Option<usize>> {
    let mut by_name = HashMap::new();
    for (place, name) in names.into_iter().enumerate() {
        if let Some(name) = name {
            by_name
                .entry(name)
                .and_modify(|known| *known = None)
                .or_insert(Some(place));
        }
    }
    by_name
}

fn list_of(kind: ListKind, child: FieldRef) -> DataType {
    match kind {
        ListKind::List => DataType::List(child),
        ListKind::LargeList => DataType::LargeList(child),
        ListKind::ListView => DataType::ListView(child),
        ListKind::LargeListView => DataType::LargeListView(child),
        ListKind::FixedSize(size) => DataType::FixedSizeList(child, size),
    }
}
