//! Tests of structs that become FILE, because they have the specification's names and types.

use std::sync::Arc;

use herringbone_arrow::schema::{DataType, Field, FieldRef};

use super::{child, dictionary, message, metadata, written};
use crate::WriteSchemaOptions;

/// Returns the group for a struct with the extension type's name.
fn of(fields: &[FieldRef]) -> String {
    let names = [
        ("ARROW:extension:name", "arrow.parquet.file"),
        ("ARROW:extension:metadata", ""),
    ];
    let fields = DataType::Struct(fields.to_vec().into());
    let field = Field::new("f", fields, true).with_metadata(metadata(&names));
    message(&written(field, &WriteSchemaOptions::default()))
}

#[test]
fn structs_of_known_fields_are_files() {
    use DataType::{Binary, BinaryView, Int64, LargeBinary, LargeUtf8, Utf8, Utf8View};
    let all = [
        child("uri", Utf8),
        child("offset", Int64),
        child("size", Int64),
        child("content_type", LargeUtf8),
        child("checksum", Utf8View),
        child("inline", Binary),
    ];
    assert_eq!(
        of(&all),
        "optional group f (FILE) { optional binary uri (STRING); optional int64 offset; optional int64 size; \
         optional binary content_type (STRING); optional binary checksum (STRING); optional binary inline; }"
    );
    for (name, data_type, column) in [
        ("uri", dictionary(Utf8), "binary uri (STRING)"),
        ("inline", LargeBinary, "binary inline"),
        ("inline", BinaryView, "binary inline"),
    ] {
        // The field becomes OPTIONAL even though the struct declares it as never null.
        let required = Arc::new(Field::new(name, data_type, false));
        let expected = format!("optional group f (FILE) {{ optional {column}; }}");
        assert_eq!(of(&[required]), expected);
    }
}

#[test]
fn structs_of_other_fields_are_no_files() {
    use DataType::{Binary, Int32, Int64, Utf8};
    for fields in [
        vec![child("uri", Utf8), child("mine", Int64)],
        vec![child("uri", Binary)],
        vec![child("checksum", Int64)],
        vec![child("size", Int32)],
        vec![child("inline", Utf8)],
        vec![child("uri", Utf8), child("uri", Utf8)],
    ] {
        let group = of(&fields);
        assert!(group.starts_with("optional group f {"), "{group}");
    }
}
