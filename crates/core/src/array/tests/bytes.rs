//! Arrays whose values are bytes in the file: fixed-length values, INT96 and decimals.

use herringbone_arrow::array::Array;
use herringbone_arrow::array::cast::AsArray;
use herringbone_arrow::array::types::*;
use herringbone_arrow::schema::{IntervalUnit, TimeUnit};

use super::*;

/// Encodes values as prefix lengths, suffix lengths and suffixes. Prefixes are as long as possible.
fn delta_byte_array(values: &[&[u8]]) -> Vec<u8> {
    let (mut prefixes, mut suffixes, mut bytes) = (Vec::new(), Vec::new(), Vec::new());
    let mut last: &[u8] = &[];
    for value in values {
        let shared = value.iter().zip(last).take_while(|(a, b)| a == b).count();
        prefixes.push(shared as i32);
        suffixes.push((value.len() - shared) as i32);
        bytes.extend(&value[shared..]);
        last = value;
    }
    [signed_delta(&prefixes), signed_delta(&suffixes), bytes].concat()
}

/// Encodes DELTA_BINARY_PACKED with one block of four miniblocks. All deltas must be in -64..64.
fn signed_delta(values: &[i32]) -> Vec<u8> {
    let first = values.first().copied().unwrap_or(0);
    let mut out = vec![0x80, 1, 4, values.len() as u8, first as u8 * 2];
    if values.len() > 1 {
        let mut body: Vec<u8> = values
            .windows(2)
            .map(|w| (w[1] - w[0] + 64) as u8)
            .collect();
        body.resize(32, 0);
        // The minimum delta -64 in zigzag encoding is 127.
        out.extend([0x7f, 8, 0, 0, 0]);
        out.extend(body);
    }
    out
}

#[test]
fn fixed_size_binaries_of_every_width_and_encoding() {
    for width in [1, 2, 3, 4, 7, 8, 12, 16, 20, 33] {
        let leaf = leaf(
            Type::FixedLenByteArray,
            width,
            DataType::FixedSizeBinary(width as i32),
        );
        let values: Vec<Vec<u8>> = (0..3u8)
            .map(|i| {
                (0..width as u8)
                    .map(|k| if k < 5 { k } else { k * i })
                    .collect()
            })
            .collect();
        let values: Vec<&[u8]> = values.iter().map(Vec::as_slice).collect();
        let check = |array: ArrayRef, expected: &[usize]| {
            let array = array.as_fixed_size_binary();
            let expected = expected.iter().map(|i| Some(values[*i]));
            assert!(array.iter().eq(expected), "width {width}");
        };
        let bytes = values.concat();
        check(
            read(&leaf, Encoding::Plain, page(&bytes), 3).unwrap(),
            &[0, 1, 2],
        );
        check(
            read(&leaf, Encoding::Plain, unaligned(&bytes), 3).unwrap(),
            &[0, 1, 2],
        );
        let split: Vec<u8> = (0..width)
            .flat_map(|k| values.iter().map(move |value| value[k]))
            .collect();
        check(
            read(&leaf, Encoding::ByteStreamSplit, page(split), 3).unwrap(),
            &[0, 1, 2],
        );
        let delta = page(delta_byte_array(&values));
        check(
            read(&leaf, Encoding::DeltaByteArray, delta, 3).unwrap(),
            &[0, 1, 2],
        );
        check(
            read_dictionary(&leaf, page(&bytes), 3, &[2, 2, 0]).unwrap(),
            &[2, 2, 0],
        );
        assert!(read_dictionary(&leaf, page(&bytes), 3, &[3]).is_err());
        let mut array = leaf_array(&leaf).unwrap();
        array.set_page(Encoding::Plain, page(&bytes), 3).unwrap();
        array.skip(1).unwrap();
        let array = finish_with_nulls(&mut *array, &[false, true, false, true, false]);
        let expected = [None, Some(values[1]), None, Some(values[2]), None];
        assert!(array.as_fixed_size_binary().iter().eq(expected));
    }
}

#[test]
fn fixed_length_deltas_must_have_the_length() {
    let leaf = leaf(Type::FixedLenByteArray, 3, DataType::FixedSizeBinary(3));
    let values = page(delta_byte_array(&[b"abc", b"ab"]));
    assert_eq!(
        read(&leaf, Encoding::DeltaByteArray, values, 2)
            .unwrap_err()
            .kind(),
        ErrorKind::Corrupt
    );
    let mut bytes = delta_byte_array(&[b"abc"]);
    bytes.pop();
    assert!(read(&leaf, Encoding::DeltaByteArray, page(bytes), 1).is_err());
}

