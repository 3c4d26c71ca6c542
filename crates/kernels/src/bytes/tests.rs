use herringbone_arrow::array::Array;
use herringbone_arrow::array::cast::AsArray;
use proptest::prelude::*;

use super::*;
use crate::hybrid::HybridDecoder;

/// Encodes `values` as PLAIN bytes by the specification, which is a length of 4 bytes, little endian, and then the
/// bytes.
pub(crate) fn plain(values: &[Vec<u8>]) -> Vec<u8> {
    let mut page = Vec::new();
    for value in values {
        page.extend((value.len() as u32).to_le_bytes());
        page.extend_from_slice(value);
    }
    page
}

/// Encodes one bit-packed run of indices that have `width` bits.
pub(crate) fn packed_run(indices: &[u32], width: u32) -> Vec<u8> {
    let groups = indices.len().div_ceil(8);
    assert!(groups < 64, "one header byte");
    let mut run = vec![(groups as u8) << 1 | 1];
    let mut bits = vec![false; groups * 8 * width as usize];
    for (i, index) in indices.iter().enumerate() {
        for bit in 0..width as usize {
            bits[i * width as usize + bit] = index >> bit & 1 == 1;
        }
    }
    run.extend(
        bits.chunks(8)
            .map(|byte| (0..8).fold(0u8, |sum, bit| sum | u8::from(byte[bit]) << bit)),
    );
    run
}

/// Returns the prefix and suffix lengths of DELTA_BYTE_ARRAY, and the suffixes.
pub(crate) fn front_code(values: &[Vec<u8>]) -> (Vec<i32>, Vec<i32>, Vec<u8>) {
    let (mut prefixes, mut suffixes, mut bytes) = (vec![], vec![], vec![]);
    let mut previous: &[u8] = &[];
    for value in values {
        let shared = previous
            .iter()
            .zip(value)
            .take_while(|(a, b)| a == b)
            .count();
        prefixes.push(shared as i32);
        suffixes.push((value.len() - shared) as i32);
        bytes.extend_from_slice(&value[shared..]);
        previous = value;
    }
    (prefixes, suffixes, bytes)
}

pub(crate) fn lengths(values: &[Vec<u8>]) -> Vec<i32> {
    values.iter().map(|value| value.len() as i32).collect()
}

/// Returns byte strings of all lengths for which the code takes another path. Some of them are related.
pub(crate) fn any_values() -> impl Strategy<Value = Vec<Vec<u8>>> {
    let length = prop_oneof![
        0usize..5,
        8usize..20,
        28usize..40,
        120usize..140,
        250usize..600
    ];
    let value = (length, any::<u8>(), any::<bool>()).prop_map(|(length, seed, high)| {
        let step = if high { 97 } else { 0 };
        (0..length)
            .map(|i| seed.wrapping_add((i * step) as u8))
            .collect::<Vec<u8>>()
    });
    prop::collection::vec(value, 0..if cfg!(miri) { 8 } else { 200 })
}

fn finished<O: OffsetSizeTrait>(mut builder: ByteBuilder<O>) -> Vec<Vec<u8>> {
    let array = builder.finish(None).unwrap();
    array.to_data().validate_full().unwrap();
    assert!(builder.is_empty());
    array
        .as_binary::<O>()
        .iter()
        .map(|value| value.unwrap().to_vec())
        .collect()
}

fn text(values: &[&str]) -> Vec<Vec<u8>> {
    values
        .iter()
        .map(|value| value.as_bytes().to_vec())
        .collect()
}

