//! Rows that are wanted by a mask: where runs are short, all of them are decoded, and the unwanted dropped again.

use herringbone_arrow::buffer::BooleanBuffer;
use herringbone_format::Result;
use herringbone_kernels::bitmap::Bitmap;

use super::selection::end_of_ones;
use super::{BLOCK_LEVELS, ColumnChunkDecoder};

/// Words of a mask, of 64 rows each, that are worth being passed over where nothing in them is wanted.
const GAP_WORDS: usize = 4;

impl ColumnChunkDecoder {
    /// The mask by which the next rows are wanted, where they are taken together with those that are not. Ancestors that
    /// the column records are not dropped again, so it takes run after run then.
    pub(super) fn mask(&self) -> Option<BooleanBuffer> {
        match self.nesting_builders.is_empty() {
            true => self.selection.mask(),
            false => None,
        }
    }

    /// Takes the next rows that `mask` wants, up to `max_rows`, or what the open page has of them; false when the
    /// column batch is full.
    pub(super) fn take_masked(&mut self, mask: &BooleanBuffer, max_rows: usize) -> Result<bool> {
        let left = self.page.as_ref().map_or(0, |page| page.levels_left);
        // Blocks stay in the first cache until the unwanted are dropped.
        let mask = mask.slice(0, mask.len().min(left).min(BLOCK_LEVELS));
        let rows = match stretch(&mask, max_rows) {
            Stretch::Unwanted(rows) => return self.skip_flat(rows).map(|()| true),
            Stretch::Wanted(rows) => self.fitting(rows)?,
        };
        if rows == 0 {
            return Ok(false);
        }
        let mask = mask.slice(0, rows);
        let wanted = mask.count_set_bits();
        if wanted == rows {
            self.append_flat(rows)?;
        } else {
            self.append_wanted(&mask, wanted)?;
        }
        self.rows += wanted;
        Ok(true)
    }

    /// Appends those of the next `mask.len()` rows of the open page, at most a block, that `mask` wants.
    fn append_wanted(&mut self, mask: &BooleanBuffer, wanted: usize) -> Result<()> {
        let rows = mask.len();
        if self.plan.max_def_level == 0 {
            self.array.append_wanted(mask)?;
            self.validity.append_run(true, wanted);
        } else {
            let mut validity = Bitmap::new();
            self.extend_validity(rows, &mut validity)?;
            self.array.append_wanted(&validity.select_of(mask))?;
            let validity = validity.select(mask);
            let start = self.validity.len();
            self.validity.append_all(&validity);
            if validity.null_count() > 0 {
                self.array.expand(&self.validity, start, wanted)?;
            }
        }
        if let Some(page) = &mut self.page {
            page.levels_left -= rows;
        }
        self.selection.advance(rows);
        Ok(())
    }
}

/// What comes first by a mask.
#[derive(Debug, PartialEq, Eq)]
enum Stretch {
    /// So many rows that nobody wants.
    Unwanted(usize),
    /// So many rows, of which enough are wanted to take all of them.
    Wanted(usize),
}

/// What comes first by a mask that is not empty; no more than `most` rows of it are wanted.
fn stretch(mask: &BooleanBuffer, most: usize) -> Stretch {
    let (mut wanted, mut gap) = (0, 0);
    for (word, bits) in mask.bit_chunks().iter_padded().enumerate() {
        let before = 64 * (word - gap);
        if bits == 0 {
            gap += 1;
            if gap == GAP_WORDS && before > 0 {
                return Stretch::Wanted(before);
            }
            continue;
        }
        if gap >= GAP_WORDS {
            return Stretch::Unwanted(64 * word + bits.trailing_zeros() as usize);
        }
        gap = 0;
        let ones = bits.count_ones() as usize;
        if wanted + ones >= most {
            return Stretch::Wanted(64 * word + end_of_ones(bits, most - wanted));
        }
        wanted += ones;
    }
    match wanted {
        0 => Stretch::Unwanted(mask.len()),
        _ => Stretch::Wanted(mask.len()),
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
        use Stretch::{Unwanted, Wanted};
        assert_eq!(stretch(&mask(10, &[]), 5), Unwanted(10));
        assert_eq!(stretch(&mask(10, &[3, 9]), 5), Wanted(10));
        assert_eq!(stretch(&mask(10, &[3, 9]), 1), Wanted(4));
        assert_eq!(stretch(&mask(200, &[3, 70, 199]), 2), Wanted(71));
        assert_eq!(stretch(&mask(200, &[63, 64]), 1), Wanted(64));
        // Words without a wanted row, in the middle and in front.
        assert_eq!(stretch(&mask(1000, &[3, 70, 900]), 9), Wanted(128));
        assert_eq!(stretch(&mask(1000, &[900, 901]), 9), Unwanted(900));
        assert_eq!(stretch(&mask(1000, &[200, 901]), 9), Wanted(256));
        assert_eq!(stretch(&mask(300, &[]), 9), Unwanted(300));
        assert_eq!(stretch(&mask(200, &[3, 70, 199]), 3), Wanted(200));
        // A gap that the mask ends within.
        assert_eq!(stretch(&mask(1000, &[1]), 9), Wanted(64));
        assert_eq!(stretch(&mask(100, &[1]), 9), Wanted(100));
    }
}
