//! Reads a column of values in its Arrow storage.

use herringbone_arrow::array::cast::AsArray as _;
use herringbone_arrow::array::{Array, ArrayRef, RecordBatch, StructArray};
use herringbone_arrow::schema::DataType;
use herringbone_format::{Error, Result};

use super::bytes::{BytesBuilder, BytesColumn};
use super::data_type::no_metadata;
use super::typed::Group;
use super::{METADATA, ShreddingType};
use crate::metadata::Metadata;

/// A column of values, shredded or not. This is a view over its Arrow storage, and copies nothing.
///
/// *Arrow canonical extension types, "Parquet Variant"; Variant Shredding.*
///
/// We find columns by name, so their order doesn't matter. `value` is optional if there is a
/// `typed_value`. `metadata` can have a dictionary or run-end encoding, and bytes, text and lists
/// can have any layout.
pub struct VariantArray {
    storage: StructArray,
    /// The metadata column. It is `None` if the view only covers columns that need no names.
    metadata: Option<BytesColumn>,
    pub(super) group: Group,
    shredding: ShreddingType,
}

impl VariantArray {
    /// Creates a view over the columns of `storage`, which must be a struct.
    ///
    /// # Errors
    ///
    /// Fails with [Corrupt](herringbone_format::ErrorKind::Corrupt) if columns are missing, if a
    /// column does not belong to a variant, or if a column has a type that variants cannot have.
    pub fn try_new(storage: &dyn Array) -> Result<Self> {
        let shredding = ShreddingType::of_storage_type(storage.data_type())?;
        Self::new(storage, shredding)
    }

    /// Creates a view over a subset of the columns, such as the columns on a path.
    pub(crate) fn of_part(storage: &dyn Array) -> Result<Self> {
        let shredding = match storage.data_type() {
            DataType::Struct(fields) => ShreddingType::of_group(fields, 0)?,
            other => ShreddingType::of_storage_type(other)?,
        };
        Self::new(storage, shredding)
    }

    fn new(storage: &dyn Array, shredding: ShreddingType) -> Result<Self> {
        let storage = storage.as_struct_opt().ok_or_else(no_metadata)?;
        let metadata = storage.column_by_name(METADATA);
        let metadata = metadata.map(|metadata| BytesColumn::new(metadata, METADATA));
        Ok(Self {
            metadata: metadata.transpose()?,
            group: Group::new(storage)?,
            storage: storage.clone(),
            shredding,
        })
    }

    /// Creates a view over the column with this name in a record batch.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use herringbone::arrow::array::{ArrayRef, BinaryViewArray, RecordBatch, StructArray};
    /// use herringbone::variant::VariantBuf;
    /// use herringbone::variant::shredding::{UnshredOptions, VariantArray};
    ///
    /// let event = VariantBuf::from_json(r#"{"id": 7}"#)?;
    /// let bytes = |bytes: &[u8]| -> ArrayRef { Arc::new(BinaryViewArray::from(vec![bytes])) };
    /// let (metadata, value) = (bytes(event.metadata_bytes()), bytes(event.value_bytes()));
    /// let events = StructArray::try_from(vec![("metadata", metadata), ("value", value)])?;
    /// let batch = RecordBatch::try_from_iter([("event", Arc::new(events) as ArrayRef)])?;
    ///
    /// let events = VariantArray::of_column(&batch, "event")?;
    /// let first = events.value(0, &UnshredOptions::new())?.ok_or("a null")?;
    /// assert_eq!(first.as_variant().to_json()?, r#"{"id":7}"#);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// Fails with [Argument](herringbone_format::ErrorKind::Argument) if there is no such column,
    /// and for the reasons of [`Self::try_new`].
    pub fn of_column(batch: &RecordBatch, name: &str) -> Result<Self> {
        let column = batch.column_by_name(name);
        let column =
            column.ok_or_else(|| Error::argument(format!("the batch has no column `{name}`")))?;
        Self::try_new(column).map_err(|error| error.in_column(name))
    }

    /// Returns the number of values, including nulls.
    #[must_use]
    pub fn len(&self) -> usize {
        self.storage.len()
    }

    /// Returns true if there are no values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns true if this row has no value. Note that the variant null is a value.
    #[must_use]
    pub fn is_null(&self, row: usize) -> bool {
        row >= self.len() || self.storage.is_null(row)
    }

    /// Returns how the values are shredded.
    #[must_use]
    pub fn shredding_type(&self) -> &ShreddingType {
        &self.shredding
    }

    /// Returns the Arrow storage.
    #[must_use]
    pub fn storage(&self) -> &StructArray {
        &self.storage
    }

    /// Returns the metadata of a non-null row.
    ///
    /// # Errors
    ///
    /// Fails for the reasons of [`Metadata::new`], and with
    /// [Corrupt](herringbone_format::ErrorKind::Corrupt) if the metadata is null.
    pub fn metadata(&self, row: usize) -> Result<Metadata<'_>> {
        let metadata = self.metadata.as_ref().ok_or_else(no_metadata)?;
        Metadata::new(metadata.get(row).ok_or_else(null_metadata)?)
    }

    /// Returns true if there is a metadata column, which has the names.
    pub(super) fn has_metadata(&self) -> bool {
        self.metadata.is_some()
    }

    /// Returns the metadata of all rows as it is stored, except that empty metadata becomes a
    /// dictionary without names. It can be missing in null rows.
    pub(super) fn all_metadata(&self) -> Result<ArrayRef> {
        let (column, stored) = self
            .metadata
            .as_ref()
            .zip(self.storage.column_by_name(METADATA))
            .ok_or_else(no_metadata)?;
        if let Some(nulls) = stored.logical_nulls()
            && (0..self.len()).any(|row| nulls.is_null(row) && !self.is_null(row))
        {
            return Err(null_metadata());
        }
        let is_empty = |row| column.get(row).is_some_and(<[u8]>::is_empty);
        if !(0..self.len()).any(|row| is_empty(row) && !self.is_null(row)) {
            return Ok(stored.clone());
        }
        match (stored.as_any_dictionary_opt(), stored.data_type()) {
            (Some(dictionary), _) => {
                Ok(dictionary.with_values(without_empty(dictionary.values())?))
            }
            (None, DataType::RunEndEncoded(..)) => {
                Err(Error::corrupt("a variant's `metadata` is empty"))
            }
            _ => without_empty(stored),
        }
    }

    /// Returns the metadata of all rows, if it is an array of views without nulls.
    pub(super) fn metadata_views(&self) -> Result<Option<ArrayRef>> {
        let stored = self.storage.column_by_name(METADATA);
        let is_view =
            |it: &&ArrayRef| *it.data_type() == DataType::BinaryView && it.null_count() == 0;
        let is_there = stored.filter(is_view).is_some();
        is_there.then(|| self.all_metadata()).transpose()
    }
}

/// Returns the array with each empty value replaced by a dictionary without names.
fn without_empty(stored: &ArrayRef) -> Result<ArrayRef> {
    let column = BytesColumn::new(stored, METADATA)?;
    let mut all = BytesBuilder::new(stored.data_type(), stored.len());
    for row in 0..stored.len() {
        all.append(match column.get(row).unwrap_or_default() {
            [] => Metadata::EMPTY.as_bytes(),
            bytes => bytes,
        })?;
    }
    all.finish(stored.logical_nulls())
}

#[cold]
fn null_metadata() -> Error {
    Error::corrupt("a variant's `metadata` is null")
}
