//! Shreds values into columns.

use herringbone_arrow::array::Array;
use herringbone_arrow::array::cast::AsArray as _;
use herringbone_arrow::array::types::{Int8Type, Int64Type};
use herringbone_variant::shredding::{Shredder, ShreddingType, UnshredOptions, VariantArray};
use herringbone_variant::{Limits, PrimitiveType, Variant};

use super::{column, json, object, primitive, shred, values};
use crate::official::all;

/// Checks the example in the table of "Value Shredding", which has 34, null, "n/a" and 100.
#[test]
fn measurements_of_the_specification() {
    let input = [Some("34"), Some("null"), Some("\"n/a\""), Some("100")];
    let array = shred(&input, primitive(PrimitiveType::Int64));
    let typed = column(&array, "typed_value").as_primitive::<Int64Type>();
    assert_eq!(
        typed.iter().collect::<Vec<_>>(),
        [Some(34), None, None, Some(100)]
    );
    let value = |bytes: &[u8]| Some(bytes.to_vec());
    let expected = [None, value(&[0]), value(b"\x0Dn/a"), None];
    assert_eq!(values(&array, "value"), expected);
    assert!(
        values(&array, "metadata")
            .iter()
            .all(|it| it.as_deref() == Some(&[0x11, 0, 0][..]))
    );
    assert_eq!(
        json(&array, &UnshredOptions::default()),
        input.map(|input| input.map(str::to_owned))
    );
}

