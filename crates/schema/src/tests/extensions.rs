//! Tests of the fields and arguments passed to extension types, and of their precedence.

use std::sync::{Arc, Mutex};

use herringbone_arrow::schema::{DataType, Field};
use herringbone_format::{Error, ErrorKind, KeyValue, LogicalType, Result};

use super::{arrow, describe, schema};
use crate::{
    AnnotatedField, ArrowMapping, ColumnStorage, ExtensionField, ExtensionMapping,
    ExtensionRequest, LOGICAL_TYPE_KEY, ParquetSchema, Projection, ReadExtensions, SchemaOptions,
    StoredField, to_arrow_extended,
};

/// An extension type that records its calls. It makes text of groups named `g…` and numbers of
/// UUIDs, and fails for `bad`.
#[derive(Debug, Default)]
struct Noting(Mutex<Vec<String>>);

impl Noting {
    fn noted(&self) -> Vec<String> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl ExtensionMapping for Noting {
    fn to_arrow(&self, stored: &StoredField<'_>) -> Result<Option<ExtensionField>> {
        let name = &stored.element().name;
        let note = format!(
            "{name}: {} {}",
            stored.storage.data_type(),
            stored.key_values.len()
        );
        self.0.lock().unwrap().push(note);
        let field = |data_type| stored.storage.clone().with_data_type(data_type);
        Ok(match stored.logical_type() {
            _ if name == "bad" => return Err(Error::corrupt("it is bad")),
            Some(LogicalType::Uuid) => Some(ExtensionField::of_arrays(field(DataType::UInt8))),
            _ if name.starts_with('g') => Some(ExtensionField::of_arrays(field(DataType::Utf8))),
            _ => None,
        })
    }

    fn to_parquet(&self, _: &Field) -> Result<Option<AnnotatedField>> {
        Ok(None)
    }
}

fn extended(
    schema: &ParquetSchema,
    options: &SchemaOptions,
    projection: &Projection,
    extensions: &ReadExtensions,
) -> Result<ArrowMapping> {
    let pair = KeyValue::without_value("k");
    to_arrow_extended(schema, &[pair], options, projection, extensions)
}

/// Returns the fields as text, and the recorded calls.
fn noted(fields: &str, options: &SchemaOptions, projection: &Projection) -> (String, Vec<String>) {
    let noting = Arc::new(Noting::default());
    let extensions = ReadExtensions {
        types: vec![noting.clone()],
        ..ReadExtensions::default()
    };
    let mapping = extended(&schema(fields), options, projection, &extensions).unwrap();
    let text = mapping.schema.fields().iter();
    let text = text.map(|field| format!("{}: {}", field.name(), field.data_type()));
    (text.collect::<Vec<_>>().join("; "), noting.noted())
}

#[test]
fn fields_are_asked_about_once_and_from_the_inside_out() {
    let all = |fields| noted(fields, &SchemaOptions::default(), &Projection::All);
    let (text, asked) = all("optional group a { optional int32 x; repeated int32 r; }");
    assert_eq!(
        text,
        "a: Struct(\"x\": Int32, \"r\": non-null List(non-null Int32, field: 'r'))"
    );
    assert_eq!(asked.len(), 3, "{asked:?}");
    assert_eq!(asked[..2], ["x: Int32 1", "r: Int32 1"]);
    // The entries of maps are not fields of the file.
    let (_, asked) = all("optional group m (MAP) { repeated group key_value {
        required int32 key; optional group gv { optional int32 x; } } }");
    let names: Vec<_> = asked
        .iter()
        .filter_map(|asked| asked.split(':').next())
        .collect();
    assert_eq!(names, ["key", "x", "gv", "m"]);
    assert!(asked[3].contains("\"gv\": Utf8"), "{asked:?}");
}

#[test]
fn the_types_of_groups_follow_from_those_within() {
    let all = |fields| noted(fields, &SchemaOptions::default(), &Projection::All).0;
    assert_eq!(
        all(
            "optional group a (LIST) { repeated group list { optional group g { optional int32 x; } } }"
        ),
        "a: List(Utf8, field: 'g')"
    );
    assert_eq!(
        all(
            "repeated group g { optional int32 x; } optional group a { required group g { optional int32 x; } }"
        ),
        "g: List(non-null Utf8, field: 'g'); a: Struct(\"g\": non-null Utf8)"
    );
}

