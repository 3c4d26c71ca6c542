//! Bounds by the specification's rules, worked out by hand.

use super::*;
use herringbone_format::thrift::CompactWriter;
use herringbone_format::{BoundaryOrder, ColumnIndex, Limits, PageLocation, Type};
use herringbone_schema::ColumnOrderKind::{self, *};

/// Returns both bounds, which must exist.
fn both(bounds: &EncodedBounds) -> (&[u8], &[u8]) {
    (bounds.min.as_ref().unwrap(), bounds.max.as_ref().unwrap())
}

fn builder(order: ColumnOrderKind, physical: Type) -> BoundsBuilder {
    BoundsBuilder::new(order, physical)
}

#[test]
fn integers_are_signed_or_unsigned() {
    let values = [5, -1, 7, i32::MIN];
    let mut signed = builder(Signed, Type::Int32).shortened(1);
    signed.i32(&values);
    let bounds = signed.finish(false);
    assert_eq!(both(&bounds), (&[0, 0, 0, 0x80][..], &[7, 0, 0, 0][..]));
    assert!(bounds.min_exact && bounds.max_exact);
    assert_eq!(bounds.nan_count, None);

    let mut unsigned = builder(Unsigned, Type::Int32);
    unsigned.i32(&values);
    let bounds = unsigned.finish(false);
    assert_eq!(both(&bounds), (&[5, 0, 0, 0][..], &[0xff; 4][..]));

    let mut unsigned = builder(Unsigned, Type::Int64);
    unsigned.i64(&[-2, 3]);
    unsigned.i64(&[]);
    let bounds = unsigned.finish(false);
    assert_eq!(
        both(&bounds),
        (&3_u64.to_le_bytes()[..], &(u64::MAX - 1).to_le_bytes()[..])
    );
}

#[test]
fn booleans_are_false_before_true() {
    let bounds = |bits: &[u8], first, n| {
        let mut builder = builder(Unsigned, Type::Boolean);
        builder.bits(bits, first, n);
        let bounds = builder.finish(false);
        bounds.min.zip(bounds.max)
    };
    assert_eq!(bounds(&[0b0001_1000], 0, 8), Some((vec![0], vec![1])));
    assert_eq!(bounds(&[0b0001_1000], 3, 2), Some((vec![1], vec![1])));
    assert_eq!(bounds(&[0b0001_1000], 0, 3), Some((vec![0], vec![0])));
    assert_eq!(bounds(&[0b1000_0000, 1], 7, 2), Some((vec![1], vec![1])));
    assert_eq!(bounds(&[0xff], 4, 0), None);
}

#[test]
fn zeros_have_the_sign_that_includes_both_unless_they_are_ordered() {
    for zeros in [[0.0_f32, 0.0], [-0.0, -0.0], [0.0, -0.0]] {
        let mut builder = builder(Float, Type::Float);
        builder.f32(&zeros);
        let bounds = builder.finish(false);
        assert_eq!(both(&bounds), (&[0, 0, 0, 0x80][..], &[0, 0, 0, 0][..]));
        assert_eq!(bounds.nan_count, Some(0));
    }
    let mut total = builder(Float, Type::Double);
    total.f64(&[0.0, 1.0]);
    let bounds = total.finish(true);
    assert_eq!(
        both(&bounds),
        (&0.0_f64.to_le_bytes()[..], &1.0_f64.to_le_bytes()[..])
    );
    let mut total = builder(Float, Type::Double);
    total.f64(&[-1.0, -0.0]);
    let bounds = total.finish(true);
    assert_eq!(
        both(&bounds),
        (&(-1.0_f64).to_le_bytes()[..], &(-0.0_f64).to_le_bytes()[..])
    );
}

#[test]
fn nans_are_counted_and_left_out() {
    for ieee_order in [false, true] {
        let mut builder = builder(Float, Type::Float);
        builder.f32(&[f32::NAN, f32::NAN]);
        builder.f32(&[2.0, -f32::NAN, -3.5]);
        let bounds = builder.finish(ieee_order);
        assert_eq!(
            both(&bounds),
            (&(-3.5_f32).to_le_bytes()[..], &2.0_f32.to_le_bytes()[..])
        );
        assert_eq!(bounds.nan_count, Some(3));
        assert_eq!(builder.nan_count(), Some(3));
    }
}

