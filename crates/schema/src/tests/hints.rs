//! The Arrow schema in the file's metadata.

use std::collections::HashMap;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use herringbone_arrow::ipc::writer::{DictionaryTracker, IpcDataGenerator, IpcWriteOptions};
use herringbone_arrow::schema::{
    DataType, Field, Fields, IntervalUnit, Schema, TimeUnit, UnionFields, UnionMode,
};
use herringbone_format::KeyValue;

use super::{describe, schema};
use crate::{
    ARROW_SCHEMA_KEY, ArrowMapping, ByteLayout, Conversion, DictionaryOutput, ListLayout, NodeKind,
    SchemaOptions, to_arrow,
};

/// The IPC message of a schema, without marker and length.
fn message(schema: &Schema) -> Vec<u8> {
    let options = IpcWriteOptions::default();
    IpcDataGenerator::default()
        .schema_to_bytes_with_dictionary_tracker(
            schema,
            &mut DictionaryTracker::new(false),
            &options,
        )
        .ipc_message
}

fn encoded(message: &[u8], marker: bool) -> String {
    let mut bytes = if marker { vec![0xFF; 4] } else { Vec::new() };
    bytes.extend_from_slice(&i32::try_from(message.len()).unwrap().to_le_bytes());
    bytes.extend_from_slice(message);
    STANDARD.encode(bytes)
}

fn pair(key: &str, value: &str) -> KeyValue {
    KeyValue {
        key: key.to_owned(),
        value: Some(value.to_owned()),
    }
}

fn with(fields: &str, hint: Vec<Field>, options: &SchemaOptions) -> ArrowMapping {
    let hint = encoded(&message(&Schema::new(hint)), true);
    to_arrow(&schema(fields), &[pair(ARROW_SCHEMA_KEY, &hint)], options).unwrap()
}

/// What a column becomes when the hint says `hint`, without a warning.
fn restored(column: &str, hint: DataType) -> (String, Conversion) {
    let fields = format!("optional {column};");
    let mapping = with(
        &fields,
        vec![Field::new("a", hint, true)],
        &SchemaOptions::default(),
    );
    assert_eq!(mapping.warnings, [""; 0], "{column}");
    let NodeKind::Leaf { conversion, .. } = mapping.fields[0].kind else {
        panic!("{column} is no leaf");
    };
    let text = describe(&mapping);
    (text.strip_prefix("a: ").unwrap().to_owned(), conversion)
}

/// What a column becomes when the hint contradicts it.
fn refused(column: &str, hint: DataType) -> String {
    let fields = format!("optional {column};");
    let field = Field::new("a", hint, true)
        .with_metadata(HashMap::from([("k".to_owned(), "v".to_owned())]));
    let mapping = with(&fields, vec![field], &SchemaOptions::default());
    assert_eq!(mapping.warnings.len(), 1, "{column}");
    describe(&mapping)
}

fn timestamp(unit: TimeUnit, zone: Option<&str>) -> DataType {
    DataType::Timestamp(unit, zone.map(Into::into))
}

fn dictionary(key: DataType, value: DataType) -> DataType {
    DataType::Dictionary(Box::new(key), Box::new(value))
}

fn list_field(name: &str, data_type: DataType) -> Arc<Field> {
    Arc::new(Field::new(name, data_type, true))
}

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
        // The file's unit counts, the zone is the hint's.
        (
            &*utc("MICROS"),
            timestamp(Nanosecond, Some("+01:00")),
            "Timestamp(µs, +01:00)",
            Identity,
        ),
        // A writer without zones; the file knows better.
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

#[test]
fn runs_are_read_as_their_values() {
    let runs = DataType::RunEndEncoded(
        Arc::new(Field::new("run_ends", DataType::Int32, false)),
        list_field("values", dictionary(DataType::Int32, DataType::Utf8View)),
    );
    let (text, _) = restored("binary a (STRING)", runs);
    assert_eq!(text, "Dictionary<Int32, Utf8View>");
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
        // The name stays of use where the elements' type is not.
        (
            DataType::LargeList(list_field("item", DataType::Utf8)),
            "a: LargeList<item: Int32>",
        ),
    ] {
        let hint = vec![Field::new("a", hint, true)];
        let mapping = with(fields, hint.clone(), &SchemaOptions::default());
        assert_eq!(describe(&mapping), expected);
        // A layout that the caller chose wins; the name stays restored.
        let options = SchemaOptions {
            lists: ListLayout::Views,
            ..SchemaOptions::default()
        };
        let text = describe(&with(fields, hint, &options));
        assert!(text.starts_with("a: ListView<"), "{text}");
    }
}

