//! Tests of columns without nesting, with physical types, annotations of both kinds, and options.

use herringbone_arrow::schema::TimeUnit;

use super::{arrow, describe, schema};
use crate::{ByteLayout, DictionaryOutput, SchemaOptions, to_arrow};

/// Returns the Arrow type of `optional TYPE a ANNOTATION`.
fn of(column: &str) -> String {
    let (type_, annotation) = column.split_once(' ').unwrap_or((column, ""));
    let text = arrow(&format!("optional {type_} a {annotation};"));
    text.strip_prefix("a: ").unwrap().to_owned()
}

fn under(options: &SchemaOptions, fields: &str) -> String {
    describe(&to_arrow(&schema(fields), &[], options).unwrap())
}

#[test]
fn physical_types() {
    for (column, expected) in [
        ("boolean", "Boolean"),
        ("int32", "Int32"),
        ("int64", "Int64"),
        ("int96", "Timestamp(ns)"),
        ("float", "Float32"),
        ("double", "Float64"),
        ("binary", "Binary"),
        ("fixed_len_byte_array(5)", "FixedSizeBinary(5)"),
        ("fixed_len_byte_array(0)", "FixedSizeBinary(0)"),
    ] {
        assert_eq!(of(column), expected, "{column}");
    }
    assert_eq!(arrow("required int32 a;"), "a: Int32 not null");
}

#[test]
fn logical_types() {
    let json = "{ARROW:extension:metadata=} {ARROW:extension:name=arrow.json}";
    for (column, expected) in [
        ("binary (STRING)", "Utf8".to_owned()),
        ("binary (ENUM)", "Utf8".to_owned()),
        ("binary (JSON)", format!("Utf8 {json}")),
        ("binary (BSON)", "Binary".to_owned()),
        (
            "fixed_len_byte_array(16) (UUID)",
            "FixedSizeBinary(16) {ARROW:extension:name=arrow.uuid}".to_owned(),
        ),
        ("fixed_len_byte_array(2) (FLOAT16)", "Float16".to_owned()),
        ("int32 (DATE)", "Date32".to_owned()),
        ("int32 (TIME(MILLIS,false))", "Time32(ms)".to_owned()),
        (
            "int32 (TIME(MILLIS,true))",
            "Time32(ms) {adjusted_to_utc=true}".to_owned(),
        ),
        ("int64 (TIME(MICROS,false))", "Time64(µs)".to_owned()),
        (
            "int64 (TIME(NANOS,true))",
            "Time64(ns) {adjusted_to_utc=true}".to_owned(),
        ),
        (
            "int64 (TIMESTAMP(MILLIS,true))",
            "Timestamp(ms, UTC)".to_owned(),
        ),
        (
            "int64 (TIMESTAMP(MICROS,false))",
            "Timestamp(µs)".to_owned(),
        ),
        (
            "int64 (TIMESTAMP(NANOS,true))",
            "Timestamp(ns, UTC)".to_owned(),
        ),
        (
            "fixed_len_byte_array(12) (TIMESTAMP(NANOS,true))",
            "Timestamp(ns, UTC)".to_owned(),
        ),
        ("int32 (INTEGER(8,true))", "Int8".to_owned()),
        ("int32 (INTEGER(16,false))", "UInt16".to_owned()),
        ("int32 (INTEGER(32,true))", "Int32".to_owned()),
        ("int32 (INTEGER(32,false))", "UInt32".to_owned()),
        ("int64 (INTEGER(64,true))", "Int64".to_owned()),
        ("int64 (INTEGER(64,false))", "UInt64".to_owned()),
        (
            "binary (GEOMETRY)",
            "Binary {PARQUET:logical_type=GEOMETRY}".to_owned(),
        ),
        (
            "binary (GEOMETRY(srid:4326))",
            "Binary {PARQUET:logical_type=GEOMETRY(crs=srid:4326)}".to_owned(),
        ),
        (
            "binary (GEOGRAPHY(OGC:CRS84,KARNEY))",
            "Binary {PARQUET:logical_type=GEOGRAPHY(crs=OGC:CRS84, algorithm=KARNEY)}".to_owned(),
        ),
    ] {
        assert_eq!(of(column), expected, "{column}");
    }
}

#[test]
fn unknown_is_null_on_any_physical_type() {
    for physical in [
        "boolean",
        "int32",
        "int96",
        "binary",
        "fixed_len_byte_array(3)",
    ] {
        assert_eq!(of(&format!("{physical} (UNKNOWN)")), "Null");
    }
}

