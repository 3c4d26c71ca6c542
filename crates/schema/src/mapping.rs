//! The Arrow schema of a file, with the levels of each field.

use std::collections::HashMap;
use std::sync::Arc;

use herringbone_arrow::schema::{Schema, SchemaRef};
use herringbone_format::{KeyValue, Result};

use crate::nested::Nesting;
use crate::node::fields_of;
use crate::{ARROW_SCHEMA_KEY, Node, ParquetSchema, SchemaOptions};

/// The Arrow schema of a file or of a projection of it, and where its fields come from.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ArrowMapping {
    /// The Arrow schema; its metadata is the file's key-value metadata.
    pub schema: SchemaRef,
    /// The fields of the schema, in the same order.
    pub fields: Vec<Node>,
    /// What was found wrong and read another way: annotations that do not fit their groups, and
    /// parts of the file's Arrow schema that do not fit its columns.
    pub warnings: Vec<String>,
}

/// The Arrow schema of a file: its Parquet schema, the Arrow schema among its key-value metadata
/// (under [`ARROW_SCHEMA_KEY`]) where there is one, and what the caller chose.
///
/// # Errors
///
/// Argument when an option names a column that is not there.
pub fn to_arrow(
    schema: &ParquetSchema,
    key_values: &[KeyValue],
    options: &SchemaOptions,
) -> Result<ArrowMapping> {
    let mut nesting = Nesting::new(schema, options);
    let fields = nesting.fields();
    let metadata: HashMap<String, String> = key_values
        .iter()
        .filter(|pair| pair.key != ARROW_SCHEMA_KEY)
        .filter_map(|pair| Some((pair.key.clone(), pair.value.clone()?)))
        .collect();
    Ok(ArrowMapping {
        schema: Arc::new(Schema::new_with_metadata(fields_of(&fields), metadata)),
        fields,
        warnings: Vec::new(),
    })
}
