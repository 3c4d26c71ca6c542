//! Dictionary arrays, with keys from index pages, and with other pages' values after the dictionary's values.

use herringbone_arrow::array::cast::AsArray;
use herringbone_arrow::array::types::*;

use super::*;

/// Returns a leaf of INT32, read as a dictionary with keys of one byte.
fn keyed() -> LeafType {
    let (keys, values) = (Box::new(DataType::Int8), Box::new(DataType::Int32));
    leaf(Type::Int32, 0, DataType::Dictionary(keys, values))
}

fn plain(values: impl IntoIterator<Item = i32>) -> Buffer {
    let bytes = values.into_iter().flat_map(i32::to_le_bytes);
    page(bytes.collect::<Vec<u8>>())
}

fn keys_and_values(array: &ArrayRef) -> (Vec<i8>, Vec<i32>) {
    let array = array.as_dictionary::<Int8Type>();
    let values = array.values().as_primitive::<Int32Type>();
    (array.keys().values().to_vec(), values.values().to_vec())
}

#[test]
fn values_of_other_pages_follow_those_of_the_dictionary() {
    let mut array = leaf_array(&keyed()).unwrap();
    array.set_dictionary(&plain([7, 8, 9]), 3).unwrap();
    let indices = page(index_page(&[2, 0, 2]));
    array.set_page(Encoding::RleDictionary, indices, 3).unwrap();
    array.append(3).unwrap();
    array
        .set_page(Encoding::Plain, plain([5, 6, 5]), 3)
        .unwrap();
    array.skip(1).unwrap();
    array.append(2).unwrap();
    let array = array.finish(None).unwrap();
    let expected = (vec![2, 0, 2, 3, 4], vec![7, 8, 9, 6, 5]);
    assert_eq!(keys_and_values(&array), expected);
}

#[test]
fn the_bound_of_bytes_covers_keys_and_values() {
    let mut array = leaf_array(&keyed()).unwrap();
    array.set_dictionary(&plain([7, 8, 9]), 3).unwrap();
    for (encoding, values) in [
        (Encoding::RleDictionary, page(index_page(&[1; 40]))),
        (Encoding::Plain, plain(0..40)),
    ] {
        array.set_page(encoding, values, 40).unwrap();
        let (before, most) = (array.bytes(), array.most_bytes(40));
        array.append(40).unwrap();
        let bytes = array.bytes() - before;
        assert!(
            bytes > 0 && bytes <= most,
            "{encoding:?}: {bytes} of {most}"
        );
        // Keys are collected in four bytes, and each value has four.
        assert!(most <= 40 * 8, "{encoding:?}: {most}");
    }
}

/// A key of one byte addresses 128 values.
#[test]
fn more_values_than_keys_are_for_the_next_array() {
    let mut array = leaf_array(&keyed()).unwrap();
    array.set_page(Encoding::Plain, plain(0..200), 200).unwrap();
    assert_eq!(array.values_that_fit(200, usize::MAX).unwrap(), 128);
    let error = array.append(129).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    array.append(128).unwrap();
    assert_eq!(array.values_that_fit(72, usize::MAX).unwrap(), 0);
    let (keys, values) = keys_and_values(&array.finish(None).unwrap());
    assert!(keys.into_iter().eq(0..=127) && values.into_iter().eq(0..128));
    assert_eq!(array.values_that_fit(72, usize::MAX).unwrap(), 72);
    array.append(72).unwrap();
    let (keys, values) = keys_and_values(&array.finish(None).unwrap());
    assert!(keys.into_iter().eq(0..72) && values.into_iter().eq(128..200));
}
