//! Pages built by hand from the specification, and read into every layout.

use std::sync::Arc;

use herringbone_arrow::array::cast::AsArray;
use herringbone_arrow::array::{Array, ArrayRef, BinaryArray};
use herringbone_arrow::buffer::Buffer;
use herringbone_arrow::schema::DataType;
use herringbone_format::{Encoding, ErrorKind, Type};
use herringbone_kernels::bitmap::Bitmap;
use herringbone_schema::{Conversion, Int96Overflow};

use super::super::dictionary::dictionary_leaf_array;
use super::byte_leaf_array;
use crate::array::{LeafArray, LeafType};

/// Encodes DELTA_BINARY_PACKED with 32 bits per delta, in blocks of 128 values in one miniblock.
fn delta(values: &[i32]) -> Vec<u8> {
    let uleb = |mut value: u64, out: &mut Vec<u8>| {
        while value >= 128 {
            out.push(value as u8 | 128);
            value >>= 7;
        }
        out.push(value as u8);
    };
    let zigzag = |value: i64| ((value << 1) ^ (value >> 63)) as u64;
    let mut out = Vec::new();
    uleb(128, &mut out);
    uleb(1, &mut out);
    uleb(values.len() as u64, &mut out);
    uleb(
        zigzag(values.first().map_or(0, |&v| i64::from(v))),
        &mut out,
    );
    let deltas: Vec<i32> = values
        .windows(2)
        .map(|pair| pair[1].wrapping_sub(pair[0]))
        .collect();
    for block in deltas.chunks(128) {
        let least = *block.iter().min().unwrap();
        uleb(zigzag(i64::from(least)), &mut out);
        out.push(32);
        for i in 0..128 {
            let delta = block.get(i).map_or(0, |delta| delta.wrapping_sub(least));
            out.extend(delta.to_le_bytes());
        }
    }
    out
}

fn plain(values: &[Vec<u8>]) -> Vec<u8> {
    let with_length =
        |value: &Vec<u8>| [&(value.len() as u32).to_le_bytes(), value.as_slice()].concat();
    values.iter().flat_map(with_length).collect()
}

fn delta_length(values: &[Vec<u8>]) -> Vec<u8> {
    let lengths: Vec<i32> = values.iter().map(|value| value.len() as i32).collect();
    [delta(&lengths), values.concat()].concat()
}

fn delta_bytes(values: &[Vec<u8>]) -> Vec<u8> {
    let (mut prefixes, mut suffixes) = (vec![], vec![]);
    let mut previous: &[u8] = &[];
    for value in values {
        let shared = previous
            .iter()
            .zip(value)
            .take_while(|(a, b)| a == b)
            .count();
        prefixes.push(shared as i32);
        suffixes.push(value[shared..].to_vec());
        previous = value;
    }
    [delta(&prefixes), delta_length(&suffixes)].concat()
}

/// Encodes 32-bit indices in one bit-packed run.
fn indices(indices: &[u32]) -> Vec<u8> {
    let groups = indices.len().div_ceil(8);
    let mut out = vec![32, (groups << 1 | 1) as u8 | 128, (groups >> 6) as u8];
    for i in 0..groups * 8 {
        out.extend(indices.get(i).unwrap_or(&0).to_le_bytes());
    }
    out
}

fn leaf_type(physical_type: Type, type_length: usize, data_type: DataType) -> LeafType {
    LeafType {
        physical_type,
        type_length,
        data_type,
        conversion: Conversion::Identity,
        int96_overflow: Int96Overflow::Error,
        is_ordered: false,
    }
}

fn leaf(physical_type: Type, type_length: usize, data_type: DataType) -> Box<dyn LeafArray> {
    let leaf = leaf_type(physical_type, type_length, data_type);
    match dictionary_leaf_array(&leaf).unwrap() {
        Some(array) => array,
        None => byte_leaf_array(&leaf).unwrap(),
    }
}

fn dictionary_of(key: DataType, value: DataType) -> DataType {
    DataType::Dictionary(Box::new(key), Box::new(value))
}

