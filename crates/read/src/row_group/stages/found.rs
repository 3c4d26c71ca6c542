//! The rows found by a stage. They tell us which bytes the stages of later row groups will need.

use std::ops::Range;

use herringbone_core::column::selection::{RowRanges, RowSelector};

/// The granularity used to round range ends, in rows. Pages have more rows than this, so the rounded ranges touch
/// nearly the same pages, while a row group has few ranges.
const STRETCH: u64 = 256;

/// The rows found by a stage, rounded to whole stretches.
#[derive(Debug, Default)]
pub(super) struct Found(Vec<Range<u64>>);

impl Found {
    /// Adds rows. They must come after all others.
    pub(super) fn add(&mut self, piece: &RowSelector) {
        match piece {
            RowSelector::Ranges(ranges) => ranges.iter().for_each(|range| self.add_range(range)),
            RowSelector::Mask { start, bits } => {
                let (mut from, end) = (0, bits.len() as u64);
                while from < end {
                    let to = (from + STRETCH).min(end);
                    if bits
                        .slice(from as usize, (to - from) as usize)
                        .count_set_bits()
                        > 0
                    {
                        self.add_range(&(start + from..start + to));
                    }
                    from = to;
                }
            }
        }
    }

    fn add_range(&mut self, range: &Range<u64>) {
        let start = range.start - range.start % STRETCH;
        let end = range.end.next_multiple_of(STRETCH);
        match self.0.last_mut() {
            Some(last) if start <= last.end => last.end = last.end.max(end),
            _ => self.0.push(start..end),
        }
    }

    /// Returns the stretches with found rows, clipped to the row group's end.
    pub(super) fn into_ranges(self, num_rows: u64) -> RowRanges {
        let clipped = self
            .0
            .into_iter()
            .map(|range| range.start..range.end.min(num_rows));
        clipped.filter(|range| !range.is_empty()).collect()
    }
}

#[cfg(test)]
mod tests {
    use herringbone_arrow::buffer::BooleanBuffer;

    use super::*;

    #[test]
    fn rows_are_widened_to_stretches_and_joined() {
        let mut found = Found::default();
        found.add(&RowSelector::Ranges([3..4, 255..257].into()));
        found.add(&RowSelector::Ranges([2_000..2_001].into()));
        let bits = BooleanBuffer::collect_bool(1_001, |row| row == 0 || row == 1_000);
        found.add(&RowSelector::Mask { start: 4_096, bits });
        let ranges = found.into_ranges(5_100);
        assert_eq!(*ranges, [0..512, 1_792..2_048, 4_096..4_352, 4_864..5_100]);
    }
}