#[test]
fn nothing_but_nans() {
    // The NaNs are in the order of their bits: -NaN with a payload, -NaN, NaN with a payload.
    let nans = [0xffc0_0001_u32, 0xffc0_0000, 0x7fc0_0007].map(f32::from_bits);
    let mut page = builder(Float, Type::Float);
    page.f32(&nans[1..]);
    let mut chunk = builder(Float, Type::Float);
    chunk.f32(&nans[..1]);
    chunk.merge(&page);
    let bounds = chunk.finish(false);
    assert_eq!(
        (bounds.min, bounds.max, bounds.nan_count),
        (None, None, Some(3))
    );
    let bounds = chunk.finish(true);
    let expected = (0xffc0_0001_u32.to_le_bytes(), 0x7fc0_0007_u32.to_le_bytes());
    assert_eq!(both(&bounds), (&expected.0[..], &expected.1[..]));

    // Once there's a value other than NaN, NaNs no longer affect the bounds.
    page.f32(&[1.0]);
    chunk.merge(&page);
    let bounds = chunk.finish(true);
    assert_eq!(
        both(&bounds),
        (&1.0_f32.to_le_bytes()[..], &1.0_f32.to_le_bytes()[..])
    );
    assert_eq!(bounds.nan_count, Some(5));
}

#[test]
fn half_floats() {
    // The values are 1.0, -2.0, NaN, -0.0 and -infinity.
    let bits = [0x3c00_u16, 0xc000, 0x7e00, 0x8000, 0xfc00];
    let bytes: Vec<u8> = bits.iter().flat_map(|bits| bits.to_le_bytes()).collect();
    let mut half = builder(Float16, Type::FixedLenByteArray).shortened(1);
    half.fixed(&bytes[..8], 2);
    let bounds = half.finish(true);
    assert_eq!(both(&bounds), (&[0, 0xc0][..], &[0, 0x3c][..]));
    assert_eq!(bounds.nan_count, Some(1));
    half.fixed(&bytes[8..], 2);
    assert_eq!(half.finish(true).min.unwrap(), [0, 0xfc]);

    let mut half = builder(Float16, Type::FixedLenByteArray);
    half.fixed(&[0, 0x80], 2);
    assert_eq!(both(&half.finish(false)), (&[0, 0x80][..], &[0, 0][..]));
    assert_eq!(both(&half.finish(true)), (&[0, 0x80][..], &[0, 0x80][..]));
}

#[test]
fn decimals_of_different_lengths() {
    // The values are -1, 255, -256, 127, 0, -128, and -1 with more bytes than necessary.
    let values: [&[u8]; 7] = [
        &[0xff],
        &[0, 0xff],
        &[0xff, 0],
        &[0x7f],
        &[],
        &[0x80],
        &[0xff, 0xff, 0xff],
    ];
    let mut decimals = builder(SignedBytes, Type::ByteArray).shortened(1);
    decimals.byte_arrays(values);
    let bounds = decimals.finish(false);
    assert_eq!(both(&bounds), (&[0xff, 0][..], &[0, 0xff][..]));
    assert!(bounds.min_exact && bounds.max_exact);

    // These are all values in sorted order.
    let sorted: [&[u8]; 8] = [
        &[0x80, 0, 0],
        &[0xff, 0],
        &[0x80],
        &[0xff, 0xfe],
        &[0xff],
        &[0, 0, 0],
        &[0, 0x7f],
        &[0, 0x80],
    ];
    for (index, least) in sorted.iter().enumerate() {
        let mut decimals = builder(SignedBytes, Type::ByteArray);
        sorted[index..]
            .iter()
            .rev()
            .for_each(|value| decimals.bytes(value));
        let bounds = decimals.finish(false);
        assert_eq!(both(&bounds), (*least, sorted[7]));
    }
}