#[test]
fn converted_types() {
    let json = "{ARROW:extension:metadata=} {ARROW:extension:name=arrow.json}";
    for (column, expected) in [
        ("binary (UTF8)", "Utf8".to_owned()),
        ("binary (converted:ENUM)", "Utf8".to_owned()),
        ("binary (converted:JSON)", format!("Utf8 {json}")),
        ("binary (converted:BSON)", "Binary".to_owned()),
        ("int32 (converted:DATE)", "Date32".to_owned()),
        (
            "int32 (TIME_MILLIS)",
            "Time32(ms) {adjusted_to_utc=true}".to_owned(),
        ),
        (
            "int64 (TIME_MICROS)",
            "Time64(µs) {adjusted_to_utc=true}".to_owned(),
        ),
        ("int64 (TIMESTAMP_MILLIS)", "Timestamp(ms, UTC)".to_owned()),
        ("int64 (TIMESTAMP_MICROS)", "Timestamp(µs, UTC)".to_owned()),
        ("int32 (UINT_8)", "UInt8".to_owned()),
        ("int32 (UINT_16)", "UInt16".to_owned()),
        ("int32 (UINT_32)", "UInt32".to_owned()),
        ("int64 (UINT_64)", "UInt64".to_owned()),
        ("int32 (INT_8)", "Int8".to_owned()),
        ("int32 (INT_16)", "Int16".to_owned()),
        ("int32 (INT_32)", "Int32".to_owned()),
        ("int64 (INT_64)", "Int64".to_owned()),
        (
            "int32 (converted:DECIMAL(5,2))",
            "Decimal128(5, 2)".to_owned(),
        ),
        (
            "int64 (converted:DECIMAL(5))",
            "Decimal128(5, 0)".to_owned(),
        ),
        (
            "fixed_len_byte_array(12) (INTERVAL)",
            "Interval(MonthDayNano)".to_owned(),
        ),
    ] {
        assert_eq!(of(column), expected, "{column}");
    }
}

#[test]
fn the_logical_type_wins_over_the_converted_type() {
    let mut elements = super::elements("message m { optional int64 a (TIMESTAMP(MICROS,false)); }");
    elements[1].converted_type = Some(herringbone_format::ConvertedType::TimestampMillis);
    let schema = crate::ParquetSchema::new(&elements, &herringbone_format::Limits::default());
    let mapping = to_arrow(&schema.unwrap(), &[], &SchemaOptions::default()).unwrap();
    assert_eq!(describe(&mapping), "a: Timestamp(µs)");
}

#[test]
fn decimals_of_every_physical_form() {
    for (column, expected) in [
        ("int32 (DECIMAL(9,9))", "Decimal128(9, 9)"),
        ("int64 (DECIMAL(18,0))", "Decimal128(18, 0)"),
        ("binary (DECIMAL(38,10))", "Decimal128(38, 10)"),
        ("binary (DECIMAL(39,10))", "Decimal256(39, 10)"),
        (
            "fixed_len_byte_array(40) (DECIMAL(76,76))",
            "Decimal256(76, 76)",
        ),
        // These values are longer than their precision needs, so they are sign-extended.
        (
            "fixed_len_byte_array(40) (DECIMAL(5,2))",
            "Decimal128(5, 2)",
        ),
        ("fixed_len_byte_array(0) (DECIMAL(5,2))", "Decimal128(5, 2)"),
    ] {
        assert_eq!(of(column), expected, "{column}");
    }
}

#[test]
fn the_smallest_decimals() {
    let options = SchemaOptions {
        smallest_decimals: true,
        ..SchemaOptions::default()
    };
    let fields = "optional int32 a (DECIMAL(9,2)); optional binary b (DECIMAL(10,2));
        optional int64 c (DECIMAL(18,2)); optional binary d (DECIMAL(19,2));
        optional binary e (DECIMAL(39,2));";
    assert_eq!(
        under(&options, fields),
        "a: Decimal32(9, 2); b: Decimal64(10, 2); c: Decimal64(18, 2); d: Decimal128(19, 2); \
         e: Decimal256(39, 2)"
    );
}

