//! Checks paths, and casts of values to one type.

use std::borrow::Cow;

use herringbone_format::ErrorKind;
use herringbone_variant::{
    Cast, CastOptions, Decimal, PathPart, PrimitiveType, Scalar, Value, VariantBuf, VariantBuilder,
    VariantPath, VariantType,
};

#[test]
fn paths_are_parsed_and_printed() {
    let root = VariantPath::root;
    for (text, expected, printed) in [
        ("$", root(), "$"),
        ("$.a", root().field("a"), "$.a"),
        (
            "a.b[0]",
            root().field("a").field("b").element(0),
            "$.a.b[0]",
        ),
        ("[3].x", root().element(3).field("x"), "$[3].x"),
        (
            "$.a['b.c'][0]",
            root().field("a").field("b.c").element(0),
            "$.a['b.c'][0]",
        ),
        ("$[\"it's\"]", root().field("it's"), "$.it's"),
        ("$['it\\'s.']", root().field("it's."), "$['it\\'s.']"),
        ("$['\\\\[']", root().field("\\["), "$['\\\\[']"),
        ("$['']", root().field(""), "$['']"),
        ("$.ä ö-$", root().field("ä ö-$"), "$.ä ö-$"),
        ("$['$']", root().field("$"), "$.$"),
        (
            "$.items[*].id",
            root().field("items").every_element().field("id"),
            "$.items[*].id",
        ),
    ] {
        let path: VariantPath = text.parse().unwrap();
        assert_eq!(path, expected, "{text}");
        assert_eq!(path.to_string(), printed);
        assert_eq!(printed.parse::<VariantPath>().unwrap(), expected);
    }
    let path = VariantPath::from(vec![PathPart::Field("a".to_owned())]);
    assert_eq!(path.parts(), [PathPart::Field("a".to_owned())]);
}

#[test]
fn paths_that_are_none() {
    for (text, message) in [
        ("", "lacks the name of a field at byte 0"),
        ("$a", "lacks `.` or `[` at byte 1"),
        ("$.", "lacks the name of a field at byte 2"),
        ("$..a", "lacks the name of a field at byte 2"),
        (
            "$.a[",
            "lacks the number of an element, `*`, or a quote at byte 4",
        ),
        ("$[-1]", "lacks the number of an element"),
        ("$[99999999999999999999]", "lacks the number of an element"),
        ("$[0", "lacks `]` at byte 3"),
        ("$['a]", "lacks the closing quote at byte 5"),
        ("$['a'", "lacks `]`"),
        ("$['\\n']", "lacks a quote or a backslash at byte 4"),
        ("$[0]a", "lacks `.` or `[` at byte 4"),
    ] {
        let error = text.parse::<VariantPath>().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Argument);
        assert!(error.message().contains(message), "{text}: {error}");
    }
}

#[test]
fn missing_null_and_misfit_are_told_apart() {
    let value = r#"{"a": {"b.c": [7, null, "x"]}, "n": null}"#;
    let value = VariantBuf::from_json(value).unwrap();
    let get = |path: &str| {
        let path = path.parse().unwrap();
        let options = CastOptions::default();
        value
            .as_variant()
            .get_as(&path, PrimitiveType::Int8, options)
    };
    assert_eq!(get("$.a['b.c'][0]").unwrap(), Cast::Value(Scalar::Int(7)));
    assert_eq!(get("$.a['b.c'][1]").unwrap(), Cast::Null);
    assert_eq!(get("$.n").unwrap(), Cast::Null);
    assert_eq!(
        get("$.a['b.c'][2]").unwrap(),
        Cast::Mismatch(VariantType::String)
    );
    assert_eq!(get("$.a").unwrap(), Cast::Mismatch(VariantType::Object));
    for missing in ["$.b", "$.a.b.c", "$.a['b.c'][3]", "$.a[0]", "$.n.x", "$[0]"] {
        assert_eq!(get(missing).unwrap(), Cast::Missing, "{missing}");
    }
    assert_eq!(
        get("$.a['b.c'][*]").unwrap_err().kind(),
        ErrorKind::Unsupported
    );
    let wrong = PrimitiveType::Decimal {
        precision: 3,
        scale: 4,
    };
    let error = value.as_variant().cast(wrong, CastOptions::default());
    assert_eq!(error.unwrap_err().kind(), ErrorKind::Argument);
}

