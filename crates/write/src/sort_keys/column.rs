//! One column of a sort key.

use std::sync::Arc;

use herringbone_arrow::array::RecordBatch;
use herringbone_format::{Error, Result, SortingColumn, Type};
use herringbone_schema::ColumnOrderKind;

use super::super::levels::{LeafLevels, LeafPath, leaf_levels};
use super::super::settings::ColumnSettings;
use super::values::{
    double_key, half_key, number_key, number_length, single_key, text_key, text_length,
    timestamp_key,
};
use herringbone_core::array::Scratch;
use herringbone_core::array::dictionary::{Keyed, slots};
use herringbone_core::encoding::physical_values::{Values, plain_width};
use herringbone_core::levels::DefinitionLevels;

/// A column to sort rows by.
pub(super) struct KeyColumn {
    pub(super) settings: Arc<ColumnSettings>,
    pub(super) path: Arc<LeafPath>,
    pub(super) field: usize,
    pub(super) sorting: SortingColumn,
}

/// Reusable memory for a column's values.
pub(super) struct Decoded {
    levels: LeafLevels,
    scratch: Scratch,
    keyed: Keyed,
}

impl Decoded {
    pub(super) fn new() -> Self {
        Self {
            levels: LeafLevels::new(),
            scratch: Scratch::default(),
            keyed: Keyed::default(),
        }
    }

    /// Calls `visit` with a column's non-null values, and with a function telling which rows have a value.
    ///
    /// # Errors
    /// Fails with `Argument` if the batch lacks the column, or if a value does not fit its type.
    pub(super) fn values(
        &mut self,
        column: &KeyColumn,
        batch: &RecordBatch,
        visit: impl FnOnce(&Values<'_>, &dyn Fn(usize) -> bool),
    ) -> Result<()> {
        let array = batch
            .columns()
            .get(column.field)
            .ok_or_else(|| Error::argument("the batch has fewer columns than the file"))?;
        let levels = &mut self.levels;
        leaf_levels(&column.path, array, 0..batch.num_rows(), levels)?;
        let leaf = &column.settings.leaf;
        let slots = slots(leaf, levels.selected(), &mut self.scratch, &mut self.keyed)?;
        let max_def = leaf.max_def_level;
        slots.with_values(|values| match &levels.def {
            DefinitionLevels::None | DefinitionLevels::Validity(None) => visit(values, &|_| true),
            DefinitionLevels::Validity(Some(nulls)) => visit(values, &|row| nulls.is_valid(row)),
            DefinitionLevels::Bytes(levels) => {
                visit(values, &|row| levels.get(row) == Some(&max_def));
            }
        });
        Ok(())
    }
}

impl KeyColumn {
    fn is_nullable(&self) -> bool {
        self.settings.leaf.max_def_level > 0
    }

    /// Returns the column's key bytes per row, or `None` if they vary.
    pub(super) fn width(&self) -> Option<usize> {
        Some(usize::from(self.is_nullable()) + self.value_width()?)
    }

    /// Returns the key bytes per value, or `None` if they vary.
    fn value_width(&self) -> Option<usize> {
        let leaf = &self.settings.leaf;
        match leaf.physical_type {
            Type::Boolean => Some(1),
            physical_type => plain_width(physical_type, leaf.type_length),
        }
    }

    /// Adds this column's key bytes to each row's length.
    pub(super) fn add_lengths(
        &self,
        values: &Values<'_>,
        is_valid: &dyn Fn(usize) -> bool,
        out: &mut [usize],
    ) {
        let mark = usize::from(self.is_nullable());
        if let Some(width) = self.value_width() {
            out.iter_mut().for_each(|length| *length += mark + width);
            return;
        }
        let Values::ByteArray(values) = values else {
            return;
        };
        let is_number = self.settings.leaf.order == ColumnOrderKind::SignedBytes;
        let mut values = values.iter();
        for (row, length) in out.iter_mut().enumerate() {
            *length += mark;
            if let Some(value) = is_valid(row).then(|| values.next()).flatten() {
                *length += match is_number {
                    true => number_length(value),
                    false => text_length(value),
                };
            }
        }
    }