fn all_types() -> Vec<DataType> {
    let mut types = vec![
        DataType::Utf8,
        DataType::LargeUtf8,
        DataType::Binary,
        DataType::LargeBinary,
        DataType::Utf8View,
        DataType::BinaryView,
    ];
    types.push(dictionary_of(DataType::Int32, DataType::Utf8));
    types.push(dictionary_of(DataType::UInt16, DataType::BinaryView));
    types
}

/// Validates an array of any of these types and returns its values without nulls.
fn values_of(array: &ArrayRef) -> Vec<Vec<u8>> {
    fn owned<'a, T: AsRef<[u8]> + ?Sized + 'a>(
        values: impl Iterator<Item = Option<&'a T>>,
    ) -> Vec<Vec<u8>> {
        values
            .flatten()
            .map(|value| value.as_ref().to_vec())
            .collect()
    }
    array.to_data().validate_full().unwrap();
    match array.data_type() {
        DataType::Utf8 => owned(array.as_string::<i32>().iter()),
        DataType::LargeUtf8 => owned(array.as_string::<i64>().iter()),
        DataType::Binary => owned(array.as_binary::<i32>().iter()),
        DataType::LargeBinary => owned(array.as_binary::<i64>().iter()),
        DataType::Utf8View => owned(array.as_string_view().iter()),
        DataType::BinaryView => owned(array.as_binary_view().iter()),
        _ => {
            let array = array.as_any_dictionary();
            let values = values_of(array.values());
            let keys = array.normalized_keys();
            let valid = (0..keys.len()).filter(|&slot| !array.keys().is_null(slot));
            valid.map(|slot| values[keys[slot]].clone()).collect()
        }
    }
}

fn buffer(bytes: Vec<u8>) -> Buffer {
    Buffer::from_vec(bytes)
}

/// Returns text of many lengths, with prefixes shared by neighbouring values.
fn text(n: usize) -> Vec<Vec<u8>> {
    (0..n)
        .map(|i| match i % 7 {
            0 => String::new(),
            1 => format!("{i}"),
            2 => format!("grün-{i}-日本語"),
            3 => format!("grün-{i}-日本語, and more of it"),
            4 => "x".repeat(i % 300),
            5 => format!("{}{i}", "x".repeat(i % 300)),
            _ => format!("https://example.org/{}/{}", i / 100, i),
        })
        .map(String::into_bytes)
        .collect()
}

/// A page with its dictionary entries.
type EncodedPage = (Encoding, Vec<u8>, Option<Vec<Vec<u8>>>);

/// Returns every encoding of `values`.
fn encoded(values: &[Vec<u8>]) -> Vec<EncodedPage> {
    let mut entries = values.to_vec();
    entries.sort();
    entries.dedup();
    let keys: Vec<u32> = values
        .iter()
        .map(|value| entries.binary_search(value).unwrap() as u32)
        .collect();
    vec![
        (Encoding::Plain, plain(values), None),
        (Encoding::DeltaLengthByteArray, delta_length(values), None),
        (Encoding::DeltaByteArray, delta_bytes(values), None),
        (
            Encoding::RleDictionary,
            indices(&keys),
            Some(entries.clone()),
        ),
        (Encoding::PlainDictionary, indices(&keys), Some(entries)),
    ]
}

#[test]
fn every_encoding_goes_into_every_layout() {
    let values = text(900);
    for data_type in all_types() {
        for (encoding, page, entries) in encoded(&values) {
            let mut array = leaf(Type::ByteArray, 0, data_type.clone());
            if let Some(entries) = entries {
                array
                    .set_dictionary(&buffer(plain(&entries)), entries.len())
                    .unwrap();
            }
            array.set_page(encoding, buffer(page), 1000).unwrap();
            assert_eq!(array.values_that_fit(1000, usize::MAX).unwrap(), 1000);
            let mut rest = values.as_slice();
            let mut wanted = Vec::new();
            for (skip, take) in [(0, 1), (3, 0), (0, 500), (77, 300), (1, 18)] {
                array.skip(skip).unwrap();
                array.append(take).unwrap();
                wanted.extend_from_slice(&rest[skip..skip + take]);
                rest = &rest[skip + take..];
            }
            assert!(rest.is_empty());
            let found = array.finish(None).unwrap();
            assert_eq!(found.data_type(), &data_type);
            assert_eq!(values_of(&found), wanted, "{encoding} {data_type}");
            if !matches!(
                encoding,
                Encoding::RleDictionary | Encoding::PlainDictionary
            ) {
                // An index page might allow this, because the last run's padding looks like more indices.
                assert!(array.append(1).is_err(), "{encoding} {data_type}");
            }
            assert!(array.append(100).is_err());
        }
    }
}

