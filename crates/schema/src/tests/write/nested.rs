//! Tests of groups, lists and maps, and of their levels.

use super::*;
use crate::{EmptyStructs, WriteKind, WriteNode};

fn stored(field: Field) -> (String, String) {
    let mapping = written(field, &WriteSchemaOptions::default());
    let levels: Vec<String> = mapping.fields.iter().map(levels).collect();
    (message(&mapping), levels.join(", "))
}

/// Prints `def_level`, `?` if nullable, and then the nodes below, in the format that tests of reads
/// use for fields.
fn levels(node: &WriteNode) -> String {
    let nullable = if node.nullable { "?" } else { "" };
    let below = match &node.kind {
        WriteKind::Leaf { leaf } => format!(" #{leaf}"),
        WriteKind::Struct(nodes) => {
            let nodes: Vec<String> = nodes.iter().map(levels).collect();
            format!("({})", nodes.join(", "))
        }
        WriteKind::List {
            rep_level,
            element_def,
            child,
        } => {
            format!("[{rep_level}/{element_def} {}]", levels(child))
        }
        WriteKind::Map {
            rep_level,
            element_def,
            entries,
        } => {
            format!("{{{rep_level}/{element_def} {}}}", levels(entries))
        }
        WriteKind::RunEnd(value) => format!(" runs {}", levels(value)),
        WriteKind::Dictionary(value) => format!(" dictionary {}", levels(value)),
    };
    format!("{}{nullable}{below}", node.def_level)
}

#[test]
fn every_list_has_three_levels() {
    let lists: [fn(FieldRef) -> DataType; 5] = [
        DataType::List,
        DataType::LargeList,
        DataType::ListView,
        DataType::LargeListView,
        |child| DataType::FixedSizeList(child, 3),
    ];
    for list in lists {
        assert_eq!(
            stored(Field::new("a", list(child("item", DataType::Int32)), true)),
            (
                "optional group a (LIST) { repeated group list { optional int32 element; } }"
                    .to_owned(),
                "1?[1/2 3? #0]".to_owned()
            )
        );
        let required = Arc::new(Field::new("x", list(child("item", DataType::Utf8)), false));
        assert_eq!(
            stored(Field::new("a", list(required), false)),
            (
                "required group a (LIST) { repeated group list { required group element (LIST) { \
                 repeated group list { optional binary element (STRING); } } } }"
                    .to_owned(),
                "0[1/1 1[2/2 3? #0]]".to_owned()
            )
        );
    }
}

#[test]
fn maps_have_required_keys() {
    assert_eq!(
        stored(Field::new(
            "a",
            map(DataType::Utf8, DataType::Int64, true),
            true
        )),
        (
            "optional group a (MAP) { repeated group key_value { required binary key (STRING); \
             optional int64 value; } }"
                .to_owned(),
            "1?{1/2 2(2 #0, 3? #1)}".to_owned()
        )
    );
    let fields = vec![
        Field::new("k", DataType::Int8, true),
        Field::new("v", DataType::Int8, false),
    ];
    let entries = Field::new("e", DataType::Struct(Fields::from(fields)), true);
    assert_eq!(
        stored(Field::new("a", DataType::Map(Arc::new(entries), false), false)),
        (
            "required group a (MAP) { repeated group key_value { required int32 key (INTEGER(8,true)); \
             required int32 value (INTEGER(8,true)); } }"
                .to_owned(),
            "0{1/1 1(1 #0, 1 #1)}".to_owned()
        )
    );
}

#[test]
fn groups_with_ids_and_annotations() {
    let id = |id: &str| metadata(&[("PARQUET:field_id", id)]);
    let item = Field::new("item", DataType::Int32, true).with_metadata(id("3"));
    let list = Field::new("l", DataType::List(Arc::new(item)), true).with_metadata(id("2"));
    let fields = Fields::from(vec![list, Field::new("b.c", DataType::Boolean, false)]);
    let field = Field::new("a", DataType::Struct(fields), true).with_metadata(id("1"));
    assert_eq!(
        stored(field),
        (
            "optional group a = 1 { optional group l (LIST) = 2 { repeated group list { \
             optional int32 element = 3; } } required boolean b.c; }"
                .to_owned(),
            "1?(2?[1/3 4? #0], 1 #1)".to_owned()
        )
    );
    let fields = Fields::from(vec![
        Field::new("metadata", DataType::Binary, false),
        Field::new("value", DataType::Binary, false),
    ]);
    let variant = metadata(&[("PARQUET:logical_type", "VARIANT(specification_version=1)")]);
    let field = Field::new("v", DataType::Struct(fields), true).with_metadata(variant);
    assert_eq!(
        stored(field).0,
        "optional group v (VARIANT(1)) { required binary metadata; required binary value; }"
    );
}

