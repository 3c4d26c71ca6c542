//! Mapping an Arrow schema to a Parquet schema and its columns' storage.
//!
//! ```text
//! Schema + options ──► from_arrow ──► WriteMapping: elements, WriteNodes (levels), WriteLeafs (storage),
//!                                     key-value metadata with the ARROW:schema hint
//! ```
//!
//! We write both annotations if both exist. Lists have three levels, named `list` and `element`,
//! and maps have `key_value`, `key` and `value`. For other forms, use another Parquet schema as a
//! template ([`WriteSchemaOptions::parquet_schema`]). Properties that Parquet cannot express are
//! left to the hint, from which [`to_arrow`](crate::to_arrow) restores them.

mod build;
mod decimal;
mod group;
mod hint;
mod keys;
mod leaf_type;
mod logical_type;
mod node;
mod options;
mod stored;
mod template;
mod temporal;

use std::collections::HashSet;
use std::sync::Arc;

use herringbone_arrow::schema::{Fields, Schema};
use herringbone_format::modular_encryption::ALGORITHM_KEY;
use herringbone_format::{KeyValue, Limits, Result, SchemaElement};

pub use logical_type::asked_logical_type;
pub use node::{WriteConversion, WriteKind, WriteLeaf, WriteNode};
pub use options::{Date64, EmptyStructs, HintPolicy, WriteSchemaOptions};

use crate::{ARROW_SCHEMA_KEY, EXACT_SCHEMA_KEY, ExtensionMapping, ParquetSchema};
use build::Builder;
use keys::widened;
use template::Template;

/// Metadata keys with values about a single file. They must never be copied into another file.
const OF_THE_FILE_ALONE: [&str; 3] = [ARROW_SCHEMA_KEY, EXACT_SCHEMA_KEY, ALGORITHM_KEY];

/// The result of mapping an Arrow schema to Parquet.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WriteMapping {
    /// The schema tree for the footer, depth first.
    pub elements: Vec<SchemaElement>,
    /// The schema tree, with levels.
    pub schema: ParquetSchema,
    /// The Arrow schema's fields, in its order.
    pub fields: Vec<WriteNode>,
    /// The columns, in the file's order.
    pub leaves: Vec<WriteLeaf>,
    /// The Arrow schema's metadata, sorted by key.
    metadata: Vec<KeyValue>,
    /// The Arrow schema's fields, if the file needs them.
    hint: Option<Fields>,
    /// Descriptions of any differences from [`WriteSchemaOptions::parquet_schema`].
    pub warnings: Vec<String>,
}

impl WriteMapping {
    /// Returns a file's key-value metadata, consisting of the Arrow schema's metadata, the Arrow
    /// schema itself if the file needs it, and the pairs in `more`. Pairs in `more` override the
    /// schema's metadata.
    ///
    /// For each column, `dictionary_values` has the maximum number of values that a reader might
    /// put into one dictionary array. If a dictionary's keys are too narrow for these, the file's
    /// Arrow schema gets wider keys. Columns beyond the end of `dictionary_values` keep their keys.
    ///
    /// All pairs are repeated in that Arrow schema's metadata, because Arrow C++ ignores any others
    /// if the file has an Arrow schema.
    ///
    /// # Errors
    ///
    /// Fails with [Limit](herringbone_format::ErrorKind::Limit) if the pairs are too large for a
    /// footer.
    pub fn key_values(
        &self,
        more: &[KeyValue],
        dictionary_values: &[u64],
    ) -> Result<Vec<KeyValue>> {
        let replaced: HashSet<&str> = more.iter().map(|pair| pair.key.as_str()).collect();
        let schema_pairs = self.metadata.iter();
        let schema_pairs = schema_pairs.filter(|pair| !replaced.contains(pair.key.as_str()));
        let mut pairs: Vec<KeyValue> = schema_pairs.cloned().collect();
        if let Some(fields) = &self.hint
            && !replaced.contains(ARROW_SCHEMA_KEY)
        {
            let fields = widened(fields, &self.fields, dictionary_values);
            let all = pairs.iter().chain(more);
            let all = all.filter(|pair| !OF_THE_FILE_ALONE.contains(&pair.key.as_str()));
            let hint = hint::key_values(&fields, all)?;
            pairs.extend(hint);
        }
        pairs.extend_from_slice(more);
        Ok(pairs)
    }
}

