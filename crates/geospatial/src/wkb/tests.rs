//! Tests malformed values and opaque geometries. The folder `tests/it` tests valid values.

use super::*;

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> = hex.bytes().filter(|it| *it != b' ').collect();
    let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap();
    digits.chunks(2).map(byte).collect()
}

fn fault(hex: &str) -> String {
    fault_with(hex, ReadOptions::default())
}

fn fault_with(hex: &str, options: ReadOptions) -> String {
    let value = bytes(hex);
    let last = Events::with_options(&value, options).last();
    last.unwrap().unwrap_err().to_string()
}

const ONE: &str = "000000000000f03f";
const TWO: &str = "0000000000000040";

#[test]
fn faults_say_what_and_where() {
    let cases = [
        (
            "",
            "the item at byte 0 extends 1 bytes past the end of the value",
        ),
        (
            "01 0100",
            "the item at byte 1 extends 2 bytes past the end of the value",
        ),
        (
            "02 01000000",
            "the byte order at byte 0 is 2, neither 0 nor 1",
        ),
        (
            "01 a00f0000",
            "the geometry at byte 0 has the unknown type code 4000 (0x00000fa0)",
        ),
        (
            "01 00000000",
            "the geometry at byte 0 has the unknown type code 0 (0x00000000)",
        ),
        (
            "01 02000000 ffffffff",
            "the item at byte 9 extends 68719476720 bytes past the end of the value",
        ),
        (
            "01 04000000 01000000 01 02000000 00000000",
            "the part at byte 9 of a MULTIPOINT is a LINESTRING",
        ),
        (
            "01 05000000 01000000 01 10000000 00000000",
            "the part at byte 9 of a MULTILINESTRING is a TIN",
        ),
        (
            "01 07000000 00000000 0102",
            "the geometry ends at byte 9, but 2 more bytes follow",
        ),
    ];
    for (hex, wanted) in cases {
        assert_eq!(fault(hex), wanted, "{hex}");
    }
    assert_eq!(
        fault(&format!("01 01000000 {ONE}")),
        "the item at byte 5 extends 8 bytes past the end of the value"
    );
    assert_eq!(
        fault(&format!("01 03000000 01000000 02000000 {ONE}{TWO}{ONE}")),
        "the item at byte 13 extends 8 bytes past the end of the value"
    );
}

#[test]
fn limits_are_options() {
    let nested = |depth: usize| {
        format!(
            "{} 01 01000000 {ONE}{TWO}",
            "01 07000000 01000000".repeat(depth - 1)
        )
    };
    let value = bytes(&nested(MAX_DEPTH));
    assert_eq!(
        Events::new(&value).filter(Result::is_ok).count(),
        2 * MAX_DEPTH + 1
    );
    assert_eq!(
        fault(&nested(MAX_DEPTH + 1)),
        "the geometry at byte 288 is nested more deeply than `max_depth` allows, 32"
    );
    let shallow = ReadOptions {
        max_depth: 1,
        ..ReadOptions::default()
    };
    assert_eq!(
        fault_with(&nested(2), shallow),
        "the geometry at byte 9 is nested more deeply than `max_depth` allows, 1"
    );
    let short = ReadOptions {
        max_bytes: 20,
        ..ReadOptions::default()
    };
    assert_eq!(
        fault_with(&nested(1), short),
        "the geometry has 21 bytes, more than the 20 that `max_bytes` allows"
    );
}

/// Reads a CIRCULARSTRING inside a collection, and a type that ISO does not define yet.
#[test]
fn what_is_opaque_is_kept() {
    let collection = format!(
        "01 07000000 02000000 00 00000008 00000001 3ff0000000000000 4000000000000000 \
         01 01000000 {ONE}{TWO}"
    );
    let value = bytes(&collection);
    let events: Vec<_> = Events::new(&value).map(Result::unwrap).collect();
    let [
        Event::Start(outer),
        Event::Start(inner),
        Event::Opaque(rest),
    ] = events[..]
    else {
        panic!("{events:?}");
    };
    assert_eq!(outer.geometry_type.kind, GeometryKind::GeometryCollection);
    assert_eq!(inner.geometry_type.to_string(), "CIRCULARSTRING");
    assert_eq!(rest, &value[14..]);
    let mut copy = Vec::new();
    write_iso(&value, &mut copy).unwrap();
    assert_eq!(copy, value);

    let value = bytes("01 e60b0000 ff");
    let events: Vec<_> = Events::new(&value).map(Result::unwrap).collect();
    let Event::Start(header) = events[0] else {
        panic!("{events:?}");
    };
    assert_eq!(header.geometry_type.code(), 3046);
    assert_eq!(events[1..], [Event::Opaque(&[0xff])]);

    let extended = bytes("01 10000080 00000000");
    let error = write_iso(&extended, &mut Vec::new()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the geometry at byte 0 is a TIN, which is kept but not parsed"
    );
}

/// GEOS writes each part with its own dimensions.
#[test]
fn parts_have_dimensions_of_their_own() {
    let mixed = bytes(&format!(
        "01 ec030000 02000000 01 e9030000 {ONE}{TWO}{ONE} 01 01000000 {TWO}{ONE}"
    ));
    let mut text = String::new();
    crate::wkt::write(&mixed, &mut text).unwrap();
    assert_eq!(text, "MULTIPOINT Z ((1 2 1), (2 1 NaN))");
    let lost = bytes(&format!("01 04000000 01000000 01 e9030000 {ONE}{TWO}{ONE}"));
    let error = crate::wkt::write(&lost, &mut text).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the part at byte 9 of a MULTIPOINT is a POINT Z"
    );
}

#[test]
fn numbers_of_text_are_the_shortest() {
    for (number, wanted) in [
        (0.0, "0"),
        (-0.0, "-0"),
        (0.1, "0.1"),
        (1e300, "1e300"),
        (-2.5e-7, "-2.5e-7"),
        (123_456_789.125, "123456789.125"),
        (f64::NAN, "NaN"),
        (f64::NEG_INFINITY, "-inf"),
    ] {
        let mut text = String::new();
        crate::wkt::write_number(number, &mut text);
        assert_eq!(text, wanted);
    }
}
