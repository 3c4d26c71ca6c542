//! A column of values in its Arrow storage.

use std::sync::Arc;

use herringbone_arrow::array::builder::BinaryViewBuilder;
use herringbone_arrow::array::cast::AsArray as _;
use herringbone_arrow::array::{Array, ArrayRef, StructArray};
use herringbone_format::{Error, Result};

use super::bytes::BytesColumn;
use super::typed::Group;
use super::{METADATA, ShreddingType, of_arrow};
use crate::metadata::Metadata;

/// A column of values, shredded or not, over its Arrow storage; nothing is copied.
///
/// *Arrow canonical extension types, "Parquet Variant"; Variant Shredding.*
///
/// Columns are found by name, in any order; `value` may be missing where there is `typed_value`.
/// `metadata` may be dictionary- or run-end-encoded; bytes, text and lists may have any layout.
pub struct VariantArray {
    storage: StructArray,
    metadata: BytesColumn,
    pub(super) group: Group,
}

impl VariantArray {
    /// Looks at the columns of `storage`, a struct.
    ///
    /// # Errors
    ///
    /// Columns that are missing, that no variant has, or of types that variants cannot have.
    pub fn try_new(storage: &dyn Array) -> Result<Self> {
        let Some(storage) = storage.as_struct_opt() else {
            return Err(Error::corrupt(format!(
                "a variant is stored as a struct, not as {}",
                storage.data_type()
            )));
        };
        let metadata = storage
            .column_by_name(METADATA)
            .ok_or_else(|| Error::corrupt("a variant has no column `metadata`"))?;
        Ok(Self {
            metadata: BytesColumn::encoded(metadata, METADATA)?,
            group: Group::new(storage, 0)?,
            storage: storage.clone(),
        })
    }

    /// Number of values, nulls included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.storage.len()
    }

    /// Whether there are no values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether there is no value in this row; the null of variants is a value.
    #[must_use]
    pub fn is_null(&self, row: usize) -> bool {
        row >= self.len() || self.storage.is_null(row)
    }

    /// How values are shredded.
    #[must_use]
    pub fn shredding_type(&self) -> ShreddingType {
        self.group.shredding_type()
    }

    /// The storage.
    #[must_use]
    pub fn storage(&self) -> &StructArray {
        &self.storage
    }

    /// The metadata of a row that is not null.
    ///
    /// # Errors
    ///
    /// As [`Metadata::new`]; metadata that is null.
    pub fn metadata(&self, row: usize) -> Result<Metadata<'_>> {
        let bytes = self.metadata.get(row);
        Metadata::new(bytes.ok_or_else(|| Error::corrupt("a variant's `metadata` is null"))?)
    }

    /// The metadata of all rows: as it is stored, unless some is missing, as it may be beside nulls.
    pub(super) fn all_metadata(&self) -> Result<ArrayRef> {
        let mut rows = (0..self.len()).map(|row| self.metadata.get(row));
        if rows.all(|bytes| bytes.is_some_and(|bytes| !bytes.is_empty()))
            && let Some(stored) = self.storage.column_by_name(METADATA)
        {
            return Ok(stored.clone());
        }
        let mut all = BinaryViewBuilder::new().with_deduplicate_strings();
        for row in 0..self.len() {
            let bytes = self.metadata.get(row).unwrap_or_default();
            let bytes = Metadata::new(bytes).unwrap_or(Metadata::EMPTY).as_bytes();
            all.try_append_value(bytes).map_err(of_arrow)?;
        }
        Ok(Arc::new(all.finish()))
    }
}