#[test]
fn nullability_is_the_file_s() {
    let fields = "optional group a (LIST) { repeated group list { required int32 element; } }
        required int32 b;";
    let hint = vec![
        Field::new(
            "a",
            DataType::List(list_field("item", DataType::Int32)),
            false,
        ),
        Field::new("b", DataType::Int32, true),
    ];
    assert_eq!(
        describe(&with(fields, hint, &SchemaOptions::default())),
        "a: List<item: Int32 not null>; b: Int32 not null"
    );
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

#[test]
fn fields_are_found_by_place_and_by_name() {
    let fields = "optional binary c (STRING); optional binary a (STRING);
        optional group s { optional binary y (STRING); optional binary x (STRING); }
        optional binary d (STRING); optional binary e (STRING);";
    let inner = Fields::from(vec![
        Field::new("x", DataType::LargeUtf8, true),
        Field::new("y", DataType::Utf8View, true),
    ]);
    let hint = vec![
        Field::new("a", DataType::LargeUtf8, true),
        Field::new("b", DataType::LargeUtf8, true),
        Field::new("s", DataType::Struct(inner), true),
        Field::new("c", DataType::Utf8View, true),
        // Which of the two is it?
        Field::new("d", DataType::LargeUtf8, true),
        Field::new("d", DataType::Utf8View, true),
    ];
    assert_eq!(
        describe(&with(fields, hint, &SchemaOptions::default())),
        "c: Utf8View; a: LargeUtf8; s: Struct<y: Utf8View, x: LargeUtf8>; d: Utf8; e: Utf8"
    );
}

#[test]
fn metadata_is_merged() {
    let metadata = |pairs: &[(&str, &str)]| -> HashMap<String, String> {
        pairs
            .iter()
            .map(|&(k, v)| (k.to_owned(), v.to_owned()))
            .collect()
    };
    let extension = ("ARROW:extension:name", "my.type");
    let hint = vec![
        Field::new("a", DataType::Int32, true).with_metadata(metadata(&[
            extension,
            ("PARQUET:field_id", "77"),
            ("k", "v"),
        ])),
        // The extension type speaks of another storage.
        Field::new("b", DataType::Utf8, true).with_metadata(metadata(&[extension, ("k", "v")])),
        Field::new("u", DataType::FixedSizeBinary(16), true).with_metadata(metadata(&[("k", "v")])),
        Field::new("t", DataType::Time32(TimeUnit::Millisecond), true)
            .with_metadata(metadata(&[("adjusted_to_utc", "true")])),
    ];
    let fields =
        "optional int32 a = 5; optional int32 b; optional fixed_len_byte_array(16) u (UUID);
        optional int32 t (TIME(MILLIS,false));";
    assert_eq!(
        describe(&with(fields, hint, &SchemaOptions::default())),
        "a: Int32 {ARROW:extension:name=my.type} {PARQUET:field_id=5} {k=v}; b: Int32 {k=v}; \
         u: FixedSizeBinary(16) {ARROW:extension:name=arrow.uuid} {k=v}; t: Time32(ms)"
    );
}

#[test]
fn key_values_become_metadata_of_the_schema() {
    let hint = Schema::new_with_metadata(
        vec![Field::new("a", DataType::Int32, true)],
        HashMap::from([
            ("both".to_owned(), "hint".to_owned()),
            ("hint".to_owned(), "yes".to_owned()),
        ]),
    );
    let key_values = [
        pair("both", "file"),
        pair(ARROW_SCHEMA_KEY, &encoded(&message(&hint), true)),
        KeyValue {
            key: "no value".to_owned(),
            value: None,
        },
    ];
    let file = schema("optional int32 a;");
    let mapping = to_arrow(&file, &key_values, &SchemaOptions::default()).unwrap();
    let metadata = mapping.schema.metadata();
    assert_eq!(metadata.len(), 2);
    assert_eq!(metadata.get("both").map(String::as_str), Some("file"));
    assert_eq!(metadata.get("hint").map(String::as_str), Some("yes"));

    let options = SchemaOptions {
        use_arrow_schema: false,
        ..SchemaOptions::default()
    };
    let mapping = to_arrow(&file, &key_values, &options).unwrap();
    assert_eq!(mapping.schema.metadata().len(), 1);
}

#[test]
fn what_the_caller_chose_wins() {
    let fields = "optional binary a (STRING); optional binary b (STRING);
        optional int32 c (DECIMAL(5,2)); optional int96 d;";
    let hint = vec![
        Field::new("a", DataType::LargeUtf8, true),
        Field::new("b", dictionary(DataType::Int8, DataType::Utf8), true),
        Field::new("c", DataType::Decimal256(5, 2), true),
        Field::new("d", timestamp(TimeUnit::Microsecond, None), true),
    ];
    let options = SchemaOptions {
        strings: ByteLayout::Views,
        smallest_decimals: true,
        int96_unit: TimeUnit::Second,
        ..SchemaOptions::default()
    };
    assert_eq!(
        describe(&with(fields, hint.clone(), &options)),
        "a: Utf8View; b: Dictionary<Int8, Utf8>; c: Decimal32(5, 2); d: Timestamp(s)"
    );
    let mut options = SchemaOptions {
        dictionary: DictionaryOutput::Never,
        ..SchemaOptions::default()
    };
    assert_eq!(
        describe(&with(fields, hint.clone(), &options)),
        "a: LargeUtf8; b: Utf8; c: Decimal256(5, 2); d: Timestamp(µs)"
    );
    options.dictionary = DictionaryOutput::Columns(vec![vec!["a".to_owned()]]);
    assert_eq!(
        describe(&with(fields, hint, &options)),
        "a: Dictionary<Int32, LargeUtf8>; b: Utf8; c: Decimal256(5, 2); d: Timestamp(µs)"
    );
}

#[test]
fn old_writers_left_out_the_marker() {
    let hint = Schema::new(vec![Field::new("a", DataType::LargeUtf8, true)]);
    let file = schema("optional binary a (STRING);");
    for marker in [true, false] {
        let text = encoded(&message(&hint), marker);
        for text in [
            text.clone(),
            text.trim_end_matches('=').to_owned(),
            format!("{text}\n"),
        ] {
            let pairs = [pair(ARROW_SCHEMA_KEY, &text)];
            let mapping = to_arrow(&file, &pairs, &SchemaOptions::default()).unwrap();
            assert_eq!(describe(&mapping), "a: LargeUtf8");
        }
    }
}

#[test]
fn what_cannot_be_decoded_is_a_warning() {
    let file = schema("optional binary a (STRING);");
    let good = message(&Schema::new(vec![Field::new(
        "a",
        DataType::LargeUtf8,
        true,
    )]));
    let texts = [
        String::new(),
        "????".to_owned(),
        STANDARD.encode([0xFF; 4]),
        STANDARD.encode([0xFF; 8]),
        STANDARD.encode([0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0x7F]),
        encoded(&[], true),
        encoded(&good[..good.len() / 2], true),
    ];
    for text in texts {
        let pairs = [pair(ARROW_SCHEMA_KEY, &text)];
        let mapping = to_arrow(&file, &pairs, &SchemaOptions::default()).unwrap();
        assert_eq!(describe(&mapping), "a: Utf8");
        assert_eq!(mapping.warnings.len(), 1, "{text}");
    }
}

#[test]
fn damaged_hints_never_panic_and_never_break_the_file() {
    let inner = Fields::from(vec![
        Field::new("x", timestamp(TimeUnit::Second, Some("UTC")), true),
        Field::new("y", dictionary(DataType::Int8, DataType::LargeUtf8), true),
    ]);
    let hint = message(&Schema::new(vec![
        Field::new(
            "a",
            DataType::LargeList(list_field("item", DataType::Struct(inner))),
            true,
        ),
        Field::new("b", DataType::Decimal256(5, 2), true),
    ]));
    let file = schema(
        "optional group a (LIST) { repeated group list { optional group element {
            optional int64 x (TIMESTAMP(MILLIS,true)); optional binary y (STRING); } } }
         optional int32 b (DECIMAL(5,2));",
    );
    for at in 0..hint.len() {
        for change in [0x01, 0x80, 0xFF] {
            let mut damaged = hint.clone();
            damaged[at] ^= change;
            let pairs = [pair(ARROW_SCHEMA_KEY, &encoded(&damaged, true))];
            let mapping = to_arrow(&file, &pairs, &SchemaOptions::default()).unwrap();
            assert_eq!(mapping.leaves(), [0, 1, 2]);
            describe(&mapping);
        }
    }
}

