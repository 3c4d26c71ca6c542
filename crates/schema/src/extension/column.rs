//! Additional columns, built by extension types from the file's fields.

use std::collections::HashMap;
use std::sync::Arc;

use herringbone_arrow::schema::{Field, FieldRef};
use herringbone_format::{Error, Result};

use super::ExtensionRequest;
use super::read::{Extensions, decoded_from, is_repeated, storage_type};
use crate::projection::prune;
use crate::{ListLayout, Node, NodeKind};

/// A column built by an extension type, in addition to the projection's columns.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ExtensionColumn {
    /// The column's field.
    pub field: FieldRef,
    /// True if the extension type builds its own arrays from the storage arrays. Otherwise, the
    /// column has the storage arrays themselves.
    pub makes_arrays: bool,
    /// The storage to build the column from.
    pub storage: ColumnStorage,
}

/// The storage to build an [`ExtensionColumn`] from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnStorage {
    /// The projection's field with this node ordinal, without its wrappers.
    Shared(usize),
    /// The node at this index of [`ArrowMapping::storages`](crate::ArrowMapping::storages), because
    /// the projection lacks a part of it.
    Own(usize),
}

/// The columns, and any fields only needed to build them.
pub(crate) type Columns = (Vec<ExtensionColumn>, Vec<Node>);

/// Determines the storage of each column.
pub(crate) struct ColumnBuilder<'a> {
    pub(crate) extensions: &'a Extensions<'a>,
    /// The top-level fields before applying extension types: the projection's fields, and the
    /// fields to build columns from.
    pub(crate) fields: &'a [Node],
    /// The projection's fields.
    pub(crate) projected: &'a [Node],
    pub(crate) lists: ListLayout,
}

