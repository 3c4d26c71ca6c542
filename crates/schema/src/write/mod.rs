//! The Parquet schema of an Arrow schema, and how each of its columns is stored.
//!
//! ```text
//! Schema + options ──► from_arrow ──► WriteMapping: elements, WriteNodes (levels), WriteLeafs (storage),
//!                                     key-value metadata with the ARROW:schema hint
//! ```
//!
//! Both annotations are written wherever both exist. Lists have three levels, named `list` and
//! `element`; maps have `key_value`, `key` and `value`. Another Parquet schema may serve as a template
//! ([`WriteSchemaOptions::parquet_schema`]). What Parquet has no word for is left to the
//! hint, which [`to_arrow`](crate::to_arrow) restores it from.

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

pub(crate) use hint::arrow_schema_text;
pub use logical_type::asked_logical_type;
pub use node::{WriteConversion, WriteKind, WriteLeaf, WriteNode};
pub use options::{Date64, EmptyStructs, HintPolicy, WriteSchemaOptions};

use crate::{ARROW_SCHEMA_KEY, EXACT_SCHEMA_KEY, ExtensionMapping, ParquetSchema};
use build::Builder;
use keys::widened;
use template::Template;

/// Metadata of a file that say something of this file alone.
const OF_THE_FILE_ALONE: [&str; 3] = [ARROW_SCHEMA_KEY, EXACT_SCHEMA_KEY, ALGORITHM_KEY];

/// The name of the column that stands for the fields of a struct that has none.
pub const EMPTY_STRUCT_CHILD: &str = "_empty";

/// The Parquet schema of an Arrow schema.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct WriteMapping {
    /// The schema tree for the footer, depth first.
    pub elements: Vec<SchemaElement>,
    /// The same with levels.
    pub schema: ParquetSchema,
    /// The fields of the Arrow schema, in its order.
    pub fields: Vec<WriteNode>,
    /// The columns, in the order of the file.
    pub leaves: Vec<WriteLeaf>,
    /// The metadata of the Arrow schema, in the order of their keys.
    metadata: Vec<KeyValue>,
    /// The fields of the Arrow schema, if the file needs them.
    hint: Option<Fields>,
    /// Where the schema is not as [`WriteSchemaOptions::parquet_schema`] has it, in words.
    pub warnings: Vec<String>,
}

impl WriteMapping {
    /// The key-value metadata of a file: the metadata of the Arrow schema, the Arrow schema itself where the file needs it, and
    /// `more` pairs. These win over metadata of the schema with the same key.
    ///
    /// `dictionary_values` has, for each column, the most values that a reader may put into one dictionary array. Keys of
    /// dictionaries that are too narrow for them are wider in the Arrow schema of the file. Columns that it does not have
    /// keep their keys.
    ///
    /// All pairs are metadata of that Arrow schema as well: Arrow C++ looks at no others if the file has one.
    ///
    /// # Errors
    ///
    /// Limit when the pairs are too large for a footer.
    pub fn key_values(
        &self,
        more: &[KeyValue],
        dictionary_values: &[u64],
    ) -> Result<Vec<KeyValue>> {
        let replaced: HashSet<&str> = more.iter().map(|pair| pair.key.as_str()).collect();
        let of_schema = self.metadata.iter();
        let of_schema = of_schema.filter(|pair| !replaced.contains(pair.key.as_str()));
        let mut pairs: Vec<KeyValue> = of_schema.cloned().collect();
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

/// The Parquet schema of an Arrow schema.
///
/// Ids of fields are taken from their metadata ([`FIELD_ID_KEY`](crate::FIELD_ID_KEY)), as are
/// annotations that no Arrow type stands for ([`LOGICAL_TYPE_KEY`](crate::LOGICAL_TYPE_KEY): ENUM
/// and BSON, GEOMETRY and GEOGRAPHY, VARIANT and FILE) and whether times of day are in UTC
/// ([`ADJUSTED_TO_UTC_KEY`](crate::ADJUSTED_TO_UTC_KEY)). The extension types `arrow.uuid`,
/// `arrow.json` and `arrow.parquet.file` become UUID, JSON and FILE.
///
/// # Errors
///
/// Unsupported, with the column, when Parquet has no form for a type: unions, fixed sizes of 0,
/// structs without fields (unless the options say otherwise), dictionaries of dictionaries, ordered
/// dictionaries of what has no dictionary page, decimals of negative scale whose digits exceed 76. Argument when a data type contradicts itself, when metadata of a field cannot
/// be understood or do not fit its type. Limit when fields are nested too deeply to be read back.
///
/// ```
/// use herringbone_arrow::schema::{DataType, Field, Schema};
/// use herringbone_schema::{WriteSchemaOptions, from_arrow};
///
/// let schema = Schema::new(vec![Field::new("a", DataType::UInt8, true)]);
/// let mapping = from_arrow(&schema, &WriteSchemaOptions::default())?;
/// assert_eq!(
///     mapping.schema.to_string(),
///     "message schema {\n  optional int32 a (INTEGER(8,false));\n}\n"
/// );
/// assert!(mapping.key_values(&[], &[])?.is_empty());
/// # Ok::<(), herringbone_format::Error>(())
/// ```
pub fn from_arrow(schema: &Schema, options: &WriteSchemaOptions) -> Result<WriteMapping> {
    from_arrow_extended(schema, options, &[])
}

/// What [`from_arrow`] gives, with extension types of the caller's: the schema is that of their storage.
///
/// # Errors
///
/// Those of the former, and what the extension types say.
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
        .map(|(key, value)| KeyValue::new(key.clone(), value.clone()))
        .collect();
    // The metadata come in no order; the same schema should give the same file.
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
