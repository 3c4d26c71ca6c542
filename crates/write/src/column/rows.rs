//! Appends rows to the page under construction, segment by segment. After each segment, we check if the page is full.

use std::ops::Range;
use std::sync::Arc;

use herringbone_arrow::array::cast::AsArray;
use herringbone_arrow::array::{Array, ArrayRef};
use herringbone_arrow::schema::DataType;
use herringbone_core::array::dictionary::slots;
use herringbone_core::array::{Selected, values};
use herringbone_core::encoding::physical_values::{PlainSize, Slots, Values, plain_width};
use herringbone_format::{Error, Result};

use super::{BlockMemory, ColumnWriter};
use crate::content_defined::RowLevels;
use crate::dictionary_growth::sampled_trial_after;
use crate::levels::leaf_levels;
use crate::page::PageSink;

/// The maximum number of rows in a segment if the column's rows differ in size.
const BLOCK_ROWS: usize = 4096;

/// The maximum number of rows in a list column's segment, until its first page is finished. Lists have many values in
/// few rows, so short segments let a sampled trial start early.
const FIRST_LISTS: usize = 512;

/// The most values in a page. Its header could count many more.
const MAX_PAGE_VALUES: usize = 1 << 28;

/// The size of some rows.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Extent {
    pub(super) rows: usize,
    /// The PLAIN size of the values in bits, plus two bits per level.
    bits: usize,
}

impl Extent {
    fn new(slots: &Slots<'_>, size: PlainSize, rows: usize, levels: usize) -> Self {
        let is_boolean = match slots {
            Slots::Values(values) | Slots::Keyed { values, .. } => {
                matches!(values, Values::Boolean { .. })
            }
        };
        let values = if is_boolean {
            slots.num_slots()
        } else {
            8 * size.bytes
        };
        Self {
            rows,
            bits: values + 2 * levels,
        }
    }

    fn and(self, more: Self) -> Self {
        Self {
            rows: self.rows + more.rows,
            bits: self.bits + more.bits,
        }
    }
}

impl ColumnWriter {
    /// Writes rows in content-defined pages.
    pub(super) fn write_chunked(
        &mut self,
        array: &ArrayRef,
        rows: Range<usize>,
        memory: &mut BlockMemory,
        sink: &mut dyn PageSink,
    ) -> Result<()> {
        let mut at = rows.start;
        while at < rows.end {
            let block = at..rows.end.min(at + BLOCK_ROWS);
            for start in self.page_starts(array, block.clone(), memory)? {
                let start = block.start + start;
                self.write_rows(array, at..start, memory, sink)?;
                if self.page.num_rows() > 0 {
                    self.finish_page(sink)?;
                }
                at = start;
            }
            self.write_rows(array, at..block.end, memory, sink)?;
            at = block.end;
        }
        Ok(())
    }

    /// Returns the rows starting content-defined pages, counted from the first of `rows`.
    fn page_starts(
        &mut self,
        array: &ArrayRef,
        rows: Range<usize>,
        memory: &mut BlockMemory,
    ) -> Result<Vec<usize>> {
        leaf_levels(&self.path, array, rows.clone(), &mut memory.levels)?;
        let leaf = &self.settings.leaf;
        let BlockMemory {
            levels,
            scratch,
            keyed,
        } = memory;
        let slots = match slots(leaf, levels.selected(), scratch, keyed) {
            Ok(slots) => slots,
            Err(error) => return Err(self.in_row(array, rows, error, memory)),
        };
        let levels = RowLevels {
            num_rows: rows.len(),
            rep: &levels.rep,
            def: &levels.def,
            max_def: leaf.max_def_level,
        };
        let chunker = self.chunker.as_mut();
        Ok(chunker.map_or_else(Vec::new, |chunker| chunker.page_starts(&levels, &slots)))
    }

    pub(super) fn write_rows(
        &mut self,
        array: &ArrayRef,
        rows: Range<usize>,
        memory: &mut BlockMemory,
        sink: &mut dyn PageSink,
    ) -> Result<()> {
        let mut at = rows.start;
        while at < rows.end {
            let most = self.block_rows(array);
            let room = self.page_rows().saturating_sub(self.page.num_rows());
            let n = room.min(most - self.segment.rows).min(rows.end - at);
            let taken = self.append_fitting(array, at..at + n.max(1), memory)?;
            at += taken;
            let is_whole = taken < n || self.segment.rows >= most;
            if is_whole || self.page.num_rows() >= self.page_rows() {
                self.end_segment(taken < n, sink)?;
            }
        }
        Ok(())
    }

    /// Returns the maximum number of rows in a segment. If all rows have the same size, a segment can be as long as a
    /// page.
    fn block_rows(&self, array: &ArrayRef) -> usize {
        let leaf = &self.settings.leaf;
        let same_size = leaf.max_rep_level == 0
            && (plain_width(leaf.physical_type, leaf.type_length).is_some()
                || matches!(array.data_type(), DataType::Dictionary(..)));
        let is_first = self.values.is_first_page_of_trial();
        match same_size {
            true if is_first => {
                sampled_trial_after(self.settings.row_group_values()).min(self.settings.page_rows)
            }
            // Content-defined pages have no row count by default.
            true if self.chunker.is_some() => BLOCK_ROWS.min(self.settings.page_rows),
            true => self.settings.page_rows,
            false if leaf.max_rep_level > 0 && is_first => FIRST_LISTS,
            false => BLOCK_ROWS,
        }
    }