#[test]
fn room_is_exact_where_it_is_scarce() {
    let values = text(300);
    for (encoding, page, entries) in encoded(&values) {
        let mut array = leaf(Type::ByteArray, 0, DataType::Binary);
        if let Some(entries) = entries {
            array
                .set_dictionary(&buffer(plain(&entries)), entries.len())
                .unwrap();
        }
        array.set_page(encoding, buffer(page), 300).unwrap();
        let mut at = 0;
        for budget in [0usize, 3, 4, 100, 1000, 5000, 1 << 30] {
            let fitting = array.values_that_fit(300 - at, budget).unwrap();
            let cost = |n: usize| values[at..at + n].iter().map(|value| value.len() + 4).sum();
            let (fits, more): (usize, usize) = (cost(fitting), cost((fitting + 1).min(300 - at)));
            assert!(fits <= budget, "{encoding} {budget}");
            assert!(fitting == 300 - at || more > budget, "{encoding} {budget}");
            let before = array.bytes();
            array.append(fitting).unwrap();
            assert_eq!(array.bytes() - before, fits);
            at += fitting;
        }
        assert_eq!(at, 300);
    }
}

#[test]
fn nulls_are_spread_and_pages_follow_each_other() {
    let values = text(60);
    for data_type in all_types() {
        let mut array = leaf(Type::ByteArray, 0, data_type.clone());
        let mut validity = Bitmap::new();
        let mut wanted = Vec::new();
        for (encoding, page, entries) in encoded(&values) {
            if let Some(entries) = entries {
                array
                    .set_dictionary(&buffer(plain(&entries)), entries.len())
                    .unwrap();
            }
            array.set_page(encoding, buffer(page), 60).unwrap();
            for chunk in values.chunks(20) {
                let start = validity.len();
                for _ in chunk {
                    validity.append_bits(0b10, 2);
                }
                array.append(chunk.len()).unwrap();
                array.expand(&validity, start, 2 * chunk.len()).unwrap();
            }
            wanted.extend_from_slice(&values);
        }
        let found = array.finish(validity.finish()).unwrap();
        assert_eq!((found.len(), found.null_count()), (600, 300));
        assert_eq!(values_of(&found), wanted, "{data_type}");
        // The next array starts in the middle of the page.
        let mut again = leaf(Type::ByteArray, 0, data_type.clone());
        again
            .set_page(Encoding::Plain, buffer(plain(&values)), 60)
            .unwrap();
        for part in values.chunks(25) {
            again.append(part.len()).unwrap();
            assert_eq!(values_of(&again.finish(None).unwrap()), part);
        }
    }
}

