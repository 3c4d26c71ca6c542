//! The column batch under construction, with the leaf's array, its ancestors' records, and the column's memory.

use std::sync::Arc;

use herringbone_arrow::buffer::{BooleanBuffer, Buffer};
use herringbone_format::{Encoding, Error, Result};
use herringbone_kernels::bitmap::Bitmap;
use herringbone_kernels::nesting;

use super::nesting_builder::NestingBuilder;
use super::page_cursor::PageCursor;
use super::sibling_levels::ListLevelsBuilder;
use super::{ColumnBatch, ColumnPlan, each};
use crate::array::LeafArray;
use crate::budget::{ColumnMemory, MemoryUse};
use crate::encoding::Rest;
use crate::loss::{Loss, Losses, Lost};
use crate::page::BLOCK_LEVELS;

mod memory;

/// The builder of a column batch. It takes values from the open page and owns the column's memory.
pub(super) struct BatchBuilder {
    plan: Arc<ColumnPlan>,
    row_group: usize,
    array: Box<dyn LeafArray>,
    /// The validity of the leaf's slots.
    validity: Bitmap,
    nesting_builders: Vec<NestingBuilder>,
    shared_lists: Vec<ListLevelsBuilder>,
    rows: usize,
    /// Damaged pages whose values became null in the column batch.
    losses: Losses,
    memory: ColumnMemory,
    /// The byte count of earlier pages borrowed by the array.
    borrowed_bytes: usize,
    /// The last column batch's size in bytes. If the budget allows, the next batch reserves at least this much.
    last_bytes: usize,
}

impl BatchBuilder {
    pub(super) fn new(
        plan: Arc<ColumnPlan>,
        row_group: usize,
        (array, memory): (Box<dyn LeafArray>, ColumnMemory),
    ) -> Self {
        Self {
            row_group,
            array,
            validity: Bitmap::new(),
            nesting_builders: each(plan.nesting_plans.iter().cloned(), NestingBuilder::new),
            shared_lists: each(plan.shared_lists.iter().copied(), ListLevelsBuilder::new),
            rows: 0,
            losses: Losses::default(),
            memory,
            borrowed_bytes: 0,
            last_bytes: 0,
            plan,
        }
    }

    /// Returns the number of rows in the column batch so far.
    #[inline]
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Returns true if the column records the leaf's ancestors.
    pub(super) fn records_ancestors(&self) -> bool {
        !self.nesting_builders.is_empty()
    }

    /// Returns true if the column batch contains no bytes.
    pub(super) fn is_empty(&self) -> bool {
        self.array_bytes() == 0
    }

    /// Returns the column's memory.
    pub(super) fn memory(&mut self) -> &mut ColumnMemory {
        &mut self.memory
    }

    /// Adds the column and its row group to an error.
    pub(super) fn locate(&self, error: Error) -> Error {
        error
            .in_column(self.plan.path())
            .in_row_group(self.row_group)
    }

    /// Records the loss of `rows` values in a damaged page.
    pub(super) fn lose(&mut self, error: Error, rows: usize) {
        let error = self.locate(error);
        let lost = Lost::Values(rows as u64);
        self.losses.push(Loss { error, lost });
    }

    /// Finishes the column batch. If the column is about to leave a page, `page_bytes` is that page's size. Otherwise
    /// it is 0.
    pub(super) fn finish(&mut self, is_last: bool, page_bytes: usize) -> Result<ColumnBatch> {
        let memory = self.hand_over_memory(is_last, page_bytes)?;
        let nulls = self.validity.finish();
        let nulls = nulls.filter(|_| self.plan.nullable);
        Ok(ColumnBatch {
            row_group: self.row_group,
            rows: std::mem::take(&mut self.rows),
            leaf: self.array.finish(nulls)?,
            nestings: each(self.nesting_builders.iter_mut(), NestingBuilder::finish),
            shared_lists: each(self.shared_lists.iter_mut(), ListLevelsBuilder::finish),
            losses: std::mem::take(&mut self.losses),
            memory,
        })
    }
}

/// Methods for the pages that supply values.
impl BatchBuilder {
    /// Sets the data page to take the next values from.
    pub(super) fn set_page(
        &mut self,
        encoding: Encoding,
        values: Buffer,
        num_values: usize,
    ) -> Result<()> {
        let copied = self.array.page_bytes(encoding, values.len());
        self.memory.resize(MemoryUse::Copy, copied as u64)?;
        self.array.set_page(encoding, values, num_values)
    }

    /// Releases a page of `body_bytes` bytes. This frees its memory, unless the array borrows parts of it.
    pub(super) fn release_page(&mut self, body_bytes: usize) {
        self.array.release_page();
        self.borrowed_bytes = match self.array.borrows_pages() {
            true => self.borrowed_bytes.saturating_add(body_bytes),
            false => 0,
        };
    }

    /// Returns true if the array borrows from pages or the dictionary.
    pub(super) fn borrows_pages(&self) -> bool {
        self.array.borrows_pages()
    }