    /// Checks if the rows collected since the last check fill the page. A page can only end here, so that its end
    /// depends on the rows alone and not on the arrays they came in. `is_full` is true if the next row doesn't fit.
    fn end_segment(&mut self, is_full: bool, sink: &mut dyn PageSink) -> Result<()> {
        self.segment.rows = 0;
        if self.values.may_be_indices() {
            self.segment.bits = 0;
        }
        self.values.sample_if_new(&self.settings)?;
        // If the page holds values, a row that doesn't fit means the page is full. If it holds indices, this is only so
        // once no more values can be counted.
        let has_no_room = is_full && (!self.values.may_be_indices() || self.is_counted_out);
        if has_no_room || self.page_is_full() {
            self.finish_page(sink)?;
        }
        Ok(())
    }

    /// Appends as many of the rows as fit and returns their number.
    fn append_fitting(
        &mut self,
        array: &ArrayRef,
        rows: Range<usize>,
        memory: &mut BlockMemory,
    ) -> Result<usize> {
        if self.append(array, rows.clone(), memory)? {
            return Ok(rows.len());
        }
        // We halve the number of rows until some fit. At each step, fewer than `limit` rows starting at `at` fit.
        let (mut at, mut limit) = (rows.start, rows.len());
        while limit > 1 {
            let half = limit / 2;
            if self.append(array, at..at + half, memory)? {
                at += half;
                limit -= half;
            } else {
                limit = half;
            }
        }
        Ok(at - rows.start)
    }

    /// Appends all rows and returns true. If they don't all fit, appends none and returns false. The first row of a
    /// page always fits.
    fn append(
        &mut self,
        array: &ArrayRef,
        rows: Range<usize>,
        memory: &mut BlockMemory,
    ) -> Result<bool> {
        let num_rows = rows.len();
        let all = rows.clone();
        leaf_levels(&self.path, array, rows, &mut memory.levels)?;
        self.preload_dictionary(memory)?;
        let BlockMemory {
            levels,
            scratch,
            keyed,
        } = memory;
        let slots = match slots(&self.settings.leaf, levels.selected(), scratch, keyed) {
            Ok(slots) => slots,
            Err(error) => return Err(self.in_row(array, all, error, memory)),
        };
        let size = slots.plain_size();
        let num_levels = levels.rep.len().max(num_rows);
        let more = Extent::new(&slots, size, num_rows, num_levels);
        let extent = self.segment.and(more);
        let is_too_large = extent.bits > self.settings.page_bytes.saturating_mul(8);
        self.is_counted_out = self.page.num_levels() + num_levels > MAX_PAGE_VALUES;
        let is_first = num_rows == 1
            && match self.values.may_be_indices() {
                true => self.segment.rows == 0,
                false => self.page.num_rows() == 0,
            };
        let is_refused = is_too_large && !is_first
            || self.is_counted_out && (num_rows > 1 || self.page.num_levels() > 0);
        if is_refused {
            return Ok(false);
        }
        self.segment = extent;
        self.page.append(&levels.rep, &levels.def, num_rows)?;
        self.page_size.bytes += size.bytes;
        self.page_size.byte_array_bytes += size.byte_array_bytes;
        self.values.append(&slots, &mut self.observers)?;
        Ok(true)
    }

    /// Copies the Arrow dictionary's values, if they are to be restored on reading and aren't too large.
    fn preload_dictionary(&mut self, memory: &mut BlockMemory) -> Result<()> {
        let settings = &self.settings;
        let (Some(_), Some(dictionary)) = (
            settings.preserve_arrow_dictionary,
            self.values.open_dictionary(),
        ) else {
            return Ok(());
        };
        let Some(array) = memory.levels.leaf.as_any_dictionary_opt() else {
            return Ok(());
        };
        let entries = array.values();
        // Run-end encoded values have no order of their own to preserve.
        if entries.data_type() != &settings.leaf.data_type
            || self
                .preloaded
                .as_ref()
                .is_some_and(|preloaded| is_same(preloaded, entries))
        {
            return Ok(());
        }
        self.preloaded = Some(entries.clone());
        let selected = Selected {
            array: entries,
            nulls: entries.nulls(),
            ranges: &[0..entries.len()],
        };
        let values = match values(&settings.leaf, selected, &mut memory.scratch) {
            Ok(values) => Slots::Values(values),
            Err(error) if settings.keeps_order() => return Err(error),
            // An invalid value must not keep the others from being written if no slot uses it.
            Err(_) => return Ok(()),
        };
        let bytes = dictionary.plain_bytes() + values.plain_size().bytes;
        if let Slots::Values(values) = values
            && (settings.keeps_order() || bytes <= settings.dictionary_bytes)
        {
            dictionary.preload(&values)?;
            self.values.keep_dictionary();
        }
        Ok(())
    }

    /// Finds the row behind an error, adding it to the message.
    #[cold]
    fn in_row(
        &self,
        array: &ArrayRef,
        rows: Range<usize>,
        error: Error,
        memory: &mut BlockMemory,
    ) -> Error {
        let BlockMemory {
            levels,
            scratch,
            keyed,
        } = memory;
        for row in rows {
            let found = leaf_levels(&self.path, array, row..row + 1, levels).and_then(|()| {
                slots(&self.settings.leaf, levels.selected(), scratch, keyed).map(|_| ())
            });
            if let Err(found) = found {
                let message = format!("row {row} of the batch: {}", found.message());
                let error = Error::new(found.kind(), message);
                return match found.remedy() {
                    Some(remedy) => error.with_remedy(remedy),
                    None => error,
                };
            }
        }
        error
    }
}

/// Returns true if both arrays share the same memory.
fn is_same(one: &ArrayRef, other: &ArrayRef) -> bool {
    Arc::ptr_eq(one, other) || one.to_data().ptr_eq(&other.to_data())
}