    /// Writes this column at the rows' cursors, advancing them.
    pub(super) fn write(
        &self,
        values: &Values<'_>,
        is_valid: &dyn Fn(usize) -> bool,
        cursors: &mut [usize],
        out: &mut [u8],
    ) {
        use ColumnOrderKind::{Float16, Int96, SignedBytes, Unsigned};
        let (order, total_order) = (self.settings.leaf.order, self.settings.total_order);
        let mut rows = KeyRows {
            column: self,
            is_valid,
            cursors,
            out,
        };
        match values {
            Values::Boolean { bits, first, .. } => rows.write_fixed(|index| {
                let at = first + index;
                [bits.get(at / 8).map_or(0, |byte| byte >> (at % 8) & 1)]
            }),
            Values::Int32(values) => {
                let sign = if order == Unsigned { 0 } else { i32::MIN };
                rows.write_fixed(|index| (values[index] ^ sign).to_be_bytes());
            }
            Values::Int64(values) => {
                let sign = if order == Unsigned { 0 } else { i64::MIN };
                rows.write_fixed(|index| (values[index] ^ sign).to_be_bytes());
            }
            Values::Float(values) => {
                rows.write_fixed(|index| single_key(values[index], total_order).to_be_bytes());
            }
            Values::Double(values) => {
                rows.write_fixed(|index| double_key(values[index], total_order).to_be_bytes());
            }
            Values::Fixed { bytes, width } => {
                let value = |index: usize| &bytes[index * width..(index + 1) * width];
                rows.write_each(*width, |index, out| {
                    out.copy_from_slice(value(index));
                    match order {
                        SignedBytes => out.iter_mut().take(1).for_each(|byte| *byte ^= 0x80),
                        Float16 => half_key(out, total_order),
                        Int96 => timestamp_key(out),
                        _ => {}
                    }
                });
            }
            Values::ByteArray(values) if order == SignedBytes => {
                rows.write_any(|index, out| number_key(values[index], out));
            }
            Values::ByteArray(values) => rows.write_any(|index, out| text_key(values[index], out)),
        }
    }
}

/// The rows that a column is written to.
struct KeyRows<'a> {
    column: &'a KeyColumn,
    is_valid: &'a dyn Fn(usize) -> bool,
    cursors: &'a mut [usize],
    out: &'a mut [u8],
}

impl KeyRows<'_> {
    /// Writes fixed-width values. `key` maps a value's ordinal to its key.
    fn write_fixed<const N: usize>(&mut self, key: impl Fn(usize) -> [u8; N]) {
        if self.column.is_nullable() || self.column.sorting.descending {
            return self.write_each(N, |index, out| out.copy_from_slice(&key(index)));
        }
        for (row, cursor) in self.cursors.iter_mut().enumerate() {
            self.out[*cursor..*cursor + N].copy_from_slice(&key(row));
            *cursor += N;
        }
    }

    /// Writes values of `width` bytes, calling `write` for each. A null takes as many bytes.
    fn write_each(&mut self, width: usize, write: impl Fn(usize, &mut [u8])) {
        self.write_rows(width, |index, out| {
            write(index, &mut out[..width]);
            width
        });
    }

    /// Writes variable-length values. `write` returns the number of bytes it wrote. A null takes no bytes.
    fn write_any(&mut self, write: impl Fn(usize, &mut [u8]) -> usize) {
        self.write_rows(0, write);
    }

    fn write_rows(&mut self, null_width: usize, write: impl Fn(usize, &mut [u8]) -> usize) {
        let SortingColumn {
            descending,
            nulls_first,
            ..
        } = self.column.sorting;
        let mark = usize::from(self.column.is_nullable());
        let mut next = 0;
        for (row, cursor) in self.cursors.iter_mut().enumerate() {
            let is_valid = (self.is_valid)(row);
            if mark == 1 {
                self.out[*cursor] = match (is_valid, nulls_first) {
                    (true, _) => 1,
                    (false, true) => 0,
                    (false, false) => 2,
                };
                *cursor += 1;
            }
            if !is_valid {
                *cursor += null_width;
                continue;
            }
            let out = &mut self.out[*cursor..];
            let written = write(next, out);
            next += 1;
            if descending {
                out[..written].iter_mut().for_each(|byte| *byte = !*byte);
            }
            *cursor += written;
        }
    }
}
