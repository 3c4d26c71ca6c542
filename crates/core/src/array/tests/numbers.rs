//! Arrays of booleans and numbers.

use herringbone_arrow::array::cast::AsArray;
use herringbone_arrow::array::types::*;
use herringbone_arrow::array::{Array, BooleanArray};
use herringbone_arrow::schema::TimeUnit;

use super::*;

fn plain<const N: usize>(values: [[u8; N]; 5]) -> Vec<u8> {
    values.concat()
}

#[test]
fn aligned_pages_stay_in_place_and_are_copied_when_more_comes() {
    let leaf = leaf(Type::Int64, 0, DataType::UInt64);
    let values = page(plain([1i64, -2, 3, 4, 5].map(i64::to_le_bytes)));
    let mut array = leaf_array(&leaf).unwrap();
    array.set_page(Encoding::Plain, values.clone(), 5).unwrap();
    array.skip(1).unwrap();
    array.append(2).unwrap();
    assert_eq!(array.bytes(), 16);
    let first = array.finish(None).unwrap();
    assert_eq!(first.to_data().buffers()[0].as_ptr(), values[8..].as_ptr());
    assert_eq!(
        first.as_primitive::<UInt64Type>().values(),
        &[u64::MAX - 1, 3]
    );
    array.append(1).unwrap();
    array.append(1).unwrap();
    let second = array.finish(None).unwrap();
    assert_eq!(second.as_primitive::<UInt64Type>().values(), &[4, 5]);
    assert_eq!(array.append(1).unwrap_err().kind(), ErrorKind::Corrupt);
    assert!(array.append(0).is_ok());
    assert!(array.finish(None).unwrap().is_empty());
}

#[test]
fn unaligned_pages_and_nulls() {
    let leaf = leaf(Type::Float, 0, DataType::Float32);
    let bytes = plain([1f32, 2.0, 3.0, 4.0, 5.0].map(f32::to_le_bytes));
    for values in [page(&bytes), unaligned(&bytes)] {
        let mut array = leaf_array(&leaf).unwrap();
        array.set_page(Encoding::Plain, values, 5).unwrap();
        let bits = [false, true, true, false, true, true, true, false, false];
        let array = finish_with_nulls(&mut *array, &bits);
        let expected = [
            None,
            Some(1.0),
            Some(2.0),
            None,
            Some(3.0),
            Some(4.0),
            Some(5.0),
            None,
            None,
        ];
        assert!(array.as_primitive::<Float32Type>().iter().eq(expected));
    }
    let mut array = leaf_array(&leaf).unwrap();
    array.set_page(Encoding::Plain, unaligned([]), 0).unwrap();
    let array = finish_with_nulls(&mut *array, &[false; 3]);
    assert_eq!(array.null_count(), 3);
}

/// Values go to their slots in one step if there are nulls between them. Without nulls, the page stays in place.
#[test]
fn values_are_spread_over_the_slots_as_they_are_appended() {
    let leaf = leaf(Type::Int32, 0, DataType::Int32);
    let values = page(plain([1i32, 2, 3, 4, 5].map(i32::to_le_bytes)));
    let mut validity = bitmap(&[true, false, true, true, false, false, true, true]);
    let mut array = leaf_array(&leaf).unwrap();
    array.set_page(Encoding::Plain, values.clone(), 5).unwrap();
    array.append_spread(3, &validity, 0, 5).unwrap();
    array.append_spread(2, &validity, 5, 3).unwrap();
    let found = array.finish(validity.finish()).unwrap();
    let expected = [
        Some(1),
        None,
        Some(2),
        Some(3),
        None,
        None,
        Some(4),
        Some(5),
    ];
    assert!(found.as_primitive::<Int32Type>().iter().eq(expected));
    array.set_page(Encoding::Plain, values.clone(), 5).unwrap();
    array.append_spread(5, &bitmap(&[true; 5]), 0, 5).unwrap();
    assert!(array.borrows_pages());
    let found = array.finish(None).unwrap();
    assert_eq!(found.to_data().buffers()[0].as_ptr(), values.as_ptr());
}

