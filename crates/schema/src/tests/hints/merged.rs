//! Tests of matching fields and hints, and of the effects of hints and options on things other than
//! types.

use herringbone_arrow::schema::extension::{EXTENSION_TYPE_METADATA_KEY, EXTENSION_TYPE_NAME_KEY};

use super::*;

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
        // Two hints have this name, so neither applies.
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
        // The extension type's storage is another type, so the extension type is left out.
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
        KeyValue::without_value("no value"),
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

/// The `ARROW:schema` that pyarrow 26 writes for `pa.schema([pa.field("d", pa.dictionary(pa.int32(), pa.string()),
/// metadata={b"f": b"\xff\x00x", b"g": b"h"}), pa.field("z", pa.timestamp("us", "Europe/Rome"))], metadata={b"pickle":
/// b"\x80\x04\x95", b"text": b"t"})`.
const OF_PYARROW: &str = concat!(
    "/////5gBAAAQAAAAAAAKAA4ABgAFAAgACgAAAAABBAAQAAAAAAAKAAwAAAAEAAgACgAAAFQAAAAEAAAAAgAAACgAAAAEAAAA/P7/",
    "/xAAAAAEAAAAAQAAAHQAAAAEAAAAdGV4dAAAAAAc////EAAAAAQAAAADAAAAgASVAAYAAABwaWNrbGUAAAIAAABwAAAAFAAAABAA",
    "FAAIAAYABwAMAAAAEAAQAAAAAAABChAAAAAcAAAABAAAAAAAAAABAAAAegAAAAgADAAGAAgACAAAAAAAAgAEAAAACwAAAEV1cm9w",
    "ZS9Sb21lAAAAEgAcAAgABgAHAAwAEAAUABgAEgAAAAAAAQUYAAAAkAAAAGwAAAAIAAAAEAAAAAAAAAABAAAAZAAAAAIAAAAsAAAA",
    "BAAAAOT///8QAAAABAAAAAEAAABoAAAAAQAAAGcAAAAIAAwABAAIAAgAAAAQAAAABAAAAAMAAAD/AHgAAQAAAGYAAAAIAAgAAAAE",
    "AAgAAAAMAAAACAAMAAgABwAIAAAAAAAAASAAAAAEAAQABAAAAAAAAAA=",
);

#[test]
fn types_do_not_depend_on_metadata_of_other_bytes() {
    let fields = "optional binary d (STRING); optional int64 z (TIMESTAMP(MICROS, true));";
    let key_values = [
        KeyValue::new("pickle", [0x80, 0x04, 0x95]),
        pair("text", "t"),
        pair(ARROW_SCHEMA_KEY, OF_PYARROW),
    ];
    let mapping = to_arrow(&schema(fields), &key_values, &SchemaOptions::default()).unwrap();
    assert_eq!(
        describe(&mapping),
        "d: Dictionary<Int32, Utf8> {g=h}; z: Timestamp(µs, Europe/Rome)"
    );
    // Arrow's metadata only has text.
    let metadata = mapping.schema.metadata();
    assert_eq!(metadata.len(), 1);
    assert_eq!(metadata.get("text").map(String::as_str), Some("t"));
    let metadata = mapping.schema.field(0).metadata();
    assert_eq!(metadata.len(), 1);
    assert_eq!(metadata.get("g").map(String::as_str), Some("h"));
    assert_eq!(
        mapping.warnings,
        ["metadata of the field `d` is left out: 1 of its values in ARROW:schema are not UTF-8"]
    );
}

/// An extension type's parameters can be arbitrary bytes, for example a Python pickle.
#[test]
fn an_extension_type_needs_its_parameters() {
    let metadata = [
        (EXTENSION_TYPE_NAME_KEY, "a.type"),
        (EXTENSION_TYPE_METADATA_KEY, "~~~"),
        ("note", "n"),
    ];
    let metadata = metadata.map(|(key, value)| (key.to_owned(), value.to_owned()));
    let field = Field::new("a", DataType::Int32, true).with_metadata(HashMap::from(metadata));
    let mut message = message(&Schema::new(vec![field]));
    let at = message
        .windows(3)
        .position(|window| window == b"~~~")
        .unwrap();
    message[at] = 0xFF;
    let hint = pair(ARROW_SCHEMA_KEY, &encoded(&message, true));
    let file = schema("optional int32 a;");
    let mapping = to_arrow(&file, &[hint], &SchemaOptions::default()).unwrap();
    let metadata = mapping.schema.field(0).metadata();
    assert_eq!(metadata.len(), 1);
    assert_eq!(metadata.get("note").map(String::as_str), Some("n"));
    assert_eq!(mapping.warnings.len(), 1);
}
