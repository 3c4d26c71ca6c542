//! Which encoder serves an encoding and a physical type.
//!
//! An encoder takes the values of a page as they come, and gives the values section when the page
//! ends.

use herringbone_format::{Encoding, Error, Result, Type};

use super::boolean::BooleanEncoder;
use super::values::Values;
use super::{
    alp, byte_stream_split, delta_binary_packed, delta_byte_array, delta_length_byte_array, plain,
    rle,
};

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

    /// The same with `front` before the section. `out` is empty, and has both from the byte on that is returned.
    fn finish_page_behind(&mut self, front: &[u8], out: &mut Vec<u8>) -> usize {
        out.extend_from_slice(front);
        self.finish_page(out);
        0
    }

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
        (Plain, Type::Boolean) => Box::new(BooleanEncoder::new(plain::append_bits)),
        (Rle, Type::Boolean) => Box::new(BooleanEncoder::new(rle::append_runs)),
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
