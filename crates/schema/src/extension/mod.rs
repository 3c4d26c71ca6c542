//! Extension types: what becomes of annotated groups and leaves beyond the types of Arrow.
//!
//! ```text
//! to_arrow   node of the Parquet schema + the field that it is stored as ──► field of the extension type
//! to_parquet field with the name of the extension type ──► field as it is stored + annotation
//! ```
//!
//! An Arrow extension type is a name (and metadata) on a field, whose arrays are those of its storage
//! type. Most extension types map fields alone; [`Uuid`], [`Json`], [`File`] and [`Variant`] are such.
//! Others make arrays of another type from what is stored: the half that does so is a trait of the data
//! path.

mod builtin;
pub(crate) mod column;
mod file;
pub(crate) mod read;
mod variant;
pub(crate) mod write;

use std::collections::HashMap;
use std::fmt::Debug;
use std::sync::Arc;

use herringbone_arrow::schema::extension::{EXTENSION_TYPE_METADATA_KEY, EXTENSION_TYPE_NAME_KEY};
use herringbone_arrow::schema::{DataType, Field};
use herringbone_format::{ConvertedType, KeyValue, LogicalType, Result, SchemaElement};

use builtin::{Json, Uuid};
use file::File;
use variant::Variant;

pub use variant::VARIANT_EXTENSION_NAME;

use crate::{Leaf, ParquetSchema, SchemaNode};

/// The name of the Arrow extension type that FILE groups become.
///
/// It is the one that Arrow's format is about to take up, beside `arrow.parquet.variant`; its metadata
/// is an empty string. A struct of this name is written as FILE if its fields are those of the
/// specification. The annotation is of 2026: readers that do not know it may refuse the file (pyarrow 26
/// and polars 2.1 do, DuckDB 2.0 reads the struct).
pub const FILE_EXTENSION_NAME: &str = "arrow.parquet.file";

/// The half of an extension type that maps fields; no data.
///
/// Of several that are registered the first one counts that says what becomes of a field; those of
/// the library are asked last.
pub trait ExtensionMapping: Debug + Send + Sync {
    /// Reading: what becomes of a field. `None` leaves it to others, and to the storage.
    ///
    /// It is asked about each field that is read, annotated or not, those within a group before the
    /// group.
    ///
    /// # Errors
    ///
    /// Any, where the field is its own but makes no sense: the file is not read then. An annotation
    /// that is not understood had better be left alone.
    fn to_arrow(&self, stored: &StoredField<'_>) -> Result<Option<ExtensionField>>;

    /// Reading: the columns of the file that an [extension column](ExtensionRequest) is made from, by
    /// their ordinals; those that are not below the field are passed over. All columns below it, unless
    /// implemented.
    ///
    /// # Errors
    ///
    /// Any, where the field is not what it takes.
    fn leaves(&self, stored: &StoredField<'_>) -> Result<Vec<usize>> {
        Ok(stored.node().leaves.clone().collect())
    }

    /// Writing: how a field is stored that carries the name of any extension type. `None` leaves it to
    /// others; as its Arrow type in the end, and the name goes into `ARROW:schema` then.
    ///
    /// # Errors
    ///
    /// Argument, where the field is its own but cannot be stored.
    fn to_parquet(&self, field: &Field) -> Result<Option<AnnotatedField>>;
}

/// A field of the file, as an extension type gets to see it.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct StoredField<'a> {
    /// The schema of the file.
    pub schema: &'a ParquetSchema,
    /// The ordinal of the field's node.
    pub ordinal: usize,
    /// The key-value metadata of the file.
    pub key_values: &'a [KeyValue],
    /// The Arrow field that is read where nobody makes more of it: with what `ARROW:schema` and the
    /// options say, and of groups only with the fields that are read. A leaf may be a dictionary.
    pub storage: &'a Field,
    /// The first pair of each key.
    pub(crate) values: &'a HashMap<&'a str, Option<&'a str>>,
    /// What the footer says of nulls; nothing where no read is planned.
    pub(crate) nulls: Option<&'a dyn NullColumns>,
}

/// What a footer says of the nulls of columns, in the row groups of a read.
pub trait NullColumns: Debug + Send + Sync {
    /// Whether statistics say that all values are null of the column with this ordinal.
    fn is_all_null(&self, leaf: usize) -> bool;
}

