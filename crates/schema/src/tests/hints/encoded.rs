//! Tests of hints as bytes, from other writers, old, and damaged.

use super::*;

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

/// The hint in a file that pyarrow 26 wrote, with a UUID, a list view of string views, seconds, and
/// a dictionary.
const OF_PYARROW: &str = "//////gBAAAQAAAAAAAKAAwABgAFAAgACgAAAAABBAAEAAAAcP///wQAAAAEAAAAIAEAAKAAAABcAAAAFAAAABAAGA\
     AIAAYABwAMABAAFAAQAAAAAAABBRQAAAA0AAAAFAAAAAQAAAAAAAAAAQAAAGQAAADA////DAAAAAgADAAIAAcACAAA\
     AAAAAAEIAAAAmP///5T///8AAAEKEAAAABwAAAAEAAAAAAAAAAEAAABzAAAACAAIAAAABAAIAAAABAAAAAoAAABBc2\
     lhL1Rva3lvAADU////AAABGRQAAAAcAAAABAAAAAEAAAAkAAAAAQAAAHYAAAAEAAQABAAAABAAFAAIAAYABwAMAAAA\
     EAAQAAAAAAABGBAAAAAcAAAABAAAAAAAAAAEAAAAaXRlbQAAAAAEAAYABAAAAAAAEgAYAAgABgAHAAwAAAAQABQAEg\
     AAAAAAAQ8UAAAAnAAAAAgAAAAQAAAAAAAAAAEAAAB1AAAAAgAAAEgAAAAEAAAAyP///xgAAAAEAAAACgAAAGFycm93\
     LnV1aWQAABQAAABBUlJPVzpleHRlbnNpb246bmFtZQAAAAAIAAwABAAIAAgAAAAQAAAABAAAAAAAAAAAAAAAGAAAAE\
     FSUk9XOmV4dGVuc2lvbjptZXRhZGF0YQAABgAIAAQABgAAABAAAAA=";

/// The hint in a file from polars 2.1, with a duration and a 128-bit integer. The latter is not in
/// any Arrow specification.
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
    // pyarrow writes empty metadata for the UUID. We drop it.
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

#[test]
fn damage_in_one_field_is_none_in_another() {
    let large = |name| Field::new(name, DataType::LargeUtf8, true);
    let hint = message(&Schema::new(vec![large("first"), large("second")]));
    let file = schema("optional binary first (STRING); optional binary second (STRING);");
    // The second field's name is not UTF-8, so it matches no column.
    let at = hint.windows(6).position(|bytes| bytes == b"second");
    let mut damaged = hint;
    damaged[at.unwrap()] = 0xff;
    let pairs = [pair(ARROW_SCHEMA_KEY, &encoded(&damaged, true))];
    let options = SchemaOptions::default();
    let mapping = to_arrow(&file, &pairs, &options).unwrap();
    assert_eq!(describe(&mapping), "first: LargeUtf8; second: Utf8");
    for leaf in 0..2 {
        let projection = Projection::Leaves(vec![leaf]);
        let projected = to_arrow_projected(&file, &pairs, &options, &projection).unwrap();
        assert_eq!(
            projected.schema,
            mapping.project(&projection).unwrap().schema
        );
    }
}
