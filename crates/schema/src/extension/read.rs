//! Applying extension types to a file's fields.

use std::collections::HashMap;
use std::sync::Arc;

use herringbone_arrow::schema::{DataType, Field};
use herringbone_format::{Error, KeyValue, Result};

use super::{BUILTIN, ExtensionField, ExtensionMapping, NullColumns, StoredField, is_builtin};
use crate::{ArrowWrapper, Node, NodeKind, ParquetSchema};

/// A read's extension types, along with the facts they need about the file.
pub(crate) struct Extensions<'a> {
    pub(crate) schema: &'a ParquetSchema,
    pub(crate) key_values: &'a [KeyValue],
    /// The value of each key's first pair, or an empty map if no extension types or columns are
    /// requested.
    pub(crate) values: HashMap<&'a str, Option<&'a str>>,
    /// One flag per node, true if its annotation is ignored, or an empty list if no annotation is.
    pub(crate) ignored: &'a [bool],
    pub(crate) types: &'a [Arc<dyn ExtensionMapping>],
    pub(crate) nulls: Option<&'a dyn NullColumns>,
}

impl Extensions<'_> {
    /// Maps a field and the fields below it, returning true if any of them changed.
    pub(crate) fn apply(&self, node: &mut Node) -> Result<bool> {
        let below = self.apply_below(node)?;
        Ok(self.apply_to(node)? || below)
    }

    /// Maps the fields below a field and rebuilds its type. Returns true if any of them changed.
    pub(crate) fn apply_below(&self, node: &mut Node) -> Result<bool> {
        let mut changed = false;
        match &mut node.kind {
            NodeKind::Leaf { .. } => return Ok(false),
            NodeKind::Struct(fields) => {
                for field in fields {
                    changed |= self.apply(field)?;
                }
            }
            NodeKind::List { child, .. } => changed = self.apply(child)?,
            // A map's entries aren't a field of the file, so we only map the fields below.
            NodeKind::Map { entries, .. } => changed = self.apply_below(entries)?,
        }
        if changed {
            node.rebuild_data_type();
        }
        Ok(changed)
    }

    fn apply_to(&self, node: &mut Node) -> Result<bool> {
        let is_ignored = self.ignored.get(node.schema_node) == Some(&true);
        if is_ignored || is_repeated(node) || !self.may_be_known(node) {
            return Ok(false);
        }
        let split = decoded_from(node);
        let storage = storage_type(node, split);
        let renamed;
        let field = if *node.field.data_type() == storage {
            node.field.as_ref()
        } else {
            renamed = Field::clone(&node.field).with_data_type(storage.clone());
            &renamed
        };
        let stored = self.stored(node.schema_node, field);
        let Some((ordinal, extended)) = self.ask(&stored)? else {
            return Ok(false);
        };
        let ExtensionField {
            field,
            makes_arrays,
        } = extended;
        self.check(&stored, &field, makes_arrays)?;
        if makes_arrays {
            let wrapper = ArrowWrapper::Extension {
                ordinal,
                storage,
                data_type: field.data_type().clone(),
            };
            node.wrappers.insert(split, wrapper);
        }
        let around = node.wrappers.iter().take(split).rev();
        let data_type = around.fold(field.data_type().clone(), |inner, it| it.around(inner));
        let field = field.with_name(node.field.name()).with_data_type(data_type);
        node.field = Arc::new(field);
        Ok(true)
    }

    /// Returns true if any extension type might recognize the field.
    fn may_be_known(&self, node: &Node) -> bool {
        !self.types.is_empty() || is_builtin(&self.schema.nodes()[node.schema_node].element)
    }

    /// Returns the first extension type that recognizes a field, and its mapping.
    fn ask(&self, stored: &StoredField<'_>) -> Result<Option<(usize, ExtensionField)>> {
        let all = self.types.iter().map(AsRef::as_ref).chain(BUILTIN);
        for (ordinal, extension) in all.enumerate() {
            let answer = extension.to_arrow(stored);
            if let Some(field) = answer.map_err(|error| self.locate(error, stored))? {
                return Ok(Some((ordinal, field)));
            }
        }
        Ok(None)
    }

    /// Rejects a changed type if the arrays stay as they are, because they wouldn't have that type.
    pub(crate) fn check(
        &self,
        stored: &StoredField<'_>,
        field: &Field,
        makes_arrays: bool,
    ) -> Result<()> {
        let (storage, data_type) = (stored.storage.data_type(), field.data_type());
        if makes_arrays || storage == data_type {
            return Ok(());
        }
        let message = format!(
            "an extension type declares {data_type} for arrays of {storage}, but does not convert \
             them"
        );
        Err(self.locate(Error::argument(message), stored))
    }

    pub(crate) fn locate(&self, error: Error, stored: &StoredField<'_>) -> Error {
        error.in_column(self.schema.node_path(stored.ordinal).join("."))
    }

    pub(crate) fn stored<'a>(&'a self, ordinal: usize, storage: &'a Field) -> StoredField<'a> {
        StoredField {
            schema: self.schema,
            ordinal,
            key_values: self.key_values,
            values: &self.values,
            storage,
            nulls: self.nulls,
        }
    }
}

/// Returns true if a node is the list made from a repeated field without a LIST group. In this
/// case, the field itself is the list's element.
pub(crate) fn is_repeated(node: &Node) -> bool {
    matches!(&node.kind, NodeKind::List { child, .. } if child.schema_node == node.schema_node)
}

/// Returns the number of wrappers around a field's storage. The remaining wrappers are part of the
/// storage.
///
/// An extension type lies inside dictionaries and runs, since these only concern the layout of its
/// arrays, but outside the wrappers that turn stored values into the Arrow type's values.
pub(crate) fn decoded_from(node: &Node) -> usize {
    let is_value = |wrapper: &ArrowWrapper| match wrapper {
        ArrowWrapper::RunEnds { .. } | ArrowWrapper::Dictionary { .. } => false,
        ArrowWrapper::NegativeScale { .. }
        | ArrowWrapper::NoFields
        | ArrowWrapper::Extension { .. } => true,
    };
    let first = node.wrappers.iter().position(is_value);
    first.unwrap_or(node.wrappers.len())
}

/// Returns the type inside the first `split` wrappers of a field.
pub(crate) fn storage_type(node: &Node, split: usize) -> DataType {
    let outer = node.field.data_type().clone();
    let wrappers = node.wrappers.iter().take(split);
    wrappers.fold(outer, |outer, wrapper| wrapper.within(&outer))
}
