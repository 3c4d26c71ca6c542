//! The column `value` of a group, while it is built.

use std::sync::Arc;

use herringbone_arrow::array::builder::{ArrayBuilder as _, BinaryViewBuilder};
use herringbone_arrow::array::{Array as _, ArrayRef, BinaryViewArray};
use herringbone_format::Result;

use super::of_arrow;

/// Values that are not shredded. Where all are, there are none: so it takes no memory up to the first.
pub(super) struct ValueColumn {
    values: Option<BinaryViewBuilder>,
    capacity: usize,
}

impl ValueColumn {
    /// With room for so many values, once there is one.
    pub(super) fn with_capacity(capacity: usize) -> Self {
        Self {
            values: None,
            capacity,
        }
    }

    /// Appends the value of a row, and nulls of the rows before that have none.
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

    /// The array of so many rows. `nulls` is an array that has nothing but nulls, which columns share.
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