#[test]
fn dictionaries() {
    let leaf = leaf(Type::Int32, 0, DataType::Date32);
    let entries = page(plain([10i32, 11, 12, 13, 14].map(i32::to_le_bytes)));
    let array = read_dictionary(&leaf, entries.clone(), 5, &[4, 0, 0, 3]).unwrap();
    assert_eq!(
        array.as_primitive::<Date32Type>().values(),
        &[14, 10, 10, 13]
    );
    let beyond = read_dictionary(&leaf, entries.clone(), 5, &[5]).unwrap_err();
    assert_eq!(beyond.kind(), ErrorKind::Corrupt);
    let short = read_dictionary(&leaf, entries.clone(), 6, &[0]).unwrap_err();
    assert_eq!(short.kind(), ErrorKind::Corrupt);
    assert!(read_dictionary(&leaf, entries, usize::MAX, &[0]).is_err());
    let mut array = leaf_array(&leaf).unwrap();
    array
        .set_page(Encoding::RleDictionary, page([]), 0)
        .unwrap();
    array.append(0).unwrap();
    assert!(array.append(1).is_err());
    assert!(
        array
            .set_page(Encoding::PlainDictionary, page([33, 0]), 1)
            .is_err()
    );
    array
        .set_page(Encoding::PlainDictionary, page([1, 3, 0]), 8)
        .unwrap();
    assert_eq!(array.append(8).unwrap_err().kind(), ErrorKind::Corrupt);
}

#[test]
fn a_dictionary_page_then_a_plain_one() {
    let leaf = leaf(Type::Int32, 0, DataType::Int32);
    let mut array = leaf_array(&leaf).unwrap();
    array.set_dictionary(&page([7, 0, 0, 0]), 1).unwrap();
    // At width 0, all indices are 0 and a run has no value bytes.
    array
        .set_page(Encoding::RleDictionary, page([0, 6]), 3)
        .unwrap();
    array.append(3).unwrap();
    array
        .set_page(Encoding::Plain, page([9, 0, 0, 0]), 1)
        .unwrap();
    array.append(1).unwrap();
    let array = array.finish(None).unwrap();
    assert_eq!(array.as_primitive::<Int32Type>().values(), &[7, 7, 7, 9]);
}

#[test]
fn deltas_and_byte_streams() {
    let leaf = leaf(Type::Int32, 0, DataType::Int32);
    let values = [100u32, 100, 103, 200, 300];
    let array = read(&leaf, Encoding::DeltaBinaryPacked, page(delta(&values)), 5).unwrap();
    assert_eq!(
        array.as_primitive::<Int32Type>().values(),
        &[100, 100, 103, 200, 300]
    );
    // The first bytes of three values, then their second bytes, and so on.
    let streams = page([1, 2, 3, 0, 0, 0, 0, 1, 0, 0, 0xff, 0]);
    let array = read(&leaf, Encoding::ByteStreamSplit, streams.clone(), 3).unwrap();
    assert_eq!(
        array.as_primitive::<Int32Type>().values(),
        &[1, 2 + (1 << 16) - (1 << 24), 3]
    );
    let error = read(&leaf, Encoding::ByteStreamSplit, streams.slice(1), 1).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    let error = read(&leaf, Encoding::DeltaByteArray, streams, 1).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
}

#[test]
fn narrower_integers() {
    // Out-of-range values are errors, wherever they are.
    for (data_type, beyond) in [
        (DataType::Int8, [128, -129]),
        (DataType::UInt8, [256, -1]),
        (DataType::Int16, [32_768, -32_769]),
        (DataType::UInt16, [65_536, -1]),
    ] {
        for value in beyond.into_iter().chain([i32::MIN, i32::MAX, 1 << 24]) {
            for place in [0, 6, 299] {
                let mut values = [7_i32; 300];
                values[place] = value;
                let bytes = page(values.map(i32::to_le_bytes).concat());
                let leaf = leaf(Type::Int32, 0, data_type.clone());
                let error = read(&leaf, Encoding::Plain, bytes, 300).unwrap_err();
                assert_eq!(error.kind(), ErrorKind::Corrupt, "{value}");
            }
        }
    }
    let read = |data_type, values: [i32; 5]| {
        let bytes = plain(values.map(i32::to_le_bytes));
        let leaf = leaf(Type::Int32, 0, data_type);
        let read = |bytes| read(&leaf, Encoding::Plain, bytes, 5).unwrap();
        let (aligned, other) = (read(page(&bytes)), read(unaligned(&bytes)));
        assert_eq!(&aligned, &other);
        aligned
    };
    let array = read(DataType::Int8, [1, -1, 127, 0, -128]);
    let array = array.as_primitive::<Int8Type>();
    assert_eq!(array.values(), &[1, -1, 127, 0, -128]);
    let array = read(DataType::UInt8, [1, 255, 127, 0, 128]);
    let array = array.as_primitive::<UInt8Type>();
    assert_eq!(array.values(), &[1, 255, 127, 0, 128]);
    let array = read(DataType::Int16, [1, -1, 32_767, 0, -32_768]);
    let array = array.as_primitive::<Int16Type>();
    assert_eq!(array.values(), &[1, -1, 32_767, 0, -32_768]);
    let array = read(DataType::UInt16, [1, 65_535, 0, 2, 3]);
    let array = array.as_primitive::<UInt16Type>();
    assert_eq!(array.values(), &[1, 65_535, 0, 2, 3]);
    let array = read(DataType::Date64, [1, -1, 0, 0, 0]);
    let array = array.as_primitive::<Date64Type>();
    assert_eq!(array.values()[..2], [86_400_000, -86_400_000]);
}

