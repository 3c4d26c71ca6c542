//! What is put around decoded arrays: run ends, dictionaries, decimals of negative scale, extension types.
//!
//! ```text
//! decoded      a a - - b b a      what columns deliver
//! run ends     2 4 6 7  of  a - b a      the array itself has no validity
//! dictionary   0 0 - - 1 1 0  of  a b
//! ```
//!
//! Layers keep the slots. So which of them are equal is always asked of the decoded array.

mod dictionary;
mod extension;
mod negative_scale;
mod run_ends;
mod same;

use std::sync::Arc;

use herringbone_arrow::array::{Array, ArrayRef, StructArray, cast::AsArray, make_array};
use herringbone_arrow::data::transform::MutableArrayData;
use herringbone_arrow::schema::{ArrowError, DataType, Field};
use herringbone_format::{Error, Result};
use herringbone_schema::{ArrowWrapper, Node};

use herringbone_core::array::dictionary::max_values;
use herringbone_core::extension::ExtensionType;

pub(crate) use extension::{ExtensionArray, KeptColumn};
pub(super) use run_ends::padded_runs;
use same::{distinct, run_starts};

/// A wrapper and the type that it makes.
#[derive(Debug)]
pub(crate) struct TypedWrapper {
    wrapper: ArrowWrapper,
    data_type: DataType,
    /// What makes the array, where an extension type does.
    extension: Option<ExtensionArray>,
}

/// The wrappers of a node, from the inside out.
///
/// # Errors
/// Argument where the read has no such extension type.
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

/// Slots that an array with these wrappers can have for certain.
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
/// Unsupported where the values do not fit the wrappers: more of them than keys or run ends count,
/// decimals with digits that the negative scale has no place for. What extension types say.
pub(super) fn put_around(decoded: ArrayRef, wrappers: &[TypedWrapper]) -> Result<ArrayRef> {
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

/// The slots that the ascending ordinals name.
fn gathered(slots: &ArrayRef, ordinals: &[usize]) -> Result<ArrayRef> {
    if ordinals.len() == slots.len() {
        return Ok(slots.clone());
    }
    let data = slots.to_data();
    let mut values = MutableArrayData::new(vec![&data], false, ordinals.len());
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