/// Checks the example in the table of "Arrays".
#[test]
fn tags_of_the_specification() {
    let input = [
        Some(r#"["comedy","drama"]"#),
        Some(r#"["horror",null]"#),
        Some(r#"["comedy","drama","romance"]"#),
        Some("null"),
        None,
        Some("[]"),
    ];
    let strings = primitive(PrimitiveType::String);
    let array = shred(&input, ShreddingType::Array(Box::new(strings)));
    let list = column(&array, "typed_value").as_list::<i32>();
    assert_eq!(list.value_offsets(), [0, 2, 4, 7, 7, 7, 7]);
    let validity: Vec<bool> = (0..6).map(|row| list.is_valid(row)).collect();
    assert_eq!(validity, [true, true, true, false, false, true]);
    let elements = list.values().as_struct();
    let typed = column(elements, "typed_value").as_string_view();
    let typed: Vec<_> = typed.iter().collect();
    assert_eq!(
        typed[..4],
        [Some("comedy"), Some("drama"), Some("horror"), None]
    );
    assert_eq!(values(elements, "value")[3], Some(vec![0]));
    assert_eq!(
        json(&array, &UnshredOptions::default()),
        input.map(|input| input.map(str::to_owned))
    );
}

/// Checks the example in the table of "Objects".
#[test]
fn events_of_the_specification() {
    let micros = PrimitiveType::Timestamp {
        nanos: false,
        utc: true,
    };
    let shredding = object(&[
        ("event_type", primitive(PrimitiveType::String)),
        ("event_ts", primitive(PrimitiveType::Int64)),
        ("at", primitive(micros)),
    ]);
    let input = [
        Some(r#"{"event_ts":1729794114937,"event_type":"noop"}"#),
        Some(r#"{"email":"user@example.com","event_ts":1729794146402,"event_type":"login"}"#),
        Some(r#"{"error_msg":"malformed: ..."}"#),
        Some(r#""malformed: not an object""#),
        Some(r#"{"event_ts":1729794954163,"event_type":null}"#),
        Some(r#"{"event_ts":"2024-10-24","event_type":"noop"}"#),
        Some("{}"),
        Some("null"),
        None,
    ];
    let array = shred(&input, shredding);
    let valid = |path: &str| -> Vec<bool> {
        (0..9)
            .map(|row| column(&array, path).is_valid(row))
            .collect()
    };
    assert_eq!(
        valid("value"),
        [false, true, true, true, false, false, false, true, false]
    );
    assert_eq!(
        valid("typed_value"),
        [true, true, true, false, true, true, true, false, false]
    );
    assert_eq!(
        valid("typed_value/event_type/typed_value"),
        [true, true, false, false, false, true, false, false, false]
    );
    assert_eq!(
        valid("typed_value/event_type/value"),
        [false, false, false, false, true, false, false, false, false]
    );
    assert_eq!(
        valid("typed_value/event_ts/value"),
        [false, false, false, false, false, true, false, false, false]
    );
    assert_eq!(
        json(&array, &UnshredOptions::default()),
        input.map(|input| input.map(str::to_owned))
    );
    let shredded = VariantArray::try_new(&array).unwrap();
    let shredded = shredded.shredding_type();
    assert!(matches!(shredded, ShreddingType::Object(fields) if fields.len() == 3));
}

/// The rest of an object has the smallest widths that fit.
#[test]
fn wide_rests_of_objects() {
    let long = format!("\"{}\"", "x".repeat(70_000));
    for (fields, value) in [(1, "1"), (1, long.as_str()), (300, "1"), (700, "\"text\"")] {
        let fields: Vec<String> = (0..fields)
            .map(|field| format!("\"f{field:03}\":{value}"))
            .collect();
        let text = format!("{{{},\"shredded\":5}}", fields.join(","));
        let int = primitive(PrimitiveType::Int8);
        let array = shred(&[Some(&text)], object(&[("shredded", int)]));
        let value = values(&array, "value").remove(0).unwrap();
        let metadata = values(&array, "metadata").remove(0).unwrap();
        let rest = Variant::validated(&metadata, &value, &Limits::default()).unwrap();
        assert_eq!(rest.as_object().unwrap().unwrap().len(), fields.len());
        assert!(rest.field("shredded").unwrap().is_none());
        assert_eq!(json(&array, &UnshredOptions::default()), [Some(text)]);
    }
}

#[test]
fn unshredded_values_have_a_value_each() {
    let input = [Some("1"), None, Some("{}")];
    let array = shred(&input, ShreddingType::Unshredded);
    assert_eq!(column(&array, "value").null_count(), 0);
    let data_type = array.data_type().clone();
    assert_eq!(
        json(&array, &UnshredOptions::default()),
        input.map(|input| input.map(str::to_owned))
    );
    let again = VariantArray::try_new(&array).unwrap();
    let again = again.unshred(&UnshredOptions::default()).unwrap();
    assert_eq!(again.data_type(), &data_type);
    assert!(again.is_null(1) && again.is_valid(0));
}

/// Shreds each official value into a column of each type. The value stays unshredded if it does not
/// fit there.
#[test]
fn official_values_come_back() {
    use PrimitiveType as T;
    let timestamp = |nanos, utc| T::Timestamp { nanos, utc };
    let types = [
        T::Boolean,
        T::Int8,
        T::Int16,
        T::Int32,
        T::Int64,
        T::Float,
        T::Double,
        T::Decimal {
            precision: 9,
            scale: 2,
        },
        T::Decimal {
            precision: 18,
            scale: 2,
        },
        T::Decimal {
            precision: 38,
            scale: 2,
        },
        T::Date,
        T::Time,
        timestamp(false, false),
        timestamp(false, true),
        timestamp(true, false),
        timestamp(true, true),
        T::String,
        T::Binary,
        T::Uuid,
    ];
    let mut shredded = 0;
    for wanted in types {
        let mut shredder = Shredder::new(primitive(wanted)).unwrap();
        let files = all();
        for file in &files {
            shredder.append(file.variant()).unwrap();
        }
        let array = shredder.finish().unwrap();
        let column = array.column_by_name("typed_value").unwrap();
        shredded += column.len() - column.null_count();
        let array = VariantArray::try_new(&array).unwrap();
        for (row, file) in files.iter().enumerate() {
            let value = array
                .value(row, &UnshredOptions::default())
                .unwrap()
                .unwrap();
            let equal = value
                .as_variant()
                .equals(&file.variant(), &Limits::default());
            assert!(equal.unwrap(), "{} as {wanted:?}", file.name);
        }
    }
    if !all().is_empty() {
        // The number of shredded values:
        //
        // - 2 booleans;
        // - 1 to 4 integers in the integer types;
        // - the integers that fit and 1 to 3 decimals in the decimal types;
        // - 2 floating point numbers;
        // - a date and a time;
        // - 1 timestamp in each microsecond type, as the nanoseconds are not whole microseconds, and 2 in each
        //   nanosecond type;
        // - 3 strings;
        // - a binary value;
        // - a UUID.
        let (integers, decimals) = (1 + 2 + 3 + 4, (3 + 1) + (3 + 2) + (4 + 3));
        let timestamps = 1 + 1 + 2 + 2;
        assert_eq!(
            shredded,
            2 + integers + decimals + 2 + 2 + timestamps + 3 + 1 + 1
        );
    }
}

/// Some writers order fields by UTF-16. We still shred these fields, and leave no part of them in
/// `value`.
#[test]
fn fields_in_any_order_are_shredded() {
    let int8 = |value: u8| [3 << 2, value];
    let values: Vec<[u8; 2]> = (0..4).map(int8).collect();
    // In UTF-16, U+1F600 sorts before U+E000. In UTF-8 it sorts after it.
    let in_utf16 = ["a", "\u{1F600}", "\u{E000}", "z"];
    let in_utf8 = ["a", "z", "\u{E000}", "\u{1F600}"];
    for ordered in [in_utf8, ["a", "z", "\u{1F600}", "\u{E000}"], in_utf16] {
        let names = crate::encoding::metadata(&ordered, 1, false);
        let fields: Vec<(u32, &[u8])> = (0..4).zip(values.iter().map(|value| &value[..])).collect();
        let bytes = crate::encoding::object(&fields, &[0, 1, 2, 3], (false, 1, 1));
        let value = Variant::new(&names, &bytes).unwrap();
        for shredded in [&ordered[..], &ordered[1..3], &["b", "\u{1F600}", "y"]] {
            let fields = shredded.iter();
            let fields = fields.map(|name| (*name, primitive(PrimitiveType::Int8)));
            let fields: Vec<_> = fields.collect();
            let mut shredder = Shredder::new(object(&fields)).unwrap();
            shredder.append(value).unwrap();
            let array = shredder.finish().unwrap();
            let typed = array.column_by_name("typed_value").unwrap().as_struct();
            for name in shredded {
                let group = typed.column_by_name(name).unwrap().as_struct();
                let column = group.column_by_name("typed_value").unwrap();
                let column = column.as_primitive::<Int8Type>();
                let wanted = ordered.iter().position(|ordered| ordered == name);
                let found = column.is_valid(0).then(|| column.value(0) as usize);
                assert_eq!(found, wanted, "{name} of {ordered:?}");
            }
            let left = array.column_by_name("value").unwrap();
            let is_whole = ordered.iter().all(|name| shredded.contains(name));
            assert_eq!(left.is_null(0), is_whole, "{shredded:?} of {ordered:?}");
        }
    }
}

/// A repeated field does not fit in any column.
#[test]
fn fields_of_one_name_are_an_error() {
    let names = crate::encoding::metadata(&["a", "a", "b"], 1, false);
    let (one, two): (&[u8], &[u8]) = (&[12, 1], &[12, 2]);
    let fields = [(0, one), (1, two), (2, one)];
    let bytes = crate::encoding::object(&fields, &[0, 1, 2], (false, 1, 1));
    let value = Variant::new(&names, &bytes).unwrap();
    let mut shredder = Shredder::new(object(&[("a", primitive(PrimitiveType::Int8))])).unwrap();
    let error = shredder.append(value).unwrap_err();
    assert!(error.message().contains("two fields `a`"), "{error}");
}