#[test]
fn seconds_from_milliseconds() {
    let bytes = plain([0i64, 1_000, -1_000, -5_000, 86_400_000].map(i64::to_le_bytes));
    let mut leaf = leaf(Type::Int64, 0, DataType::Timestamp(TimeUnit::Second, None));
    let array = read(&leaf, Encoding::Plain, page(&bytes), 5).unwrap();
    assert_eq!(array.as_primitive::<TimestampSecondType>().value(1), 1_000);
    leaf.conversion = Conversion::MillisToSeconds;
    let array = read(&leaf, Encoding::Plain, page(&bytes), 5).unwrap();
    let expected = [0, 1, -1, -5, 86_400];
    assert_eq!(
        array.as_primitive::<TimestampSecondType>().values(),
        &expected
    );
    let fraction = page(1_001i64.to_le_bytes());
    let error = read(&leaf, Encoding::Plain, fraction, 1).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
}

#[test]
fn decimals_from_integers() {
    let bytes = plain([1i32, -1, 0, i32::MAX, i32::MIN].map(i32::to_le_bytes));
    let array = |bytes: &[u8], physical, data_type| {
        read(
            &leaf(physical, 0, data_type),
            Encoding::Plain,
            page(bytes),
            5,
        )
    };
    let wide = array(&bytes, Type::Int32, DataType::Decimal128(9, 2)).unwrap();
    let expected = [1, -1, 0, i128::from(i32::MAX), i128::from(i32::MIN)];
    assert_eq!(wide.as_primitive::<Decimal128Type>().values(), &expected);
    assert_eq!(wide.data_type(), &DataType::Decimal128(9, 2));
    let same = array(&bytes, Type::Int32, DataType::Decimal32(9, 2)).unwrap();
    assert_eq!(same.as_primitive::<Decimal32Type>().value(4), i32::MIN);
    let bytes = plain([1i64, -1, 0, 5, -6].map(i64::to_le_bytes));
    let wider = array(&bytes, Type::Int64, DataType::Decimal256(18, 2)).unwrap();
    assert_eq!(
        wider.as_primitive::<Decimal256Type>().value(4).to_i128(),
        Some(-6)
    );
    let narrow = array(&bytes, Type::Int64, DataType::Decimal32(9, 0)).unwrap();
    assert_eq!(
        narrow.as_primitive::<Decimal32Type>().values(),
        &[1, -1, 0, 5, -6]
    );
    let bytes = plain([i64::MAX; 5].map(i64::to_le_bytes));
    assert!(array(&bytes, Type::Int64, DataType::Decimal32(9, 0)).is_err());
}