#[test]
fn fixed_length_values_become_binary() {
    let values: Vec<Vec<u8>> = (0..50u8).map(|i| vec![i, i / 2, 0]).collect();
    for data_type in all_types().into_iter().skip(2) {
        if data_type == dictionary_of(DataType::Int32, DataType::Utf8) {
            continue;
        }
        let keys: Vec<u32> = (0..50).rev().collect();
        let streams: Vec<u8> = (0..3)
            .flat_map(|byte| values.iter().map(move |value| value[byte]))
            .collect();
        for (encoding, page) in [
            (Encoding::Plain, values.concat()),
            (Encoding::ByteStreamSplit, streams),
            (Encoding::DeltaByteArray, delta_bytes(&values)),
            (Encoding::RleDictionary, indices(&keys)),
        ] {
            let mut array = leaf(Type::FixedLenByteArray, 3, data_type.clone());
            let reversed: Vec<_> = values.iter().rev().flatten().copied().collect();
            array.set_dictionary(&buffer(reversed), 50).unwrap();
            array.set_page(encoding, buffer(page), 50).unwrap();
            array.skip(7).unwrap();
            assert_eq!(array.values_that_fit(43, usize::MAX).unwrap(), 43);
            array.append(43).unwrap();
            assert_eq!(
                values_of(&array.finish(None).unwrap()),
                values[7..],
                "{encoding}"
            );
        }
        let mut array = leaf(Type::FixedLenByteArray, 3, data_type);
        let other_lengths = delta_bytes(&[b"abc".to_vec(), b"abcd".to_vec()]);
        array
            .set_page(Encoding::DeltaByteArray, buffer(other_lengths), 2)
            .unwrap();
        assert!(array.append(2).is_err());
    }
}

/// Asserts that any operation on the page fails with an error of kind Corrupt, without a panic.
fn assert_corrupt(encoding: Encoding, page: &[u8], n: usize) {
    for data_type in all_types() {
        let mut array = leaf(Type::ByteArray, 0, data_type.clone());
        array.set_dictionary(&buffer(plain(&text(3))), 3).unwrap();
        for skip in [false, true] {
            let outcome = array
                .set_page(encoding, buffer(page.to_vec()), n)
                .and_then(|()| array.values_that_fit(n, 1000).map(|_| ()))
                .and_then(|()| if skip { array.skip(n) } else { array.append(n) });
            let is_index = matches!(encoding, Encoding::RleDictionary) && skip;
            match outcome {
                // 16-bit keys can't address this many values.
                Err(error) if n > 1 << 16 && error.kind() == ErrorKind::Unsupported => {}
                Err(error) => assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}"),
                Ok(()) => assert!(is_index, "{encoding} {data_type}: read {page:?}"),
            }
        }
        assert!(array.finish(None).unwrap().is_empty());
    }
}

#[test]
fn pages_that_lie_are_corrupt() {
    let huge = i32::MAX as usize;
    assert_corrupt(Encoding::Plain, &[], 1);
    assert_corrupt(Encoding::Plain, &[0; 4], 2);
    assert_corrupt(Encoding::Plain, &[0; 4], huge);
    assert_corrupt(Encoding::Plain, &[255; 400], 1);
    assert_corrupt(Encoding::Plain, &[9, 0, 0, 0, 1], 1);
    for encoding in [Encoding::DeltaLengthByteArray, Encoding::DeltaByteArray] {
        assert_corrupt(encoding, &[], 1);
        assert_corrupt(encoding, &[128, 1], 1);
        // The header declares a block size of 128, one miniblock, and 2^63 zeros.
        let header = [128, 1, 1, 255, 255, 255, 255, 255, 255, 255, 255, 127, 0];
        assert_corrupt(encoding, &header, huge);
        assert_corrupt(encoding, &[header.as_slice(), &header].concat(), huge);
    }
    let lengths = |lengths: &[i32]| [delta(lengths), b"bytes".to_vec()].concat();
    assert_corrupt(Encoding::DeltaLengthByteArray, &lengths(&[2, 3, 1]), 3);
    assert_corrupt(Encoding::DeltaLengthByteArray, &lengths(&[2, -1]), 2);
    assert_corrupt(Encoding::DeltaLengthByteArray, &lengths(&[i32::MAX; 9]), 9);
    assert_corrupt(Encoding::DeltaLengthByteArray, &lengths(&[2, 3]), 3);
    let pairs = |prefixes: &[i32], suffixes: &[i32]| {
        [delta(prefixes), delta(suffixes), b"bytes".to_vec()].concat()
    };
    for (prefixes, suffixes) in [
        (&[1, 0][..], &[1, 1][..]),
        (&[0, 3], &[2, 1]),
        (&[0, -1], &[2, 1]),
        (&[0, 1], &[2, -1]),
        (&[0, 1], &[2, 4]),
        (&[0], &[2, 1]),
        (&[0, 1], &[2]),
        (&[0, i32::MAX], &[2, i32::MAX]),
    ] {
        assert_corrupt(Encoding::DeltaByteArray, &pairs(prefixes, suffixes), 2);
    }
    assert_corrupt(Encoding::RleDictionary, &[33, 3, 0], 8);
    assert_corrupt(Encoding::RleDictionary, &[2], 1);
    assert_corrupt(Encoding::RleDictionary, &[2, 3, 0b11, 0], 8);
    assert_corrupt(Encoding::RleDictionary, &indices(&[0, 3]), 2);
    assert_corrupt(Encoding::RleDictionary, &indices(&[0, u32::MAX]), 2);
    assert_corrupt(Encoding::RleDictionary, &[2, 3, 0, 0], 1 << 20);
}

