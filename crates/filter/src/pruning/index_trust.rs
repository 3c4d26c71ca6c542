//! Decides how far to trust column indexes. Some writers get parts of them wrong, and we notice when other parts of the
//! file contradict them.

use std::ops::Range;

use herringbone_format::{ColumnIndex, FileMetadata, Statistics, Type};
use herringbone_schema::{ColumnOrderKind, Leaf};

use herringbone_core::created_by::CreatedBy;

/// Returns false if the file's writer is known to write wrong bounds for columns with this order.
pub fn has_true_bounds(metadata: &FileMetadata, order: ColumnOrderKind) -> bool {
    let writer = CreatedBy::new(metadata.created_by());
    !(writer.compares_decimals_as_bytes && order == ColumnOrderKind::SignedBytes)
}

/// Our level of trust in one column's column indexes.
#[derive(Debug, Clone, Copy)]
pub struct IndexTrust {
    has_byte_arrays: bool,
    /// True if the writer truncates the upper bounds of byte arrays without raising them.
    truncates_upper_bounds: bool,
    max_rep_level: u8,
    max_def_level: u8,
}

impl IndexTrust {
    /// Determines the trust in the indexes of `leaf`, based on the file's writer.
    pub fn new(metadata: &FileMetadata, leaf: &Leaf) -> Self {
        Self {
            has_byte_arrays: leaf.physical_type == Type::ByteArray,
            truncates_upper_bounds: CreatedBy::new(metadata.created_by()).truncates_upper_bounds,
            max_rep_level: leaf.max_rep_level,
            max_def_level: leaf.max_def_level,
        }
    }

    /// Returns a page's lower bound, or `None` if the index claims that the page has no values.
    pub(crate) fn min(self, index: &ColumnIndex, page: usize) -> Option<&[u8]> {
        let has_values = index.null_pages.get(page) == Some(&false);
        index.min_values.get(page).filter(|_| has_values)
    }

    /// Returns a page's upper bound, or `None` if the index claims that the page has no values or if some values might
    /// exceed the bound.
    pub(crate) fn max(self, index: &ColumnIndex, page: usize) -> Option<&[u8]> {
        let has_values = index.null_pages.get(page) == Some(&false);
        let max = index.max_values.get(page).filter(|_| has_values)?;
        // A bound of only 0xFF bytes might be a truncated value that could not be incremented.
        let is_greatest = !max.is_empty() && max.iter().all(|byte| *byte == u8::MAX);
        let may_be_truncated = self.has_byte_arrays && (self.truncates_upper_bounds || is_greatest);
        (!may_be_truncated).then_some(max)
    }

    /// Returns true if a page has no values. Some writers also claim this for list pages with as many nulls as rows. So
    /// for lists, the definition level histogram has to confirm it.
    pub(crate) fn is_null_page(self, index: &ColumnIndex, page: usize) -> bool {
        let is_said = index.null_pages.get(page) == Some(&true);
        let levels = self.levels_of(&index.definition_level_histograms, self.max_def_level, page);
        is_said
            && match levels.and_then(|levels| levels.last()) {
                Some(values) => *values == 0,
                None => self.max_rep_level == 0,
            }
    }

    /// Returns true if the level histograms, where present, count the same rows in each page as the offset index.
    pub fn has_rows(self, index: &ColumnIndex, pages: &[Range<u64>]) -> bool {
        pages.iter().enumerate().all(|(page, rows)| {
            let rows = i64::try_from(rows.end - rows.start).ok();
            let repetition = &index.repetition_level_histograms;
            let definition = &index.definition_level_histograms;
            let counted = match self.max_rep_level {
                0 => self
                    .levels_of(definition, self.max_def_level, page)
                    .map(|levels| levels.iter().fold(0, |sum, n| i64::saturating_add(sum, *n))),
                // Each row starts with repetition level 0.
                max => self
                    .levels_of(repetition, max, page)
                    .and_then(|levels| levels.first().copied()),
            };
            counted.is_none() || counted == rows
        })
    }

    /// Extracts a page's counts of each level up to `max_level` from a histogram of all pages.
    fn levels_of(
        self,
        histograms: &Option<Vec<i64>>,
        max_level: u8,
        page: usize,
    ) -> Option<&[i64]> {
        let length = usize::from(max_level) + 1;
        let start = page.checked_mul(length)?;
        let levels = histograms.as_ref()?.get(start..start.checked_add(length)?);
        // Writers omit the histogram if the column only has one level.
        levels.filter(|_| max_level > 0)
    }
}

/// Returns true if the null counts of all pages add up to the null count of their chunk, or if either is unknown.
pub(crate) fn has_nulls_of_chunk(index: &ColumnIndex, chunk: &Statistics) -> bool {
    let pages = index.null_counts.as_ref();
    let pages = pages.map(|counts| counts.iter().fold(0, |sum, n| i64::saturating_add(sum, *n)));
    pages.is_none() || chunk.null_count.is_none() || pages == chunk.null_count
}
