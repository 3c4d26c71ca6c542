//! Tests of the types that hints restore, and of the types that stay the file's.

use super::*;

type Case<'a> = (&'a str, DataType, &'a str, Conversion);

fn check_restored<const N: usize>(cases: [Case<'_>; N]) {
    for (column, hint, expected, conversion) in cases {
        let hint_text = hint.to_string();
        let (text, how) = restored(column, hint);
        assert_eq!(
            (&*text, how),
            (expected, conversion),
            "{column} as {hint_text}"
        );
    }
}

#[test]
fn times_that_parquet_has_no_word_for() {
    use Conversion::{DaysToMillis, Identity, MillisToSeconds};
    use TimeUnit::{Microsecond, Millisecond, Nanosecond, Second};
    let utc = |unit| format!("int64 a (TIMESTAMP({unit},true))");
    check_restored([
        (
            &*utc("MICROS"),
            timestamp(Microsecond, Some("Asia/Tokyo")),
            "Timestamp(µs, Asia/Tokyo)",
            Identity,
        ),
        // The file determines the unit, and the hint determines the zone.
        (
            &*utc("MICROS"),
            timestamp(Nanosecond, Some("+01:00")),
            "Timestamp(µs, +01:00)",
            Identity,
        ),
        // The writer had no zones, so the file wins.
        (
            &*utc("MICROS"),
            timestamp(Microsecond, None),
            "Timestamp(µs, UTC)",
            Identity,
        ),
        (
            &*utc("MILLIS"),
            timestamp(Second, Some("UTC")),
            "Timestamp(s, UTC)",
            MillisToSeconds,
        ),
        (
            "int64 a (TIMESTAMP(MILLIS,false))",
            timestamp(Second, None),
            "Timestamp(s)",
            MillisToSeconds,
        ),
        (
            "int64 a",
            timestamp(Second, Some("UTC")),
            "Timestamp(s, UTC)",
            Identity,
        ),
        (
            "int96 a",
            timestamp(Microsecond, Some("UTC")),
            "Timestamp(µs, UTC)",
            Identity,
        ),
        (
            "int32 a (TIME(MILLIS,false))",
            DataType::Time32(Second),
            "Time32(s)",
            MillisToSeconds,
        ),
        ("int32 a", DataType::Time32(Second), "Time32(s)", Identity),
        ("int32 a (DATE)", DataType::Date64, "Date64", DaysToMillis),
        ("int64 a", DataType::Date64, "Date64", Identity),
        (
            "int64 a",
            DataType::Duration(Millisecond),
            "Duration(ms)",
            Identity,
        ),
    ]);
}

#[test]
fn layouts_that_parquet_has_no_word_for() {
    use Conversion::Identity;
    check_restored([
        (
            "binary a (STRING)",
            DataType::LargeUtf8,
            "LargeUtf8",
            Identity,
        ),
        (
            "binary a (STRING)",
            DataType::Utf8View,
            "Utf8View",
            Identity,
        ),
        ("binary a", DataType::LargeBinary, "LargeBinary", Identity),
        ("binary a", DataType::BinaryView, "BinaryView", Identity),
        (
            "int32 a (DECIMAL(9,2))",
            DataType::Decimal32(9, 2),
            "Decimal32(9, 2)",
            Identity,
        ),
        (
            "int32 a (DECIMAL(9,2))",
            DataType::Decimal256(9, 2),
            "Decimal256(9, 2)",
            Identity,
        ),
        (
            "binary a (DECIMAL(20,2))",
            DataType::Decimal64(20, 2),
            "Decimal128(20, 2)",
            Identity,
        ),
        (
            "binary a (STRING)",
            dictionary(DataType::UInt16, DataType::LargeUtf8),
            "Dictionary<UInt16, LargeUtf8>",
            Identity,
        ),
        (
            "int64 a",
            dictionary(DataType::Int8, DataType::Int64),
            "Dictionary<Int8, Int64>",
            Identity,
        ),
    ]);
}

fn runs(ends: DataType, value: DataType) -> DataType {
    let ends = Arc::new(Field::new("run_ends", ends, false));
    DataType::RunEndEncoded(ends, list_field("values", value))
}

#[test]
fn runs_of_what_the_column_holds() {
    for (column, hint, value) in [
        ("binary a (STRING)", DataType::Utf8View, DataType::Utf8View),
        (
            "int32 a (TIME(MILLIS,false))",
            DataType::Time32(TimeUnit::Second),
            DataType::Time32(TimeUnit::Second),
        ),
        (
            "int32 a (DECIMAL(9,2))",
            DataType::Decimal32(9, 2),
            DataType::Decimal32(9, 2),
        ),
        (
            "int64 a",
            timestamp(TimeUnit::Second, None),
            timestamp(TimeUnit::Second, None),
        ),
    ] {
        let (text, _) = restored(column, runs(DataType::Int16, hint));
        assert_eq!(text, runs(DataType::Int16, value).to_string());
    }
}

#[test]
fn runs_and_dictionaries_within_each_other() {
    let keyed = |value| dictionary(DataType::Int32, value);
    let fields = Fields::from(vec![Field::new("x", DataType::Int32, false)]);
    let point = DataType::Struct(fields);
    for (column, hint) in [
        (
            "binary a (STRING);",
            runs(DataType::Int32, keyed(DataType::Utf8View)),
        ),
        (
            "binary a (STRING);",
            runs(
                DataType::Int32,
                runs(DataType::Int64, keyed(DataType::Utf8View)),
            ),
        ),
        (
            "binary a (STRING);",
            keyed(runs(DataType::Int16, DataType::Utf8View)),
        ),
        ("group a { required int32 x; }", keyed(point.clone())),
        (
            "group a { required int32 x; }",
            runs(DataType::Int16, point),
        ),
    ] {
        let hinted = vec![Field::new("a", hint.clone(), true)];
        let mapping = with(
            &format!("optional {column}"),
            hinted,
            &SchemaOptions::default(),
        );
        assert_eq!(mapping.schema.field(0).data_type(), &hint);
        assert_eq!(mapping.warnings, [""; 0]);
    }
}

#[test]
fn dictionaries_of_the_caller_s_choice_are_no_runs() {
    let options = SchemaOptions {
        dictionary: DictionaryOutput::Always,
        ..SchemaOptions::default()
    };
    let hint = |value| vec![Field::new("a", runs(DataType::Int32, value), true)];
    let data_type = |column: &str, value| {
        let mapping = with(&format!("optional {column};"), hint(value), &options);
        mapping.schema.field(0).data_type().clone()
    };
    assert_eq!(
        data_type("binary a (STRING)", DataType::Utf8),
        dictionary(DataType::Int32, DataType::Utf8)
    );
    assert_eq!(
        data_type("int64 a", DataType::Int64),
        runs(DataType::Int32, DataType::Int64)
    );
}

#[test]
fn contradictions_leave_the_file_s_type() {
    let union = UnionFields::try_new([0], [Field::new("x", DataType::Int32, true)]).unwrap();
    for (column, hint, expected) in [
        ("int32 a", DataType::Utf8, "a: Int32"),
        ("binary a", DataType::Utf8, "a: Binary"),
        ("binary a (STRING)", DataType::Binary, "a: Utf8"),
        ("binary a", DataType::FixedSizeBinary(4), "a: Binary"),
        ("int32 a", DataType::Int8, "a: Int32"),
        ("int32 a", runs(DataType::Int32, DataType::Utf8), "a: Int32"),
        (
            "int32 a",
            runs(DataType::UInt32, DataType::Int32),
            "a: Int32",
        ),
        ("int64 a", DataType::UInt64, "a: Int64"),
        (
            "int32 a (DECIMAL(9,2))",
            DataType::Decimal128(9, 3),
            "a: Decimal128(9, 2)",
        ),
        (
            "int64 a (TIMESTAMP(MICROS,false))",
            timestamp(TimeUnit::Microsecond, Some("UTC")),
            "a: Timestamp(µs)",
        ),
        (
            "int64 a",
            DataType::Interval(IntervalUnit::DayTime),
            "a: Int64",
        ),
        (
            "int64 a",
            DataType::Union(union, UnionMode::Sparse),
            "a: Int64",
        ),
        (
            "int64 a",
            DataType::Struct(Fields::from(vec![Field::new("x", DataType::Int32, true)])),
            "a: Int64",
        ),
        (
            "int64 a",
            dictionary(DataType::Int32, DataType::Utf8),
            "a: Int64",
        ),
    ] {
        assert_eq!(
            refused(column, hint),
            format!("{expected} {{k=v}}"),
            "{column}"
        );
    }
}

#[test]
fn kinds_and_names_of_lists() {
    let fields = "optional group a (LIST) { repeated group list { optional int32 element; } }";
    for (hint, expected) in [
        (
            DataType::List(list_field("item", DataType::Int32)),
            "a: List<item: Int32>",
        ),
        (
            DataType::LargeList(list_field("item", DataType::Int32)),
            "a: LargeList<item: Int32>",
        ),
        (
            DataType::ListView(list_field("x", DataType::Int32)),
            "a: ListView<x: Int32>",
        ),
        (
            DataType::LargeListView(list_field("x", DataType::Int32)),
            "a: LargeListView<x: Int32>",
        ),
        (
            DataType::FixedSizeList(list_field("item", DataType::Int32), 3),
            "a: FixedSizeList(3)<item: Int32>",
        ),
        // The name is restored even if the type of the elements is not.
        (
            DataType::LargeList(list_field("item", DataType::Utf8)),
            "a: LargeList<item: Int32>",
        ),
    ] {
        let hint = vec![Field::new("a", hint, true)];
        let mapping = with(fields, hint.clone(), &SchemaOptions::default());
        assert_eq!(describe(&mapping), expected);
        // A layout that the caller chose wins, but the name is still restored.
        let options = SchemaOptions {
            lists: ListLayout::Views,
            ..SchemaOptions::default()
        };
        let text = describe(&with(fields, hint, &options));
        assert!(text.starts_with("a: ListView<"), "{text}");
    }
}

#[test]
fn names_and_order_of_maps() {
    let fields = "optional group a (MAP) { repeated group key_value {
        required binary key (STRING); optional int64 value; } }";
    let entries = Fields::from(vec![
        Field::new("keys", DataType::LargeUtf8, false),
        Field::new("values", DataType::Duration(TimeUnit::Second), true),
    ]);
    let entries = Arc::new(Field::new("entries", DataType::Struct(entries), false));
    let hint = vec![Field::new("a", DataType::Map(entries, true), true)];
    assert_eq!(
        describe(&with(fields, hint, &SchemaOptions::default())),
        "a: Map<sorted entries: Struct<keys: LargeUtf8 not null, values: Duration(s)> not null>"
    );
}
