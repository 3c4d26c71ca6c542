//! Checks bytes written by hand, according to the specification.

use herringbone_format::ErrorKind;
use herringbone_variant::{Limits, Metadata, Value, Variant, VariantType};

fn limits() -> Limits {
    Limits::default()
}

/// Returns metadata with these names in this order, and with offsets of `width` bytes.
pub(crate) fn metadata(names: &[&str], width: u8, sorted: bool) -> Vec<u8> {
    let mut out = vec![1 | u8::from(sorted) << 4 | (width - 1) << 6];
    let mut number = |number: usize| {
        out.extend_from_slice(&number.to_le_bytes()[..usize::from(width)]);
    };
    number(names.len());
    let mut end = 0;
    number(end);
    for name in names {
        end += name.len();
        number(end);
    }
    out.extend(names.iter().flat_map(|name| name.bytes()));
    out
}

/// Returns an object with fields (id, value), whose values are stored in the order `layout`.
pub(crate) fn object(
    fields: &[(u32, &[u8])],
    layout: &[usize],
    (large, id_width, offset_width): (bool, u8, u8),
) -> Vec<u8> {
    let mut out = vec![2 | (offset_width - 1) << 2 | (id_width - 1) << 4 | u8::from(large) << 6];
    let count = (fields.len() as u32).to_le_bytes();
    out.extend_from_slice(if large { &count } else { &count[..1] });
    for (id, _) in fields {
        out.extend_from_slice(&id.to_le_bytes()[..usize::from(id_width)]);
    }
    let mut offsets = vec![0; fields.len()];
    let mut values = Vec::new();
    for &field in layout {
        offsets[field] = values.len();
        values.extend_from_slice(fields[field].1);
    }
    offsets.push(values.len());
    for offset in offsets {
        out.extend_from_slice(&offset.to_le_bytes()[..usize::from(offset_width)]);
    }
    out.extend(values);
    out
}

pub(crate) fn array(elements: &[&[u8]], large: bool, offset_width: u8) -> Vec<u8> {
    let mut out = vec![3 | (offset_width - 1) << 2 | u8::from(large) << 4];
    let count = (elements.len() as u32).to_le_bytes();
    out.extend_from_slice(if large { &count } else { &count[..1] });
    let mut offset = 0;
    for size in std::iter::once(0).chain(elements.iter().map(|element| element.len())) {
        offset += size;
        out.extend_from_slice(&offset.to_le_bytes()[..usize::from(offset_width)]);
    }
    out.extend(elements.iter().copied().flatten());
    out
}

fn int8(number: u8) -> [u8; 2] {
    [3 << 2, number]
}

fn int_of(variant: Variant<'_>) -> i8 {
    match variant.value().unwrap() {
        Value::Int8(value) => value,
        other => panic!("{other:?}"),
    }
}

fn int_at(variant: Variant<'_>, name: &str) -> i8 {
    int_of(variant.field(name).unwrap().unwrap())
}

#[test]
fn metadata_of_every_width() {
    for width in 1..=4 {
        // Bit 5 is reserved, so it can have any value.
        for reserved in [0, 0x20] {
            let mut bytes = metadata(&["a", "", "bcd"], width, false);
            bytes[0] |= reserved;
            let names = Metadata::new(&bytes).unwrap();
            names.validate().unwrap();
            let all: Vec<_> = (0..3).map(|id| names.name(id).unwrap()).collect();
            assert_eq!(all, ["a", "", "bcd"]);
            assert_eq!(names.name(3).unwrap_err().kind(), ErrorKind::Corrupt);
            assert_eq!(names.name(u32::MAX).unwrap_err().kind(), ErrorKind::Corrupt);
            // Bytes after the value are not part of it.
            let size = bytes.len();
            bytes.push(0);
            assert_eq!(Metadata::new(&bytes).unwrap().as_bytes().len(), size);
        }
    }
}

