//! Tests of schemas that follow another one.

use std::sync::Arc;

use herringbone_arrow::schema::extension::{EXTENSION_TYPE_METADATA_KEY, EXTENSION_TYPE_NAME_KEY};
use herringbone_arrow::schema::{DataType, Field, Schema};
use herringbone_format::{
    ConvertedType, Limits, LogicalType, Repetition, Result, SchemaElement, Type,
};

use super::metadata;
use crate::tests::schema;
use crate::{
    AnnotatedField, ExtensionField, ExtensionMapping, FIELD_ID_KEY, LOGICAL_TYPE_KEY,
    ParquetSchema, SchemaOptions, StoredField, WriteMapping, WriteSchemaOptions, from_arrow,
    from_arrow_extended, to_arrow,
};

/// Maps the Arrow fields under a Parquet schema to follow.
fn written_like(fields: &Schema, like: &ParquetSchema) -> WriteMapping {
    let options = WriteSchemaOptions {
        parquet_schema: Some(like.clone()),
        ..WriteSchemaOptions::default()
    };
    from_arrow(fields, &options).unwrap()
}

/// Returns the Arrow schema read from a Parquet schema.
fn read(from: &ParquetSchema) -> Schema {
    let mapping = to_arrow(from, &[], &SchemaOptions::default()).unwrap();
    Schema::clone(&mapping.schema)
}

/// Checks that the elements are written again, one for one, and read as the same fields.
fn stays(like: &ParquetSchema) {
    let fields = read(like);
    let mapping = written_like(&fields, like);
    let elements: Vec<_> = mapping.elements.iter().collect();
    let expected: Vec<_> = like.nodes().iter().map(|node| &node.element).collect();
    assert_eq!(elements, expected, "{like}");
    assert_eq!(mapping.warnings, [""; 0], "{like}");
    assert_eq!(read(&mapping.schema), fields, "{like}");
    for (leaf, stored) in mapping.leaves.iter().zip(mapping.schema.leaves()) {
        assert_eq!(leaf.max_def_level, stored.max_def_level);
        assert_eq!(leaf.max_rep_level, stored.max_rep_level);
    }
    for (ordinal, leaf) in mapping.leaves.iter().enumerate() {
        assert_eq!(leaf.order, like.order(ordinal), "{like}");
        assert_eq!(leaf.path, like.path(ordinal));
    }
}

#[test]
fn annotations_that_arrow_has_no_word_for() {
    for field in [
        "optional binary a (ENUM);",
        "optional binary a (converted:ENUM);",
        "required binary a (BSON);",
        "optional binary a (converted:BSON);",
        "optional binary a (UTF8);",
        "optional binary a (JSON) = 7;",
        "optional int32 a (TIME(MILLIS,true));",
        "optional int32 a (TIME(MILLIS,false));",
        "optional int64 a (TIME_MICROS);",
        "optional int64 a (TIMESTAMP_MILLIS);",
        "optional int32 a (INT_8);",
        "optional int32 a (INTEGER(32,true));",
        "optional int64 a (converted:DECIMAL(9,2));",
        "optional int64 a (DECIMAL(9,2));",
        "optional fixed_len_byte_array(16) a (DECIMAL(9,2));",
        "optional binary a (DECIMAL(9,2));",
        "optional fixed_len_byte_array(12) a (INTERVAL);",
        "optional fixed_len_byte_array(12) a (TIMESTAMP(NANOS,true));",
        "optional fixed_len_byte_array(16) a;",
        "optional int96 a;",
        "optional binary a (UNKNOWN);",
        "optional binary a (GEOMETRY(srid:4326));",
        "optional group a (VARIANT(1)) { required binary metadata; optional binary value; }",
        "optional group a (FILE) { optional binary path (STRING); }",
    ] {
        stays(&schema(field));
    }
}

#[test]
fn forms_of_lists_and_maps() {
    for field in [
        "optional group a (LIST) { repeated group list { optional int32 element; } }",
        "optional group a (converted:LIST) { repeated group bag { optional int32 array_element = 3; } } ",
        "required group a (LIST) { repeated int32 array; }",
        "optional group a (LIST) { repeated group array { required int32 x; } }",
        "optional group a (LIST) { repeated group a_tuple { required binary x (ENUM); } }",
        "optional group a (LIST) { repeated group item { required int32 x; optional int32 y; } }",
        "optional group a (LIST) { repeated group array (LIST) { repeated int32 array; } }",
        "optional group a (LIST) { repeated group element { repeated int32 items; } }",
        "repeated int32 a = 4;",
        "repeated binary a (ENUM);",
        "repeated group a { required int32 x; repeated int64 y; }",
        "optional group a (MAP) { repeated group map (MAP_KEY_VALUE) { required binary k (UTF8); optional binary v (ENUM); } }",
        "optional group a (MAP_KEY_VALUE) { repeated group map { required int32 key; optional int32 value; } }",
        "required group a (MAP) { repeated group key_value { required int32 key; } }",
        "optional group a = 1 { optional group b = 2 { optional binary c (ENUM) = 3; } }",
    ] {
        stays(&schema(field));
    }
}