#[test]
fn decimals_of_one_length() {
    for width in [4_usize, 16] {
        // The values are 1, -1, 300 and -300.
        let encode = |value: i128| value.to_be_bytes()[16 - width..].to_vec();
        let bytes = [1, -1, 300, -300].map(encode).concat();
        let mut decimals = builder(SignedBytes, Type::FixedLenByteArray).shortened(2);
        decimals.fixed(&bytes, width);
        let bounds = decimals.finish(false);
        assert_eq!(both(&bounds), (&encode(-300)[..], &encode(300)[..]));
    }
}

#[test]
fn byte_arrays_compare_unsigned_and_prefixes_come_first() {
    let values: [&[u8]; 7] = [
        b"b",
        b"a\0",
        b"a",
        b"a\0\0",
        b"\xff",
        b"\xff\xff 12345678",
        b"\xff\xff 12345677",
    ];
    let mut bytes = builder(UnsignedBytes, Type::ByteArray);
    bytes.byte_arrays(values);
    assert_eq!(
        both(&bytes.finish(false)),
        (&b"a"[..], &b"\xff\xff 12345678"[..])
    );
    bytes.bytes(b"");
    assert_eq!(bytes.finish(false).min.unwrap(), b"");

    let mut other = builder(UnsignedBytes, Type::ByteArray);
    other.merge(&bytes);
    other.merge(&builder(UnsignedBytes, Type::ByteArray));
    assert_eq!(other.finish(false), bytes.finish(false));
}

#[test]
fn only_byte_arrays_are_shortened() {
    let mut text = builder(UnsignedBytes, Type::ByteArray).shortened(4);
    text.byte_arrays([&b"Blart Versenwald III"[..], b"Zorg"]);
    let bounds = text.finish(false);
    assert_eq!(both(&bounds), (&b"Blar"[..], &b"Zorg"[..]));
    assert!(!bounds.min_exact && bounds.max_exact);
    let statistics = bounds.into_statistics(2);
    assert_eq!(statistics.is_min_value_exact, Some(false));
    assert_eq!(statistics.is_max_value_exact, Some(true));
    assert_eq!(statistics.null_count, Some(2));
    assert_eq!((statistics.min, statistics.max), (None, None));

    // A maximum that cannot be incremented stays whole.
    text.bytes(&[0xff; 5]);
    let bounds = text.finish(false);
    assert_eq!((bounds.max, bounds.max_exact), (Some(vec![0xff; 5]), true));

    let mut fixed = builder(UnsignedBytes, Type::FixedLenByteArray).shortened(2);
    fixed.fixed(b"abcdefgh", 4);
    assert_eq!(both(&fixed.finish(false)), (&b"abcd"[..], &b"efgh"[..]));
}

#[test]
fn long_values_are_kept_as_far_as_bounds_go() {
    // The values are equal up to the length of a bound, up to one byte more, and further. Some cannot be incremented.
    let beginnings: [&[u8]; 6] = [
        b"abc",
        b"abcd",
        b"\xff\xff\xff",
        b"\xff\xff\xff\xff",
        "é\u{10ffff}".as_bytes(),
        "\u{10ffff}".as_bytes(),
    ];
    let endings: [&[u8]; 5] = [b"", b"\0", b"e", b"ef", &[0xff; 100]];
    let value = |at: usize| [beginnings[at % 6], endings[at / 6]].concat();
    for (one, other) in (0..30).flat_map(|one| (0..30).map(move |other| (one, other))) {
        let (one, other) = (value(one), value(other));
        let mut whole = builder(UnsignedBytes, Type::ByteArray);
        whole.byte_arrays([&one[..], &other]);
        let whole = whole.finish(false);
        let (min, max) = both(&whole);
        for length in 0..6 {
            let new = || builder(UnsignedBytes, Type::ByteArray).shortened(length);
            let mut together = new();
            together.byte_arrays([&one[..], &other]);
            let (mut merged, mut second) = (new(), new());
            merged.bytes(&one);
            second.bytes(&other);
            merged.merge(&second);
            let raised = truncate::max(max, length);
            let expected = EncodedBounds {
                min: Some(truncate::min(min, length)),
                max: Some(raised.clone().unwrap_or_else(|| max.to_vec())),
                min_exact: min.len() <= length,
                max_exact: raised.is_none(),
                nan_count: None,
            };
            assert_eq!(together.finish(false), expected, "{one:?} {other:?}");
            assert_eq!(merged.finish(false), expected, "{one:?} {other:?}");
        }
    }
    // A long value is not copied as a whole.
    let mut long = builder(UnsignedBytes, Type::ByteArray).shortened(64);
    long.bytes(&[b'a'; 100_000]);
    assert!(long.heap_bytes() < 1000);
}