#[test]
fn variants_by_their_extension_type() {
    let variant = |name: &str, fields: Vec<Field>| {
        let named = metadata(&[("ARROW:extension:name", name)]);
        Field::new("v", DataType::Struct(fields.into()), true).with_metadata(named)
    };
    let part = |name: &str, data_type| Field::new(name, data_type, true);
    // An unshredded variant is REQUIRED, even if the Arrow field is nullable.
    for name in ["arrow.parquet.variant", "parquet.variant"] {
        let fields = vec![
            part("value", DataType::BinaryView),
            part("metadata", dictionary(DataType::Binary)),
        ];
        assert_eq!(
            stored(variant(name, fields)).0,
            "optional group v (VARIANT(1)) { required binary value; required binary metadata; }"
        );
    }
    let element = part(
        "element",
        DataType::Struct(vec![part("value", DataType::Binary)].into()),
    );
    let shredded = vec![
        part("metadata", DataType::Binary),
        part("value", DataType::Binary),
        part("typed_value", DataType::LargeList(element.into())),
    ];
    assert_eq!(
        stored(variant("arrow.parquet.variant", shredded)).0,
        "optional group v (VARIANT(1)) { required binary metadata; optional binary value; \
         optional group typed_value (LIST) { repeated group list { optional group element { \
         optional binary value; } } } }"
    );
    for fields in [
        vec![part("metadata", DataType::Binary)],
        vec![
            part("metadata", DataType::Binary),
            part("value", DataType::Utf8),
        ],
        vec![
            part("metadata", DataType::Binary),
            part("typed_value", DataType::UInt8),
        ],
    ] {
        let schema = Schema::new(vec![variant("arrow.parquet.variant", fields)]);
        let error = from_arrow(&schema, &WriteSchemaOptions::default()).unwrap_err();
        assert!(
            error.to_string().contains("cannot be written as a variant"),
            "{error}"
        );
    }
}

#[test]
fn encodings_of_nested_values_have_no_levels() {
    let point = DataType::Struct(Fields::from(vec![Field::new(
        "x",
        dictionary(DataType::Int32),
        true,
    )]));
    assert_eq!(
        stored(Field::new("a", dictionary(runs(point)), true)),
        (
            "optional group a { optional int32 x; }".to_owned(),
            "1? dictionary 1? runs 1?(2? #0)".to_owned()
        )
    );
}

#[test]
fn structs_without_fields_get_one() {
    let options = WriteSchemaOptions {
        empty_structs: EmptyStructs::UnknownLeaf,
        ..WriteSchemaOptions::default()
    };
    let mapping = written(
        Field::new("a", DataType::Struct(Fields::empty()), true),
        &options,
    );
    assert_eq!(
        message(&mapping),
        "optional group a { optional int32 _empty (UNKNOWN); }"
    );
    assert_eq!(levels(&mapping.fields[0]), "1?(2? #0)");
}

#[test]
fn converted_types_of_groups() {
    use herringbone_format::ConvertedType;
    let converted = |data_type| {
        let mapping = written(
            Field::new("a", data_type, true),
            &WriteSchemaOptions::default(),
        );
        let all_leaves = mapping
            .elements
            .iter()
            .map(|element| element.converted_type);
        all_leaves.collect::<Vec<_>>()
    };
    assert_eq!(
        converted(DataType::List(child("item", DataType::Int32))),
        [None, Some(ConvertedType::List), None, None]
    );
    assert_eq!(
        converted(map(DataType::Int32, DataType::Int32, false)),
        [None, Some(ConvertedType::Map), None, None, None]
    );
}
