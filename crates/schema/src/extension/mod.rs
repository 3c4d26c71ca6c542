//! Extension types, mapping annotated groups and leaves to types beyond Arrow's built-in ones.
//!
//! ```text
//! to_arrow   node of the Parquet schema + its storage field ──► field of the extension type
//! to_parquet field with the name of the extension type ──► storage field + annotation
//! ```
//!
//! An Arrow extension type is a name (and metadata) on a field with arrays of a storage type. Most
//! extension types only map fields, like [`Uuid`], [`Json`], [`File`] and [`Variant`]. Others also
//! build arrays of another type from the stored ones, using the trait `ExtensionType` of
//! `herringbone-core`.

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
/// Arrow's format is about to adopt this name, next to `arrow.parquet.variant`. The extension
/// metadata is an empty string. A struct with this name is written as FILE if it has the
/// specification's fields. Note that the annotation dates from 2026, so readers that do not know it
/// might reject the file: pyarrow 26 and polars 2.1 do, while DuckDB 2.0 reads the struct.
pub const FILE_EXTENSION_NAME: &str = "arrow.parquet.file";

/// The half of an extension type concerned with mapping fields, without data.
///
/// If several extension types recognize a field, the first registered one wins. The built-in ones
/// are tried last, so that you can replace them.
///
/// In this example, a column of names is read as an extension type without its own arrays:
///
/// ```
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
/// use std::collections::HashMap;
///
/// use herringbone::arrow::schema::Field;
/// use herringbone::extension::{
///     AnnotatedField, ExtensionField, ExtensionMapping, ExtensionType, StoredField,
/// };
/// use herringbone::{ParquetFile, ReadOptions, Result};
///
/// #[derive(Debug)]
/// struct Herb;
///
/// impl ExtensionMapping for Herb {
///     fn to_arrow(&self, stored: &StoredField<'_>) -> Result<Option<ExtensionField>> {
///         let extension = ("ARROW:extension:name".to_owned(), "my.herb".to_owned());
///         let field = stored.storage.clone().with_metadata(HashMap::from([extension]));
///         Ok((field.name() == "name").then(|| ExtensionField::of_storage(field)))
///     }
///
///     fn to_parquet(&self, _: &Field) -> Result<Option<AnnotatedField>> {
///         Ok(None) // Written as its storage.
///     }
/// }
///
/// impl ExtensionType for Herb {}
///
/// let file = ParquetFile::open("testdata/example.parquet")?;
/// let reader = file.read(ReadOptions::new().columns(["id", "name"]).extension(Herb))?;
/// assert_eq!(reader.schema().field(0).extension_type_name(), None);
/// assert_eq!(reader.schema().field(1).extension_type_name(), Some("my.herb"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait ExtensionMapping: Debug + Send + Sync {
    /// Maps a field for reading, or returns `None` to leave it to the other extension types. If
    /// none of them maps the field either, it is read as its storage.
    ///
    /// This is called for each field of a read, annotated or not. A group's fields are mapped
    /// before the group itself.
    ///
    /// # Errors
    ///
    /// Return an error if the field belongs to this extension type but is invalid. The read then
    /// fails. For unknown annotations, return `None` instead.
    fn to_arrow(&self, stored: &StoredField<'_>) -> Result<Option<ExtensionField>>;

    /// Returns the ordinals of the file columns needed to build an
    /// [extension column](ExtensionRequest). By default, these are all columns below the field. Any
    /// columns outside the field are ignored.
    ///
    /// # Errors
    ///
    /// Returns any error if the extension type does not accept the field.
    fn leaves(&self, stored: &StoredField<'_>) -> Result<Vec<usize>> {
        Ok(stored.node().leaves.clone().collect())
    }

    /// Returns a field's stored form for writing, or `None` to leave it to the other extension
    /// types. This is called for each field with an extension name, whatever the name. If no
    /// extension type maps the field, it is stored as its Arrow type, and its name is written to
    /// `ARROW:schema`.
    ///
    /// # Errors
    ///
    /// Fails with [Argument](herringbone_format::ErrorKind::Argument) if the field belongs to this
    /// extension type but cannot be stored.
    fn to_parquet(&self, field: &Field) -> Result<Option<AnnotatedField>>;
}

/// A field of the file, as seen by an extension type.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct StoredField<'a> {
    /// The file's schema.
    pub schema: &'a ParquetSchema,
    /// The ordinal of the field's node.
    pub ordinal: usize,
    /// The file's key-value metadata.
    pub key_values: &'a [KeyValue],
    /// The Arrow field to read if no extension type maps it. `ARROW:schema` and the options are
    /// already applied to it. A group only contains the projected fields, and a leaf can be a
    /// dictionary.
    pub storage: &'a Field,
    /// The value of each key's first pair, if it is UTF-8.
    pub(crate) values: &'a HashMap<&'a str, Option<&'a str>>,
    /// The footer's information about nulls, or `None` if no read is planned.
    pub(crate) nulls: Option<&'a dyn NullColumns>,
}

