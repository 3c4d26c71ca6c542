//! Extension types: the mapping of annotated groups and leaves beyond the types of Arrow.
//!
//! ```text
//! to_arrow   node of the Parquet schema + the field that it is stored as ──► field of the extension type
//! to_parquet field with the name of the extension type ──► field as it is stored + annotation
//! ```
//!
//! An Arrow extension type is a name (and metadata) on a field, whose arrays are those of its storage type.
//! Most extension types map fields alone, like [`Uuid`], [`Json`], [`File`] and [`Variant`]. Others make arrays
//! of another type from the stored ones. A trait of the data path covers that half.

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

/// The name of the Arrow extension type for FILE groups.
///
/// Arrow's format is about to adopt this name, next to `arrow.parquet.variant`. Its metadata is an empty
/// string. A struct of this name is written as FILE if its fields are those of the specification. The
/// annotation dates from 2026: readers that do not know it may refuse the file (pyarrow 26 and polars 2.1 do,
/// DuckDB 2.0 reads the struct).
pub const FILE_EXTENSION_NAME: &str = "arrow.parquet.file";

/// The half of an extension type that maps fields, without data.
///
/// If several extension types recognize a field, the first registered one wins. The library's own come last.
pub trait ExtensionMapping: Debug + Send + Sync {
    /// Maps a field for reading. `None` leaves it to the other extension types, and finally to the storage.
    ///
    /// It is called for each field that is read, annotated or not. Fields inside a group come before the group.
    ///
    /// # Errors
    ///
    /// Any error if the field belongs to this extension type but is invalid. The file is then not read. For an
    /// annotation that it does not understand, an implementation should return `None`.
    fn to_arrow(&self, stored: &StoredField<'_>) -> Result<Option<ExtensionField>>;

    /// Returns the columns of the file that an [extension column](ExtensionRequest) is made from, by their
    /// ordinals. Columns that are not below the field are ignored. The default is all columns below the field.
    ///
    /// # Errors
    ///
    /// Any error if the extension type does not accept the field.
    fn leaves(&self, stored: &StoredField<'_>) -> Result<Vec<usize>> {
        Ok(stored.node().leaves.clone().collect())
    }

    /// Returns the stored form of a field that has the name of any extension type, for writing. `None` leaves
    /// it to the other extension types. If none maps it, it is stored as its Arrow type, and the name is
    /// written to `ARROW:schema`.
    ///
    /// # Errors
    ///
    /// Argument if the field belongs to this extension type but cannot be stored.
    fn to_parquet(&self, field: &Field) -> Result<Option<AnnotatedField>>;
}

/// A field of the file, as presented to an extension type.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct StoredField<'a> {
    /// The schema of the file.
    pub schema: &'a ParquetSchema,
    /// The ordinal of the field's node.
    pub ordinal: usize,
    /// The key-value metadata of the file.
    pub key_values: &'a [KeyValue],
    /// The Arrow field that is read if no extension type maps it. `ARROW:schema` and the options are applied. A
    /// group has only the fields that are read. A leaf may be a dictionary.
    pub storage: &'a Field,
    /// The value of the first pair of each key.
    pub(crate) values: &'a HashMap<&'a str, Option<&'a str>>,
    /// The footer's information about nulls, or `None` if no read is planned.
    pub(crate) nulls: Option<&'a dyn NullColumns>,
}

/// The footer's information about the nulls of columns, in the row groups of a read.
pub trait NullColumns: Debug + Send + Sync {
    /// Returns true if, according to statistics, all values of the column with this ordinal are null.
    fn is_all_null(&self, leaf: usize) -> bool;
}

