//! The array-converting half of an extension type.
//!
//! ```text
//! read     storage of a record batch ──► ExtensionType::make_array ──► array of the extension type
//! write    array of a record batch ──► StorageWriter::arrays ──► storage, and sibling columns
//! ```
//!
//! [`ExtensionMapping`] is the other half, which maps fields. If your extension type uses its storage arrays unchanged,
//! you only have to implement that half, and can leave the implementation of this half empty.

use std::sync::Arc;

use herringbone_arrow::array::ArrayRef;
use herringbone_arrow::schema::{Field, FieldRef, Schema};
use herringbone_format::{Error, KeyValue, Result};

pub use herringbone_schema::{
    AnnotatedField, ExtensionField, ExtensionMapping, FILE_EXTENSION_NAME, StoredField,
    VARIANT_EXTENSION_NAME,
};

/// A column built by an extension type, on top of the projection's columns.
#[derive(Debug, Clone)]
pub struct ExtensionColumnOption {
    /// The name of the column. Note that another column may have the same name.
    pub name: String,
    /// The path of the source field, as in [`Projection::Paths`](herringbone_schema::Projection::Paths).
    pub path: Vec<String>,
    /// The extension type that builds the column.
    pub extension: Arc<dyn ExtensionType>,
}

/// An extension type, which converts storage to Arrow arrays and back. Its methods are for arrays that differ from
/// their storage in the file.
///
/// You register it with `ReadOptions::extension` and `WriteOptions::extension`.
///
/// The module `herringbone::extension` has an example that also writes. Here we read a column of cents as euros:
///
/// ```
/// # use std::sync::Arc;
/// # use herringbone::arrow::array::{Array, ArrayRef, Float64Array, Int64Array, RecordBatch, cast::AsArray};
/// # use herringbone::arrow::array::types::{Float64Type, Int64Type};
/// # use herringbone::arrow::schema::{DataType, Field};
/// # use herringbone::{ParquetFile, ReadOptions, Result};
/// # let cents: ArrayRef = Arc::new(Int64Array::from(vec![125, 99]));
/// # let batch = RecordBatch::try_from_iter([("price_cents", cents)])?;
/// # let mut bytes = Vec::new();
/// # let mut writer = herringbone::Writer::new(&mut bytes, batch.schema(), Default::default())?;
/// # writer.write(&batch)?;
/// # writer.finish()?;
/// use herringbone::extension::*;
///
/// #[derive(Debug)]
/// struct Euros;
///
/// impl ExtensionMapping for Euros {
///     fn to_arrow(&self, stored: &StoredField<'_>) -> Result<Option<ExtensionField>> {
///         let is_own = stored.storage.name().ends_with("_cents");
///         let field = stored.storage.clone().with_data_type(DataType::Float64);
///         Ok(is_own.then(|| ExtensionField::of_arrays(field)))
///     }
///
///     fn to_parquet(&self, _: &Field) -> Result<Option<AnnotatedField>> {
///         Ok(None)
///     }
/// }
///
/// impl ExtensionType for Euros {
///     fn make_array(&self, storage: &ArrayRef, _: &Field) -> Result<ArrayRef> {
///         let cents = storage.as_primitive::<Int64Type>();
///         Ok(Arc::new(cents.unary::<_, Float64Type>(|it| it as f64 / 100.0)))
///     }
/// }
///
/// let file = ParquetFile::from_bytes(bytes)?;
/// let batch = file.read(ReadOptions::new().extension(Euros))?.next_batch()?.ok_or("no rows")?;
/// assert_eq!(batch.column(0).as_ref(), &Float64Array::from(vec![1.25, 0.99]) as &dyn Array);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait ExtensionType: ExtensionMapping {
    /// Returns a field's array when reading a file, if [`ExtensionMapping::to_arrow`] announced that the field's arrays
    /// differ from the storage. The array must have as many slots as the storage, and the field's type. This method is
    /// called once per record batch, on any of the threads that assemble batches.
    ///
    /// The storage has the type passed to `to_arrow`. Note that an extension column's storage can have more leaves than
    /// the extension requested, because other columns might have requested them. So you should look up fields by name.
    ///
    /// # Errors
    ///
    /// Fails with [Corrupt](herringbone_format::ErrorKind::Corrupt) if stored values break the rules of the type. This
    /// error ends the read.
    fn make_array(&self, storage: &ArrayRef, field: &Field) -> Result<ArrayRef> {
        let _ = storage;
        Err(Error::unsupported(format!(
            "{self:?} does not create arrays, although it declares `{}` as an extension array",
            field.name()
        )))
    }

    /// Returns an object for one written file, if the extension type keeps state shared by several of the file's
    /// fields. The returned object then supplies the fields' [writers](Self::storage_writer). By default, this returns
    /// `None`, and one object serves all files.
    ///
    /// # Errors
    ///
    /// Fails with [Argument](herringbone_format::ErrorKind::Argument) if no file can be written from batches with this
    /// schema.
    fn for_file(&self, schema: &Schema) -> Result<Option<Arc<dyn ExtensionType>>> {
        let _ = schema;
        Ok(None)
    }

    /// Returns the writer for converting a field's arrays to their storage, if the storage has a different type.
    /// Returns `None` if the field does not belong to this extension type, or if the arrays are stored unchanged.
    ///
    /// # Errors
    ///
    /// Fails with [Argument](herringbone_format::ErrorKind::Argument) if the field belongs to this extension type but
    /// is invalid.
    fn storage_writer(&self, written: &WrittenField<'_>) -> Result<Option<Box<dyn StorageWriter>>> {
        let _ = written;
        Ok(None)
    }
}