#[test]
fn values_of_no_bytes_are_counted() {
    let leaf = leaf(Type::FixedLenByteArray, 0, DataType::FixedSizeBinary(0));
    assert_eq!(read(&leaf, Encoding::Plain, page([]), 5).unwrap().len(), 5);
}

#[test]
fn half_precision() {
    let leaf = leaf(Type::FixedLenByteArray, 2, DataType::Float16);
    let array = read(&leaf, Encoding::Plain, page([0, 0x3c, 0, 0xc0]), 2).unwrap();
    let values: Vec<f32> = array
        .as_primitive::<Float16Type>()
        .values()
        .iter()
        .map(|v| v.to_f32())
        .collect();
    assert_eq!(values, [1.0, -2.0]);
}

#[test]
fn intervals() {
    let bytes: Vec<u8> = [1u32, 2, 3]
        .into_iter()
        .flat_map(u32::to_le_bytes)
        .collect();
    let read = |unit| {
        let leaf = leaf(Type::FixedLenByteArray, 12, DataType::Interval(unit));
        read(&leaf, Encoding::Plain, page(&bytes), 1)
    };
    let array = read(IntervalUnit::MonthDayNano).unwrap();
    let value = array.as_primitive::<IntervalMonthDayNanoType>().value(0);
    assert_eq!(
        (value.months, value.days, value.nanoseconds),
        (1, 2, 3_000_000)
    );
    assert!(read(IntervalUnit::DayTime).is_err());
    assert!(read(IntervalUnit::YearMonth).is_err());
}

fn int96(day: i32, nanos: i64) -> Vec<u8> {
    [&nanos.to_le_bytes()[..], &day.to_le_bytes()].concat()
}

#[test]
fn timestamps_of_96_bits_that_overflow() {
    // These values are 1970-01-01 and a day in the year 9999.
    let bytes = [int96(2_440_588, 7), int96(5_373_484, 0)].concat();
    let mut leaf = leaf(
        Type::Int96,
        0,
        DataType::Timestamp(TimeUnit::Nanosecond, None),
    );
    let error = read(&leaf, Encoding::Plain, page(&bytes), 2).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    leaf.int96_overflow = Int96Overflow::Null;
    let array = read(&leaf, Encoding::Plain, page(&bytes), 2).unwrap();
    assert!(
        array
            .as_primitive::<TimestampNanosecondType>()
            .iter()
            .eq([Some(7), None])
    );
    let array = read_dictionary(&leaf, page(&bytes), 2, &[0, 1, 0, 0]).unwrap();
    let expected = [Some(7), None, Some(7), Some(7)];
    assert!(
        array
            .as_primitive::<TimestampNanosecondType>()
            .iter()
            .eq(expected)
    );
    leaf.int96_overflow = Int96Overflow::Wrap;
    assert_eq!(
        read(&leaf, Encoding::Plain, page(&bytes), 2)
            .unwrap()
            .null_count(),
        0
    );
    leaf.data_type = DataType::Timestamp(TimeUnit::Microsecond, None);
    leaf.int96_overflow = Int96Overflow::Error;
    let array = read(&leaf, Encoding::Plain, page(&bytes), 2).unwrap();
    let far = (5_373_484i64 - 2_440_588) * 86_400_000_000;
    assert_eq!(
        array.as_primitive::<TimestampMicrosecondType>().values(),
        &[0, far]
    );
}

#[test]
fn lost_timestamps_among_nulls_and_pages() {
    let mut leaf = leaf(
        Type::Int96,
        0,
        DataType::Timestamp(TimeUnit::Nanosecond, None),
    );
    leaf.int96_overflow = Int96Overflow::Null;
    let mut array = leaf_array(&leaf).unwrap();
    let mut validity = bitmap(&[true, false, true, true, false, false, true]);
    let fine = int96(2_440_588, 7);
    array.set_page(Encoding::Plain, page(&fine), 1).unwrap();
    array.append(1).unwrap();
    array.expand(&validity, 0, 2).unwrap();
    let bytes = [int96(5_373_484, 0), fine.clone()].concat();
    array.set_page(Encoding::Plain, page(&bytes), 2).unwrap();
    array.append(2).unwrap();
    array.expand(&validity, 2, 4).unwrap();
    array.set_page(Encoding::Plain, page(&fine), 1).unwrap();
    array.append(1).unwrap();
    let array = array.finish(validity.finish()).unwrap();
    let expected = [Some(7), None, None, Some(7), None, None, Some(7)];
    assert!(
        array
            .as_primitive::<TimestampNanosecondType>()
            .iter()
            .eq(expected)
    );
}