impl<'a> StoredField<'a> {
    /// Returns the field's node in the schema.
    #[must_use]
    pub fn node(&self) -> &'a SchemaNode {
        &self.schema.nodes()[self.ordinal]
    }

    /// Returns the field's schema element in the footer.
    #[must_use]
    pub fn element(&self) -> &'a SchemaElement {
        &self.node().element
    }

    /// Returns the value of the first pair with this key in the file's key-value metadata. The cost does not
    /// grow with the number of pairs.
    #[must_use]
    pub fn value_of(&self, key: &str) -> Option<&'a str> {
        self.values.get(key).copied().flatten()
    }

    /// Returns the annotation of the field.
    #[must_use]
    pub fn logical_type(&self) -> Option<&'a LogicalType> {
        self.element().logical_type.as_ref()
    }

    /// Returns true if the storage has all columns of the field. A projection may have left only part of a
    /// group.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        count_leaves(self.storage.data_type()) >= self.node().leaves.len()
    }

    /// Returns true if this column of the file is all null, according to the statistics of all row groups that
    /// are read. [`ExtensionMapping::leaves`] may then leave it out.
    #[must_use]
    pub fn is_all_null(&self, leaf: usize) -> bool {
        self.nulls.is_some_and(|nulls| nulls.is_all_null(leaf))
    }

    /// Returns the field as a column, or `None` for a group.
    #[must_use]
    pub fn leaf(&self) -> Option<&'a Leaf> {
        let node = self.node();
        match node.is_group() {
            true => None,
            false => self.schema.leaves().get(node.leaves.start),
        }
    }
}

/// Returns the number of columns from which arrays of a type are read.
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

/// An extension type's mapping of a stored field.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct ExtensionField {
    /// The field. Its name does not matter: the field keeps that of the storage.
    pub field: Field,
    /// True if its arrays are made from those of the storage. Otherwise they are the arrays of the storage, and
    /// `field` has the storage's type.
    pub makes_arrays: bool,
}

impl ExtensionField {
    /// Creates a field whose arrays are those of the storage.
    #[must_use]
    pub fn of_storage(field: Field) -> Self {
        Self {
            field,
            makes_arrays: false,
        }
    }

    /// Creates a field whose arrays are made from those of the storage.
    #[must_use]
    pub fn of_arrays(field: Field) -> Self {
        Self {
            field,
            makes_arrays: true,
        }
    }
}

/// The stored form of an extension type's field.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct AnnotatedField {
    /// The field, with the same layout. Fields in it may have become nullable.
    pub field: Field,
    /// The annotation, which must be allowed on the type.
    pub logical_type: LogicalType,
}

impl AnnotatedField {
    /// Creates a field with this annotation.
    #[must_use]
    pub fn new(field: Field, logical_type: LogicalType) -> Self {
        Self {
            field,
            logical_type,
        }
    }
}

/// A request for an additional column, which an extension type makes from a field. The field itself may be read
/// too.
#[derive(Debug, Clone)]
pub struct ExtensionRequest {
    /// The name of the column.
    pub name: String,
    /// The path of the field, like those of [`Projection::Paths`](crate::Projection::Paths). It must not lie in
    /// a list or map.
    pub path: Vec<String>,
    /// The extension type that makes the column. It contains any settings of its own, such as a path within the
    /// field.
    pub extension: Arc<dyn ExtensionMapping>,
}

/// The extension types of a read, in addition to those of the library.
#[derive(Debug, Clone, Default)]
pub struct ReadExtensions {
    /// The extension types that are tried on all fields.
    pub types: Vec<Arc<dyn ExtensionMapping>>,
    /// The columns to add after those of the projection.
    pub columns: Vec<ExtensionRequest>,
    /// The footer's information about nulls in the row groups of the read.
    pub nulls: Option<Arc<dyn NullColumns>>,
}

/// The extension types of the library.
const BUILTIN: [&dyn ExtensionMapping; 4] = [&Uuid, &Json, &File, &Variant];

/// Returns true if a built-in extension type may recognize a field. They go by its annotation.
fn is_builtin(element: &SchemaElement) -> bool {
    match &element.logical_type {
        None => element.converted_type == Some(ConvertedType::Json),
        Some(logical_type) => matches!(
            logical_type,
            LogicalType::Uuid | LogicalType::Json | LogicalType::File | LogicalType::Variant { .. }
        ),
    }
}

/// Returns the storage as a field of an extension type. If the file's hint already has an extension type on the
/// field, that one stays: the result is `None` if it is a different one.
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