#[test]
fn timestamps_of_96_bits_compare_by_day_then_time() {
    let value = |day: i32, nanos: i64| [&nanos.to_le_bytes()[..], &day.to_le_bytes()].concat();
    let bytes = [value(2, 1), value(1, 900), value(2, 500), value(1, 901)].concat();
    let mut timestamps = builder(Int96, Type::Int96);
    timestamps.fixed(&bytes, 12);
    let bounds = timestamps.finish(false);
    assert_eq!(both(&bounds), (&value(1, 900)[..], &value(2, 500)[..]));
    timestamps.fixed(&value(-1, 7), 12);
    assert_eq!(timestamps.finish(false).min.unwrap(), value(-1, 7));
}

#[test]
fn without_values_or_order_there_are_no_bounds() {
    let mut undefined = builder(Undefined, Type::Int64);
    undefined.i64(&[1]);
    assert_eq!(undefined.finish(false), EncodedBounds::default());
    let empty = builder(Signed, Type::Int64).finish(false);
    assert_eq!(empty, EncodedBounds::default());
    assert_eq!(empty.into_statistics(0).is_min_value_exact, None);
    let nothing = builder(Float, Type::Float).finish(true);
    assert_eq!((nothing.min, nothing.nan_count), (None, Some(0)));
}

/// Returns the index of INT32 pages with these bounds, where `None` is a page of nulls.
fn index(order: ColumnOrderKind, pages: &[Option<(i32, i32)>]) -> Option<ColumnIndex> {
    let mut index = ColumnIndexBuilder::new(order, Type::Int32);
    for page in pages {
        let mut bounds = builder(order, Type::Int32);
        if let Some((min, max)) = page {
            bounds.i32(&[*min, *max]);
        }
        index.push(PageSummary {
            null_page: page.is_none(),
            bounds: &bounds.finish(false),
            null_count: if page.is_none() { 10 } else { 1 },
            repetition_levels: &[],
            definition_levels: &[1, 9],
        });
    }
    index.finish()
}

#[test]
fn pages_are_ordered_or_not() {
    use BoundaryOrder::{Ascending, Descending, Unordered};
    for (expected, pages) in [
        (Ascending, vec![]),
        (Ascending, vec![None, None]),
        (Ascending, vec![Some((5, 6))]),
        (
            Ascending,
            vec![Some((-5, 6)), None, Some((-5, 7)), Some((300, 301))],
        ),
        (
            Descending,
            vec![Some((300, 301)), Some((3, 301)), None, Some((-1, 0))],
        ),
        (Unordered, vec![Some((1, 5)), Some((2, 4))]),
        (Unordered, vec![Some((1, 2)), Some((0, 1)), Some((1, 2))]),
    ] {
        assert_eq!(
            index(Signed, &pages).unwrap().boundary_order,
            expected,
            "{pages:?}"
        );
    }
    // In the unsigned order, -1 is the greatest number.
    let pages = [Some((0, 1)), Some((-1, -1))];
    assert_eq!(index(Unsigned, &pages).unwrap().boundary_order, Ascending);
    assert_eq!(index(Signed, &pages).unwrap().boundary_order, Descending);
    assert_eq!(index(Undefined, &pages), None);
}