/// A field to write, as passed to an extension type.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct WrittenField<'a> {
    /// The field.
    pub field: &'a Field,
    /// The field names from the top level down to the field.
    pub path: &'a [String],
}

impl<'a> WrittenField<'a> {
    /// Describes the field at this path.
    #[doc(hidden)] // For `herringbone-write`.
    #[must_use]
    pub fn new(field: &'a Field, path: &'a [String]) -> Self {
        Self { field, path }
    }
}

/// A converter from one field's arrays in one file to their storage.
///
/// The methods are called in a fixed order: [`fields`](Self::fields) once, then [`arrays`](Self::arrays) for each
/// record batch including the first, and [`key_values`](Self::key_values) once at the end.
///
/// This example stores degrees as hundredths:
///
/// ```
/// use std::sync::Arc;
///
/// use herringbone::Result;
/// use herringbone::arrow::array::types::{Float64Type, Int32Type};
/// use herringbone::arrow::array::{Array, ArrayRef, Float64Array, Int32Array, cast::AsArray};
/// use herringbone::arrow::schema::{DataType, Field, FieldRef};
/// use herringbone::extension::StorageWriter;
///
/// struct Hundredths(Field);
///
/// impl StorageWriter for Hundredths {
///     fn fields(&mut self, _: &ArrayRef) -> Result<Vec<FieldRef>> {
///         Ok(vec![Arc::new(self.0.clone().with_data_type(DataType::Int32))])
///     }
///
///     fn arrays(&mut self, array: &ArrayRef) -> Result<Vec<ArrayRef>> {
///         let degrees = array.as_primitive::<Float64Type>();
///         let hundredths = degrees.unary::<_, Int32Type>(|value| (value * 100.0).round() as i32);
///         Ok(vec![Arc::new(hundredths)])
///     }
/// }
///
/// let mut writer = Hundredths(Field::new("t", DataType::Float64, true));
/// let degrees: ArrayRef = Arc::new(Float64Array::from(vec![Some(21.5), None]));
/// assert_eq!(writer.fields(&degrees)?[0].data_type(), &DataType::Int32);
/// let stored = Int32Array::from(vec![Some(2150), None]);
/// assert_eq!(writer.arrays(&degrees)?[0].as_ref(), &stored as &dyn Array);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait StorageWriter: Send + Sync {
    /// Returns the storage field, followed by sibling columns to add next to it, in the same struct or at the top
    /// level. `first` contains the slots of the first record batch with rows, since the form of the storage might
    /// depend on them. It is empty if the file has no rows.
    ///
    /// The first returned field keeps the original field name. It also carries an extension type's name, so that
    /// [`ExtensionMapping::to_parquet`] gets to annotate it. List elements cannot have sibling columns.
    ///
    /// # Errors
    ///
    /// May fail with any error. Nothing is written in that case.
    fn fields(&mut self, first: &ArrayRef) -> Result<Vec<FieldRef>>;

    /// Returns an array for each of these fields, with as many slots as `array`. Some of these slots lie in null
    /// structs or outside of all lists. They can have any value, because they're never written.
    ///
    /// # Errors
    ///
    /// Fails with [Argument](herringbone_format::ErrorKind::Argument) if a value cannot be stored. The file cannot be
    /// finished after that.
    fn arrays(&mut self, array: &ArrayRef) -> Result<Vec<ArrayRef>>;

    /// Returns the names of columns that the caller supplied with the rows and that reveal this field's values. They
    /// are siblings, in the same struct or at the top level. We encrypt them like the field, unless they're configured
    /// by name. You don't need to list the columns added by [`fields`](Self::fields).
    fn derived_columns(&self) -> Vec<String> {
        Vec::new()
    }

    /// Announces that the column is encrypted, and that some readers of the footer might not have its key. So anything
    /// that reveals the column's values must stay out of the key-value metadata. This method is called before
    /// [`key_values`](Self::key_values).
    fn redact_values(&mut self) {}

    /// Returns entries for the file's key-value metadata. They replace other entries with the same keys.
    ///
    /// # Errors
    ///
    /// May fail with any error. The file cannot be finished after that.
    fn key_values(&mut self) -> Result<Vec<KeyValue>> {
        Ok(Vec::new())
    }
}

/// Returns the mapping halves of extension types.
pub fn mappings(extensions: &[Arc<dyn ExtensionType>]) -> Vec<Arc<dyn ExtensionMapping>> {
    extensions.iter().map(mapping).collect()
}

/// Returns the mapping half of an extension type.
pub fn mapping(extension: &Arc<dyn ExtensionType>) -> Arc<dyn ExtensionMapping> {
    let extension: Arc<dyn ExtensionType> = Arc::clone(extension);
    extension
}
