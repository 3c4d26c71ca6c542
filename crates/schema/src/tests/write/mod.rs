//! Tests of the mapping from Arrow to Parquet, and back.

mod chosen;
mod errors;
mod files;
mod flat;
mod hint;
mod nested;
mod returned;
mod template;

use std::collections::HashMap;
use std::sync::Arc;

use herringbone_arrow::schema::{DataType, Field, FieldRef, Fields, Schema};

use crate::{
    ARROW_SCHEMA_KEY, SchemaOptions, WriteMapping, WriteSchemaOptions, from_arrow, to_arrow,
};

fn written(field: Field, options: &WriteSchemaOptions) -> WriteMapping {
    let mapping = from_arrow(&Schema::new(vec![field]), options).unwrap();
    assert_eq!(mapping.leaves.len(), mapping.schema.leaves().len());
    for (ordinal, (leaf, stored)) in mapping
        .leaves
        .iter()
        .zip(mapping.schema.leaves())
        .enumerate()
    {
        assert_eq!(leaf.path, mapping.schema.path(ordinal));
        assert_eq!(leaf.physical_type, stored.physical_type);
        assert_eq!(leaf.type_length, stored.type_length);
        assert_eq!(leaf.max_def_level, stored.max_def_level);
        assert_eq!(leaf.max_rep_level, stored.max_rep_level);
        assert!(!stored.annotation_ignored);
    }
    mapping
}

/// Returns the fields of the message, in one line.
fn message(mapping: &WriteMapping) -> String {
    let text = mapping.schema.to_string();
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ");
    let inside = text
        .strip_prefix("message schema { ")
        .and_then(|text| text.strip_suffix(" }"));
    inside.unwrap().to_owned()
}

/// Returns the schema read back, and true if the file has a hint.
fn returned(schema: &Schema, options: &WriteSchemaOptions) -> (Schema, bool) {
    let mapping = from_arrow(schema, options).unwrap();
    let pairs = mapping.key_values(&[], &[]).unwrap();
    let back = to_arrow(&mapping.schema, &pairs, &SchemaOptions::default()).unwrap();
    assert_eq!(back.warnings, [""; 0]);
    let hinted = pairs.iter().any(|pair| pair.key == ARROW_SCHEMA_KEY);
    (Schema::clone(&back.schema), hinted)
}

fn metadata(pairs: &[(&str, &str)]) -> HashMap<String, String> {
    let owned = |&(key, value): &(&str, &str)| (key.to_owned(), value.to_owned());
    pairs.iter().map(owned).collect()
}

fn child(name: &str, data_type: DataType) -> FieldRef {
    Arc::new(Field::new(name, data_type, true))
}

fn dictionary(value: DataType) -> DataType {
    DataType::Dictionary(Box::new(DataType::UInt16), Box::new(value))
}

fn runs(value: DataType) -> DataType {
    let ends = Arc::new(Field::new("run_ends", DataType::Int32, false));
    DataType::RunEndEncoded(ends, child("values", value))
}

fn map(key: DataType, value: DataType, sorted: bool) -> DataType {
    let fields = vec![
        Field::new("keys", key, false),
        Field::new("values", value, true),
    ];
    let entries = Field::new("entries", DataType::Struct(Fields::from(fields)), false);
    DataType::Map(Arc::new(entries), sorted)
}
