//! Wrappers around decoded arrays: run ends, dictionaries, negative-scale decimals, and extension types.
//!
//! ```text
//! decoded      a a - - b b a      as columns deliver it
//! run ends     2 4 6 7  of  a - b a      the array itself has no validity
//! dictionary   0 0 - - 1 1 0  of  a b
//! ```
//!
//! Wrappers don't change the slots, so we always compare slots in the decoded array.

mod dictionary;
mod extension;
mod negative_scale;
mod run_ends;
mod same;

use std::sync::Arc;

use herringbone_arrow::array::{Array, ArrayRef, StructArray, cast::AsArray, make_array};
use herringbone_arrow::schema::{ArrowError, DataType, Field};
use herringbone_format::{Error, Result};
use herringbone_schema::{ArrowWrapper, Node};

use herringbone_core::array::dictionary::max_values;
use herringbone_core::array::join::slots_of;
use herringbone_core::extension::ExtensionType;

pub(crate) use extension::{ExtensionArray, StorageColumn};
pub(super) use run_ends::padded_runs;
use same::{distinct, run_starts};

/// A wrapper and the type of its arrays.
#[derive(Debug)]
pub(crate) struct TypedWrapper {
    wrapper: ArrowWrapper,
    data_type: DataType,
    /// The extension type and its field, if the wrapper is an extension type.
    extension: Option<ExtensionArray>,
}

impl TypedWrapper {
    /// Returns true if the wrapper is an extension type.
    pub(crate) fn is_extension(&self) -> bool {
        self.extension.is_some()
    }
}

/// Returns a node's wrappers, from the inside out.
///
/// # Errors
/// Fails with `Argument` if the read lacks a wrapper's extension type.
pub(super) fn typed_wrappers(
    node: &Node,
    extensions: &[Arc<dyn ExtensionType>],
) -> Result<Vec<TypedWrapper>> {
    let mut inner = node.decoded_type();
    let typed = node.wrappers.iter().rev().map(|wrapper| {
        inner = wrapper.around(inner.clone());
        let extension = match wrapper {
            ArrowWrapper::Extension { ordinal, .. } => {
                let extension = extensions.get(*ordinal);
                let extension = extension
                    .ok_or_else(|| Error::argument("the read has no such extension type"))?;
                Some(ExtensionArray {
                    extension: extension.clone(),
                    field: Arc::new(Field::clone(&node.field).with_data_type(inner.clone())),
                })
            }
            _ => None,
        };
        Ok(TypedWrapper {
            wrapper: wrapper.clone(),
            data_type: inner.clone(),
            extension,
        })
    });
    typed.collect()
}

/// Returns the number of slots that are sure to fit in an array with these wrappers, whatever the values.
pub(super) fn max_slots(wrappers: &[ArrowWrapper]) -> usize {
    let max = |wrapper: &ArrowWrapper| match wrapper {
        ArrowWrapper::RunEnds { run_ends, .. } => run_ends::max_slots(run_ends.data_type()),
        ArrowWrapper::Dictionary { key } => max_values(key).unwrap_or(usize::MAX),
        ArrowWrapper::NegativeScale { .. }
        | ArrowWrapper::NoFields
        | ArrowWrapper::Extension { .. } => usize::MAX,
    };
    wrappers.iter().map(max).min().unwrap_or(usize::MAX)
}

/// Puts wrappers around an array, from the inside out.
///
/// # Errors
/// Fails with `Unsupported` if the values do not fit the wrappers: there are more values than keys or run ends can
/// count, or decimals have digits that the negative scale cannot represent. Errors from extension types are returned
/// too.
pub(crate) fn put_around(decoded: ArrayRef, wrappers: &[TypedWrapper]) -> Result<ArrayRef> {
    let mut array = decoded.clone();
    for TypedWrapper {
        wrapper,
        data_type,
        extension,
    } in wrappers
    {
        if let Some(extension) = extension {
            array = extension.make(&array)?;
            continue;
        }
        array = match wrapper {
            ArrowWrapper::RunEnds { .. } => {
                run_ends::run_ends(&array, &run_starts(&decoded)?, data_type)?
            }
            ArrowWrapper::Dictionary { key } => {
                dictionary::dictionary(&array, &distinct(&decoded)?, key)?
            }
            ArrowWrapper::NegativeScale { .. } => {
                negative_scale::negative_scale(&array, data_type)?
            }
            ArrowWrapper::NoFields => without_fields(&array)?,
            ArrowWrapper::Extension { .. } => array,
        };
    }
    Ok(array)
}

fn without_fields(array: &ArrayRef) -> Result<ArrayRef> {
    let array = array
        .as_struct_opt()
        .ok_or_else(|| Error::argument(format!("{} is not a struct", array.data_type())))?;
    let nulls = array.nulls().cloned();
    Ok(Arc::new(StructArray::new_empty_fields(array.len(), nulls)))
}

/// Returns the slots with these ordinals. The ordinals must be ascending.
fn gathered(slots: &ArrayRef, ordinals: &[usize]) -> Result<ArrayRef> {
    if ordinals.len() == slots.len() {
        return Ok(slots.clone());
    }
    let data = slots.to_data();
    let mut values = slots_of(vec![&data], false, ordinals.len())?;
    for neighbours in ordinals.chunk_by(|a, b| a + 1 == *b) {
        if let [first, ..] = neighbours {
            let end = first + neighbours.len();
            values.try_extend(0, *first, end).map_err(invalid)?;
        }
    }
    Ok(make_array(values.freeze()))
}

fn invalid(error: ArrowError) -> Error {
    Error::unsupported(error.to_string())
}