impl<'a> StoredField<'a> {
    /// The field's node in the schema.
    #[must_use]
    pub fn node(&self) -> &'a SchemaNode {
        &self.schema.nodes()[self.ordinal]
    }

    /// What the footer says of the field.
    #[must_use]
    pub fn element(&self) -> &'a SchemaElement {
        &self.node().element
    }

    /// The value of the first pair of the file's key-value metadata that has a key. No pair is compared for it, however many
    /// fields ask.
    #[must_use]
    pub fn value_of(&self, key: &str) -> Option<&'a str> {
        self.values.get(key).copied().flatten()
    }

    /// The annotation of the field.
    #[must_use]
    pub fn logical_type(&self) -> Option<&'a LogicalType> {
        self.element().logical_type.as_ref()
    }

    /// Whether the storage has all columns of the field: a projection may have left a part of a group.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        count_leaves(self.storage.data_type()) >= self.node().leaves.len()
    }

    /// Whether the statistics of all row groups that are read say that this column of the file has nothing
    /// but nulls. If so, [`ExtensionMapping::leaves`] may leave it out.
    #[must_use]
    pub fn is_all_null(&self, leaf: usize) -> bool {
        self.nulls.is_some_and(|nulls| nulls.is_all_null(leaf))
    }

    /// The field as a column; `None` of a group.
    #[must_use]
    pub fn leaf(&self) -> Option<&'a Leaf> {
        let node = self.node();
        match node.is_group() {
            true => None,
            false => self.schema.leaves().get(node.leaves.start),
        }
    }
}

/// How many columns arrays of a type are read from.
fn count_leaves(data_type: &DataType) -> usize {
    match data_type {
        DataType::Struct(fields) => fields
            .iter()
            .map(|field| count_leaves(field.data_type()))
            .sum(),
        DataType::List(child)
        | DataType::LargeList(child)
        | DataType::ListView(child)
        | DataType::LargeListView(child)
        | DataType::FixedSizeList(child, _)
        | DataType::Map(child, _)
        | DataType::RunEndEncoded(_, child) => count_leaves(child.data_type()),
        DataType::Dictionary(_, values) => count_leaves(values),
        _ => 1,
    }
}

/// What an extension type makes of a stored field.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ExtensionField {
    /// The field, by whatever name: it keeps that of the storage.
    pub field: Field,
    /// Whether its arrays are made from those of the storage. If not, they are the same, and `field` has
    /// the type of the storage.
    pub makes_arrays: bool,
}

impl ExtensionField {
    /// A field whose arrays are those of the storage.
    #[must_use]
    pub fn of_storage(field: Field) -> Self {
        Self {
            field,
            makes_arrays: false,
        }
    }

    /// A field whose arrays are made from those of the storage.
    #[must_use]
    pub fn of_arrays(field: Field) -> Self {
        Self {
            field,
            makes_arrays: true,
        }
    }
}

/// How the field of an extension type is stored.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct AnnotatedField {
    /// The field, with the same layout: fields in it may have become nullable.
    pub field: Field,
    /// The annotation, which has to suit the type.
    pub logical_type: LogicalType,
}

impl AnnotatedField {
    /// A field with this annotation.
    #[must_use]
    pub fn new(field: Field, logical_type: LogicalType) -> Self {
        Self {
            field,
            logical_type,
        }
    }
}

/// A further column to be read: what an extension type makes of a field that may be read as well.
#[derive(Debug, Clone)]
pub struct ExtensionRequest {
    /// The name of the column.
    pub name: String,
    /// The path of the field, as in [`Projection::Paths`](crate::Projection::Paths). It must not lie in
    /// a list or map.
    pub path: Vec<String>,
    /// Makes the column; what there is to choose about it, such as a path within the field, is its own.
    pub extension: Arc<dyn ExtensionMapping>,
}

/// The extension types of a read, besides those of the library.
#[derive(Debug, Clone, Default)]
pub struct ReadExtensions {
    /// Those that are asked about all fields.
    pub types: Vec<Arc<dyn ExtensionMapping>>,
    /// Columns behind those of the projection.
    pub columns: Vec<ExtensionRequest>,
    /// What the footer says of nulls in the row groups that are read.
    pub nulls: Option<Arc<dyn NullColumns>>,
}

/// The extension types of the library.
const BUILTIN: [&dyn ExtensionMapping; 4] = [&Uuid, &Json, &File, &Variant];

/// Whether one of these may know a field: they go by its annotation.
fn is_builtin(element: &SchemaElement) -> bool {
    match &element.logical_type {
        None => element.converted_type == Some(ConvertedType::Json),
        Some(logical_type) => matches!(
            logical_type,
            LogicalType::Uuid | LogicalType::Json | LogicalType::File | LogicalType::Variant { .. }
        ),
    }
}

/// The storage as a field of an extension type. The hint in the file may have it as one already, which
/// stays: `None` if it is another one.
fn extended(storage: &Field, name: &str, metadata: Option<&str>) -> Option<Field> {
    if let Some(hinted) = storage.extension_type_name() {
        return (hinted == name).then(|| storage.clone());
    }
    let mut pairs = storage.metadata().clone();
    pairs.remove(EXTENSION_TYPE_METADATA_KEY);
    pairs.insert(EXTENSION_TYPE_NAME_KEY.to_owned(), name.to_owned());
    if let Some(metadata) = metadata {
        pairs.insert(EXTENSION_TYPE_METADATA_KEY.to_owned(), metadata.to_owned());
    }
    Some(storage.clone().with_metadata(pairs))
}
