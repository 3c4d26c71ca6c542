//! Tests that the official test files have the Arrow schemas that pyarrow reads.
//!
//! `PARQUET_TEST_DATA` is the `data` folder of apache/parquet-testing. Without it, these tests are
//! skipped, with a message on standard error. `official_schemas.py` writes the expected schemas to
//! `official_schemas.txt`.

#![allow(
    clippy::unwrap_used,
    reason = "the files are known, and what is unexpected must fail the test"
)]

use std::fs;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use herringbone_arrow::schema::{DataType, Field};
use herringbone_format::footer::{FOOTER_TAIL_BYTES, Tail};
use herringbone_format::{
    ConvertedType, FileMetadata, Limits, LogicalType, Repetition, SchemaElement, Type,
};
use herringbone_schema::{
    ArrowMapping, LOGICAL_TYPE_KEY, ParquetSchema, Projection, SchemaOptions, WriteSchemaOptions,
    from_arrow, to_arrow,
};

fn test_data() -> Option<PathBuf> {
    let data = std::env::var_os("PARQUET_TEST_DATA").map(PathBuf::from);
    if data.is_none() {
        eprintln!("SKIPPED: set PARQUET_TEST_DATA to the `data` folder of apache/parquet-testing");
    }
    data
}

fn open(path: &Path) -> (ParquetSchema, ArrowMapping) {
    let bytes = Bytes::from(fs::read(path).unwrap());
    let tail = Tail::decode(bytes.last_chunk::<FOOTER_TAIL_BYTES>().unwrap()).unwrap();
    let end = bytes.len() - FOOTER_TAIL_BYTES;
    let start = end - usize::try_from(tail.metadata_length).unwrap();
    let limits = Limits::default();
    let metadata = FileMetadata::decode(bytes.slice(start..end), start as u64, &limits).unwrap();
    let schema = ParquetSchema::new(metadata.schema(), &limits).unwrap();
    let options = SchemaOptions::default();
    let mapping = to_arrow(&schema, metadata.key_value_metadata(), &options).unwrap();
    (schema, mapping)
}

/// Returns all fields in the form of `official_schemas.txt`, that is, without metadata and entry
/// names.
fn describe(mapping: &ArrowMapping) -> String {
    let fields: Vec<String> = mapping.schema.fields().iter().map(|f| field(f)).collect();
    fields.join("; ")
}

fn field(field: &Field) -> String {
    let not_null = if field.is_nullable() { "" } else { " not null" };
    format!(
        "{}: {}{not_null}",
        field.name(),
        data_type(field.data_type())
    )
}

fn data_type(of: &DataType) -> String {
    let struct_fields = |of: &DataType| -> String {
        let DataType::Struct(fields) = of else {
            return String::new();
        };
        fields
            .iter()
            .map(|f| field(f))
            .collect::<Vec<_>>()
            .join(", ")
    };
    match of {
        DataType::List(child) => format!("List<{}>", field(child)),
        DataType::Struct(_) => format!("Struct<{}>", struct_fields(of)),
        DataType::Map(entries, _) => format!("Map<{}>", struct_fields(entries.data_type())),
        leaf => leaf.to_string(),
    }
}

#[test]
fn types_are_those_of_pyarrow() {
    let Some(data) = test_data() else {
        return;
    };
    let expected = include_str!("official_schemas.txt");
    for line in expected.lines() {
        let (name, fields) = line.split_once(" | ").unwrap();
        let (_, mapping) = open(&data.join(name));
        assert_eq!(describe(&mapping), fields, "{name}");
        assert_eq!(mapping.warnings, [""; 0], "{name}");
    }
    assert!(expected.lines().count() > 70);
}

#[test]
fn files_that_pyarrow_does_not_open() {
    let Some(data) = test_data() else {
        return;
    };
    let (_, mapping) = open(&data.join("incorrect_map_schema.parquet"));
    assert_eq!(
        describe(&mapping),
        "my_map: Map<key: Utf8 not null, value: Utf8>"
    );
    assert!(
        !mapping
            .warnings
            .iter()
            .any(|warning| warning.contains("annotation"))
    );
}

#[test]
fn annotations_without_an_arrow_type_are_kept() {
    let Some(data) = test_data() else {
        return;
    };
    for (file, column, annotation) in [
        ("crs-default", "geometry", "GEOMETRY"),
        ("crs-srid", "geometry", "GEOMETRY(crs=srid:5070)"),
        ("crs-geography", "geography", "GEOGRAPHY"),
    ] {
        let (schema, mapping) = open(&data.join(format!("geospatial/{file}.parquet")));
        let field = mapping.schema.field_with_name(column).unwrap();
        let kept = field.metadata().get(LOGICAL_TYPE_KEY).map(String::as_str);
        assert_eq!(kept, Some(annotation), "{file}: {schema}");
    }
    let (schema, _) = open(&data.join("unknown-logical-type.parquet"));
    let ignored: Vec<bool> = schema
        .leaves()
        .iter()
        .map(|l| l.annotation_ignored)
        .collect();
    assert_eq!(ignored, [false, true]);
}

