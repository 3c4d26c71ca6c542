//! Columns with each row's origin.

use std::collections::HashMap;
use std::sync::Arc;

use herringbone_arrow::array::{Array as _, ArrayRef, StringArray};
use herringbone_arrow::schema::{DataType, Field, FieldRef};
use herringbone_format::{Error, Result};

use herringbone_core::cast::Constant;

/// A column with each row's origin. It follows the columns read from the file.
///
/// ```
/// # use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch};
/// # let ids: ArrayRef = std::sync::Arc::new(Int64Array::from_iter_values(0..100));
/// # let batch = RecordBatch::try_from_iter([("id", ids.clone()), ("price", ids)])?;
/// # let mut bytes = Vec::new();
/// # let options = herringbone::WriteOptions::new().row_group_rows(50);
/// # let mut writer = herringbone::Writer::new(&mut bytes, batch.schema(), options)?;
/// # writer.write(&batch)?;
/// # writer.finish()?;
/// use herringbone::arrow::array::{cast::AsArray, types::Int64Type};
/// use herringbone::{ParquetFile, ReadOptions, VirtualColumn};
///
/// // 100 rows in two row groups, with the columns `id` and `price`.
/// let file = ParquetFile::from_bytes(bytes)?;
/// let options = ReadOptions::new()
///     .columns(["id"])
///     .offset(60)
///     .virtual_column(VirtualColumn::row_number("row"))
///     .virtual_column(VirtualColumn::file_name("file", "part-0.parquet"));
/// let batch = file.read(options)?.next_batch()?.ok_or("no rows")?;
/// assert_eq!(batch.column(1).as_primitive::<Int64Type>().value(0), 60);
/// assert_eq!(batch.column(2).as_string::<i32>().value(0), "part-0.parquet");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct VirtualColumn {
    field: FieldRef,
    values: VirtualValues,
}

/// The source of a virtual column's values.
#[derive(Debug, Clone)]
pub(crate) enum VirtualValues {
    RowNumber,
    RowGroup,
    Constant(Constant),
}

impl VirtualColumn {
    /// Creates a column of row numbers. They count all of the file's rows from 0, selected or not. The type is `Int64`,
    /// and values are never null.
    #[must_use]
    pub fn row_number(name: impl Into<String>) -> Self {
        Self::new(name, DataType::Int64, VirtualValues::RowNumber)
    }

    /// Creates a column with the ordinal of each row's row group. The type is `Int64`, and values are never null.
    #[must_use]
    pub fn row_group(name: impl Into<String>) -> Self {
        Self::new(name, DataType::Int64, VirtualValues::RowGroup)
    }

    /// Creates a column that repeats the file's name, as known to the caller. The type is `Utf8`, and values are never
    /// null.
    #[must_use]
    pub fn file_name(name: impl Into<String>, file: &str) -> Self {
        Self::constant(name, Arc::new(StringArray::from(vec![file])))
    }

    /// Creates a column that repeats an array's only slot in each row, for example a partition value. The field is
    /// nullable only if the slot is null. A read fails if the array's length is not one.
    #[must_use]
    pub fn constant(name: impl Into<String>, value: ArrayRef) -> Self {
        let (data_type, is_null) = (value.data_type().clone(), value.logical_null_count() > 0);
        let values = VirtualValues::Constant(Constant::Value(value));
        let column = Self::new(name, data_type, values);
        let field = Field::clone(&column.field).with_nullable(is_null);
        Self {
            field: Arc::new(field),
            ..column
        }
    }

    fn new(name: impl Into<String>, data_type: DataType, values: VirtualValues) -> Self {
        Self {
            field: Arc::new(Field::new(name, data_type, false)),
            values,
        }
    }

    /// Sets the field's metadata.
    #[must_use]
    pub fn metadata(self, metadata: HashMap<String, String>) -> Self {
        let field = Field::clone(&self.field).with_metadata(metadata);
        Self {
            field: Arc::new(field),
            ..self
        }
    }

    /// Returns the column's field.
    #[must_use]
    pub fn field(&self) -> &FieldRef {
        &self.field
    }

    /// Checks that a constant has exactly one value.
    pub(crate) fn check(&self) -> Result<()> {
        match &self.values {
            VirtualValues::Constant(Constant::Value(value)) if value.len() != 1 => {
                let (name, values) = (self.field.name(), value.len());
                Err(Error::argument(format!(
                    "the constant for the column `{name}` has {values} values instead of one"
                )))
            }
            _ => Ok(()),
        }
    }

    /// Returns the column's approximate size in a batch of `rows` rows, in bytes.
    pub(crate) fn bytes(&self, rows: usize) -> usize {
        match &self.values {
            VirtualValues::RowNumber | VirtualValues::RowGroup => {
                rows.saturating_mul(size_of::<i64>())
            }
            VirtualValues::Constant(constant) => constant.bytes(rows),
        }
    }

    /// Returns the source of the column's values.
    pub(crate) fn values(&self) -> &VirtualValues {
        &self.values
    }
}
