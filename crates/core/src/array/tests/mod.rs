//! Arrays from pages written by hand from the specification.

mod bytes;
mod dictionaries;
mod numbers;

use herringbone_arrow::array::{Array, ArrayRef};
use herringbone_arrow::buffer::Buffer;
use herringbone_arrow::schema::DataType;
use herringbone_format::{Encoding, ErrorKind, Result, Type};
use herringbone_kernels::bitmap::Bitmap;
use herringbone_schema::{Conversion, Int96Overflow};

use super::{LeafArray, LeafType, leaf_array};

fn leaf(physical_type: Type, type_length: usize, data_type: DataType) -> LeafType {
    LeafType {
        physical_type,
        type_length,
        data_type,
        conversion: Conversion::Identity,
        int96_overflow: Int96Overflow::Error,
        is_ordered: false,
    }
}

/// Returns a page in its own buffer, so that its first byte is aligned for every type.
fn page(bytes: impl AsRef<[u8]>) -> Buffer {
    Buffer::from_slice_ref(bytes.as_ref())
}

/// Returns a page without any aligned numbers.
fn unaligned(bytes: impl AsRef<[u8]>) -> Buffer {
    Buffer::from([&[0], bytes.as_ref()].concat()).slice(1)
}

/// Reads `n` values of one page at once.
fn read(leaf: &LeafType, encoding: Encoding, values: Buffer, n: usize) -> Result<ArrayRef> {
    let mut array = leaf_array(leaf)?;
    array.set_page(encoding, values, n)?;
    array.append(n)?;
    array.finish(None)
}

/// Reads the values at `indices` of a dictionary page.
fn read_dictionary(
    leaf: &LeafType,
    dictionary: Buffer,
    num_values: usize,
    indices: &[u8],
) -> Result<ArrayRef> {
    let mut array = leaf_array(leaf)?;
    array.set_dictionary(&dictionary, num_values)?;
    let n = indices.len();
    array.set_page(Encoding::RleDictionary, page(index_page(indices)), n)?;
    array.append(n)?;
    array.finish(None)
}

/// Encodes indices of one byte, as bit width 8 and one packed run.
fn index_page(indices: &[u8]) -> Vec<u8> {
    let groups = indices.len().div_ceil(8);
    let mut out = vec![8, (groups << 1 | 1) as u8];
    out.extend(indices);
    out.resize(2 + groups * 8, 0);
    out
}

/// Encodes an index page of any length, with one packed run for each 504 indices.
fn long_index_page(indices: &[u8]) -> Vec<u8> {
    let mut out = vec![8];
    for run in indices.chunks(504) {
        out.extend(&index_page(run)[1..]);
    }
    out
}

/// Encodes DELTA_BINARY_PACKED with one block of four miniblocks. All deltas must be in 0..256.
fn delta(values: &[u32]) -> Vec<u8> {
    assert!(values.len() <= 33);
    let mut out = vec![0x80, 1, 4, values.len() as u8];
    let Some(&first) = values.first() else {
        return [out, vec![0]].concat();
    };
    out.extend([(first << 1) as u8 | 0x80, (first >> 6) as u8]);
    if values.len() > 1 {
        let mut body: Vec<u8> = values.windows(2).map(|w| (w[1] - w[0]) as u8).collect();
        body.resize(32, 0);
        // The minimum delta is 0. One miniblock has width 8, and three have no values.
        out.extend([0, 8, 0, 0, 0]);
        out.extend(body);
    }
    out
}

fn bitmap(bits: &[bool]) -> Bitmap {
    let mut bitmap = Bitmap::new();
    for bit in bits {
        bitmap.append_run(*bit, 1);
    }
    bitmap
}

/// Appends the values of the set bits, spreads them, and finishes the array.
fn finish_with_nulls(array: &mut dyn LeafArray, bits: &[bool]) -> ArrayRef {
    let mut validity = bitmap(bits);
    array.append(validity.count_set()).unwrap();
    array.expand(&validity, 0, bits.len()).unwrap();
    array.finish(validity.finish()).unwrap()
}

#[test]
fn nulls_from_any_physical_type() {
    let mut array = leaf_array(&leaf(Type::ByteArray, 0, DataType::Null)).unwrap();
    array
        .set_page(Encoding::DeltaByteArray, page([]), 0)
        .unwrap();
    let validity = bitmap(&[false, false, false, false, false]);
    array.append(0).unwrap();
    array.expand(&validity, 0, 2).unwrap();
    array.expand(&validity, 2, 3).unwrap();
    // A value must be an error, because it would be lost.
    assert_eq!(array.append(1).unwrap_err().kind(), ErrorKind::Corrupt);
    assert_eq!(array.finish(None).unwrap().len(), 5);
    assert_eq!(array.finish(None).unwrap().len(), 0);
}

#[test]
fn types_that_do_not_fit_are_unsupported() {
    for (physical, data_type) in [
        (Type::Int32, DataType::Utf8),
        (Type::Int64, DataType::Float64),
        (Type::Boolean, DataType::Int32),
        (Type::FixedLenByteArray, DataType::FixedSizeBinary(4)),
        (Type::FixedLenByteArray, DataType::Float16),
        (Type::Double, DataType::Float32),
    ] {
        let error = leaf_array(&leaf(physical, 3, data_type)).err().unwrap();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
    }
}