proptest! {
    #[test]
    fn plain_values_come_out_as_they_went_in(values in any_values(), step in 1usize..50) {
        let page = plain(&values);
        let mut builder = ByteBuilder::<i32>::new(false);
        let mut at = 0;
        for part in values.chunks(step) {
            prop_assert_eq!(fit_plain(&page, at, part.len(), 0, usize::MAX), part.len());
            let end = builder.append_plain(&page, at, part.len()).unwrap();
            prop_assert_eq!(skip_plain(&page, at, part.len()), Ok(end));
            at = end;
        }
        prop_assert_eq!(at, page.len());
        prop_assert!(builder.append_plain(&page, at, 1).is_err());
        prop_assert_eq!(finished(builder), values);
    }

    #[test]
    fn values_of_known_lengths_come_out_as_they_went_in(
        values in any_values(), step in 1usize..200, copied in 0usize..3,
    ) {
        let mut bytes = b"less".to_vec();
        bytes.extend(values.concat());
        bytes.extend_from_slice(b"more");
        let page = Buffer::from_vec(bytes);
        let mut builder = ByteBuilder::<i64>::new(false);
        // Values that lie back to back are borrowed in place until we append other values.
        let mut expected = Vec::new();
        for round in 0..2 {
            let mut at = 4;
            for part in values.chunks(step) {
                at = builder.append_lengths(&lengths(part), &page, at).unwrap();
            }
            prop_assert_eq!(at, page.len() - 4);
            expected.extend_from_slice(&values);
            if copied > round {
                builder.append_fixed(b"abcd", 2).unwrap();
                expected.extend([b"ab".to_vec(), b"cd".to_vec()]);
            }
        }
        prop_assert_eq!(builder.data_len(), expected.concat().len());
        prop_assert_eq!(finished(builder), expected);
    }

    #[test]
    fn delta_byte_array_values_come_out_as_they_went_in(
        mut values in any_values(), sort: bool, step in 1usize..50,
    ) {
        if sort {
            values.sort();
        }
        let (prefixes, suffixes, bytes) = front_code(&values);
        let mut builder = ByteBuilder::<i32>::new(false);
        let (mut at, mut previous) = (0, Vec::new());
        for start in (0..values.len()).step_by(step) {
            let end = (start + step).min(values.len());
            at += builder
                .append_delta_byte_array(
                    &prefixes[start..end],
                    &suffixes[start..end],
                    &bytes[at..],
                    &mut previous,
                )
                .unwrap();
            prop_assert_eq!(&previous, &values[end - 1]);
        }
        prop_assert_eq!(at, bytes.len());
        prop_assert_eq!(finished(builder), values);
    }

    #[test]
    fn dictionary_entries_are_found(values in any_values(), seed: u32) {
        prop_assume!(!values.is_empty());
        let dictionary = ByteDictionary::plain(&plain(&values), values.len(), false).unwrap();
        prop_assert_eq!(dictionary.longest(), values.iter().map(Vec::len).max().unwrap());
        let indices: Vec<u32> = (0..300u32)
            .map(|i| i.wrapping_mul(seed | 1) % values.len() as u32)
            .collect();
        let runs = packed_run(&indices, 8);
        let expected: Vec<_> = indices.iter().map(|&i| values[i as usize].clone()).collect();
        let mut decoder = HybridDecoder::new(8);
        let total = expected.iter().map(Vec::len).sum();
        prop_assert_eq!(dictionary.fit(&decoder, &runs, 300, 1, total + 300), 300);
        prop_assert_eq!(dictionary.fit(&decoder, &runs, 999, 0, usize::MAX), 999);
        if total > 0 {
            let fitting = dictionary.fit(&decoder, &runs, 300, 0, total - 1);
            let used: usize = expected[..fitting].iter().map(Vec::len).sum();
            prop_assert!(fitting < 300 && used < total && used + expected[fitting].len() >= total);
        }
        let mut builder = ByteBuilder::<i32>::new(false);
        builder.gather(&dictionary, &mut decoder, &runs, 100).unwrap();
        builder.gather(&dictionary, &mut decoder, &runs, 200).unwrap();
        prop_assert_eq!(finished(builder), expected);
    }
}

#[test]
fn the_specification_s_examples() {
    let mut builder = ByteBuilder::<i32>::new(true);
    let taken = builder
        .append_lengths(&[5, 5, 6, 6], &Buffer::from(b"HelloWorldFoobarABCDEF"), 0)
        .unwrap();
    assert_eq!(taken, 22);
    let taken = builder
        .append_delta_byte_array(
            &[0, 2, 0, 3],
            &[4, 2, 6, 5],
            b"axislebabbleyhood",
            &mut vec![],
        )
        .unwrap();
    assert_eq!(taken, 17);
    let array = builder.finish(None).unwrap();
    let strings: Vec<_> = array.as_string::<i32>().iter().flatten().collect();
    assert_eq!(
        strings,
        [
            "Hello", "World", "Foobar", "ABCDEF", "axis", "axle", "babble", "babyhood"
        ]
    );
}