#[test]
fn decimals_from_dictionaries_of_shorter_integers() {
    // A dictionary of 256 entries keeps the array's width, but above 8192 entries it's stored in the short
    // representation.
    for entries in [256, 10_000] {
        let mut unscaled: Vec<i64> = (0..entries).map(|i| i * 7_919 - 1_000_000).collect();
        unscaled[..4].copy_from_slice(&[0, -1, (1 << 55) - 1, -(1 << 55)]);
        // There are too many indices to gather in one block.
        let indices: Vec<u8> = (0..3000).map(|i| (i * 7 % 251) as u8).collect();
        let expected = || {
            indices
                .iter()
                .map(|i| i128::from(unscaled[usize::from(*i)]))
        };
        let little: Vec<u8> = unscaled.iter().flat_map(|n| n.to_le_bytes()).collect();
        let fixed = unscaled
            .iter()
            .flat_map(|value| value.to_be_bytes()[1..].to_vec());
        let index_page = long_index_page(&indices);
        for (physical, length, bytes) in [
            (Type::Int64, 0, little),
            (Type::FixedLenByteArray, 7, fixed.collect()),
        ] {
            let read = |data_type| {
                let leaf = leaf(physical, length, data_type);
                let mut array = leaf_array(&leaf).unwrap();
                array.set_dictionary(&page(&bytes), unscaled.len()).unwrap();
                array
                    .set_page(Encoding::RleDictionary, page(&index_page), 3000)
                    .unwrap();
                array.append(3000).unwrap();
                array.finish(None).unwrap()
            };
            let array = read(DataType::Decimal128(18, 2));
            let values = array.as_primitive::<Decimal128Type>().values();
            assert!(values.iter().copied().eq(expected()));
            let array = read(DataType::Decimal256(40, 2));
            let values = array.as_primitive::<Decimal256Type>().values().iter();
            assert!(values.map(|value| value.to_i128().unwrap()).eq(expected()));
        }
    }
}

#[test]
fn doubles_from_alp() {
    // The page has 4 values in a vector of up to 1024: exponent 2, factor 0, no exceptions, base 100, width 8.
    let mut values = vec![0, 0, 10, 4, 0, 0, 0, 4, 0, 0, 0, 2, 0, 0, 0];
    values.extend(100i64.to_le_bytes());
    values.extend([8, 0, 1, 50, 255]);
    let leaf = leaf(Type::Double, 0, DataType::Float64);
    let array = read(&leaf, Encoding::Alp, page(values), 4).unwrap();
    assert_eq!(
        array.as_primitive::<Float64Type>().values(),
        // The expected values multiply just as the encoding does. 3.55 would have been an exception.
        &[1.0, 1.01, 1.5, 355.0 * 1e-2]
    );
}

#[test]
fn booleans_of_both_encodings() {
    let leaf = leaf(Type::Boolean, 0, DataType::Boolean);
    let expected = BooleanArray::from(vec![
        true, false, true, true, false, false, false, false, true,
    ]);
    let array = read(&leaf, Encoding::Plain, page([0b0000_1101, 1]), 9).unwrap();
    assert_eq!(array.as_boolean(), &expected);
    // Runs of two bytes each, because nine packed values need two groups of eight.
    let runs = [3, 0, 0, 0, 5, 0b0000_1101, 1];
    let array = read(&leaf, Encoding::Rle, page(runs), 9).unwrap();
    assert_eq!(array.as_boolean(), &expected);
    let mut array = leaf_array(&leaf).unwrap();
    array.set_page(Encoding::Rle, page(runs), 9).unwrap();
    array.skip(2).unwrap();
    array.append(1).unwrap();
    let array = finish_with_nulls(&mut *array, &[]);
    assert_eq!(array.len(), 1);
    let mut array = leaf_array(&leaf).unwrap();
    array
        .set_page(Encoding::Plain, page([0b0000_1101]), 4)
        .unwrap();
    let array = finish_with_nulls(&mut *array, &[false, true, true, false, true, true]);
    let expected = [None, Some(true), Some(false), None, Some(true), Some(true)];
    assert!(array.as_boolean().iter().eq(expected));
}

#[test]
fn booleans_that_end_early_are_corrupt() {
    let leaf = leaf(Type::Boolean, 0, DataType::Boolean);
    for (encoding, values, n) in [
        (Encoding::Plain, page([1]), 9),
        (Encoding::Rle, page([1, 0, 0]), 1),
        (Encoding::Rle, page([9, 0, 0, 0, 5, 1]), 1),
        (Encoding::Rle, page([1, 0, 0, 0, 5, 1]), 1),
        (Encoding::Rle, page([]), 1),
    ] {
        let error = read(&leaf, encoding, values, n).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
    }
    let error = leaf_array(&leaf)
        .unwrap()
        .set_dictionary(&page([1]), 1)
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    let error = read(&leaf, Encoding::RleDictionary, page([1]), 1).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
}
