//! Tests of the Arrow schema in the file's metadata.

mod encoded;
mod merged;
mod types;

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
    Projection, SchemaOptions, to_arrow, to_arrow_projected,
};

/// Returns the IPC message of a schema, without the marker and the length.
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
    KeyValue::new(key, value)
}

fn with(fields: &str, hint: Vec<Field>, options: &SchemaOptions) -> ArrowMapping {
    let hint = encoded(&message(&Schema::new(hint)), true);
    to_arrow(&schema(fields), &[pair(ARROW_SCHEMA_KEY, &hint)], options).unwrap()
}

/// Returns the type and conversion of a column with the hint `hint`. Expects no warning.
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

/// Returns the column if the hint contradicts it, and expects one warning.
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
