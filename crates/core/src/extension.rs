//! Extension types: the half that makes arrays.
//!
//! ```text
//! read     storage of a record batch ──► ExtensionType::make_array ──► array of the extension type
//! write    array of a record batch ──► StorageWriter::arrays ──► storage, and columns beside it
//! ```
//!
//! The half that maps fields is [`ExtensionMapping`]. An extension type whose arrays are those of its
//! storage needs no more than that half, and an empty implementation of this one.

use std::sync::Arc;

use herringbone_arrow::array::ArrayRef;
use herringbone_arrow::schema::{Field, FieldRef, Schema};
use herringbone_format::{Error, KeyValue, Result};

pub use herringbone_schema::{
    AnnotatedField, ExtensionField, ExtensionMapping, FILE_EXTENSION_NAME, StoredField,
    VARIANT_EXTENSION_NAME,
};

/// A column that an extension type makes besides those of the projection.
#[derive(Debug, Clone)]
pub struct ExtensionColumnOption {
    /// The name of the column; it may be that of another one.
    pub name: String,
    /// The path of the field that it is made from, as in
    /// [`Projection::Paths`](herringbone_schema::Projection::Paths).
    pub path: Vec<String>,
    /// What makes it.
    pub extension: Arc<dyn ExtensionType>,
}

/// An extension type: makes Arrow arrays from what is stored, and back.
///
/// `ReadOptions::extension` and `WriteOptions::extension` register it.
pub trait ExtensionType: ExtensionMapping {
    /// Reading: the array of a field for which [`ExtensionMapping::to_arrow`] says that arrays are made. It
    /// has as many slots as the storage and the type of the field. Called once a record batch, on
    /// whatever thread puts that together.
    ///
    /// The storage has the type that `to_arrow` saw. Of an extension column this may be more than
    /// the leaves that it asked for, where others asked for those: look for fields by name.
    ///
    /// # Errors
    ///
    /// Corrupt, where stored values break the rules of the type. The read ends with it.
    fn make_array(&self, storage: &ArrayRef, field: &Field) -> Result<ArrayRef> {
        let _ = storage;
        Err(Error::unsupported(format!(
            "{self:?} makes no arrays, though `{}` is said to be one",
            field.name()
        )))
    }

    /// Writing: the extension type for one file, where it keeps something of that for several fields. It
    /// is then asked for their [writers](Self::storage_writer). `None` where it is the same for all files.
    ///
    /// # Errors
    ///
    /// Argument, where no file of batches with this schema can be written.
    fn for_file(&self, schema: &Schema) -> Result<Option<Arc<dyn ExtensionType>>> {
        let _ = schema;
        Ok(None)
    }

    /// Writing: what turns the arrays of a field into their storage, where this is another type. `None`
    /// where the field is not its own, or is its own storage.
    ///
    /// # Errors
    ///
    /// Argument, where the field is its own but makes no sense.
    fn storage_writer(&self, written: &WrittenField<'_>) -> Result<Option<Box<dyn StorageWriter>>> {
        let _ = written;
        Ok(None)
    }
}

/// A field that is written, as an extension type gets to see it.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct WrittenField<'a> {
    /// The field.
    pub field: &'a Field,
    /// The names of the fields from the top down to it.
    pub path: &'a [String],
}

impl<'a> WrittenField<'a> {
    /// Describes the field with this path.
    #[doc(hidden)] // For `herringbone-write`.
    #[must_use]
    pub fn new(field: &'a Field, path: &'a [String]) -> Self {
        Self { field, path }
    }
}

/// Turns the arrays of one field of one file into those of their storage.
///
/// It is asked in this order: [`fields`](Self::fields) once, [`arrays`](Self::arrays) for each record
/// batch, the first one included, [`key_values`](Self::key_values) once.
pub trait StorageWriter: Send {
    /// The field as it is stored, and behind it those of columns beside it, which are in the same struct or
    /// at the top as well. `first` are the slots of the first record batch with rows, by which the form of
    /// the storage may be chosen; there are none where the file has no rows.
    ///
    /// The first field keeps the name of the original. It carries the name of an extension type as
    /// well, so that [`ExtensionMapping::to_parquet`] is asked for its annotation. Elements of a list
    /// have nothing beside them.
    ///
    /// # Errors
    ///
    /// Any: nothing is written then.
    fn fields(&mut self, first: &ArrayRef) -> Result<Vec<FieldRef>>;

    /// The arrays of these fields, with as many slots as `array`. What lies in a null struct, or in an
    /// element that no list shows, is among them: it may be anything, and is not written.
    ///
    /// # Errors
    ///
    /// Argument, where a value cannot be stored. The file cannot be finished then.
    fn arrays(&mut self, array: &ArrayRef) -> Result<Vec<ArrayRef>>;

    /// The names of columns in the same struct, or at the top, that came with the rows and tell of the values of this
    /// field: they are encrypted as it is, unless they are known by their own names. Those of
    /// [`fields`](Self::fields) need not be named.
    fn told_by(&self) -> Vec<String> {
        Vec::new()
    }

    /// The column is encrypted, and readers of the footer may be without its key: what tells of its values
    /// has to stay out of the key-value metadata. Said before these are asked for.
    fn hide_values(&mut self) {}

    /// What goes into the key-value metadata of the file. It wins over what is there under the same keys.
    ///
    /// # Errors
    ///
    /// Any: the file cannot be finished then.
    fn key_values(&mut self) -> Result<Vec<KeyValue>> {
        Ok(Vec::new())
    }
}

/// The halves that map fields.
pub fn mappings(extensions: &[Arc<dyn ExtensionType>]) -> Vec<Arc<dyn ExtensionMapping>> {
    extensions.iter().map(mapping).collect()
}

/// The half that maps fields.
pub fn mapping(extension: &Arc<dyn ExtensionType>) -> Arc<dyn ExtensionMapping> {
    let extension: Arc<dyn ExtensionType> = Arc::clone(extension);
    extension
}