#[test]
fn lengths_that_lie_are_errors_and_change_nothing() {
    let mut builder = ByteBuilder::<i32>::new(false);
    builder.append_fixed(b"abcd", 2).unwrap();
    let page = plain(&text(&["one", "two"]));
    assert!(builder.append_plain(&page, 0, 3).is_err());
    assert!(builder.append_plain(&page, 0, usize::MAX).is_err());
    assert!(builder.append_plain(&page, 99, 1).is_err());
    assert!(builder.append_plain(&[255; 100], 0, 1).is_err());
    assert!(builder.append_plain(&page[..13], 0, 2).is_err());
    assert!(
        builder
            .append_lengths(&[2, -1], &Buffer::from(b"ab"), 0)
            .is_err()
    );
    assert!(
        builder
            .append_lengths(&[2, 1], &Buffer::from(b"ab"), 0)
            .is_err()
    );
    assert!(
        builder
            .append_lengths(&[i32::MAX; 8], &Buffer::from(b"ab"), 0)
            .is_err()
    );
    assert!(builder.append_fixed(b"abc", 2).is_err());
    assert!(builder.append_fixed(b"abc", 0).is_err());
    let none = &mut vec![];
    for (prefixes, suffixes) in [
        (&[1][..], &[1][..]),
        (&[0, 3], &[2, 1]),
        (&[0, -1], &[2, 1]),
        (&[0, 1], &[2, -1]),
        (&[0, 1], &[2, 4]),
        (&[0, 1], &[2]),
        (&[0, i32::MAX], &[2, i32::MAX]),
    ] {
        assert!(
            builder
                .append_delta_byte_array(prefixes, suffixes, b"abcde", none)
                .is_err()
        );
    }
    assert_eq!(finished(builder), text(&["ab", "cd"]));
    assert!(skip_plain(&page, 0, 3).is_err());
    assert_eq!(fit_plain(&page, 0, 3, 0, 100), 3);
    assert_eq!(fit_plain(&page, 0, 3, 0, 4), 1);
    assert_eq!(fit_plain(&page, 0, 2, 4, 13), 1);
    assert_eq!(fit_plain(&page, 0, 2, 4, 14), 2);
}

/// Checks positions against sums of lengths. There are many values of one length, then one of another length at any
/// position between them, and again many.
#[test]
fn values_of_one_length_are_passed_over() {
    for (length, odd) in [(0, 1), (3, 4), (3, 259), (40, 0), (300, 44)] {
        for before in 0..if cfg!(miri) { 11 } else { 40 } {
            let mut values = vec![vec![7; length]; before];
            values.push(vec![8; odd]);
            values.extend(vec![vec![9; length]; 21]);
            let page = plain(&values);
            let mut end = 0;
            for n in 0..=values.len() {
                assert_eq!(skip_plain(&page, 0, n), Ok(end), "{n} of {before}");
                end += values.get(n).map_or(0, |value| 4 + value.len());
            }
            for missing in [1, 4 + length, 3 * (4 + length) + 1] {
                let cut = &page[..page.len() - missing];
                assert!(skip_plain(cut, 0, values.len()).is_err());
            }
        }
    }
    // This length is so large that no page can contain eight such values.
    let page = [plain(&[vec![1], vec![1]]), u32::MAX.to_le_bytes().to_vec()].concat();
    assert!(skip_plain(&page, 0, 3).is_err());
    assert_eq!(skip_plain(&page, 0, 2), Ok(10));
}

#[test]
fn dictionaries_that_lie_are_errors() {
    let page = plain(&text(&["one", "two"]));
    assert!(ByteDictionary::plain(&page, 3, false).is_err());
    assert!(ByteDictionary::plain(&page, i32::MAX as usize, false).is_err());
    assert!(ByteDictionary::plain(&page, usize::MAX, false).is_err());
    assert!(ByteDictionary::fixed(&page, 8, 2, false).is_err());
    assert!(ByteDictionary::fixed(&page, 0, usize::MAX, false).is_err());
    assert!(ByteDictionary::fixed(&page, usize::MAX, 2, false).is_err());
    assert!(ByteDictionary::plain(&plain(&[vec![0xff]]), 1, true).is_err());
    assert!(ByteDictionary::fixed(b"\xc3\xbc", 1, 2, true).is_err());
    let dictionary = ByteDictionary::plain(&page, 2, true).unwrap();
    assert_eq!(dictionary.get(1), Some(&b"two"[..]));
    assert_eq!(dictionary.get(2), None);
    let mut builder = ByteBuilder::<i32>::new(true);
    let runs = packed_run(&[0, 1, 0, 2], 2);
    assert!(
        builder
            .gather(&dictionary, &mut HybridDecoder::new(2), &runs, 4)
            .is_err()
    );
    assert!(
        builder
            .gather(&dictionary, &mut HybridDecoder::new(2), &runs, 40)
            .is_err()
    );
    assert!(builder.is_empty() && builder.data_len() == 0);
}

