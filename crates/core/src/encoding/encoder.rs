//! Selects the encoder for an encoding and a physical type.
//!
//! An encoder collects a page's values and produces the values section when the page ends.

use herringbone_format::{Encoding, Error, Result, Type};
use herringbone_kernels::alp::AlpEncoder;

use super::boolean::BooleanEncoder;
use super::delta_binary_packed::BlockShape;
use super::physical_values::Values;
use super::whole_page::WholePage;
use super::{byte_stream_split, delta_byte_array, delta_length_byte_array, plain, rle};
use crate::compression::Compression;

/// The values of the page under construction.
pub trait ValueEncoder: Send + Sync {
    /// Appends values. They must have the encoder's type.
    ///
    /// # Errors
    /// Fails with [Limit](herringbone_format::ErrorKind::Limit) if the page would exceed the limits of its header.
    fn append(&mut self, values: &Values<'_>) -> Result<()>;

    /// Returns the byte count of the values section so far. If the exact size is only known at the end, this is a rough
    /// upper estimate.
    fn page_bytes(&self) -> usize;

    /// Appends the page's values section to `out` and starts the next page. Whenever bytes of a different kind begin,
    /// such as values after their lengths, this also appends their offset in `out` to `section_starts`, because codecs
    /// make use of it.
    fn finish_page(&mut self, out: &mut Vec<u8>, section_starts: &mut Vec<usize>);

    /// Finishes the page with `front` before the values section. The vector `out` must be empty. Returns the offset of
    /// `front` in `out`, also used as the origin for the offsets in `section_starts`.
    fn finish_page_after(
        &mut self,
        front: &[u8],
        out: &mut Vec<u8>,
        section_starts: &mut Vec<usize>,
    ) -> usize {
        out.extend_from_slice(front);
        self.finish_page(out, section_starts);
        0
    }

    /// Returns the number of bytes held by the encoder.
    fn heap_bytes(&self) -> usize;
}

/// Returns the encoder for a column whose pages use this codec.
///
/// # Errors
/// Fails with [Argument](herringbone_format::ErrorKind::Argument) if the encoding does not apply to the type, or is not
/// an encoding of values.
pub fn value_encoder(
    encoding: Encoding,
    physical_type: Type,
    type_length: usize,
    compression: Compression,
) -> Result<Box<dyn ValueEncoder>> {
    use Encoding::{
        Alp, ByteStreamSplit, DeltaBinaryPacked, DeltaByteArray, DeltaLengthByteArray, Plain, Rle,
    };
    Ok(match (encoding, physical_type) {
        (Plain, Type::Boolean) => Box::new(BooleanEncoder::new(plain::append_bits)),
        (Rle, Type::Boolean) => Box::new(BooleanEncoder::new(rle::append_runs)),
        (Plain, _) => Box::new(plain::Plain::default()),
        (DeltaBinaryPacked, Type::Int32) => {
            Box::new(WholePage::<i32, _>::new(BlockShape::new(compression)))
        }
        (DeltaBinaryPacked, Type::Int64) => {
            Box::new(WholePage::<i64, _>::new(BlockShape::new(compression)))
        }
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
        (Alp, Type::Float) => Box::new(WholePage::new(AlpEncoder::<f32>::new())),
        (Alp, Type::Double) => Box::new(WholePage::new(AlpEncoder::<f64>::new())),
        _ => {
            let types: Vec<String> = encoding.serves().iter().map(Type::to_string).collect();
            return Err(Error::argument(format!(
                "{encoding} only supports {}, not {physical_type}",
                types.join(", ")
            )));
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a page's bytes after `front`, split into sections of one kind each.
    fn kinds(encoding: Encoding, physical_type: Type, values: &Values<'_>) -> Vec<Vec<u8>> {
        let mut encoder =
            value_encoder(encoding, physical_type, 4, Compression::Uncompressed).unwrap();
        encoder.append(values).unwrap();
        let (mut page, mut section_starts) = (Vec::new(), vec![5]);
        let start = encoder.finish_page_after(b"front", &mut page, &mut section_starts);
        assert_eq!(&page[start..start + 5], b"front");
        let ends = section_starts
            .iter()
            .skip(1)
            .copied()
            .chain([page.len() - start]);
        let parts = section_starts
            .iter()
            .zip(ends)
            .map(|(&from, to)| page[start + from..start + to].to_vec());
        parts.collect()
    }

    #[test]
    fn pages_are_cut_where_bytes_of_another_kind_begin() {
        let arrays = Values::ByteArray(vec![b"axis", b"axle", b"b"]);
        let lengths = kinds(Encoding::DeltaLengthByteArray, Type::ByteArray, &arrays);
        assert_eq!((lengths.len(), &lengths[1][..]), (2, &b"axisaxleb"[..]));
        let deltas = kinds(Encoding::DeltaByteArray, Type::ByteArray, &arrays);
        assert_eq!((deltas.len(), &deltas[2][..]), (3, &b"axisleb"[..]));
        // The page has blocks of 128 in 4 miniblocks: three prefixes starting with 0, and three lengths starting with 4
        // in zigzag.
        assert_eq!(deltas[0][..5], [0x80, 1, 4, 3, 0]);
        assert_eq!(deltas[1][..5], [0x80, 1, 4, 3, 8]);
        let numbers = Values::Int32(&[0x0403_0201, 0x1413_1211]);
        let streams = kinds(Encoding::ByteStreamSplit, Type::Int32, &numbers);
        assert_eq!(streams, [[1, 0x11], [2, 0x12], [3, 0x13], [4, 0x14]]);
        assert_eq!(kinds(Encoding::Plain, Type::Int32, &numbers).len(), 1);
        assert_eq!(
            kinds(Encoding::DeltaBinaryPacked, Type::Int32, &numbers).len(),
            1
        );
    }

    /// Pages end by these sizes. A length or prefix counts as four bytes, because its size is only known at the end.
    #[test]
    fn sizes_are_those_of_the_values_until_a_page_ends() {
        let arrays = || Values::ByteArray(vec![b"axis", b"axle", b"b"]);
        for (encoding, first, second) in [
            (Encoding::Plain, 3 * 4 + 9, 6 * 4 + 18),
            (Encoding::DeltaLengthByteArray, 3 * 4 + 9, 6 * 4 + 18),
            // The suffixes are axis, le, b, and once more.
            (Encoding::DeltaByteArray, 3 * 4 + 7, 6 * 4 + 14),
        ] {
            let uncompressed = Compression::Uncompressed;
            let mut encoder = value_encoder(encoding, Type::ByteArray, 0, uncompressed).unwrap();
            assert_eq!(encoder.page_bytes(), 0, "{encoding}");
            encoder.append(&arrays()).unwrap();
            assert_eq!(encoder.page_bytes(), first, "{encoding}");
            encoder.append(&arrays()).unwrap();
            assert_eq!(encoder.page_bytes(), second, "{encoding}");
            encoder.finish_page(&mut Vec::new(), &mut Vec::new());
            assert_eq!(encoder.page_bytes(), 0, "{encoding}");
        }
    }
}