#[test]
fn repeated_prefixes_are_bounded_by_the_budget() {
    // The page has 10,001 bytes and a few more, but declares 20,000 values of 10,000 bytes.
    let prefixes = [&[0], [10_000; 20_000].as_slice()].concat();
    let suffixes = [&[10_000], [0; 20_000].as_slice()].concat();
    let page = [delta(&prefixes), delta(&suffixes), vec![b'x'; 10_000]].concat();
    for data_type in all_types() {
        let mut array = leaf(Type::ByteArray, 0, data_type);
        array
            .set_page(Encoding::DeltaByteArray, buffer(page.clone()), 20_001)
            .unwrap();
        let fitting = array.values_that_fit(20_001, 100_500).unwrap();
        assert!((9..=10).contains(&fitting), "{fitting}");
        array.append(9).unwrap();
        assert_eq!(values_of(&array.finish(None).unwrap())[8].len(), 10_000);
    }
}

#[test]
fn dictionaries_that_lie_are_corrupt() {
    for data_type in all_types() {
        let mut array = leaf(Type::ByteArray, 0, data_type.clone());
        let page = buffer(plain(&text(3)));
        for (num_values, page) in [
            (0, page.clone()),
            (4, page.clone()),
            (i32::MAX as usize, page.clone()),
            (1, buffer(vec![255; 9])),
            (1, buffer(vec![])),
        ] {
            let error = array.set_dictionary(&page, num_values).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{data_type} {num_values}");
        }
        let mut array = leaf(Type::ByteArray, 0, data_type.clone());
        array
            .set_page(Encoding::RleDictionary, buffer(indices(&[0])), 1)
            .unwrap();
        assert_eq!(array.append(1).unwrap_err().kind(), ErrorKind::Corrupt);
        array.set_dictionary(&buffer(vec![]), 0).unwrap();
        array
            .set_page(Encoding::RleDictionary, buffer(indices(&[0])), 1)
            .unwrap();
        assert_eq!(array.append(1).unwrap_err().kind(), ErrorKind::Corrupt);
        // A page of nulls might lack its encoding's header.
        array
            .set_page(Encoding::RleDictionary, buffer(vec![]), 1)
            .unwrap();
        array.append(0).unwrap();
        assert!(array.append(1).is_err());
    }
}

#[test]
fn strings_that_are_none_are_corrupt() {
    let cut = [b"a\xc3".to_vec(), b"\xbcb".to_vec()];
    for data_type in [DataType::Utf8, DataType::LargeUtf8, DataType::Utf8View] {
        for (encoding, page, entries) in encoded(&cut) {
            let mut array = leaf(Type::ByteArray, 0, data_type.clone());
            let outcome = entries
                .map_or(Ok(()), |entries| {
                    array.set_dictionary(&buffer(plain(&entries)), 2)
                })
                .and_then(|()| array.set_page(encoding, buffer(page), 2))
                .and_then(|()| array.append(2));
            assert_eq!(
                outcome.unwrap_err().kind(),
                ErrorKind::Corrupt,
                "{encoding}"
            );
        }
    }
}