#[test]
fn strings_are_checked_value_by_value() {
    let cut = vec![b"a\xc3".to_vec(), b"\xbcb".to_vec()];
    let mut builder = ByteBuilder::<i32>::new(true);
    builder.append_fixed("gü".as_bytes(), 3).unwrap();
    assert!(builder.append_plain(&plain(&cut), 0, 2).is_err());
    assert!(builder.append_plain(&plain(&cut), 0, 1).is_err());
    assert!(
        builder
            .append_lengths(&[2, 2], &Buffer::from_vec(cut.concat()), 0)
            .is_err()
    );
    let before = &mut vec![];
    assert!(
        builder
            .append_delta_byte_array(&[0, 1], &[4, 2], b"a\xc3\xbcb\xbcb", before)
            .is_err()
    );
    assert!(builder.append_fixed(&cut.concat(), 2).is_err());
    let binary = ByteDictionary::plain(&plain(&cut), 2, false).unwrap();
    let runs = packed_run(&[0, 1], 1);
    assert!(
        builder
            .gather(&binary, &mut HybridDecoder::new(1), &runs, 2)
            .is_err()
    );
    builder
        .append_plain(&plain(&text(&["日本", "", "語"])), 0, 3)
        .unwrap();
    let array = builder.finish(None).unwrap();
    let strings: Vec<_> = array.as_string::<i32>().iter().flatten().collect();
    assert_eq!(strings, ["gü", "日本", "", "語"]);
}

#[test]
fn large_parts_of_pages_are_kept_in_place() {
    let page = Buffer::from_vec([vec![b'a'; 5000], "ü".repeat(3000).into_bytes()].concat());
    let mut builder = ByteBuilder::<i32>::new(true);
    assert_eq!(builder.append_lengths(&[0, 5000], &page, 0), Ok(5000));
    // A split character leaves the previous contents unchanged.
    assert!(builder.append_lengths(&[5, 5], &page, 5000).is_err());
    assert!(builder.append_lengths(&[6001], &page, 5000).is_err());
    assert_eq!(builder.append_lengths(&[6, 4], &page, 5000), Ok(5010));
    let mut validity = Bitmap::new();
    validity.append_bits(0b10111, 5);
    builder.expand(&validity, 0, 5).unwrap();
    let array = builder.finish(None).unwrap();
    array.to_data().validate_full().unwrap();
    let array = array.as_string::<i32>();
    assert_eq!(array.value_data().as_ptr(), page.as_ptr());
    assert_eq!(array.value_offsets(), [0, 0, 5000, 5006, 5006, 5010]);
    // Equal bytes from another buffer are copied, and so are bytes that are too few to be worth borrowing.
    let other = Buffer::from_vec(page.to_vec());
    builder.append_lengths(&[4500], &page, 0).unwrap();
    builder.append_lengths(&[500], &other, 4500).unwrap();
    let array = builder.finish(None).unwrap();
    assert_eq!(array.as_string::<i32>().value_data(), &page[..5000]);
    builder.append_lengths(&[100], &page, 0).unwrap();
    let array = builder.finish(None).unwrap();
    assert_ne!(
        array.as_string::<i32>().value_data().as_ptr(),
        page.as_ptr()
    );
}