#[test]
fn annotations_that_are_not_known() {
    let element = |name: &str, parameters: &[u8]| {
        SchemaElement::new(name.to_owned())
            .type_(Type::Int64)
            .repetition_type(herringbone_format::Repetition::Optional)
            .logical_type(LogicalType::Unrecognized {
                field_id: 90,
                parameters: parameters.to_vec(),
            })
    };
    let root = SchemaElement::new("spark_schema".to_owned()).num_children(2);
    let elements = [root, element("a", &[0]), element("b", &[0x15, 2, 0])];
    stays(&ParquetSchema::new(&elements, &Limits::default()).unwrap());
}

/// MAP_KEY_VALUE and INTERVAL have no logical types. parquet-java writes UNKNOWN next to them, but
/// other readers refuse that.
#[test]
fn unknown_beside_older_annotations_is_left_out() {
    let text = |fields: &str| schema(fields).to_string();
    for (fields, nodes) in [
        ("optional fixed_len_byte_array(12) a (INTERVAL);", &[1][..]),
        (
            "optional group a (MAP) { repeated group map (MAP_KEY_VALUE) { required int32 k; optional int32 v; } }",
            &[2],
        ),
        (
            "optional group a (MAP_KEY_VALUE) { repeated group map (MAP_KEY_VALUE) { required int32 k; optional int32 v; } }",
            &[1, 2],
        ),
    ] {
        let like = schema(fields);
        let mut elements: Vec<_> = like
            .nodes()
            .iter()
            .map(|node| node.element.clone())
            .collect();
        for node in nodes {
            elements[*node].logical_type = Some(LogicalType::Unknown);
        }
        let slipped = ParquetSchema::new(&elements, &Limits::default()).unwrap();
        assert_eq!(read(&slipped), read(&like), "{fields}");
        let mapping = written_like(&read(&slipped), &slipped);
        assert_eq!(mapping.schema.to_string(), text(fields));
        assert_eq!(mapping.warnings, [""; 0]);
    }
}

/// Returns the message without its frame, and the warnings, for a field that follows the template.
fn followed(field: Field, like: &str) -> (String, Vec<String>) {
    let mapping = written_like(&Schema::new(vec![field]), &schema(like));
    let text = mapping.schema.to_string();
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ");
    let inside = text.strip_prefix("message m { ").unwrap();
    let inside = inside.strip_suffix(" }").unwrap().to_owned();
    (inside, mapping.warnings)
}

#[test]
fn types_that_do_not_agree_are_written_as_ever_and_named() {
    for (data_type, like, expected, is, not) in [
        (
            DataType::Utf8,
            "optional int32 a (DATE);",
            "optional binary a (STRING);",
            "binary (STRING)",
            "int32 (DATE)",
        ),
        (
            DataType::Binary,
            "optional binary a (UTF8);",
            "optional binary a;",
            "binary",
            "binary (UTF8)",
        ),
        (
            DataType::Int64,
            "optional int64 a (TIMESTAMP(MICROS,true));",
            "optional int64 a;",
            "int64",
            "int64 (TIMESTAMP(MICROS,true))",
        ),
    ] {
        let warning = format!("`a` is written as {is} instead of {not}");
        let (written, warnings) = followed(Field::new("a", data_type, true), like);
        assert_eq!((written.as_str(), warnings), (expected, vec![warning]));
    }
}

#[test]
fn what_may_be_null_is_optional() {
    let list = |nullable, child_nullable| {
        let child = Field::new("x", DataType::Int32, child_nullable);
        Field::new("a", DataType::new_list(DataType::Int32, true), nullable)
            .with_data_type(DataType::List(child.into()))
    };
    for (field, like, expected) in [
        (
            Field::new("a", DataType::Utf8, true),
            "required binary a (ENUM);",
            "optional binary a (ENUM);",
        ),
        (
            Field::new("a", DataType::Utf8, false),
            "optional binary a (ENUM);",
            "optional binary a (ENUM);",
        ),
        (
            list(true, true),
            "repeated int32 a;",
            "optional group a (LIST) { repeated group list { optional int32 element; } }",
        ),
        (
            list(true, true),
            "optional group a (LIST) { repeated int32 array; }",
            "optional group a (LIST) { repeated group list { optional int32 element; } }",
        ),
    ] {
        assert_eq!(followed(field, like).0, expected);
    }
}

#[test]
fn a_struct_of_one_field_is_not_taken_for_a_wrapper() {
    // The other field was not read.
    let like =
        "optional group a (LIST) { repeated group item { required int32 x; required int32 y; } }";
    let inner = Field::new("x", DataType::Int32, false);
    let child = Field::new("item", DataType::Struct(vec![inner].into()), false);
    let field = Field::new("a", DataType::List(child.into()), true);
    assert_eq!(
        followed(field, like).0,
        "optional group a (LIST) { repeated group list { required group element { required int32 x; } } }"
    );
}

