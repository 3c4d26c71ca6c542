//! Decodes rows selected by a mask. If runs are short, it's cheaper to decode all rows and drop the unselected ones.

use herringbone_arrow::buffer::BooleanBuffer;
use herringbone_format::Result;

use super::ColumnChunkDecoder;
use super::selection::end_of_ones;
use crate::page::BLOCK_LEVELS;

/// The minimum length of a gap worth skipping, in mask words. A word covers 64 rows, and a gap has no selected rows at
/// all.
const GAP_WORDS: usize = 4;

impl ColumnChunkDecoder {
    /// Returns the mask of the next rows, if selected and unselected rows are decoded together. A column that records
    /// ancestors decodes run by run instead, because it can't drop recorded levels.
    pub(super) fn mask(&self) -> Option<BooleanBuffer> {
        match self.batch.records_ancestors() {
            true => None,
            false => self.rows.mask(),
        }
    }

    /// Takes up to `max_rows` of the next rows that `mask` selects within the open page. Returns false if the column
    /// batch is full.
    pub(super) fn take_masked(&mut self, mask: &BooleanBuffer, max_rows: usize) -> Result<bool> {
        let left = self.pages.levels_left();
        // We take at most a block at a time, so that it's still in the L1 cache when we drop its unselected rows.
        let mask = mask.slice(0, mask.len().min(left).min(BLOCK_LEVELS));
        let rows = match stretch(&mask, max_rows) {
            Stretch::Unselected(rows) => return self.skip_flat(rows).map(|()| true),
            Stretch::Selected(rows) => self.batch.fitting(rows, self.pages.is_lost())?,
        };
        if rows == 0 {
            return Ok(false);
        }
        let mask = mask.slice(0, rows);
        let selected = mask.count_set_bits();
        if selected == rows {
            self.batch.append_rows(&mut self.pages, rows)?;
        } else {
            self.batch
                .append_selected(&mut self.pages, &mask, selected)?;
        }
        self.rows.advance(rows);
        Ok(true)
    }
}

/// A mask's first rows, classified by how to decode them.
#[derive(Debug, PartialEq, Eq)]
enum Stretch {
    /// A number of rows to skip, since none is selected.
    Unselected(usize),
    /// A number of rows to decode together, because enough of them are selected.
    Selected(usize),
}

/// Returns the first rows of a mask, which must not be empty. At most `most` of the returned rows are selected.
fn stretch(mask: &BooleanBuffer, most: usize) -> Stretch {
    let (mut selected, mut gap) = (0, 0);
    for (word, bits) in mask.bit_chunks().iter_padded().enumerate() {
        let before = 64 * (word - gap);
        if bits == 0 {
            gap += 1;
            if gap == GAP_WORDS && before > 0 {
                return Stretch::Selected(before);
            }
            continue;
        }
        if gap >= GAP_WORDS {
            return Stretch::Unselected(64 * word + bits.trailing_zeros() as usize);
        }
        gap = 0;
        let ones = bits.count_ones() as usize;
        if selected + ones >= most {
            return Stretch::Selected(64 * word + end_of_ones(bits, most - selected));
        }
        selected += ones;
    }
    match selected {
        0 => Stretch::Unselected(mask.len()),
        _ => Stretch::Selected(mask.len()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mask(len: usize, set: &[usize]) -> BooleanBuffer {
        BooleanBuffer::collect_bool(len, |row| set.contains(&row))
    }

    #[test]
    fn rows_are_taken_up_to_a_gap_or_the_last_that_is_asked_for() {
        use Stretch::{Selected, Unselected};
        assert_eq!(stretch(&mask(10, &[]), 5), Unselected(10));
        assert_eq!(stretch(&mask(10, &[3, 9]), 5), Selected(10));
        assert_eq!(stretch(&mask(10, &[3, 9]), 1), Selected(4));
        assert_eq!(stretch(&mask(200, &[3, 70, 199]), 2), Selected(71));
        assert_eq!(stretch(&mask(200, &[63, 64]), 1), Selected(64));
        // Words without a selected row are in the middle and at the start.
        assert_eq!(stretch(&mask(1000, &[3, 70, 900]), 9), Selected(128));
        assert_eq!(stretch(&mask(1000, &[900, 901]), 9), Unselected(900));
        assert_eq!(stretch(&mask(1000, &[200, 901]), 9), Selected(256));
        assert_eq!(stretch(&mask(300, &[]), 9), Unselected(300));
        assert_eq!(stretch(&mask(200, &[3, 70, 199]), 3), Selected(200));
        // The mask ends inside a gap.
        assert_eq!(stretch(&mask(1000, &[1]), 9), Selected(64));
        assert_eq!(stretch(&mask(100, &[1]), 9), Selected(100));
    }
}