#[test]
fn timestamps_as_96_bit_counts() {
    let mut bytes = [0xff; 24];
    bytes[12..].fill(0);
    bytes[13] = 1;
    let leaf = leaf(
        Type::FixedLenByteArray,
        12,
        DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into())),
    );
    let array = read(&leaf, Encoding::Plain, page(bytes), 2).unwrap();
    assert_eq!(
        array.as_primitive::<TimestampMicrosecondType>().values(),
        &[-1, 256]
    );
}

#[test]
fn decimals_from_fixed_bytes() {
    let bytes = [0xff, 0xff, 0xff, 0xff, 0x38, 0, 0, 0, 1, 0];
    let array = |data_type| {
        let leaf = leaf(Type::FixedLenByteArray, 5, data_type);
        let array = read(&leaf, Encoding::Plain, page(bytes), 2).unwrap();
        let same = read_dictionary(&leaf, page(bytes), 2, &[0, 1]).unwrap();
        assert_eq!(&array, &same);
        let split = [0xff, 0, 0xff, 0, 0xff, 0, 0xff, 1, 0x38, 0];
        let same = read(&leaf, Encoding::ByteStreamSplit, page(split), 2).unwrap();
        assert_eq!(&array, &same);
        let delta = delta_byte_array(&[&bytes[..5], &bytes[5..]]);
        assert_eq!(
            &array,
            &read(&leaf, Encoding::DeltaByteArray, page(delta), 2).unwrap()
        );
        array
    };
    let values = array(DataType::Decimal128(10, 2));
    assert_eq!(
        values.as_primitive::<Decimal128Type>().values(),
        &[-200, 256]
    );
    let values = array(DataType::Decimal32(9, 2));
    assert_eq!(
        values.as_primitive::<Decimal32Type>().values(),
        &[-200, 256]
    );
    let values = array(DataType::Decimal64(10, 2));
    assert_eq!(
        values.as_primitive::<Decimal64Type>().values(),
        &[-200, 256]
    );
    let values = array(DataType::Decimal256(10, 2));
    assert_eq!(
        values.as_primitive::<Decimal256Type>().value(0).to_i128(),
        Some(-200)
    );
}

#[test]
fn decimals_from_byte_arrays() {
    let leaf = leaf(Type::ByteArray, 0, DataType::Decimal128(10, 2));
    let values: [&[u8]; 4] = [&[], &[0xff, 0x38], &[0x01, 0x00], &[0xff, 0xff, 0x38]];
    let expected = [0, -200, 256, -200];
    let plain: Vec<u8> = values
        .iter()
        .flat_map(|value| [&(value.len() as u32).to_le_bytes()[..], value].concat())
        .collect();
    let lengths: Vec<i32> = values.iter().map(|value| value.len() as i32).collect();
    let delta_length = [signed_delta(&lengths), values.concat()].concat();
    for (encoding, bytes) in [
        (Encoding::Plain, plain.clone()),
        (Encoding::DeltaLengthByteArray, delta_length),
        (Encoding::DeltaByteArray, delta_byte_array(&values)),
    ] {
        let array = read(&leaf, encoding, page(&bytes), 4).unwrap();
        assert_eq!(
            array.as_primitive::<Decimal128Type>().values(),
            &expected,
            "{encoding}"
        );
        let mut array = leaf_array(&leaf).unwrap();
        array.set_page(encoding, page(&bytes), 4).unwrap();
        array.skip(2).unwrap();
        let array = finish_with_nulls(&mut *array, &[true, false, true]);
        assert!(
            array
                .as_primitive::<Decimal128Type>()
                .iter()
                .eq([Some(256), None, Some(-200)])
        );
        for len in 0..bytes.len() {
            assert!(
                read(&leaf, encoding, page(&bytes[..len]), 4).is_err(),
                "{encoding}, {len}"
            );
        }
    }
    let array = read_dictionary(&leaf, page(&plain), 4, &[1, 2, 0, 3, 1]).unwrap();
    assert_eq!(
        array.as_primitive::<Decimal128Type>().values(),
        &[-200, 256, 0, -200, -200]
    );
    assert!(read_dictionary(&leaf, page(&plain), 5, &[0]).is_err());
}