#[test]
fn metadata_of_the_field_win() {
    let asked = metadata(&[(LOGICAL_TYPE_KEY, "ENUM")]);
    let field = Field::new("a", DataType::Binary, true).with_metadata(asked);
    let (written, _) = followed(field, "optional binary a (BSON);");
    assert_eq!(written, "optional binary a (ENUM);");
    let id = metadata(&[(FIELD_ID_KEY, "5")]);
    let field = Field::new("a", DataType::Utf8, true).with_metadata(id);
    let (written, _) = followed(field, "optional binary a (ENUM) = 4;");
    assert_eq!(written, "optional binary a (ENUM) = 5;");
}

#[test]
fn runs_and_dictionaries_are_looked_through() {
    let field = Field::new("a", super::dictionary(DataType::Utf8), true);
    let (written, warnings) = followed(field, "optional binary a (ENUM);");
    assert_eq!(written, "optional binary a (ENUM);");
    assert_eq!(warnings, [""; 0]);
}

/// If a group or a physical type cannot have an annotation, readers refuse it. Such annotations are
/// left out, with a warning.
#[test]
fn misplaced_annotations_are_left_out() {
    let group = |logical: Option<LogicalType>, converted| {
        let elements = [
            SchemaElement::new("root".into()).num_children(Some(1)),
            SchemaElement::new("a".into())
                .num_children(Some(1))
                .repetition_type(Some(Repetition::Optional))
                .logical_type(logical)
                .converted_type(Some(converted)),
            SchemaElement::new("list".into())
                .num_children(Some(1))
                .repetition_type(Some(Repetition::Repeated)),
            SchemaElement::new("element".into())
                .type_(Some(Type::Int32))
                .repetition_type(Some(Repetition::Optional)),
        ];
        ParquetSchema::new(&elements, &Limits::default()).unwrap()
    };
    // The annotation is UTF8 (0) in place of LIST (3).
    let like = group(None, ConvertedType::Utf8);
    let mapping = written_like(&read(&like), &like);
    assert_eq!(mapping.elements[1].converted_type, None);
    assert!(
        mapping.warnings[0].starts_with("`a` is written as "),
        "{:?}",
        mapping.warnings
    );
    let like = group(Some(LogicalType::List), ConvertedType::Utf8);
    let mapping = written_like(&read(&like), &like);
    assert_eq!(mapping.elements[1].logical_type, Some(LogicalType::List));
    assert_eq!(mapping.elements[1].converted_type, None);
    let like = group(Some(LogicalType::String), ConvertedType::List);
    let mapping = written_like(&read(&like), &like);
    assert_eq!(mapping.elements[1].logical_type, None);
    assert_eq!(mapping.elements[1].converted_type, None);
    // This is a text annotation on INT32.
    let elements = [
        SchemaElement::new("root".into()).num_children(Some(1)),
        SchemaElement::new("a".into())
            .type_(Some(Type::Int32))
            .repetition_type(Some(Repetition::Optional))
            .logical_type(Some(LogicalType::String))
            .converted_type(Some(ConvertedType::Utf8)),
    ];
    let like = ParquetSchema::new(&elements, &Limits::default()).unwrap();
    let mapping = written_like(&read(&like), &like);
    assert_eq!(mapping.elements[1].logical_type, None);
    assert_eq!(mapping.elements[1].converted_type, None);
    assert_eq!(mapping.warnings.len(), 1, "{:?}", mapping.warnings);
}

/// An extension type whose values are geometries, with its metadata as the reference system.
#[derive(Debug)]
struct Place;

impl ExtensionMapping for Place {
    fn to_arrow(&self, _: &StoredField<'_>) -> Result<Option<ExtensionField>> {
        Ok(None)
    }

    fn to_parquet(&self, field: &Field) -> Result<Option<AnnotatedField>> {
        let crs = field.extension_type_metadata().map(str::to_owned);
        let is_place = field.extension_type_name() == Some("place");
        let annotation = LogicalType::Geometry { crs };
        Ok(is_place.then(|| AnnotatedField::new(field.clone(), annotation)))
    }
}

/// A warning names a template's annotation that is not the extension type's, which is written in any case.
#[test]
fn geometries_follow_columns_of_their_reference_system() {
    let field = |crs| {
        let pairs = metadata(&[
            (EXTENSION_TYPE_NAME_KEY, "place"),
            (EXTENSION_TYPE_METADATA_KEY, crs),
        ]);
        Field::new("a", DataType::Binary, true).with_metadata(pairs)
    };
    let like = "optional binary a (GEOMETRY(OGC:CRS84));";
    let options = WriteSchemaOptions {
        parquet_schema: Some(schema(like)),
        ..WriteSchemaOptions::default()
    };
    for (crs, warnings) in [("OGC:CRS84", 0), ("OGC:CRS27", 1)] {
        let fields = Schema::new(vec![field(crs)]);
        let mapping = from_arrow_extended(&fields, &options, &[Arc::new(Place)]).unwrap();
        let element = mapping.schema.element(0);
        let annotation = LogicalType::Geometry {
            crs: Some(crs.into()),
        };
        assert_eq!(element.logical_type, Some(annotation));
        assert_eq!(mapping.warnings.len(), warnings, "{crs}");
    }
}
