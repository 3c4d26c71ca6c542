//! Which columns come out as run-end encoded arrays.

use std::collections::HashMap;
use std::sync::Arc;

use herringbone_arrow::schema::{DataType, Field, FieldRef};

use crate::{Node, NodeKind};

/// By leaf: the columns that the file's Arrow schema says were run-end encoded.
#[derive(Debug, Default)]
pub(crate) struct Runs(HashMap<usize, RunFields>);

/// The fields inside a run-end encoded type.
#[derive(Debug)]
pub(crate) struct RunFields {
    pub(crate) run_ends: FieldRef,
    /// Its data type is the column's to say.
    pub(crate) values: FieldRef,
}

impl Runs {
    pub(crate) fn insert(&mut self, leaf: usize, fields: RunFields) {
        self.0.insert(leaf, fields);
    }

    /// Changes the types of the columns below the nodes, but for those that became dictionaries:
    /// that may be the caller's choice.
    pub(crate) fn apply(&self, nodes: &mut [Node]) {
        if !self.0.is_empty() {
            nodes.iter_mut().for_each(|node| self.apply_to(node));
        }
    }

    fn apply_to(&self, node: &mut Node) {
        match &mut node.kind {
            NodeKind::Leaf { leaf, .. } => {
                let value = node.field.data_type();
                let runs = self.0.get(leaf);
                let runs = runs.filter(|_| !matches!(value, DataType::Dictionary(..)));
                if let Some(RunFields { run_ends, values }) = runs {
                    let values = Field::clone(values).with_data_type(value.clone());
                    let data_type = DataType::RunEndEncoded(run_ends.clone(), Arc::new(values));
                    node.set_data_type(data_type);
                }
                return;
            }
            NodeKind::Struct(fields) => fields.iter_mut().for_each(|field| self.apply_to(field)),
            NodeKind::List { child, .. } => self.apply_to(child),
            NodeKind::Map { entries, .. } => self.apply_to(entries),
        }
        node.rebuild_data_type();
    }
}
