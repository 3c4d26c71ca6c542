//! The values of data pages, one file an encoding: the reverse of `encoding/`.
//!
//! An encoder takes the values of a page as they come, and gives the values section when the page
//! ends.

mod alp;
mod boolean;
mod byte_stream_split;
mod delta_binary_packed;
mod delta_byte_array;
mod delta_length_byte_array;
mod plain;

use herringbone_format::{Encoding, Error, Result, Type};

use super::values::Values;

/// The values of the page under construction.
pub(crate) trait ValueEncoder: Send {
    /// Appends values, which are of the type that the encoder was made for.
    ///
    /// # Errors
    /// Limit where the page would exceed what its header can say.
    fn append(&mut self, values: &Values<'_>) -> Result<()>;

    /// Bytes of the values section so far; roughly, and not too few, where that is known at the end
    /// only.
    fn page_bytes(&self) -> usize;

    /// Appends the values section of the page to `out`, and starts the next page.
    fn finish_page(&mut self, out: &mut Vec<u8>);

    /// Bytes held.
    fn heap_bytes(&self) -> usize;
}

/// The encoder of a column.
///
/// # Errors
/// Argument where the encoding does not serve the type, or is no encoding of values.
pub(crate) fn value_encoder(
    encoding: Encoding,
    physical_type: Type,
    type_length: usize,
) -> Result<Box<dyn ValueEncoder>> {
    use Encoding::{
        Alp, ByteStreamSplit, DeltaBinaryPacked, DeltaByteArray, DeltaLengthByteArray, Plain, Rle,
    };
    Ok(match (encoding, physical_type) {
        (Plain, Type::Boolean) => Box::new(boolean::Booleans::plain()),
        (Rle, Type::Boolean) => Box::new(boolean::Booleans::rle()),
        (Plain, _) => Box::new(plain::Plain::default()),
        (DeltaBinaryPacked, Type::Int32) => Box::new(delta_binary_packed::Int32::default()),
        (DeltaBinaryPacked, Type::Int64) => Box::new(delta_binary_packed::Int64::default()),
        (DeltaLengthByteArray, Type::ByteArray) => {
            Box::new(delta_length_byte_array::DeltaLength::default())
        }
        (DeltaByteArray, Type::ByteArray | Type::FixedLenByteArray) => {
            Box::new(delta_byte_array::DeltaBytes::default())
        }
        (ByteStreamSplit, Type::Int32 | Type::Float) => Box::new(byte_stream_split::Split::new(4)),
        (ByteStreamSplit, Type::Int64 | Type::Double) => Box::new(byte_stream_split::Split::new(8)),
        (ByteStreamSplit, Type::FixedLenByteArray) => {
            Box::new(byte_stream_split::Split::new(type_length))
        }
        (Alp, Type::Float) => Box::new(alp::Floats::default()),
        (Alp, Type::Double) => Box::new(alp::Doubles::default()),
        _ => {
            return Err(Error::argument(format!(
                "{encoding} does not serve {physical_type}"
            )));
        }
    })
}

/// A length as the format stores it.
///
/// # Errors
/// Limit where it exceeds 2^31 - 1.
pub(crate) fn length(bytes: usize) -> Result<i32> {
    i32::try_from(bytes).map_err(|_| {
        Error::beyond_format("bytes of a value or page", bytes as u64, i32::MAX as u64)
    })
}

/// Values of another type than the encoder's: a mistake of ours.
#[cold]
pub(crate) fn mismatch() -> Error {
    Error::argument("values of another physical type than the column's")
}