/// The footer's information about all-null columns in a read's row groups.
pub trait NullColumns: Debug + Send + Sync {
    /// Returns true if statistics show that all values of the column with this ordinal are null.
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

    /// Returns the value of the first pair with this key in the file's key-value metadata. The
    /// lookup takes constant time.
    #[must_use]
    pub fn value_of(&self, key: &str) -> Option<&'a str> {
        self.values.get(key).copied().flatten()
    }

    /// Returns the field's annotation.
    #[must_use]
    pub fn logical_type(&self) -> Option<&'a LogicalType> {
        self.element().logical_type.as_ref()
    }

    /// Returns true if the storage has all of the field's columns. A projection might have removed
    /// part of a group.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        count_leaves(self.storage.data_type()) >= self.node().leaves.len()
    }

    /// Returns true if this file column is all null, according to the statistics of all the read's
    /// row groups. [`ExtensionMapping::leaves`] is allowed to omit such a column.
    #[must_use]
    pub fn is_all_null(&self, leaf: usize) -> bool {
        self.nulls.is_some_and(|nulls| nulls.is_all_null(leaf))
    }

    /// Returns the field's column, or `None` for a group.
    #[must_use]
    pub fn leaf(&self) -> Option<&'a Leaf> {
        let node = self.node();
        match node.is_group() {
            true => None,
            false => self.schema.leaves().get(node.leaves.start),
        }
    }
}

/// Returns the number of file columns behind an array of this type.
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
    /// The field. Its name is ignored, because the column keeps the storage field's name.
    pub field: Field,
    /// True if the extension type builds its own arrays from the storage arrays. Otherwise, the
    /// storage arrays are returned as they are, and `field` has their type.
    pub makes_arrays: bool,
}

impl ExtensionField {
    /// Creates a field with the storage arrays as its arrays.
    #[must_use]
    pub fn of_storage(field: Field) -> Self {
        Self {
            field,
            makes_arrays: false,
        }
    }

    /// Creates a field with its own arrays, built from the storage arrays.
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
    /// The field. It must have the same layout, but nested fields can become nullable.
    pub field: Field,
    /// The annotation. It must be allowed on the type.
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

/// A request for an additional column, built by an extension type from a field. The field itself
/// can be read as well.
#[derive(Debug, Clone)]
pub struct ExtensionRequest {
    /// The column's name.
    pub name: String,
    /// The field's path, in the form of [`Projection::Paths`](crate::Projection::Paths). The field
    /// must not lie in a list or map.
    pub path: Vec<String>,
    /// The extension type for building the column, with its own settings, such as a path within the
    /// field.
    pub extension: Arc<dyn ExtensionMapping>,
}

/// The extension types of a read, in addition to the built-in ones.
#[derive(Debug, Clone, Default)]
pub struct ReadExtensions {
    /// The extension types to try on all fields.
    pub types: Vec<Arc<dyn ExtensionMapping>>,
    /// The columns to add after the projection's columns.
    pub columns: Vec<ExtensionRequest>,
    /// The footer's information about nulls in the read's row groups.
    pub nulls: Option<Arc<dyn NullColumns>>,
}

/// The built-in extension types.
const BUILTIN: [&dyn ExtensionMapping; 4] = [&Uuid, &Json, &File, &Variant];

/// Returns true if the field's annotation belongs to a built-in extension type.
fn is_builtin(element: &SchemaElement) -> bool {
    match &element.logical_type {
        None => element.converted_type == Some(ConvertedType::Json),
        Some(logical_type) => matches!(
            logical_type,
            LogicalType::Uuid | LogicalType::Json | LogicalType::File | LogicalType::Variant { .. }
        ),
    }
}

/// Returns the storage field with an extension type's name and metadata, or `None` if the file's
/// hint assigns a different extension type. If the hint already assigns this one, it stays as it
/// is.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_innermost_value_has_a_column() {
        let field = |data_type: &DataType| Arc::new(Field::new("f", data_type.clone(), true));
        let fields = |types: &[DataType]| DataType::Struct(types.iter().map(field).collect());
        let two = fields(&[DataType::Int32, DataType::Utf8]);
        let key = || Box::new(DataType::Int8);
        let ends = DataType::Int16;
        for (data_type, columns) in [
            (DataType::Int32, 1),
            (two.clone(), 2),
            (fields(&[two.clone(), DataType::Binary]), 3),
            (fields(&[]), 0),
            (DataType::List(field(&two)), 2),
            (DataType::FixedSizeList(field(&two), 3), 2),
            (DataType::Map(field(&two), false), 2),
            (DataType::Dictionary(key(), Box::new(DataType::Utf8)), 1),
            (DataType::Dictionary(key(), Box::new(two.clone())), 2),
            (DataType::RunEndEncoded(field(&ends), field(&two)), 2),
        ] {
            assert_eq!(count_leaves(&data_type), columns, "{data_type}");
        }
    }
}
