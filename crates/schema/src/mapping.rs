//! The Arrow schema of a file, with the levels of each field.

use std::collections::HashMap;
use std::sync::Arc;

use herringbone_arrow::schema::{Schema, SchemaRef};
use herringbone_format::{KeyValue, Result};

use crate::dictionary::Dictionaries;
use crate::hint::{self, Restore};
use crate::nested::Nesting;
use crate::node::fields_of;
use crate::projection::{marks, prune};
use crate::{
    ARROW_SCHEMA_KEY, EXACT_SCHEMA_KEY, ListLayout, Node, ParquetSchema, Projection, SchemaOptions,
};

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
    origin: Arc<Origin>,
}

/// What a projection needs to know of the file.
#[derive(Debug)]
pub(crate) struct Origin {
    pub(crate) schema: ParquetSchema,
    /// By node: it may be left out of a path.
    pub(crate) wrappers: Vec<bool>,
    pub(crate) lists: ListLayout,
}

impl ArrowMapping {
    /// The part of the fields that a caller asks for, in the order of the file; the levels stay.
    ///
    /// A map projected to (parts of) its values keeps its keys; projected to its keys alone, it is a
    /// list of them. A projection to nothing has no fields.
    ///
    /// # Errors
    ///
    /// Argument when a column is not there, with the names that may have been meant, or when a name
    /// or a field id stands for several.
    pub fn project(&self, projection: &Projection) -> Result<Self> {
        let Some(marks) = marks(&self.origin, projection)? else {
            return Ok(self.clone());
        };
        let fields: Vec<Node> = self
            .fields
            .iter()
            .filter_map(|field| prune(field, &marks, self.origin.lists))
            .collect();
        let metadata = self.schema.metadata().clone();
        Ok(Self {
            schema: Arc::new(Schema::new_with_metadata(fields_of(&fields), metadata)),
            fields,
            warnings: self.warnings.clone(),
            origin: self.origin.clone(),
        })
    }

    /// The ordinals of the columns that the fields are made of, ascending.
    #[must_use]
    pub fn leaves(&self) -> Vec<usize> {
        let mut leaves = Vec::new();
        for field in &self.fields {
            field.for_each_leaf(&mut |leaf| leaves.push(leaf));
        }
        leaves
    }
}

/// The Arrow schema of a file: its Parquet schema, the Arrow schema among its key-value metadata
/// (under [`ARROW_SCHEMA_KEY`]) where there is one, and what the caller chose.
///
/// The other key-value metadata become the metadata of the Arrow schema.
///
/// # Errors
///
/// Argument when an option names a column that is not there.
pub fn to_arrow(
    schema: &ParquetSchema,
    key_values: &[KeyValue],
    options: &SchemaOptions,
) -> Result<ArrowMapping> {
    let mut warnings = Warnings::default();
    let mut nesting = Nesting::new(schema, options);
    let mut fields = nesting.fields();
    for node in nesting.misfits {
        if warnings.is_full() {
            break;
        }
        let path = schema.node_path(node).join(".");
        warnings.push(format!(
            "the annotation of `{path}` does not fit its fields; it is read as a struct"
        ));
    }
    let wrappers = nesting.wrappers;

    let mut metadata: HashMap<String, String> = key_values
        .iter()
        .filter(|pair| ![ARROW_SCHEMA_KEY, EXACT_SCHEMA_KEY].contains(&pair.key.as_str()))
        .filter_map(|pair| Some((pair.key.clone(), pair.value.clone()?)))
        .collect();
    let mut restore = Restore::new(schema, options, &mut warnings);
    if options.use_arrow_schema {
        restore_from(key_values, &mut fields, &mut metadata, &mut restore);
    }
    let keys = restore.dictionary_keys;
    let dictionaries = Dictionaries::new(schema, &wrappers, options, keys)?;
    if !dictionaries.is_empty() {
        dictionaries.apply(&mut fields);
    }
    fields.iter_mut().for_each(Node::put_layers);

    Ok(ArrowMapping {
        schema: Arc::new(Schema::new_with_metadata(fields_of(&fields), metadata)),
        fields,
        warnings: warnings.0,
        origin: Arc::new(Origin {
            schema: schema.clone(),
            wrappers,
            lists: options.lists,
        }),
    })
}

/// Takes what fits from the file's Arrow schema, if it has one.
fn restore_from(
    key_values: &[KeyValue],
    fields: &mut [Node],
    metadata: &mut HashMap<String, String>,
    restore: &mut Restore<'_>,
) {
    let Some(text) = hint::most_exact(key_values) else {
        return;
    };
    match hint::decode(text) {
        Ok(hint) => {
            restore.fields(fields, &hint.fields);
            for (key, value) in hint.metadata {
                metadata.entry(key).or_insert(value);
            }
        }
        Err(why) => restore
            .warnings
            .push(format!("ARROW:schema is of no use: {why}")),
    }
}

/// What was found wrong; a file with many faults fills the list, not the memory.
#[derive(Debug, Default)]
pub(crate) struct Warnings(Vec<String>);

impl Warnings {
    const MAX: usize = 64;

    /// Whether another warning would not be kept: making it may be much work for nothing.
    pub(crate) fn is_full(&self) -> bool {
        self.0.len() > Self::MAX
    }

    pub(crate) fn push(&mut self, warning: String) {
        match self.0.len() {
            ..Self::MAX => self.0.push(warning),
            Self::MAX => self.0.push("further warnings are left out".to_owned()),
            _ => {}
        }
    }
}
