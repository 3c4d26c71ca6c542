use herringbone_arrow::array::Array;
use herringbone_arrow::array::cast::AsArray;
use proptest::prelude::*;

use super::*;
use crate::bytes::tests::{any_values, front_code, lengths, packed_run, plain};
use crate::hybrid::HybridDecoder;

fn finished(mut builder: ViewBuilder) -> Vec<Vec<u8>> {
    let array = builder.finish(None).unwrap();
    array.to_data().validate_full().unwrap();
    assert!(builder.is_empty() && builder.bytes() == 0);
    array
        .as_binary_view()
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
    fn plain_values_are_pointed_at(values in any_values(), step in 1usize..50) {
        let page = Buffer::from_vec(plain(&values));
        let mut builder = ViewBuilder::new(false);
        let mut at = 0;
        for part in values.chunks(step) {
            at = builder.append_plain(&page, at, part.len()).unwrap();
        }
        prop_assert_eq!(at, page.len());
        prop_assert!(builder.append_plain(&page, at, 1).is_err());
        prop_assert!(builder.buffers.len() <= 1);
        prop_assert_eq!(finished(builder), values);
    }

    #[test]
    fn values_of_known_lengths_are_pointed_at(values in any_values()) {
        let page = Buffer::from_vec([b"head", values.concat().as_slice()].concat());
        let mut builder = ViewBuilder::new(false);
        prop_assert_eq!(builder.append_lengths(&lengths(&values), &page, 4), Ok(page.len()));
        prop_assert_eq!(finished(builder), values);
    }

    #[test]
    fn delta_byte_array_values_get_a_block(mut values in any_values(), sort: bool) {
        if sort {
            values.sort();
        }
        let (prefixes, suffixes, bytes) = front_code(&values);
        let mut builder = ViewBuilder::new(false);
        let (mut previous, half) = (Vec::new(), values.len() / 2);
        let taken = builder
            .append_delta_byte_array(&prefixes[..half], &suffixes[..half], &bytes, &mut previous)
            .unwrap();
        let rest = builder
            .append_delta_byte_array(
                &prefixes[half..],
                &suffixes[half..],
                &bytes[taken..],
                &mut previous,
            )
            .unwrap();
        prop_assert_eq!(taken + rest, bytes.len());
        prop_assert_eq!(builder.buffers.len(), 1);
        prop_assert_eq!(finished(builder), values);
    }

    #[test]
    fn dictionary_entries_are_found(values in any_values(), seed: u32, behind: bool) {
        prop_assume!(!values.is_empty());
        let page = Buffer::from_vec(plain(&values));
        let dictionary = ViewDictionary::plain(&page, values.len(), false).unwrap();
        let indices: Vec<u32> = (0..300u32)
            .map(|i| i.wrapping_mul(seed | 1) % values.len() as u32)
            .collect();
        let runs = packed_run(&indices, 8);
        let mut expected: Vec<_> = indices.iter().map(|&i| values[i as usize].clone()).collect();
        let mut builder = ViewBuilder::new(false);
        if behind {
            let other = vec![b"a value of another page".to_vec()];
            builder.append_plain(&Buffer::from_vec(plain(&other)), 0, 1).unwrap();
            expected.insert(0, other[0].clone());
        }
        let mut decoder = HybridDecoder::new(8);
        builder.gather(&dictionary, &mut decoder, &runs, 100).unwrap();
        builder.gather(&dictionary, &mut decoder, &runs, 200).unwrap();
        prop_assert!(builder.buffers.len() <= 1 + usize::from(behind));
        prop_assert_eq!(finished(builder), expected);
    }
}

#[test]
fn lengths_that_lie_are_errors_and_change_nothing() {
    let page = Buffer::from_vec(plain(&text(&["one", "a value of more than twelve bytes"])));
    let mut builder = ViewBuilder::new(false);
    assert!(builder.append_plain(&page, 0, 3).is_err());
    assert!(builder.append_plain(&page, 0, usize::MAX).is_err());
    assert!(builder.append_plain(&page, 99, 1).is_err());
    assert!(
        builder
            .append_plain(&Buffer::from_vec(vec![255u8; 100]), 0, 1)
            .is_err()
    );
    assert!(builder.append_lengths(&[2, -1], &page, 0).is_err());
    assert!(builder.append_lengths(&[2], &page, usize::MAX).is_err());
    assert!(builder.append_lengths(&[99], &page, 0).is_err());
    assert!(builder.append_fixed(&page, 0, 5, 2).is_err());
    assert!(builder.append_fixed(&page, 0, 500, 2).is_err());
    assert!(builder.append_fixed(&page, 6, 4, 2).is_err());
    assert!(builder.append_fixed(&page, 0, 4, 0).is_err());
    let none = &mut vec![];
    assert!(
        builder
            .append_delta_byte_array(&[0, 3], &[2, 1], b"abc", none)
            .is_err()
    );
    assert!(
        builder
            .append_delta_byte_array(&[0, i32::MAX], &[2, 1], b"abc", none)
            .is_err()
    );
    assert!(ViewDictionary::plain(&page, i32::MAX as usize, false).is_err());
    assert!(ViewDictionary::fixed(&page, usize::MAX, 2, false).is_err());
    let dictionary = ViewDictionary::plain(&page, 2, false).unwrap();
    let runs = packed_run(&[0, 1, 0, 2], 2);
    assert!(
        builder
            .gather(&dictionary, &mut HybridDecoder::new(2), &runs, 4)
            .is_err()
    );
    assert!(finished(builder).is_empty());
}