#[test]
fn warnings_are_bounded() {
    let names: Vec<String> = (0..1000).map(|i| format!("c{i}")).collect();
    let fields: String = names
        .iter()
        .map(|name| format!("optional int32 {name};"))
        .collect();
    let hint = names
        .iter()
        .map(|name| Field::new(name, DataType::Utf8, true))
        .collect();
    let mapping = with(&fields, hint, &SchemaOptions::default());
    assert_eq!(mapping.warnings.len(), 65);
}

/// Of a file that pyarrow 26 wrote: a UUID, a list view of string views, seconds, a dictionary.
const OF_PYARROW: &str = "//////gBAAAQAAAAAAAKAAwABgAFAAgACgAAAAABBAAEAAAAcP///wQAAAAEAAAAIAEAAKAAAABcAAAAFAAAABAAGA\
     AIAAYABwAMABAAFAAQAAAAAAABBRQAAAA0AAAAFAAAAAQAAAAAAAAAAQAAAGQAAADA////DAAAAAgADAAIAAcACAAA\
     AAAAAAEIAAAAmP///5T///8AAAEKEAAAABwAAAAEAAAAAAAAAAEAAABzAAAACAAIAAAABAAIAAAABAAAAAoAAABBc2\
     lhL1Rva3lvAADU////AAABGRQAAAAcAAAABAAAAAEAAAAkAAAAAQAAAHYAAAAEAAQABAAAABAAFAAIAAYABwAMAAAA\
     EAAQAAAAAAABGBAAAAAcAAAABAAAAAAAAAAEAAAAaXRlbQAAAAAEAAYABAAAAAAAEgAYAAgABgAHAAwAAAAQABQAEg\
     AAAAAAAQ8UAAAAnAAAAAgAAAAQAAAAAAAAAAEAAAB1AAAAAgAAAEgAAAAEAAAAyP///xgAAAAEAAAACgAAAGFycm93\
     LnV1aWQAABQAAABBUlJPVzpleHRlbnNpb246bmFtZQAAAAAIAAwABAAIAAgAAAAQAAAABAAAAAAAAAAAAAAAGAAAAE\
     FSUk9XOmV4dGVuc2lvbjptZXRhZGF0YQAABgAIAAQABgAAABAAAAA=";