#[test]
fn metadata_that_is_wrong() {
    let refused = |bytes: &[u8]| Metadata::new(bytes).and_then(|names| names.validate());
    for version in [0, 2, 15] {
        let error = refused(&[version, 0, 0]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    }
    // In these dictionaries, the first offset is 1, the offsets descend, a name is half of a
    // letter, and a name is not UTF-8.
    for bytes in [
        &[1, 1, 1, 2, b'a', b'b'][..],
        &[1, 3, 0, 2, 1, 2, b'a', b'b'],
        &[1, 2, 0, 1, 2, 0xC3, 0xA9],
        &[1, 1, 0, 1, 0xFF],
    ] {
        assert_eq!(refused(bytes).unwrap_err().kind(), ErrorKind::Corrupt);
    }
    // Spark has written empty metadata for nulls.
    assert!(Metadata::new(&[]).unwrap().is_empty());
}

#[test]
fn sizes_wider_than_they_need_to_be() {
    let names = metadata(&["a", "b", "c"], 1, true);
    let values = [int8(1), int8(2), int8(3)];
    let fields = [(0, &values[0][..]), (1, &values[1]), (2, &values[2])];
    for large in [false, true] {
        for width in 1..=4 {
            for id_width in 1..=4 {
                let mut bytes = object(&fields, &[2, 0, 1], (large, id_width, width));
                // Bit 5 of an object's value header is unused. It is bit 7 of the first byte.
                bytes[0] |= 0x80;
                let variant = Variant::validated(&names, &bytes, &limits()).unwrap();
                let numbers = ["a", "b", "c"].map(|name| int_at(variant, name));
                assert_eq!(numbers, [1, 2, 3]);
                assert!(variant.field("d").unwrap().is_none());
            }
            let bytes = array(&values.each_ref().map(|value| &value[..]), large, width);
            let variant = Variant::validated(&names, &bytes, &limits()).unwrap();
            let numbers = [0, 1, 2].map(|at| int_of(variant.element(at).unwrap().unwrap()));
            assert_eq!(numbers, [1, 2, 3]);
        }
    }
}

#[test]
fn gaps_between_values_are_legal() {
    let names = metadata(&["a", "b"], 1, true);
    // Field b comes first, then a byte that no offset points to, then a.
    let bytes = [2, 2, 0, 1, 3, 0, 5, 12, 7, 0xFF, 12, 8];
    let variant = Variant::validated(&names, &bytes, &limits()).unwrap();
    assert_eq!((int_at(variant, "a"), int_at(variant, "b")), (8, 7));
}

#[test]
fn fields_are_ordered_by_names_whatever_the_dictionary() {
    // IDs 1, 2 and 0 are a, b and c. The dictionary has `c` twice, and one of its names is not
    // used.
    let names = metadata(&["c", "a", "b", "c", "z"], 1, false);
    let values = [int8(1), int8(2), int8(3)];
    let fields = [(1, &values[0][..]), (2, &values[1]), (3, &values[2])];
    let bytes = object(&fields, &[0, 1, 2], (false, 1, 1));
    let variant = Variant::validated(&names, &bytes, &limits()).unwrap();
    assert_eq!(["a", "b", "c"].map(|name| int_at(variant, name)), [1, 2, 3]);
    // These fields are ordered by ID instead of by name.
    let fields = [(0, &values[0][..]), (1, &values[1]), (2, &values[2])];
    let bytes = object(&fields, &[0, 1, 2], (false, 1, 1));
    let error = Variant::validated(&names, &bytes, &limits()).unwrap_err();
    assert!(
        error
            .message()
            .contains("`a` of a variant object comes after `c`"),
        "{error}"
    );
    // These fields have one name, by two IDs.
    let fields = [(0, &values[0][..]), (3, &values[1])];
    let bytes = object(&fields, &[0, 1], (false, 1, 1));
    let error = Variant::validated(&names, &bytes, &limits()).unwrap_err();
    assert!(error.message().contains("two fields `c`"), "{error}");
}

/// A dictionary can be declared sorted although it is not.
#[test]
fn a_dictionary_that_only_says_it_is_sorted() {
    let names = metadata(&["b", "a"], 1, true);
    let values = [int8(1), int8(2)];
    let bytes = object(&[(1, &values[0]), (0, &values[1])], &[0, 1], (false, 1, 1));
    let variant = Variant::validated(&names, &bytes, &limits()).unwrap();
    assert_eq!((int_at(variant, "a"), int_at(variant, "b")), (1, 2));
}

#[test]
fn fields_in_the_order_of_utf16() {
    // U+1F600 is 0xD83D 0xDE00 in UTF-16, where it sorts before U+E000 and U+FF5E. In UTF-8 it
    // sorts after them.
    let ordered = ["a", "\u{1F600}", "\u{1F601}", "\u{E000}", "\u{FF5E}"];
    let names = metadata(&ordered, 1, false);
    let values: Vec<[u8; 2]> = (0..5).map(int8).collect();
    let fields: Vec<(u32, &[u8])> = (0..5).zip(values.iter().map(|value| &value[..])).collect();
    let bytes = object(&fields, &[0, 1, 2, 3, 4], (false, 1, 1));
    let variant = Variant::validated(&names, &bytes, &limits()).unwrap();
    for (number, name) in (0..).zip(ordered) {
        assert_eq!(int_at(variant, name), number, "{name}");
    }
    assert!(variant.field("\u{1F602}").unwrap().is_none());
    // This is not in either order.
    let fields = [fields[2], fields[0], fields[1]];
    let bytes = object(&fields, &[0, 1, 2], (false, 1, 1));
    assert!(Variant::validated(&names, &bytes, &limits()).is_err());
}

/// Checks each choice of names, up to the code points at which the two orders differ and around
/// them.
#[test]
fn every_field_is_found_in_either_order() {
    let all = [
        "a",
        "a\u{E000}",
        "a\u{1F600}",
        "b",
        "\u{D7FF}",
        "\u{D7FF}a",
        "\u{E000}",
        "\u{FFFD}",
        "\u{10000}",
        "\u{10FFFF}",
    ];
    for chosen in 0..1_usize << all.len() {
        let is_chosen = |at: usize| chosen >> at & 1 == 1;
        let mut fields: Vec<usize> = (0..all.len()).filter(|at| is_chosen(*at)).collect();
        for is_utf16 in [false, true] {
            match is_utf16 {
                true => fields.sort_by_key(|at| all[*at].encode_utf16().collect::<Vec<_>>()),
                false => fields.sort_by_key(|at| all[*at]),
            }
            let values: Vec<[u8; 2]> = fields.iter().map(|at| int8(*at as u8)).collect();
            let field_values = fields.iter().zip(&values);
            let field_values: Vec<(u32, &[u8])> = field_values
                .map(|(at, value)| (*at as u32, &value[..]))
                .collect();
            let layout: Vec<usize> = (0..fields.len()).collect();
            let bytes = object(&field_values, &layout, (false, 1, 1));
            let names = metadata(&all, 1, false);
            let variant = Variant::validated(&names, &bytes, &limits()).unwrap();
            for (at, name) in all.iter().enumerate() {
                let found = variant.field(name).unwrap();
                let found = found.map(|found| int_of(found) as usize);
                assert_eq!(found, is_chosen(at).then_some(at), "{name:?} of {fields:?}");
            }
        }
    }
}

#[test]
fn short_and_long_strings() {
    let short = [4 << 2 | 1, b'a', b'b', b'c', b'd'];
    let long = [16 << 2, 4, 0, 0, 0, b'a', b'b', b'c', b'd'];
    for bytes in [&short[..], &long] {
        let variant = Variant::validated(&[], bytes, &limits()).unwrap();
        assert!(matches!(variant.value().unwrap(), Value::String("abcd")));
        assert_eq!(variant.variant_type(), VariantType::String);
    }
    let wrong = [2 << 2 | 1, 0xC3, b'b'];
    assert!(Variant::validated(&[], &wrong, &limits()).is_err());
    // Binary values can have any bytes.
    let binary = [15 << 2, 2, 0, 0, 0, 0xC3, 0xFF];
    let variant = Variant::validated(&[], &binary, &limits()).unwrap();
    assert!(matches!(
        variant.value().unwrap(),
        Value::Binary([0xC3, 0xFF])
    ));
}

#[test]
fn decimals_have_a_scale_of_up_to_38() {
    let decimal = |scale| [8 << 2, scale, 0xFF, 0xFF, 0xFF, 0xFF];
    let bytes = decimal(38);
    let Value::Decimal4(value) = Variant::new(&[], &bytes).unwrap().value().unwrap() else {
        panic!("a decimal4");
    };
    assert_eq!((value.unscaled, value.scale), (-1, 38));
    let error = Variant::validated(&[], &decimal(39), &limits()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
}

#[test]
fn types_of_the_future_leave_others_alone() {
    let names = metadata(&["a", "b", "c"], 1, true);
    let unknown = [21 << 2, 1, 2, 3];
    let number = int8(7);
    let fields = [(0, &unknown[..]), (1, &number), (2, &[63 << 2])];
    for layout in [[0, 1, 2], [1, 2, 0], [2, 0, 1]] {
        let bytes = object(&fields, &layout, (false, 1, 1));
        let variant = Variant::validated(&names, &bytes, &limits()).unwrap();
        assert_eq!(int_at(variant, "b"), 7);
        let a = variant.field("a").unwrap().unwrap();
        assert_eq!(a.variant_type(), VariantType::Unknown(21));
        assert_eq!(a.as_bytes(), unknown);
        let Value::Unknown { id: 21, data } = a.value().unwrap() else {
            panic!("unknown");
        };
        assert_eq!(data, [1, 2, 3]);
        let sizes: Vec<usize> = variant
            .as_object()
            .unwrap()
            .unwrap()
            .iter()
            .map(|field| field.unwrap().1.as_bytes().len())
            .collect();
        assert_eq!(sizes, [4, 2, 1]);
    }
}

#[test]
fn ids_and_offsets_that_lead_outside() {
    let names = metadata(&["a"], 1, true);
    // Here a name is not in the dictionary, a value begins past the end, one ends past it, one has
    // no bytes, and there are fewer bytes than the last offset requires.
    for bytes in [
        &[2, 1, 1, 0, 2, 12, 7][..],
        &[2, 1, 0, 3, 2, 12, 7],
        &[2, 1, 0, 1, 2, 12, 12],
        &[2, 1, 0, 0, 0],
        &[2, 1, 0, 0, 3, 12, 7],
        &[3, 1, 3, 2, 12, 7],
        &[3, 1, 0, 1, 12],
        &[3, 0, 1],
    ] {
        let variant = Variant::validated(&names, bytes, &limits());
        assert_eq!(variant.unwrap_err().kind(), ErrorKind::Corrupt, "{bytes:?}");
    }
}

/// If elements shared their bytes, a walk could take exponential time.
#[test]
fn values_do_not_share_bytes() {
    let mut bytes = int8(1).to_vec();
    for _ in 0..40 {
        let size = bytes.len().to_le_bytes();
        let mut level = vec![3 | 1 << 2, 2, 0, 0, 0, 0, size[0], size[1]];
        level.append(&mut bytes);
        bytes = level;
    }
    let error = Variant::validated(&[], &bytes, &limits()).unwrap_err();
    assert!(error.message().contains("share bytes"), "{error}");
}

#[test]
fn depth_is_limited_and_nothing_recurses() {
    fn nested(depth: usize) -> Vec<u8> {
        let mut bytes = vec![0];
        for _ in 0..depth {
            bytes = array(&[&bytes], false, 4);
        }
        bytes
    }
    let mut limits = Limits::default();
    assert!(Variant::validated(&[], &nested(1000), &limits).is_ok());
    let error = Variant::validated(&[], &nested(1001), &limits).unwrap_err();
    assert_eq!(error.limit_name(), Some("variant_depth"));
    limits.variant_depth = usize::MAX;
    assert!(Variant::validated(&[], &nested(5_000), &limits).is_ok());
    limits.variant_bytes = 10;
    let error = Variant::validated(&[], &nested(1), &limits).map(|_| ());
    assert!(error.is_err_and(|error| error.limit_name() == Some("variant_bytes")));
}