/// Projects each leaf alone. The projection must have one field and include the leaf, and the
/// leaf's path must select the same field.
#[test]
fn every_leaf_can_be_projected() {
    let Some(data) = test_data() else {
        return;
    };
    for line in include_str!("official_schemas.txt").lines() {
        let (name, _) = line.split_once(" | ").unwrap();
        let (schema, mapping) = open(&data.join(name));
        for (ordinal, leaf) in schema.leaves().iter().enumerate() {
            let projected = mapping.project(&Projection::Leaves(vec![ordinal])).unwrap();
            assert_eq!(projected.fields.len(), 1, "{name}");
            assert!(projected.leaves().contains(&ordinal), "{name}");
            let path = schema
                .path(ordinal)
                .into_iter()
                .map(str::to_owned)
                .collect();
            let by_path = mapping.project(&Projection::Paths(vec![path])).unwrap();
            assert_eq!(by_path.fields, projected.fields, "{name}");
            assert!(leaf.max_rep_level <= leaf.max_def_level);
        }
    }
}

/// A file written with its own schema has the same schema, element by element.
#[test]
fn schemas_can_be_followed() {
    let Some(data) = test_data() else {
        return;
    };
    for line in include_str!("official_schemas.txt").lines() {
        let (name, _) = line.split_once(" | ").unwrap();
        let (schema, mapping) = open(&data.join(name));
        let mut options = WriteSchemaOptions::default();
        options.parquet_schema = Some(schema.clone());
        let written = from_arrow(&mapping.schema, &options).unwrap();
        assert_eq!(written.schema.to_string(), schema.to_string(), "{name}");
        assert_eq!(written.warnings, [""; 0], "{name}");
    }
}

/// Returns a schema's elements without the parts that the text omits. These are numbers without a
/// meaning, the root's annotation, and the footer's field that contained an annotation. If a
/// GEOGRAPHY has an algorithm, its default coordinate reference system is explicit.
fn normal(schema: &ParquetSchema) -> Vec<SchemaElement> {
    let nodes = schema.nodes().iter().enumerate();
    nodes
        .map(|(ordinal, node)| {
            let stored = &node.element;
            let mut element = SchemaElement::new(stored.name.clone());
            element.type_ = stored.type_;
            if stored.type_ == Some(Type::FixedLenByteArray) {
                element.type_length = stored.type_length;
            }
            if node.is_group() {
                element.num_children = Some(stored.num_children.unwrap_or(0));
            }
            if ordinal == 0 {
                return element;
            }
            element.repetition_type = stored.repetition_type.or(Some(Repetition::Required));
            element.field_id = stored.field_id;
            element.logical_type = stored.logical_type.clone();
            if let Some(LogicalType::Geography {
                crs: crs @ None,
                algorithm: Some(_),
            }) = &mut element.logical_type
            {
                *crs = Some("OGC:CRS84".to_owned());
            }
            if stored.logical_type.is_none() {
                element.converted_type = stored.converted_type;
            }
            // These annotations have one name for both fields.
            let logical = match element.converted_type {
                Some(ConvertedType::Map) => LogicalType::Map,
                Some(ConvertedType::List) => LogicalType::List,
                Some(ConvertedType::Enum) => LogicalType::Enum,
                Some(ConvertedType::Date) => LogicalType::Date,
                Some(ConvertedType::Json) => LogicalType::Json,
                Some(ConvertedType::Bson) => LogicalType::Bson,
                Some(ConvertedType::Decimal) => LogicalType::Decimal {
                    scale: stored.scale.unwrap_or(0),
                    precision: stored.precision.unwrap_or(0),
                },
                _ => return element,
            };
            element.converted_type = None;
            element.logical_type(logical)
        })
        .collect()
}

/// Reads the schema's text for each file in a folder, returning the number of files.
fn read_texts(folder: &Path) -> usize {
    let mut files = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let bytes = Bytes::from(fs::read(&path).unwrap_or_default());
        let Some(tail) = bytes.last_chunk::<FOOTER_TAIL_BYTES>() else {
            continue;
        };
        // We cannot read the schema in an encrypted footer.
        let Some(tail) = Tail::decode(tail)
            .ok()
            .filter(|_| bytes.starts_with(b"PAR1"))
        else {
            continue;
        };
        let end = bytes.len() - FOOTER_TAIL_BYTES;
        let start = end - usize::try_from(tail.metadata_length).unwrap();
        let limits = Limits::default();
        let footer = bytes.slice(start..end);
        let metadata = FileMetadata::decode(footer, start as u64, &limits).unwrap();
        let schema = ParquetSchema::new(metadata.schema(), &limits).unwrap();
        let text = schema.to_string();
        let read: ParquetSchema = text.parse().unwrap();
        assert_eq!(
            normal(&read),
            normal(&schema),
            "{}:\n{text}",
            path.display()
        );
        assert_eq!(
            read.leaves(),
            schema.leaves(),
            "{}:\n{text}",
            path.display()
        );
        assert_eq!(read.to_string(), text, "{}", path.display());
        // A schema from text is complete, so its own text has all of it.
        assert_eq!(read.to_string().parse::<ParquetSchema>().unwrap(), read);
        files += 1;
    }
    files
}

#[test]
fn schemas_are_read_from_their_text() {
    let Some(data) = test_data() else {
        return;
    };
    assert!(read_texts(&data) >= 67);
    assert!(read_texts(&data.join("geospatial")) >= 10);
    assert!(read_texts(&data.join("../shredded_variant")) >= 137);
}