#[test]
fn values_are_spread_over_nulls() {
    let mut validity = Bitmap::new();
    validity.append_run(true, 1);
    let mut builder = ByteBuilder::<i32>::new(true);
    builder
        .append_plain(&plain(&text(&["first"])), 0, 1)
        .unwrap();
    validity.append_bits(0b0110, 4);
    builder
        .append_plain(&plain(&text(&["a", "bc"])), 0, 2)
        .unwrap();
    assert!(builder.expand(&validity, 0, 5).is_ok());
    let mut wrong = ByteBuilder::<i32>::new(true);
    assert!(wrong.expand(&validity, 1, 4).is_err());
    let nulls = validity.finish();
    assert!(builder.finish(Some(NullBuffer::new_null(3))).is_err());
    let array = builder.finish(nulls).unwrap();
    let strings: Vec<_> = array.as_string::<i32>().iter().collect();
    assert_eq!(strings, [Some("first"), None, Some("a"), Some("bc"), None]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 128 }))]

    #[test]
    fn wanted_values_are_appended_alone(
        values in any_values(),
        first in any_values(),
        seed in any::<u64>(),
    ) {
        let is_wanted = |slot: usize| seed.rotate_left(slot as u32) & 3 != 0;
        let wanted = BooleanBuffer::collect_bool(values.len(), is_wanted);
        let kept: Vec<_> = first.iter().chain(
            values.iter().enumerate().filter(|(slot, _)| is_wanted(*slot)).map(|(_, value)| value)
        ).cloned().collect();
        let start = || {
            let mut builder = ByteBuilder::<i32>::new(false);
            builder.append_plain(&plain(&first), 0, first.len()).unwrap();
            builder
        };
        let check = |mut builder: ByteBuilder<i32>| {
            let array = builder.finish(None).unwrap();
            let array = array.as_binary::<i32>();
            assert_eq!(array.iter().map(|value| value.unwrap().to_vec()).collect::<Vec<_>>(), kept);
        };
        let page = plain(&values);

        let mut builder = start();
        let end = builder.append_plain_wanted(&page, 0, &wanted).unwrap();
        prop_assert_eq!(end, page.len());
        check(builder);

        let mut builder = start();
        builder.append_plain(&page, 0, values.len()).unwrap();
        builder.retain(first.len(), &wanted).unwrap();
        check(builder);

        let mut distinct = values.clone();
        distinct.sort();
        distinct.dedup();
        let indices = values.iter().map(|value| distinct.binary_search(value).unwrap() as u32);
        let indices: Vec<u32> = indices.collect();
        if !indices.is_empty() && indices.len() < 500 {
            let dictionary = ByteDictionary::plain(&plain(&distinct), distinct.len(), false).unwrap();
            let runs = packed_run(&indices, 16);
            let mut builder = start();
            let mut decoder = HybridDecoder::new(16);
            builder.gather_wanted(&dictionary, &mut decoder, &runs, &wanted).unwrap();
            check(builder);
        }
    }
}

/// Values of one length are copied together, until a value has another length.
#[test]
fn values_of_one_length_come_out_as_they_went_in() {
    let lengths: &[usize] = if cfg!(miri) {
        &[5]
    } else {
        &[0, 1, 17, 32, 33, 300]
    };
    for &length in lengths {
        for n in [64, 71, 72, 73, 160] {
            for other in [0, 63, 64, 70, 72, 79, 130, usize::MAX] {
                let length_at = |i: usize| length + usize::from(i == other);
                let values = (0..n).map(|i| vec![i as u8; length_at(i)]);
                let values: Vec<_> = values.collect();
                let page = plain(&values);
                let mut builder = ByteBuilder::<i32>::new(false);
                assert_eq!(builder.append_plain(&page, 0, n), Ok(page.len()));
                assert_eq!(finished(builder), values, "{n} of {length}, but {other}");

                let wanted = BooleanBuffer::collect_bool(n, |i| i % 3 != 1);
                let mut builder = ByteBuilder::<i64>::new(false);
                assert_eq!(
                    builder.append_plain_wanted(&page, 0, &wanted),
                    Ok(page.len())
                );
                let kept = values.iter().zip(&wanted).filter(|(_, bit)| *bit);
                let kept: Vec<_> = kept.map(|(value, _)| value.clone()).collect();
                assert_eq!(finished(builder), kept, "{n} of {length}, but {other}");

                // This page ends within the last value.
                let mut builder = ByteBuilder::<i32>::new(false);
                let early = page.split_last().map_or(&[][..], |(_, page)| page);
                assert!(builder.append_plain(early, 0, n).is_err() && builder.is_empty());
            }
        }
    }
}

#[test]
fn what_is_not_wanted_is_not_looked_at() {
    let page = plain(&[b"\xff".to_vec(), b"a".to_vec()]);
    let mut builder = ByteBuilder::<i32>::new(true);
    let wanted = BooleanBuffer::from(vec![true, true]);
    assert!(builder.append_plain_wanted(&page, 0, &wanted).is_err());
    assert!(builder.is_empty());
    let wanted = BooleanBuffer::from(vec![false, true]);
    assert_eq!(
        builder.append_plain_wanted(&page, 0, &wanted),
        Ok(page.len())
    );
    assert_eq!(builder.len(), 1);
    // Even if no value is wanted, all lengths have to lie in the page.
    let wanted = BooleanBuffer::from(vec![false; 3]);
    assert!(builder.append_plain_wanted(&page, 0, &wanted).is_err());
    assert!(builder.retain(0, &wanted).is_err());
}