/// Maps an Arrow schema to a Parquet schema.
///
/// Some properties come from the fields' metadata:
///
/// - Field IDs ([`FIELD_ID_KEY`](crate::FIELD_ID_KEY)).
/// - Annotations without an Arrow type ([`LOGICAL_TYPE_KEY`](crate::LOGICAL_TYPE_KEY): ENUM and
///   BSON, GEOMETRY and GEOGRAPHY, VARIANT and FILE).
/// - Whether times of day are in UTC ([`ADJUSTED_TO_UTC_KEY`](crate::ADJUSTED_TO_UTC_KEY)).
///
/// The extension types `arrow.uuid`, `arrow.json` and `arrow.parquet.file` become UUID, JSON and FILE.
///
/// # Errors
///
/// Fails with [Unsupported](herringbone_format::ErrorKind::Unsupported), naming the column, if
/// Parquet has no form for a type. These types are unions, fixed sizes of 0, structs without fields
/// (unless the options allow them), and dictionaries of dictionaries. They also include ordered
/// dictionaries of types without dictionary pages, and decimals with a negative scale that need
/// more than 76 digits.
///
/// Fails with [Argument](herringbone_format::ErrorKind::Argument) if a data type contradicts
/// itself, or if a field's metadata cannot be understood or does not fit its type. Fails with
/// [Limit](herringbone_format::ErrorKind::Limit) if fields are nested too deeply to be read back.
///
/// ```
/// use herringbone::arrow::schema::{DataType, Field, Schema};
/// use herringbone_schema::{WriteSchemaOptions, from_arrow};
///
/// let schema = Schema::new(vec![Field::new("a", DataType::UInt8, true)]);
/// let mapping = from_arrow(&schema, &WriteSchemaOptions::default())?;
/// assert_eq!(
/// mapping.schema.to_string(),
/// "message schema {\n  optional int32 a (INTEGER(8,false));\n}\n"
/// );
/// assert!(mapping.key_values(&[], &[])?.is_empty());
/// # Ok::<(), herringbone::Error>(())
/// ```
pub fn from_arrow(schema: &Schema, options: &WriteSchemaOptions) -> Result<WriteMapping> {
    from_arrow_extended(schema, options, &[])
}

/// Maps an Arrow schema like [`from_arrow`], applying your extension types. The resulting fields
/// are the storage fields.
///
/// # Errors
///
/// Fails for the same reasons as [`from_arrow`], and passes on the extension types' errors.
pub fn from_arrow_extended(
    schema: &Schema,
    options: &WriteSchemaOptions,
    extensions: &[Arc<dyn ExtensionMapping>],
) -> Result<WriteMapping> {
    let limits = Limits::default();
    let template = Template::new(options.parquet_schema.as_ref())?;
    let mut builder = Builder::new(options, extensions, &limits, &template);
    let fields = builder.root(schema.fields())?;
    let (elements, leaves) = (builder.elements, builder.leaves);
    let warnings = builder.warnings.0;
    let parquet = ParquetSchema::new(&elements, &limits)?;
    let mut metadata: Vec<KeyValue> = schema
        .metadata()
        .iter()
        .filter(|(key, _)| !OF_THE_FILE_ALONE.contains(&key.as_str()))
        .map(|(key, value)| KeyValue::new(key.clone(), value.as_bytes()))
        .collect();
    // We sort the pairs because hash maps have no order, but equal schemas should produce equal
    // files.
    metadata.sort_unstable_by(|a, b| a.key.cmp(&b.key));
    let is_hinted = hint::wanted(schema, &parquet, options.arrow_schema_hint)?;
    Ok(WriteMapping {
        elements,
        schema: parquet,
        fields,
        leaves,
        metadata,
        hint: is_hinted.then(|| schema.fields().clone()),
        warnings,
    })
}
