//! Dictionaries and run-end encodings of nested values.

use herringbone_arrow::array::cast::AsArray;
use herringbone_arrow::array::types::{Int16Type, Int32Type, Int64Type, RunEndIndexType};
use herringbone_arrow::array::{Array, RunArray};
use herringbone_arrow::buffer::ArrowNativeType;
use herringbone_arrow::schema::DataType;

/// Returns the values referred to by the array's slots.
pub(super) fn values(array: &dyn Array) -> Option<&dyn Array> {
    if let Some(dictionary) = array.as_any_dictionary_opt() {
        return Some(dictionary.values().as_ref());
    }
    let DataType::RunEndEncoded(ends, _) = array.data_type() else {
        return None;
    };
    Some(match ends.data_type() {
        DataType::Int16 => array.as_run_opt::<Int16Type>()?.values().as_ref(),
        DataType::Int32 => array.as_run_opt::<Int32Type>()?.values().as_ref(),
        _ => array.as_run_opt::<Int64Type>()?.values().as_ref(),
    })
}

/// Returns the position of each slot's value. Positions are arbitrary for nulls.
pub(super) fn positions(array: &dyn Array) -> Option<Vec<usize>> {
    if let Some(dictionary) = array.as_any_dictionary_opt() {
        return Some(match dictionary.values().is_empty() {
            true => vec![0; array.len()],
            false => dictionary.normalized_keys(),
        });
    }
    let DataType::RunEndEncoded(ends, _) = array.data_type() else {
        return None;
    };
    Some(match ends.data_type() {
        DataType::Int16 => runs(array.as_run_opt::<Int16Type>()?),
        DataType::Int32 => runs(array.as_run_opt::<Int32Type>()?),
        _ => runs(array.as_run_opt::<Int64Type>()?),
    })
}

/// Returns the run containing each slot.
fn runs<R: RunEndIndexType>(array: &RunArray<R>) -> Vec<usize> {
    let ends = array.run_ends();
    let (first, len) = (ends.offset(), ends.len());
    let mut positions = Vec::with_capacity(len);
    for (run, end) in ends.values().iter().enumerate() {
        let end = end.as_usize().saturating_sub(first).min(len);
        if end > positions.len() {
            positions.resize(end, run);
        }
    }
    positions
}