#[test]
fn an_array_has_no_more_values_than_keys_can_say() {
    let values: Vec<Vec<u8>> = (0..200).map(|i| format!("{i}").into_bytes()).collect();
    let data_type = dictionary_of(DataType::Int8, DataType::Utf8);
    let mut array = leaf(Type::ByteArray, 0, data_type);
    array
        .set_dictionary(&buffer(plain(&values[..100])), 100)
        .unwrap();
    array
        .set_page(Encoding::RleDictionary, buffer(indices(&[99])), 1)
        .unwrap();
    array.append(1).unwrap();
    array
        .set_page(Encoding::Plain, buffer(plain(&values)), 200)
        .unwrap();
    assert_eq!(array.values_that_fit(200, usize::MAX).unwrap(), 28);
    array.append(28).unwrap();
    assert_eq!(array.values_that_fit(172, usize::MAX).unwrap(), 0);
    let found = values_of(&array.finish(None).unwrap());
    assert_eq!(found[0], values[99]);
    assert_eq!(found[1..], values[..28]);
    assert_eq!(array.values_that_fit(172, usize::MAX).unwrap(), 128);
    assert_eq!(
        array.append(129).unwrap_err().kind(),
        ErrorKind::Unsupported
    );
}

/// If a dictionary is larger than the keys can address, arrays only contain values used by their rows.
#[test]
fn a_dictionary_of_too_many_values_is_none() {
    let values: Vec<Vec<u8>> = (0..200).map(|i| format!("{i}").into_bytes()).collect();
    let data_type = dictionary_of(DataType::Int8, DataType::Utf8);
    let mut array = leaf(Type::ByteArray, 0, data_type.clone());
    for num_values in [128, 129] {
        let dictionary = plain(&values[..num_values]);
        array
            .set_dictionary(&buffer(dictionary), num_values)
            .unwrap();
        let is = (0..300).map(|i| i * 7 % num_values as u32);
        let is: Vec<u32> = is.collect();
        array
            .set_page(Encoding::RleDictionary, buffer(indices(&is)), 300)
            .unwrap();
        let mut found = Vec::new();
        while found.len() < 300 {
            let left = 300 - found.len();
            let fitting = array.values_that_fit(left, usize::MAX).unwrap();
            let most = if num_values == 128 { 300 } else { 128 };
            assert_eq!(fitting, left.min(most));
            array.append(fitting).unwrap();
            found.extend(values_of(&array.finish(None).unwrap()));
        }
        let expected = is.iter().map(|&i| values[i as usize].clone());
        assert_eq!(found, expected.collect::<Vec<_>>());
    }
    let ordered = LeafType {
        is_ordered: true,
        ..leaf_type(Type::ByteArray, 0, data_type)
    };
    let mut array = dictionary_leaf_array(&ordered).unwrap().unwrap();
    let dictionary = buffer(plain(&values));
    let error = array.set_dictionary(&dictionary, 200).unwrap_err();
    assert_eq!(
        error.message(),
        "an ordered dictionary of 200 values for keys of type Int8"
    );
}

#[test]
fn arrays_of_one_chunk_share_its_dictionary() {
    let data_type = dictionary_of(DataType::Int32, DataType::Binary);
    let mut array = leaf(Type::ByteArray, 0, data_type);
    array.set_dictionary(&buffer(plain(&text(3))), 3).unwrap();
    array
        .set_page(Encoding::RleDictionary, buffer(indices(&[2, 1, 0])), 3)
        .unwrap();
    array.append(1).unwrap();
    let one = array.finish(None).unwrap();
    array.append(2).unwrap();
    let two = array.finish(None).unwrap();
    let values =
        |array: &ArrayRef| -> Arc<dyn Array> { array.as_any_dictionary().values().clone() };
    assert!(Arc::ptr_eq(&values(&one), &values(&two)));
    let expected = text(3);
    let expected = BinaryArray::from_iter_values(expected.iter());
    assert_eq!(values(&one).as_binary::<i32>(), &expected);
}