fn cast(value: Value<'_>, wanted: PrimitiveType, options: CastOptions) -> Option<Scalar<'static>> {
    let mut builder = VariantBuilder::new();
    builder.push(value).unwrap();
    let built = builder.finish().unwrap();
    match built.as_variant().cast(wanted, options).unwrap() {
        Cast::Value(Scalar::String(text)) => Some(Scalar::String(Cow::Owned(text.into_owned()))),
        Cast::Value(Scalar::Binary(it)) => Some(Scalar::Binary(Cow::Owned(it.into_owned()))),
        Cast::Value(Scalar::Boolean(value)) => Some(Scalar::Boolean(value)),
        Cast::Value(Scalar::Int(value)) => Some(Scalar::Int(value)),
        Cast::Value(Scalar::Float(value)) => Some(Scalar::Float(value)),
        Cast::Value(Scalar::Double(value)) => Some(Scalar::Double(value)),
        Cast::Value(Scalar::Decimal(value)) => Some(Scalar::Decimal(value)),
        Cast::Value(Scalar::Date(value)) => Some(Scalar::Date(value)),
        Cast::Value(Scalar::Time(value)) => Some(Scalar::Time(value)),
        Cast::Value(Scalar::Timestamp(value)) => Some(Scalar::Timestamp(value)),
        Cast::Value(Scalar::Uuid(value)) => Some(Scalar::Uuid(value)),
        Cast::Mismatch(found) => {
            assert_eq!(found, value.variant_type());
            None
        }
        other => panic!("{other:?}"),
    }
}

fn decimal(precision: u8, scale: u8) -> PrimitiveType {
    PrimitiveType::Decimal { precision, scale }
}

fn timestamp(nanos: bool, utc: bool) -> PrimitiveType {
    PrimitiveType::Timestamp { nanos, utc }
}

#[test]
fn numbers_are_cast_exactly() {
    use PrimitiveType as T;
    let dec = |unscaled, scale| Value::Decimal16(Decimal::new(unscaled, scale));
    let int = |value| Some(Scalar::Int(value));
    let scaled = |unscaled, scale| Some(Scalar::Decimal(Decimal::new(unscaled, scale)));
    for (value, wanted, expected) in [
        (Value::Int64(127), T::Int8, int(127)),
        (Value::Int64(128), T::Int8, None),
        (Value::Int64(-32_769), T::Int16, None),
        (Value::Int8(-1), T::Int64, int(-1)),
        (dec(1200, 2), T::Int8, int(12)),
        (dec(1250, 2), T::Int8, None),
        (dec(1 << 64, 0), T::Int64, None),
        (Value::Double(3.0), T::Int32, int(3)),
        (Value::Double(3.5), T::Int32, None),
        (Value::Double(f64::NAN), T::Int32, None),
        (Value::Float(-2.0), T::Int32, int(-2)),
        (Value::Double(9_223_372_036_854_775_808.0), T::Int64, None),
        (Value::Int8(5), decimal(3, 2), scaled(500, 2)),
        (Value::Int8(50), decimal(3, 2), None),
        (dec(1250, 2), decimal(4, 1), scaled(125, 1)),
        (dec(1255, 2), decimal(4, 1), None),
        (Value::Double(0.5), decimal(3, 2), scaled(50, 2)),
        (Value::Double(0.1), decimal(38, 38), None),
        (
            Value::Int64(1 << 53),
            T::Double,
            Some(Scalar::Double(9_007_199_254_740_992.0)),
        ),
        (Value::Int64((1 << 53) + 1), T::Double, None),
        (dec(((1 << 53) + 1) * 10, 1), T::Double, None),
        (dec(11, 1), T::Double, Some(Scalar::Double(1.1))),
        (dec(11, 1), T::Float, Some(Scalar::Float(1.1))),
        (Value::Int32(16_777_217), T::Float, None),
        (Value::Float(0.5), T::Double, Some(Scalar::Double(0.5))),
        (Value::Double(0.5), T::Float, Some(Scalar::Float(0.5))),
        (Value::Double(0.1), T::Float, None),
        (Value::Double(1e300), T::Float, None),
        (
            Value::Double(f64::INFINITY),
            T::Float,
            Some(Scalar::Float(f32::INFINITY)),
        ),
        (Value::Boolean(true), T::Int8, None),
        (Value::Int8(1), T::Boolean, None),
        (Value::String("1"), T::Int8, None),
        (Value::Int8(1), T::String, None),
    ] {
        let cast = cast(value, wanted, CastOptions::default());
        assert_eq!(cast, expected, "{value:?} as {wanted:?}");
    }
}

#[test]
fn dates_and_timestamps_are_cast_exactly() {
    use PrimitiveType as T;
    const DAY: i64 = 86_400_000_000;
    let stamp = |value| Some(Scalar::Timestamp(value));
    for (value, wanted, expected) in [
        (Value::Date(-1), T::Date, Some(Scalar::Date(-1))),
        (Value::Date(-1), timestamp(false, false), stamp(-DAY)),
        (Value::Date(1), timestamp(true, false), stamp(DAY * 1000)),
        (Value::Date(i32::MAX), timestamp(true, false), None),
        (Value::Date(1), timestamp(false, true), None),
        (Value::TimestampNtz(-DAY), T::Date, Some(Scalar::Date(-1))),
        (Value::TimestampNtz(DAY + 1), T::Date, None),
        (
            Value::TimestampNtzNanos(DAY * 1000),
            T::Date,
            Some(Scalar::Date(1)),
        ),
        (Value::Timestamp(DAY), T::Date, None),
        (Value::Timestamp(1), timestamp(false, false), None),
        (Value::Timestamp(1), timestamp(true, true), stamp(1000)),
        (Value::Timestamp(i64::MAX), timestamp(true, true), None),
        (
            Value::TimestampNanos(-1000),
            timestamp(false, true),
            stamp(-1),
        ),
        (Value::TimestampNanos(1001), timestamp(false, true), None),
        (
            Value::TimestampNtzNanos(5),
            timestamp(true, false),
            stamp(5),
        ),
        (Value::Time(5), T::Time, Some(Scalar::Time(5))),
        (Value::Uuid([1; 16]), T::Uuid, Some(Scalar::Uuid([1; 16]))),
        (Value::Binary(&[1; 16]), T::Uuid, None),
    ] {
        let cast = cast(value, wanted, CastOptions::default());
        assert_eq!(cast, expected, "{value:?} as {wanted:?}");
    }
}

#[test]
fn strings_are_parsed_on_request() {
    use PrimitiveType as T;
    let mut options = CastOptions::default();
    options.parse_strings = true;
    for (text, wanted, expected) in [
        ("TRUE", T::Boolean, Some(Scalar::Boolean(true))),
        ("yes", T::Boolean, None),
        ("-12", T::Int8, Some(Scalar::Int(-12))),
        ("12.0", T::Int8, Some(Scalar::Int(12))),
        ("12.5", T::Int8, None),
        ("-0", T::Int8, Some(Scalar::Int(0))),
        (" 12", T::Int8, None),
        ("1e1", T::Int8, None),
        (
            "1.5",
            decimal(3, 2),
            Some(Scalar::Decimal(Decimal::new(150, 2))),
        ),
        ("1e1", T::Double, Some(Scalar::Double(10.0))),
        ("1e400", T::Double, None),
        ("inf", T::Double, None),
        (
            "-Infinity",
            T::Double,
            Some(Scalar::Double(f64::NEG_INFINITY)),
        ),
        ("0.1", T::Float, Some(Scalar::Float(0.1))),
        ("1970-01-02", T::Date, Some(Scalar::Date(1))),
        ("00:00:01", T::Time, Some(Scalar::Time(1_000_000))),
        (
            "1970-01-01T00:00:01Z",
            timestamp(false, true),
            Some(Scalar::Timestamp(1_000_000)),
        ),
        ("1970-01-01T00:00:01Z", timestamp(false, false), None),
        ("1970-01-01T00:00:01", timestamp(false, true), None),
        (
            "AQI=",
            T::Binary,
            Some(Scalar::Binary(Cow::Owned(vec![1, 2]))),
        ),
        ("text", T::String, Some(Scalar::String("text".into()))),
    ] {
        assert_eq!(
            cast(Value::String(text), wanted, options),
            expected,
            "{text:?} as {wanted:?}"
        );
    }
}

#[test]
fn values_are_written_as_text_on_request() {
    let mut options = CastOptions::default();
    options.format_strings = true;
    for (value, expected) in [
        (Value::String("a\"b"), Some("a\"b")),
        (Value::Boolean(true), Some("true")),
        (Value::Int8(-5), Some("-5")),
        (Value::Decimal4(Decimal::new(150, 2)), Some("1.50")),
        (Value::Double(1e300), Some("1e300")),
        (Value::Float(f32::NEG_INFINITY), Some("-Infinity")),
        (Value::Date(0), Some("1970-01-01")),
        (Value::Time(0), Some("00:00:00.000000")),
        (Value::Timestamp(0), Some("1970-01-01T00:00:00.000000Z")),
        (Value::Binary(&[1, 2]), Some("AQI=")),
        (
            Value::Uuid([0; 16]),
            Some("00000000-0000-0000-0000-000000000000"),
        ),
    ] {
        let expected = expected.map(|text| Scalar::String(text.into()));
        assert_eq!(cast(value, PrimitiveType::String, options), expected);
    }
    let object = VariantBuf::from_json("{}").unwrap();
    let cast = object
        .as_variant()
        .cast(PrimitiveType::String, options)
        .unwrap();
    assert_eq!(cast, Cast::Mismatch(VariantType::Object));
}