#[test]
fn a_column_index_is_read_back() {
    let index = index(Signed, &[None, Some((1, 2))]).unwrap();
    assert_eq!(index.null_pages, [true, false]);
    assert_eq!(index.min_values.get(0), Some(&b""[..]));
    assert_eq!(index.max_values.get(1), Some(&[2, 0, 0, 0][..]));
    assert_eq!(index.null_counts, Some(vec![10, 1]));
    assert_eq!(index.nan_counts, None);
    assert_eq!(index.repetition_level_histograms, None);
    assert_eq!(index.definition_level_histograms, Some(vec![1, 9, 1, 9]));
    let mut writer = CompactWriter::new();
    index.encode(&mut writer);
    let read = ColumnIndex::decode(&writer.finish(), &Limits::default()).unwrap();
    assert_eq!(read, index);
}

#[test]
fn pages_of_nans() {
    let index = |ieee_order, pages: &[f64]| {
        let mut index = ColumnIndexBuilder::new(Float, Type::Double);
        for value in pages {
            let mut bounds = builder(Float, Type::Double);
            bounds.f64(&[*value]);
            index.push(PageSummary {
                null_page: false,
                bounds: &bounds.finish(ieee_order),
                null_count: 0,
                repetition_levels: &[],
                definition_levels: &[],
            });
        }
        index.finish()
    };
    // In type order, NaNs have no bounds, so the chunk has no index.
    assert_eq!(index(false, &[1.0, f64::NAN]), None);
    for pages in [&[1.0, f64::NAN][..], &[f64::NAN, 1.0], &[f64::NAN]] {
        let index = index(true, pages).unwrap();
        assert_eq!(index.boundary_order, BoundaryOrder::Unordered);
        assert_eq!(index.nan_counts.unwrap().iter().sum::<i64>(), 1);
    }
    let index = index(true, &[-0.0, 0.0, 2.0]).unwrap();
    assert_eq!(index.boundary_order, BoundaryOrder::Ascending);
    assert_eq!(index.nan_counts, Some(vec![0, 0, 0]));
}

#[test]
fn offsets_are_shifted_to_the_chunk() {
    let page = |offset, first_row_index| PageLocation::new(offset, 50, first_row_index);
    let mut offsets = OffsetIndexBuilder::default();
    offsets.push(page(0, 0), Some(3));
    offsets.push(page(50, 20), Some(0));
    let index = offsets.finish(1000);
    assert_eq!(index.page_locations, [page(1000, 0), page(1050, 20)]);
    assert_eq!(index.unencoded_byte_array_data_bytes, Some(vec![3, 0]));
    let mut offsets = OffsetIndexBuilder::default();
    offsets.push(page(0, 0), None);
    assert_eq!(offsets.finish(4).unencoded_byte_array_data_bytes, None);
}

/// A chunk's bounds are the bounds of its pages' bounds, in each order of numbers.
#[test]
fn bounds_of_numbers_are_merged_in_their_order() {
    for (order, physical, min, max) in [
        (Signed, Type::Int32, -1_i64, 7_i64),
        (Unsigned, Type::Int32, 3, -1),
        (Signed, Type::Int64, -1, 7),
        (Unsigned, Type::Int64, 3, -1),
    ] {
        let of = |values: &[i32]| {
            let mut bounds = builder(order, physical);
            let wide: Vec<i64> = values.iter().map(|value| i64::from(*value)).collect();
            match physical {
                Type::Int32 => bounds.i32(values),
                _ => bounds.i64(&wide),
            }
            bounds
        };
        let mut chunk = of(&[5, 4]);
        for page in [of(&[7, 3]), of(&[]), of(&[-1]), of(&[6])] {
            chunk.merge(&page);
        }
        let width = if physical == Type::Int32 { 4 } else { 8 };
        let (min, max) = (min.to_le_bytes(), max.to_le_bytes());
        let expected = (&min[..width], &max[..width]);
        assert_eq!(both(&chunk.finish(false)), expected, "{order:?} {physical}");
        // The bounds of the other side alone are taken as they are.
        let mut empty = of(&[]);
        empty.merge(&chunk);
        assert_eq!(both(&empty.finish(false)), expected, "{order:?} {physical}");
    }
}