/// Of a file that polars 2.1 wrote: an integer of 128 bits, which is in no Arrow specification, and
/// a duration.
const OF_POLARS: &str = "/////6YAAAAEAAAA8v///xQAAAAEAAEAAAAKAAsACAAKAAQA+P///wwAAAAIAAgAAAAEAAIAAAA0AAAABAAAAMD///\
     8gAAAAEAAAAAgAAAABEgAAAAAAAPr///8CAAYABgAEAAEAAABkAAAA7P///zgAAAAgAAAAGAAAAAECAAAQABIABAAQ\
     ABEACAAAAAwAAAAAAPT///+AAAAAAQAAAAgACQAEAAgAAQAAAGkA";

#[test]
fn hints_of_other_writers() {
    let fields = "optional fixed_len_byte_array(16) u (UUID);
        optional group v (LIST) { repeated group list { optional binary element (STRING); } }
        optional int64 s (TIMESTAMP(MILLIS,true)); optional binary d (STRING);";
    let of = |fields, hint| {
        let pairs = [pair(ARROW_SCHEMA_KEY, hint)];
        to_arrow(&schema(fields), &pairs, &SchemaOptions::default()).unwrap()
    };
    let mapping = of(fields, OF_PYARROW);
    assert_eq!(mapping.warnings, [""; 0]);
    // The empty metadata of the UUID, which pyarrow writes, is none.
    assert_eq!(
        describe(&mapping),
        "u: FixedSizeBinary(16) {ARROW:extension:name=arrow.uuid}; v: ListView<item: Utf8View>; \
         s: Timestamp(s, Asia/Tokyo); d: Dictionary<Int8, Utf8>"
    );

    let mapping = of(
        "optional fixed_len_byte_array(16) i; optional int64 d;",
        OF_POLARS,
    );
    assert_eq!(
        describe(&mapping),
        "i: FixedSizeBinary(16); d: Duration(µs)"
    );
    assert_eq!(mapping.warnings.len(), 1);
}