#[test]
fn annotations_that_cannot_be_used_are_passed_over() {
    for (column, expected) in [
        ("int32 (UNRECOGNIZED(99))", "Int32"),
        ("binary (UNRECOGNIZED(0))", "Binary"),
        ("int32 (UUID)", "Int32"),
        ("fixed_len_byte_array(15) (UUID)", "FixedSizeBinary(15)"),
        ("int32 (STRING)", "Int32"),
        ("fixed_len_byte_array(3) (UTF8)", "FixedSizeBinary(3)"),
        ("int64 (DATE)", "Int64"),
        ("int64 (TIME(MILLIS,true))", "Int64"),
        ("int32 (TIME(MICROS,true))", "Int32"),
        ("int32 (TIMESTAMP(MILLIS,true))", "Int32"),
        ("int96 (TIMESTAMP(NANOS,true))", "Timestamp(ns)"),
        (
            "fixed_len_byte_array(11) (TIMESTAMP(NANOS,true))",
            "FixedSizeBinary(11)",
        ),
        ("int64 (INTEGER(32,true))", "Int64"),
        ("int32 (INTEGER(7,true))", "Int32"),
        ("float (DECIMAL(5,2))", "Float32"),
        ("binary (DECIMAL(77,2))", "Binary"),
        ("binary (DECIMAL(0,0))", "Binary"),
        ("int32 (DECIMAL(5,6))", "Int32"),
        ("int32 (DECIMAL(5,-1))", "Int32"),
        ("int32 (converted:DECIMAL)", "Int32"),
        ("fixed_len_byte_array(4) (FLOAT16)", "FixedSizeBinary(4)"),
        ("binary (INTERVAL)", "Binary"),
        ("binary (LIST)", "Binary"),
        ("binary (VARIANT)", "Binary"),
        ("fixed_len_byte_array(8) (GEOMETRY)", "FixedSizeBinary(8)"),
    ] {
        assert_eq!(of(column), expected, "{column}");
        let (type_, annotation) = column.split_once(' ').unwrap();
        let schema = schema(&format!("optional {type_} a {annotation};"));
        assert!(schema.leaves()[0].annotation_ignored, "{column}");
    }
    let schema = schema("optional int32 a; optional int32 b (DATE); optional int32 c (UNKNOWN);");
    assert!(schema.leaves().iter().all(|leaf| !leaf.annotation_ignored));
}

#[test]
fn layouts_of_strings_and_binary_values() {
    let fields = "optional binary a (STRING); optional binary b; optional binary c (JSON);";
    let json = "{ARROW:extension:metadata=} {ARROW:extension:name=arrow.json}";
    for (strings, expected) in [
        (
            ByteLayout::LargeOffsets,
            format!("a: LargeUtf8; b: LargeBinary; c: LargeUtf8 {json}"),
        ),
        (
            ByteLayout::Views,
            format!("a: Utf8View; b: BinaryView; c: Utf8View {json}"),
        ),
    ] {
        let options = SchemaOptions {
            strings,
            ..SchemaOptions::default()
        };
        assert_eq!(under(&options, fields), expected);
    }
}

#[test]
fn enums_and_int96_have_options() {
    let options = SchemaOptions {
        enum_as_binary: true,
        int96_unit: TimeUnit::Microsecond,
        ..SchemaOptions::default()
    };
    assert_eq!(
        under(&options, "optional binary a (ENUM); optional int96 b;"),
        "a: Binary; b: Timestamp(µs)"
    );
}

#[test]
fn dictionaries_on_request() {
    let fields = "optional binary a (STRING); optional int32 b;
        optional group c (LIST) { repeated group list { optional binary element; } }
        optional fixed_len_byte_array(4) d;";
    let mut options = SchemaOptions {
        dictionary: DictionaryOutput::Always,
        ..SchemaOptions::default()
    };
    assert_eq!(
        under(&options, fields),
        "a: Dictionary<Int32, Utf8>; b: Int32; \
         c: List<element: Dictionary<Int32, Binary>>; d: FixedSizeBinary(4)"
    );
    options.strings = ByteLayout::Views;
    options.dictionary = DictionaryOutput::Columns(vec![vec!["c".to_owned()]]);
    assert_eq!(
        under(&options, fields),
        "a: Utf8View; b: Int32; c: List<element: Dictionary<Int32, Binary>>; \
         d: FixedSizeBinary(4)"
    );
    options.dictionary = DictionaryOutput::Columns(vec![vec!["x".to_owned()]]);
    assert!(to_arrow(&schema(fields), &[], &options).is_err());
}

#[test]
fn field_ids_are_kept() {
    assert_eq!(
        arrow("optional int32 a = 0; required binary b (JSON) = -5;"),
        "a: Int32 {PARQUET:field_id=0}; b: Utf8 not null {ARROW:extension:metadata=} \
         {ARROW:extension:name=arrow.json} {PARQUET:field_id=-5}"
    );
}

#[test]
fn names_are_free() {
    assert_eq!(
        arrow("optional int32 `a.b c`; optional int32 x; optional int32 x; optional int32 ``;"),
        "a.b c: Int32; x: Int32; x: Int32; : Int32"
    );
}