#[test]
fn strings_are_checked_value_by_value() {
    let cut = vec![b"a\xc3".to_vec(), b"\xbcb".to_vec()];
    let page = Buffer::from_vec(plain(&cut));
    let mut builder = ViewBuilder::new(true);
    assert!(builder.append_plain(&page, 0, 2).is_err());
    assert!(
        builder
            .append_lengths(&[2, 2], &Buffer::from_vec(cut.concat()), 0)
            .is_err()
    );
    assert!(
        builder
            .append_fixed(&Buffer::from_vec(cut.concat()), 0, 4, 2)
            .is_err()
    );
    let before = &mut vec![];
    assert!(
        builder
            .append_delta_byte_array(&[0, 1], &[4, 2], b"a\xc3\xbcb\xbcb", before)
            .is_err()
    );
    let binary = ViewDictionary::plain(&page, 2, false).unwrap();
    let runs = packed_run(&[0, 1], 1);
    assert!(
        builder
            .gather(&binary, &mut HybridDecoder::new(1), &runs, 2)
            .is_err()
    );
    let long = "ü".repeat(70);
    let page = Buffer::from_vec(plain(&text(&["日本", "", &long])));
    builder.append_plain(&page, 0, 3).unwrap();
    let array = builder.finish(None).unwrap();
    let strings: Vec<_> = array.as_string_view().iter().flatten().collect();
    assert_eq!(strings, ["日本", "", &long]);
}

#[test]
fn short_values_keep_no_page_alive() {
    let page = Buffer::from_vec(plain(&text(&["short", "twelve bytes"])));
    let mut builder = ViewBuilder::new(true);
    builder.append_plain(&page, 0, 2).unwrap();
    let array = builder.finish(None).unwrap();
    assert!(array.as_string_view().data_buffers().is_empty());
}

#[test]
fn lengths_that_are_long_only_when_they_are_put_together_keep_no_page_alive() {
    for (last, buffers) in [
        ("twelve bytes", 0),
        ("thirteen long", 1),
        ("fifteen is long", 1),
    ] {
        let page = Buffer::from_vec(plain(&text(&["five5", "eight888", last, ""])));
        let mut builder = ViewBuilder::new(true);
        builder.append_plain(&page, 0, 4).unwrap();
        let array = builder.finish(None).unwrap();
        assert_eq!(
            array.as_string_view().data_buffers().len(),
            buffers,
            "{last}"
        );
        assert_eq!(array.as_string_view().value(2), last);
    }
}

#[test]
fn values_are_spread_over_nulls() {
    let mut validity = Bitmap::new();
    validity.append_bits(0b01100, 5);
    let mut builder = ViewBuilder::new(true);
    let page = Buffer::from_vec(plain(&text(&["a", "bc"])));
    builder.append_plain(&page, 0, 2).unwrap();
    assert!(builder.expand(&validity, 1, 4).is_err());
    builder.expand(&validity, 0, 5).unwrap();
    let array = builder.finish(validity.finish()).unwrap();
    let strings: Vec<_> = array.as_string_view().iter().collect();
    assert_eq!(strings, [None, None, Some("a"), Some("bc"), None]);
}

#[test]
fn values_that_a_filter_leaves_do_not_retain_their_pages() {
    let values: Vec<Vec<u8>> = (0..4000)
        .map(|row| format!("{row:0width$}", width = 5 + row % 37).into_bytes())
        .collect();
    let (first, second) = values.split_at(2000);
    let pages = [first, second].map(|values| Buffer::from_vec(plain(values)));
    // With every 400th value, 10 of 4,000 are left. Every second value leaves too many for copies.
    for (step, are_copied) in [(400, true), (2, false)] {
        let mut builder = ViewBuilder::new(false);
        for page in &pages {
            let start = builder.len();
            builder.append_plain(page, 0, 2000).unwrap();
            let wanted = BooleanBuffer::collect_bool(2000, |row| row % step == 3 % step);
            builder.retain(start, &wanted);
        }
        let array = builder.finish(None).unwrap();
        array.to_data().validate_full().unwrap();
        let array = array.as_binary_view();
        let expected: Vec<_> = values
            .iter()
            .skip(3 % step)
            .step_by(step)
            .map(Vec::as_slice)
            .collect();
        assert_eq!(array.iter().flatten().collect::<Vec<_>>(), expected);
        let long: usize = expected
            .iter()
            .map(|value| value.len())
            .filter(|&length| length > 12)
            .sum();
        match are_copied {
            true => assert_eq!(
                array.data_buffers().iter().map(Buffer::len).sum::<usize>(),
                long
            ),
            false => assert_eq!(array.data_buffers().len(), 2),
        }
        // The next array starts with no values.
        builder.append_plain(&pages[1], 0, 2000).unwrap();
        assert_eq!(finished(builder), second);
    }
}
