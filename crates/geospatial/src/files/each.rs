//! Iterates over the bytes in arrays of any layout.

use herringbone_arrow::array::cast::AsArray;
use herringbone_arrow::array::{Array, ArrayAccessor, ArrayRef};
use herringbone_arrow::schema::DataType;
use herringbone_format::{Error, Result};

/// Calls `see` with each slot's bytes, or with `None` if the slot is null.
///
/// # Errors
/// Returns the errors of `see`. Fails with
/// [Unsupported](herringbone_format::ErrorKind::Unsupported) if the array has another layout.
pub(super) fn for_each(
    array: &ArrayRef,
    see: &mut dyn FnMut(Option<&[u8]>) -> Result<()>,
) -> Result<()> {
    match array.data_type() {
        DataType::Binary => of_bytes(array.as_binary::<i32>(), see),
        DataType::LargeBinary => of_bytes(array.as_binary::<i64>(), see),
        DataType::BinaryView => of_bytes(array.as_binary_view(), see),
        DataType::Dictionary(..) => of_dictionary(array, see),
        other => Err(Error::unsupported(format!(
            "boxes of geometries in arrays of {other}"
        ))),
    }
}

fn of_bytes<'a>(
    array: impl ArrayAccessor<Item = &'a [u8]>,
    see: &mut dyn FnMut(Option<&[u8]>) -> Result<()>,
) -> Result<()> {
    for row in 0..array.len() {
        see(array.is_valid(row).then(|| array.value(row)))?;
    }
    Ok(())
}

fn of_dictionary(array: &ArrayRef, see: &mut dyn FnMut(Option<&[u8]>) -> Result<()>) -> Result<()> {
    let Some(dictionary) = array.as_any_dictionary_opt() else {
        return Err(Error::argument(
            "internal error: expected a dictionary array",
        ));
    };
    let mut values: Vec<Option<Vec<u8>>> = Vec::new();
    for_each(dictionary.values(), &mut |value| {
        values.push(value.map(<[u8]>::to_vec));
        Ok(())
    })?;
    let keys = match values.is_empty() {
        // All keys of an empty dictionary are null.
        true => vec![0; array.len()],
        false => dictionary.normalized_keys(),
    };
    for (row, key) in keys.into_iter().enumerate() {
        let value = values.get(key).and_then(Option::as_deref);
        see(value.filter(|_| array.is_valid(row)))?;
    }
    Ok(())
}