impl ColumnBuilder<'_> {
    /// Returns the requested columns. Each request comes with the ordinal of its field's node.
    ///
    /// # Errors
    /// Fails with Argument if a field lies in a list or map, or if none of its columns is needed,
    /// and passes on the extension types' errors.
    pub(crate) fn columns(&self, requests: &[(usize, &ExtensionRequest)]) -> Result<Columns> {
        let mut places = Vec::with_capacity(requests.len());
        let mut own: HashMap<usize, (usize, Vec<bool>)> = HashMap::new();
        for (ordinal, request) in requests {
            let leaves = self.leaves(*ordinal, request)?;
            if self.has_all(*ordinal, &leaves) {
                places.push(ColumnStorage::Shared(*ordinal));
                continue;
            }
            let schema = self.extensions.schema;
            let next = own.len();
            let none = || (next, vec![false; schema.nodes().len()]);
            let (place, marks) = own.entry(*ordinal).or_insert_with(none);
            for leaf in leaves {
                marks[schema.leaves()[leaf].node] = true;
            }
            places.push(ColumnStorage::Own(*place));
        }
        let mut own: Vec<_> = own.into_iter().collect();
        own.sort_unstable_by_key(|(_, (place, _))| *place);
        let storages = own.into_iter().map(|(ordinal, (_, marks))| {
            let pruned = prune(self.find(ordinal)?, &marks, self.lists);
            let mut node = pruned.ok_or_else(|| self.needs_nothing(ordinal))?;
            at_the_top(&mut node);
            self.extensions.apply_below(&mut node)?;
            Ok(node)
        });
        let storages = storages.collect::<Result<Vec<_>>>()?;
        let columns = requests
            .iter()
            .zip(places)
            .map(|((ordinal, request), storage)| {
                self.column(*ordinal, request, storage, &storages)
            });
        Ok((columns.collect::<Result<_>>()?, storages))
    }

    /// Returns the file columns needed for a request.
    fn leaves(&self, ordinal: usize, request: &ExtensionRequest) -> Result<Vec<usize>> {
        let node = self.find(ordinal)?;
        let storage = storage_type(node, decoded_from(node));
        let storage = Field::clone(&node.field).with_data_type(storage);
        let stored = self.extensions.stored(ordinal, &storage);
        let leaves = request.extension.leaves(&stored);
        let mut leaves = leaves.map_err(|error| self.extensions.locate(error, &stored))?;
        leaves.retain(|leaf| stored.node().leaves.contains(leaf));
        match leaves.is_empty() {
            true => Err(self.needs_nothing(ordinal)),
            false => Ok(leaves),
        }
    }

    fn column(
        &self,
        ordinal: usize,
        request: &ExtensionRequest,
        storage: ColumnStorage,
        storages: &[Node],
    ) -> Result<ExtensionColumn> {
        let node = match storage {
            ColumnStorage::Shared(ordinal) => find(self.projected, ordinal),
            ColumnStorage::Own(place) => storages.get(place),
        };
        let node = node.ok_or_else(|| self.needs_nothing(ordinal))?;
        // The field has its original metadata here. If an extension type already mapped the field
        // itself, its metadata is not for this type.
        let metadata = self.find(ordinal)?.field.metadata().clone();
        let stored = Field::new(node.field.name(), node.decoded_type(), is_nullable(node));
        let stored = stored.with_metadata(metadata);
        let stored = self.extensions.stored(ordinal, &stored);
        let answer = request.extension.to_arrow(&stored);
        let answer = answer.map_err(|error| self.extensions.locate(error, &stored))?;
        let made = answer.ok_or_else(|| {
            let message = format!(
                "the extension type of the column `{}` does not convert this field",
                request.name
            );
            self.extensions.locate(Error::argument(message), &stored)
        })?;
        self.extensions
            .check(&stored, &made.field, made.makes_arrays)?;
        Ok(ExtensionColumn {
            field: Arc::new(made.field.with_name(&request.name)),
            makes_arrays: made.makes_arrays,
            storage,
        })
    }

    /// Returns true if the projection contains the field with all of these columns, in a usable
    /// array.
    fn has_all(&self, ordinal: usize, leaves: &[usize]) -> bool {
        let Some(node) = find(self.projected, ordinal) else {
            return false;
        };
        // A REQUIRED column doesn't record that a struct around it is null. Only a group does.
        let is_filled = matches!(node.kind, NodeKind::Leaf { .. }) && !node.nullable;
        if (is_filled && node.def_level > 0) || has_value_wrapper(node) {
            return false;
        }
        let mut present = Vec::new();
        node.for_each_leaf(&mut |leaf| present.push(leaf));
        leaves.iter().all(|leaf| present.contains(leaf))
    }

    fn find(&self, ordinal: usize) -> Result<&Node> {
        let found = find(self.fields, ordinal).filter(|node| !is_repeated(node));
        found.ok_or_else(|| {
            let error = "the field is in a list or map, so it cannot become a column of its own";
            Error::argument(error).in_column(self.extensions.schema.node_path(ordinal).join("."))
        })
    }

    fn needs_nothing(&self, ordinal: usize) -> Error {
        let path = self.extensions.schema.node_path(ordinal).join(".");
        Error::argument("the extension type does not need any column of the field").in_column(path)
    }
}

/// Finds a node's field among the given fields and inside structs.
fn find(fields: &[Node], ordinal: usize) -> Option<&Node> {
    fields.iter().find_map(|node| match &node.kind {
        _ if node.schema_node == ordinal => Some(node),
        NodeKind::Struct(fields) => find(fields, ordinal),
        _ => None,
    })
}

/// Turns a struct's field into a top-level field, without the wrappers around its storage. The new
/// field is null wherever the struct is null.
fn at_the_top(node: &mut Node) {
    let split = decoded_from(node);
    let storage = storage_type(node, split);
    node.wrappers.drain(..split);
    node.nullable = is_nullable(node);
    let field = Field::clone(&node.field).with_data_type(storage);
    node.field = Arc::new(field.with_nullable(node.nullable));
}

/// Returns true if a slot at the top can be null, because the field itself or one around it can be.
fn is_nullable(node: &Node) -> bool {
    node.def_level > 0
}

/// Returns true if the extension type's storage has wrappers around the decoded values.
fn has_value_wrapper(node: &Node) -> bool {
    let value = node.wrappers.get(decoded_from(node)..).unwrap_or_default();
    value
        .iter()
        .any(|wrapper| !matches!(wrapper, crate::ArrowWrapper::Extension { .. }))
}
