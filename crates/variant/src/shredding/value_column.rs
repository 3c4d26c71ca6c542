//! Builds a group's `value` column.

use std::sync::Arc;

use herringbone_arrow::array::builder::{ArrayBuilder as _, BinaryViewBuilder};
use herringbone_arrow::array::{Array as _, ArrayRef, BinaryViewArray};
use herringbone_format::Result;

use super::of_arrow;

/// A builder for the column of unshredded values. It allocates on the first append, because fully
/// shredded fields never have such a value.
pub(super) struct ValueColumn {
    values: Option<BinaryViewBuilder>,
    capacity: usize,
}

impl ValueColumn {
    /// Creates a column with capacity for `capacity` values. The memory is allocated on the first
    /// append.
    pub(super) fn with_capacity(capacity: usize) -> Self {
        Self {
            values: None,
            capacity,
        }
    }

    /// Appends nulls for the previous rows without a value, then appends the value of this row.
    pub(super) fn append(&mut self, row: usize, value: &[u8]) -> Result<()> {
        let values = self.up_to(row);
        values.try_append_value(value).map_err(of_arrow)
    }

    fn up_to(&mut self, rows: usize) -> &mut BinaryViewBuilder {
        let values = self
            .values
            .get_or_insert_with(|| BinaryViewBuilder::with_capacity(self.capacity));
        for _ in values.len()..rows {
            values.append_null();
        }
        values
    }

    /// Returns the array with `rows` rows. `nulls` is an all-null array that columns can share.
    pub(super) fn finish(&mut self, rows: usize, nulls: &mut Option<ArrayRef>) -> ArrayRef {
        if self.values.is_some() {
            return Arc::new(self.up_to(rows).finish());
        }
        match nulls {
            Some(nulls) if nulls.len() == rows => nulls.clone(),
            _ => {
                let array: ArrayRef = Arc::new(BinaryViewArray::new_null(rows));
                nulls.insert(array).clone()
            }
        }
    }
}
