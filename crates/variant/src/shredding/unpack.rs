//! Removes dictionary and run-end encodings around arrays.

use std::sync::Arc;

use herringbone_arrow::array::cast::AsArray as _;
use herringbone_arrow::array::types::{Int16Type, Int32Type, Int64Type};
use herringbone_arrow::array::{Array, ArrayRef, RunArray, make_array};
use herringbone_arrow::schema::DataType;
use herringbone_core::array::join::slots_of;
use herringbone_format::{Error, Result};

use super::of_arrow;

/// Returns an array's values, one per row.
pub(super) fn unpacked(array: &ArrayRef) -> Result<ArrayRef> {
    let (values, places) = match array.data_type() {
        DataType::Dictionary(..) => of_dictionary(array)?,
        DataType::RunEndEncoded(..) => of_runs(array)?,
        _ => return Ok(array.clone()),
    };
    let data = values.to_data();
    let mut unpacked = slots_of(vec![&data], true, places.len())?;
    for place in places {
        match place.filter(|place| *place < values.len()) {
            Some(place) => unpacked.try_extend(0, place, place + 1),
            None => unpacked.try_extend_nulls(1),
        }
        .map_err(of_arrow)?;
    }
    Ok(make_array(unpacked.freeze()))
}

/// An array of values and, for each row, the index of its value.
type Places = (ArrayRef, Vec<Option<usize>>);

fn of_dictionary(array: &ArrayRef) -> Result<Places> {
    let dictionary = array.as_any_dictionary_opt().ok_or_else(unknown)?;
    let nulls = array.logical_nulls();
    let keys = match dictionary.values().is_empty() {
        // Without any values, the keys can't refer to anything, so all of them are null.
        true => vec![0; array.len()],
        false => dictionary.normalized_keys(),
    };
    let places = keys.into_iter().enumerate().map(|(row, key)| {
        let is_null = nulls.as_ref().is_some_and(|nulls| nulls.is_null(row));
        (!is_null).then_some(key)
    });
    Ok((unpacked(dictionary.values())?, places.collect()))
}

fn of_runs(array: &ArrayRef) -> Result<Places> {
    macro_rules! runs {
        ($($run_end:ty),*) => {
            $(if let Some(runs) = array.as_any().downcast_ref::<RunArray<$run_end>>() {
                let places = (0..runs.len()).map(|row| Some(runs.get_physical_index(row)));
                return Ok((unpacked(&Arc::clone(runs.values()))?, places.collect()));
            })*
        };
    }
    runs!(Int16Type, Int32Type, Int64Type);
    Err(unknown())
}

#[cold]
fn unknown() -> Error {
    Error::unsupported("a variant column in an unknown Arrow encoding")
}
