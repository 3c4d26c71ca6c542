//! Converts values to the form that Parquet requires (ISO, little-endian).

use std::sync::Arc;

use herringbone_arrow::array::ArrayRef;
use herringbone_arrow::array::builder::{BinaryBuilder, BinaryViewBuilder, LargeBinaryBuilder};
use herringbone_arrow::schema::DataType;
use herringbone_format::{Error, Result};

use super::each::for_each;
use crate::wkb::write_iso;

/// Returns the array with its values in the ISO form and little-endian.
///
/// # Errors
/// Fails with [Argument](herringbone_format::ErrorKind::Argument) if a value is not well-known
/// binary, and with [Unsupported](herringbone_format::ErrorKind::Unsupported) if the array has a
/// dictionary or run-end encoding.
pub(super) fn iso(array: &ArrayRef) -> Result<ArrayRef> {
    let len = array.len();
    Ok(match array.data_type() {
        DataType::Binary => {
            let mut builder = BinaryBuilder::with_capacity(len, 0);
            each_iso(array, |value| builder.append_option(value))?;
            Arc::new(builder.finish())
        }
        DataType::LargeBinary => {
            let mut builder = LargeBinaryBuilder::with_capacity(len, 0);
            each_iso(array, |value| builder.append_option(value))?;
            Arc::new(builder.finish())
        }
        DataType::BinaryView => {
            let mut builder = BinaryViewBuilder::with_capacity(len);
            each_iso(array, |value| builder.append_option(value))?;
            Arc::new(builder.finish())
        }
        other => {
            let message = format!("turning geometries in arrays of {other} into ISO");
            return Err(Error::unsupported(message));
        }
    })
}

fn each_iso(array: &ArrayRef, mut append: impl FnMut(Option<&[u8]>)) -> Result<()> {
    let mut out = Vec::new();
    let mut row = 0;
    for_each(array, &mut |value| {
        out.clear();
        if let Some(value) = value {
            write_iso(value, &mut out)
                .map_err(|error| Error::argument(format!("row {row} of a batch: {error}")))?;
        }
        append(value.map(|_| out.as_slice()));
        row += 1;
        Ok(())
    })
}