#[test]
fn the_callers_come_before_those_of_the_library() {
    let uuid = "optional fixed_len_byte_array(16) u (UUID); optional binary j (JSON);";
    let options = SchemaOptions::default();
    assert_eq!(
        noted(uuid, &options, &Projection::All).0,
        "u: UInt8; j: Utf8"
    );
    let ignoring = SchemaOptions {
        ignore_annotations: vec![vec!["u".to_owned()]],
        ..SchemaOptions::default()
    };
    let (text, asked) = noted(uuid, &ignoring, &Projection::All);
    assert_eq!(text, "u: FixedSizeBinary(16); j: Utf8");
    assert_eq!(asked, ["j: Utf8 1"]);
}

#[test]
fn they_see_the_fields_of_the_projection() {
    let fields = "optional group g { optional int32 x; optional int32 y; } optional int32 z;";
    let path = vec![vec!["g".to_owned(), "y".to_owned()]];
    let options = SchemaOptions::default();
    let (text, asked) = noted(fields, &options, &Projection::Paths(path));
    assert_eq!(text, "g: Utf8");
    assert_eq!(asked, ["y: Int32 1", "g: Struct(\"y\": Int32) 1"]);
}

#[test]
fn errors_name_the_field() {
    let extensions = ReadExtensions {
        types: vec![Arc::new(Noting::default())],
        ..ReadExtensions::default()
    };
    let schema = schema("optional group a { optional int32 bad; }");
    let options = SchemaOptions::default();
    let error = extended(&schema, &options, &Projection::All, &extensions).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert_eq!(error.location().column.as_deref(), Some("a.bad"));
}

#[test]
fn a_mapping_with_extension_types_cannot_be_projected_afterwards() {
    let extensions = ReadExtensions {
        types: vec![Arc::new(Noting::default())],
        ..ReadExtensions::default()
    };
    let schema = schema("optional int32 x;");
    let options = SchemaOptions::default();
    let mapping = extended(&schema, &options, &Projection::All, &extensions).unwrap();
    let error = mapping.project(&Projection::Leaves(vec![0])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Argument);
}

#[test]
fn columns_take_their_storage_from_the_projection_where_they_can() {
    let fields = "optional group s { required group g { optional int32 x; required int32 y; } }
        optional group l (LIST) { repeated group list { optional group g { optional int32 x; } } }
        repeated group r { optional int32 x; }";
    let schema = schema(fields);
    let column = |path: &[&str], projection: &Projection| {
        let request = ExtensionRequest {
            name: "n".to_owned(),
            path: path.iter().map(|&part| part.to_owned()).collect(),
            extension: Arc::new(Noting::default()),
        };
        let extensions = ReadExtensions {
            columns: vec![request],
            ..ReadExtensions::default()
        };
        extended(&schema, &SchemaOptions::default(), projection, &extensions)
    };
    let none = Projection::Names(Vec::new());
    let mapping = column(&["s", "g"], &Projection::All).unwrap();
    assert_eq!(
        mapping.extension_columns[0].storage,
        ColumnStorage::Shared(2)
    );
    assert_eq!(mapping.leaves(), [0, 1, 2, 3]);
    let mapping = column(&["s", "g"], &none).unwrap();
    assert_eq!(mapping.extension_columns[0].storage, ColumnStorage::Own(0));
    assert_eq!(mapping.leaves(), [0, 1]);
    assert_eq!(mapping.schema.fields().len(), 1);
    // The column is null if the struct around it is.
    assert!(mapping.storages[0].nullable && mapping.storages[0].field.is_nullable());
    for path in [&["l", "g"][..], &["r"], &["r", "x"]] {
        let error = column(path, &none).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Argument);
        assert!(error.message().contains("list or map"), "{error}");
    }
}

#[test]
fn files_are_known_by_their_fields() {
    let name = "{ARROW:extension:metadata=} {ARROW:extension:name=arrow.parquet.file}";
    for fields in [
        "optional binary uri (STRING);",
        "optional int64 size; optional binary inline; optional int32 mine;",
    ] {
        let text = arrow(&format!("required group f (FILE) {{ {fields} }}"));
        assert!(text.ends_with(name), "{text}");
        assert!(!text.contains(LOGICAL_TYPE_KEY), "{text}");
    }
    for fields in ["optional binary uri;", "optional int32 size;", ""] {
        let text = arrow(&format!("required group f (FILE) {{ {fields} }}"));
        assert!(text.ends_with("{PARQUET:logical_type=FILE}"), "{text}");
    }
    let fields = "optional group f (FILE) { optional binary uri (STRING); }";
    let none = ReadExtensions::default();
    let options = SchemaOptions::default();
    let mapping = extended(&schema(fields), &options, &Projection::All, &none).unwrap();
    assert!(describe(&mapping).contains(name));
}