    /// Returns the rest of the page, after the values taken or skipped so far.
    pub(super) fn rest_of_page(&self) -> Rest<'_> {
        self.array.rest()
    }

    /// Sets the dictionary for later pages to refer to.
    pub(super) fn set_dictionary(&mut self, values: &Buffer, num_values: usize) -> Result<()> {
        // We cap the number of entries at the byte count. If the header claims entries without any bytes, we detect the
        // error later.
        let entries = num_values.min(values.len());
        let bytes = self.array.dictionary_bytes(values.len(), entries);
        self.memory.reserve(MemoryUse::Dictionary, bytes as u64)?;
        self.array.set_dictionary(values, num_values)
    }

    /// Drops the dictionary. Returns false if the array still needs it.
    pub(super) fn drop_dictionary(&mut self) -> Result<bool> {
        let is_dropped = self.array.drop_dictionary();
        if is_dropped {
            self.memory.resize(MemoryUse::Dictionary, 0)?;
        }
        Ok(is_dropped)
    }

    /// Skips the page's next `n` values.
    pub(super) fn skip_values(&mut self, n: usize) -> Result<()> {
        self.array.skip(n)
    }
}

/// Methods for columns without repetition levels, where each level is a row.
impl BatchBuilder {
    /// Appends the next `rows` rows of the open page. The page must contain the rows, and they must fit. Returns the
    /// number of rows appended, which is at most a block unless levels are bits.
    pub(super) fn append_rows(&mut self, pages: &mut PageCursor, mut rows: usize) -> Result<usize> {
        if self.plan.max_def_level == 0 {
            self.array.append(rows)?;
            self.validity.append_run(true, rows);
            pages.use_zeros(rows);
        } else {
            if !self.levels_are_bits() {
                rows = rows.min(BLOCK_LEVELS);
            }
            let mut validity = std::mem::take(&mut self.validity);
            let start = validity.len();
            let values = self.read_validity(pages, rows, &mut validity);
            self.validity = validity;
            self.array
                .append_spread(values?, &self.validity, start, rows)?;
        }
        self.rows += rows;
        Ok(rows)
    }

    /// Appends the rows that `mask` selects among the open page's next `mask.len()` rows. The mask covers at most a
    /// block, and `selected` is its number of selected rows.
    pub(super) fn append_selected(
        &mut self,
        pages: &mut PageCursor,
        mask: &BooleanBuffer,
        selected: usize,
    ) -> Result<()> {
        if self.plan.max_def_level == 0 {
            self.array.append_wanted(mask)?;
            self.validity.append_run(true, selected);
            pages.use_zeros(mask.len());
        } else {
            let mut validity = Bitmap::new();
            self.read_validity(pages, mask.len(), &mut validity)?;
            self.array.append_wanted(&validity.select_of(mask))?;
            let validity = validity.select(mask);
            let start = self.validity.len();
            self.validity.append_all(&validity);
            if validity.null_count() > 0 {
                self.array.expand(&self.validity, start, selected)?;
            }
        }
        self.rows += selected;
        Ok(())
    }

    /// Returns true if the definition levels are exactly the validity.
    fn levels_are_bits(&self) -> bool {
        self.plan.max_def_level == 1 && self.nesting_builders.is_empty()
    }

    /// Appends the validity of the open page's next rows to `validity`. At most a block is appended unless levels are
    /// bits. Returns the number of valid rows.
    fn read_validity(
        &mut self,
        pages: &mut PageCursor,
        rows: usize,
        validity: &mut Bitmap,
    ) -> Result<usize> {
        if self.levels_are_bits() {
            return pages.append_bits(rows, validity);
        }
        // Structs above the leaf can be null too, so we need the levels as numbers. The kernels treat an empty slice of
        // repetition levels as zeros.
        let (rep, def) = (&[][..], pages.definition(rows)?);
        for nesting_builder in &mut self.nesting_builders {
            nesting_builder.record(rep, def)?;
        }
        let highest = self.plan.max_def_level;
        nesting::slot_validity(rep, def, 0, 0, highest, validity);
        Ok(nesting::count_ge(def, highest))
    }
}

/// Methods for columns with repetition levels.
impl BatchBuilder {
    /// Appends the slots and values that belong to these levels. They must fit.
    pub(super) fn append_levels(&mut self, rep: &[u8], def: &[u8]) -> Result<()> {
        for nesting_builder in &mut self.nesting_builders {
            nesting_builder.record(rep, def)?;
        }
        for list in &mut self.shared_lists {
            list.add(rep, def);
        }
        let (slot_def, highest) = (self.plan.slot_def, self.plan.max_def_level);
        let start = self.validity.len();
        let values = nesting::count_ge(def, highest);
        let slots = if slot_def == highest {
            self.validity.append_run(true, values);
            values
        } else {
            let deepest = self.plan.max_rep_level;
            nesting::slot_validity(rep, def, deepest, slot_def, highest, &mut self.validity)
        };
        self.array
            .append_spread(values, &self.validity, start, slots)
    }

    /// Counts rows whose levels have been appended.
    pub(super) fn add_rows(&mut self, rows: usize) {
        self.rows += rows;
    }
}
