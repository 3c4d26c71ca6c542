//! Your own Arrow extension types, for converting between arrays and stored columns.
//!
//! An Arrow extension type is a name and metadata on a field. It gives a meaning to arrays of
//! another type, called its storage. For example, a UUID's storage is 16 bytes. With this module,
//! an extension type can also convert arrays: a read then returns arrays that the file does not
//! contain, and a write stores arrays in another form.
//!
//! You do not need this module for UUID, JSON, FILE and VARIANT columns. They are read and written
//! as Arrow's `arrow.uuid`, `arrow.json`, `arrow.parquet.file` and `arrow.parquet.variant`, and
//! VARIANT is then read as it is stored. For a type of your own, implement [`ExtensionMapping`],
//! which maps fields, and [`ExtensionType`], which converts arrays. Then pass it to the options:
//!
//! | to | use |
//! |---|---|
//! | read all of its fields as this type | [`ReadOptions::extension`](crate::ReadOptions::extension) |
//! | read part of a group as a column, such as a path or a cast | [`ReadOptions::extension_column`](crate::ReadOptions::extension_column) |
//! | write it | [`WriteOptions::extension`](crate::WriteOptions::extension) |
//! | make geospatial statistics of column chunks, or omit their bounds: [`ColumnStatistics`] | [`WriteOptions::column_statistics`](crate::WriteOptions::column_statistics) |
//!
//! A [filter](crate::ReadOptions::filter) tests the converted values. But statistics, page indexes,
//! dictionaries and bloom filters describe the stored values, so a read does not use them to prune
//! by a converted column.
//!
//! In this example, temperatures are stored as hundredths of a degree:
//!
//! ```
//! use std::sync::Arc;
//! use herringbone::arrow::array::{ArrayRef, Float64Array, RecordBatch, cast::AsArray};
//! use herringbone::arrow::array::types::{Float64Type, Int32Type};
//! use herringbone::arrow::schema::{DataType, Field, FieldRef, Schema};
//! use herringbone::extension::*;
//! use herringbone::{ParquetFile, ReadOptions, Result, WriteOptions, Writer};
//!
//! #[derive(Debug)]
//! struct Celsius;
//!
//! impl ExtensionMapping for Celsius {
//!     fn to_arrow(&self, stored: &StoredField<'_>) -> Result<Option<ExtensionField>> {
//!         // The embedded Arrow schema contains the name; a Parquet annotation would work, too.
//!         let is_own = stored.storage.extension_type_name() == Some("my.celsius");
//!         let field = || stored.storage.clone().with_data_type(DataType::Float64);
//!         Ok(is_own.then(|| ExtensionField::of_arrays(field())))
//!     }
//!
//!     fn to_parquet(&self, _: &Field) -> Result<Option<AnnotatedField>> {
//!         Ok(None) // An INT32 without annotation.
//!     }
//! }
//!
//! impl ExtensionType for Celsius {
//!     fn make_array(&self, storage: &ArrayRef, _: &Field) -> Result<ArrayRef> {
//!         let stored = storage.as_primitive::<Int32Type>();
//!         Ok(Arc::new(stored.unary::<_, Float64Type>(|value| f64::from(value) / 100.0)))
//!     }
//!
//!     fn storage_writer(&self, written: &WrittenField<'_>) -> Result<Option<Box<dyn StorageWriter>>> {
//!         let field = written.field;
//!         let is_own = field.extension_type_name() == Some("my.celsius");
//!         Ok(is_own.then(|| Box::new(Hundredths(field.clone())) as Box<dyn StorageWriter>))
//!     }
//! }
//!
//! struct Hundredths(Field);
//!
//! impl StorageWriter for Hundredths {
//!     fn fields(&mut self, _: &ArrayRef) -> Result<Vec<FieldRef>> {
//!         Ok(vec![Arc::new(self.0.clone().with_data_type(DataType::Int32))])
//!     }
//!
//!     fn arrays(&mut self, array: &ArrayRef) -> Result<Vec<ArrayRef>> {
//!         let degrees = array.as_primitive::<Float64Type>();
//!         Ok(vec![Arc::new(degrees.unary::<_, Int32Type>(|it| (it * 100.0).round() as i32))])
//!     }
//! }
//!
//! let name = ("ARROW:extension:name".to_owned(), "my.celsius".to_owned());
//! let field = Field::new("t", DataType::Float64, true)
//!     .with_metadata(std::collections::HashMap::from([name]));
//! let degrees = Float64Array::from(vec![Some(21.5), None, Some(-3.25)]);
//! let batch = RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![Arc::new(degrees)])?;
//!
//! let mut file = Vec::new();
//! let options = WriteOptions::new().extension(Celsius);
//! let mut writer = Writer::new(&mut file, batch.schema(), options)?;
//! writer.write(&batch)?;
//! writer.finish()?;
//!
//! let file = ParquetFile::from_bytes(file)?;
//! let options = ReadOptions::new().extension(Celsius);
//! assert_eq!(file.read(options)?.next_batch()?, Some(batch));
//! let stored = file.read(ReadOptions::new())?.next_batch()?.unwrap();
//! assert_eq!(stored.column(0).as_primitive::<Int32Type>().value(2), -325);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use herringbone_core::extension::{
    AnnotatedField, ExtensionColumnOption, ExtensionField, ExtensionMapping, ExtensionType,
    FILE_EXTENSION_NAME, StorageWriter, StoredField, VARIANT_EXTENSION_NAME, WrittenField,
};
pub use herringbone_write::{
    ChunkStatistics, ColumnStatistics, ColumnStatisticsFactory, ColumnValues, StatisticsColumn,
};
