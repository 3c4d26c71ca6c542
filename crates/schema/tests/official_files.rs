//! The Arrow schemas of the official test files, as pyarrow reads them.
//!
//! `PARQUET_TEST_DATA` is the `data` folder of apache/parquet-testing. Without it, these tests are skipped, with a
//! message on standard error. `official_schemas.txt` is written by `official_schemas.py`.

#![allow(
    clippy::unwrap_used,
    reason = "the files are known, and what is unexpected must fail the test"
)]

use std::fs;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use herringbone_arrow::schema::{DataType, Field};
use herringbone_format::footer::{FOOTER_TAIL_BYTES, Tail};
use herringbone_format::{FileMetadata, Limits};
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

/// All fields in the form of `official_schemas.txt`: without metadata and the names of entries.
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

/// Projects each leaf alone: the projection has one field and includes the leaf. The leaf's path selects the same
/// field.
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
