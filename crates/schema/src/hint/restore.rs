//! Takes from the hints what fits the fields of the file.

use std::collections::HashMap;
use std::sync::Arc;

use herringbone_arrow::schema::extension::{EXTENSION_TYPE_METADATA_KEY, EXTENSION_TYPE_NAME_KEY};
use herringbone_arrow::schema::{DataType, Field, FieldRef};

use super::value::restored;
use super::{Hint, HintKind, ListKind};
use crate::mapping::Warnings;
use crate::runs::{RunFields, Runs};
use crate::{
    ADJUSTED_TO_UTC_KEY, LOGICAL_TYPE_KEY, ListLayout, Node, NodeKind, ParquetSchema, SchemaOptions,
};

/// Applies the hints of one file to its fields.
pub(crate) struct Restore<'a> {
    schema: &'a ParquetSchema,
    options: &'a SchemaOptions,
    pub(crate) warnings: &'a mut Warnings,
    /// By leaf: the key type of columns that were dictionary encoded in Arrow.
    pub(crate) dictionary_keys: HashMap<usize, DataType>,
    /// The columns that were run-end encoded in Arrow.
    pub(crate) runs: Runs,
}

impl<'a> Restore<'a> {
    pub(crate) fn new(
        schema: &'a ParquetSchema,
        options: &'a SchemaOptions,
        warnings: &'a mut Warnings,
    ) -> Self {
        Self {
            schema,
            options,
            warnings,
            dictionary_keys: HashMap::new(),
            runs: Runs::default(),
        }
    }

    /// Applies the hints to fields side by side: by place where the names agree, else by name.
    pub(crate) fn fields(&mut self, nodes: &mut [Node], hints: &[Hint]) {
        let mut by_name = None;
        for (place, node) in nodes.iter_mut().enumerate() {
            let name = node.field.name();
            let here = hints
                .get(place)
                .filter(|hint| hint.name.as_deref() == Some(name));
            let hint = here.or_else(|| {
                let by_name = by_name.get_or_insert_with(|| unique_names(hints));
                by_name.get(name.as_str()).copied().flatten()
            });
            if let Some(hint) = hint {
                self.node(node, hint);
            }
        }
    }

    /// Applies a hint to a field; its name is the caller's to restore.
    fn node(&mut self, node: &mut Node, outer: &Hint) {
        let hint = outer.behind_runs();
        let fits = match (&mut node.kind, &hint.kind) {
            (NodeKind::Leaf { leaf, .. }, HintKind::Leaf(data_type)) => {
                let leaf = *leaf;
                let fits = self.leaf(node, data_type, hint);
                if let Some(runs) = outer.runs().filter(|_| fits) {
                    self.runs.insert(leaf, run_fields(runs, node));
                }
                fits
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
        node.rebuild_data_type();
        if !fits {
            self.disagreement(node, hint);
        }
        self.merge_metadata(node, &outer.metadata, fits);
    }

    /// The child of a list or an entry of a map: its place says who it is, its name is free.
    fn named(&mut self, node: &mut Node, hint: &Hint) {
        if let Some(name) = &hint.name {
            node.set_name(name);
        }
        self.node(node, hint);
    }

    /// The entries of a map: key and value by place.
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

    fn leaf(&mut self, node: &mut Node, data_type: &DataType, hint: &Hint) -> bool {
        let NodeKind::Leaf { leaf, conversion } = &mut node.kind else {
            return false;
        };
        let physical = self.schema.leaves()[*leaf].physical_type;
        let Some((data_type, how)) =
            restored(node.field.data_type(), data_type, physical, self.options)
        else {
            return false;
        };
        *conversion = how;
        if let Some(key) = &hint.dictionary_key {
            self.dictionary_keys.insert(*leaf, key.clone());
        }
        if node.field.data_type() != &data_type {
            node.set_data_type(data_type);
        }
        true
    }

    /// Adds a hint's metadata. What the file itself says stays; an extension type comes whole, and
    /// only where the field has the storage that the hint speaks of.
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
                // The file says this; the hint may say it with more words.
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
        // Its metadata, which should be absent, is written as an empty string by some.
        if metadata.get(EXTENSION_TYPE_NAME_KEY).map(String::as_str) == Some("arrow.uuid") {
            metadata.remove(EXTENSION_TYPE_METADATA_KEY);
        }
        if node.field.metadata() != &metadata {
            node.field = Arc::new(Field::clone(&node.field).with_metadata(metadata));
        }
    }

    fn disagreement(&mut self, node: &Node, hint: &Hint) {
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
        self.warnings.push(format!(
            "ARROW:schema says that `{path}` is {said}, but it is stored as {stored}"
        ));
    }
}

/// The fields inside the run-end encoded type of a column. An array of runs has its nulls among the
/// values, so these may be null where the column may.
fn run_fields((run_ends, values): (&Hint, &Hint), node: &Node) -> RunFields {
    let type_of_ends = match &run_ends.kind {
        HintKind::Leaf(data_type) => data_type.clone(),
        _ => DataType::Int32,
    };
    let value = node.field.data_type().clone();
    RunFields {
        run_ends: run_ends.to_field("run_ends", type_of_ends, false),
        values: values.to_field("values", value, values.nullable || node.nullable),
    }
}

fn unique_names(hints: &[Hint]) -> HashMap<&str, Option<&Hint>> {
    let mut by_name = HashMap::new();
    for hint in hints {
        if let Some(name) = hint.name.as_deref() {
            by_name
                .entry(name)
                .and_modify(|known| *known = None)
                .or_insert(Some(hint));
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
