//! The selected rows of a row group.
//!
//! A selection can grow while a column is being decoded, because an earlier stage of the filter finds the selected rows
//! batch by batch. Until the selection is closed, a walk might reach a point where the next row is still unknown
//! (`SelectionRun::Unknown`).

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use herringbone_arrow::buffer::BooleanBuffer;

/// Selected rows of one row group. They are ascending, disjoint, non-empty ranges, counted from its first row.
pub type RowRanges = Arc<[Range<u64>]>;

/// A piece of a row selection.
#[derive(Debug, Clone)]
pub enum RowSelector {
    /// Ranges of rows.
    Ranges(RowRanges),
    /// One bit per row, starting at the row `start`. The last bit is set. We use a mask if runs are too short to decode
    /// one by one.
    Mask {
        /// The row of the first bit.
        start: u64,
        /// One bit per row.
        bits: BooleanBuffer,
    },
}

impl RowSelector {
    /// Returns the number of selected rows.
    pub fn count(&self) -> u64 {
        match self {
            Self::Ranges(ranges) => ranges.iter().map(|range| range.end - range.start).sum(),
            Self::Mask { bits, .. } => bits.count_set_bits() as u64,
        }
    }

    /// Returns the first row of the selector.
    pub fn start(&self) -> u64 {
        match self {
            Self::Ranges(ranges) => ranges.first().map_or(0, |range| range.start),
            Self::Mask { start, .. } => *start,
        }
    }

    /// Returns the row after the first `wanted` selected rows, or the start if `wanted` is 0.
    pub fn end_of(&self, mut wanted: u64) -> u64 {
        if wanted == 0 {
            return self.start();
        }
        match self {
            Self::Ranges(ranges) => {
                for range in ranges.iter() {
                    let rows = range.end - range.start;
                    if wanted <= rows {
                        return range.start + wanted;
                    }
                    wanted -= rows;
                }
            }
            Self::Mask { start, bits } => {
                let mut words = bits.bit_chunks().iter_padded().zip((*start..).step_by(64));
                let last = words.find_map(|(word, first)| {
                    let rows = u64::from(word.count_ones());
                    if wanted > rows {
                        wanted -= rows;
                        return None;
                    }
                    Some(first + end_of_ones(word, wanted as usize) as u64)
                });
                if let Some(end) = last {
                    return end;
                }
            }
        }
        self.end()
    }

    /// Returns the part of the selector within `rows`, or `None` if it selects no rows there.
    fn within(&self, rows: &Range<u64>) -> Option<Self> {
        match self {
            Self::Ranges(ranges) => {
                let parts = ranges
                    .iter()
                    .map(|range| range.start.max(rows.start)..range.end.min(rows.end))
                    .filter(|range| range.start < range.end);
                let parts: RowRanges = parts.collect();
                (!parts.is_empty()).then_some(Self::Ranges(parts))
            }
            Self::Mask { start, bits } => {
                let slot = |row: u64| (row.max(*start) - start).min(bits.len() as u64) as usize;
                let (from, to) = (slot(rows.start), slot(rows.end));
                Self::mask(
                    start + from as u64,
                    bits.slice(from, to.saturating_sub(from)),
                )
            }
        }
    }

    /// Selects the rows with set bits, counting from `start`. Returns `None` if no bit is set.
    pub fn mask(start: u64, bits: BooleanBuffer) -> Option<Self> {
        // A mask ends with a selected row, just as ranges do.
        let last = (0..bits.len()).rev().find(|row| bits.value(*row))?;
        Some(Self::Mask {
            start,
            bits: bits.slice(0, last + 1),
        })
    }

    /// Returns the end of the selector, that is, the row after the last selected one.
    pub fn end(&self) -> u64 {
        match self {
            Self::Ranges(ranges) => ranges.last().map_or(0, |range| range.end),
            Self::Mask { start, bits } => start + bits.len() as u64,
        }
    }
}

/// A walk over the selected and unselected rows of a row group. You can extend the selection during the walk.
#[derive(Debug, Clone)]
pub struct SelectionCursor {
    piece: RowSelector,
    /// The index of the first range of `piece` that does not end before `position`.
    next: usize,
    /// The pieces that follow `piece`.
    more: VecDeque<RowSelector>,
    /// True until the selection is closed, because more pieces can follow.
    is_open: bool,
    /// The number of rows skipped or taken so far.
    position: u64,
}

/// The next run of rows in the walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SelectionRun {
    /// A number of unselected rows.
    Skip(usize),
    /// A number of selected rows.
    Take(usize),
    /// The next selected row is not known yet.
    Unknown,
    /// No selected row is left.
    Done,
}

impl SelectionCursor {
    /// Creates a walk that selects exactly these rows.
    pub fn new(ranges: RowRanges) -> Self {
        Self {
            piece: RowSelector::Ranges(ranges),
            next: 0,
            more: VecDeque::new(),
            is_open: false,
            position: 0,
        }
    }

    /// Divides the walk's selected rows into portions of `portion` rows, returning the first row of each portion.
    pub fn portions(&self, portion: u64) -> Vec<u64> {
        let mut firsts = Vec::new();
        // The rows contributed to the unfinished portion by earlier pieces and ranges.
        let mut passed = 0;
        for piece in std::iter::once(&self.piece).chain(&self.more) {
            match piece {
                RowSelector::Ranges(ranges) => {
                    for range in ranges.iter() {
                        let mut next = range.start + (portion - passed) % portion;
                        passed = (passed + range.end - range.start) % portion;
                        while next < range.end {
                            firsts.push(next);
                            next += portion;
                        }
                    }
                }
                RowSelector::Mask { start, bits } => {
                    for (word, mut left) in bits.bit_chunks().iter_padded().enumerate() {
                        let wanted = u64::from(left.count_ones());
                        // The word's selected rows before the next portion, and the selected rows left in the word.
                        let (mut before, mut rest) = ((portion - passed) % portion, wanted);
                        while before < rest {
                            left = (0..before).fold(left, |left, _| left & (left - 1));
                            firsts
                                .push(start + 64 * word as u64 + u64::from(left.trailing_zeros()));
                            rest -= before;
                            before = portion;
                        }
                        passed = (passed + wanted) % portion;
                    }
                }
            }
        }
        firsts
    }

    /// Returns a walk over the selected rows that lie within `rows`.
    pub(crate) fn within(&self, rows: &Range<u64>) -> Self {
        let pieces = std::iter::once(&self.piece).chain(&self.more);
        let mut within = Self::new([].into());
        for piece in pieces.filter_map(|piece| piece.within(rows)) {
            within.extend(piece);
        }
        within
    }

    /// Allows more rows to be selected during the walk.
    pub fn open(&mut self) {
        self.is_open = true;
    }

    /// Selects more rows. They must lie after all rows selected so far.
    pub fn extend(&mut self, piece: RowSelector) {
        self.more.push_back(piece);
        self.leave_pieces();
    }

    /// Closes the selection: no more rows will be selected.
    pub fn close(&mut self) {
        self.is_open = false;
    }

    /// Returns the number of rows skipped or taken so far.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Returns the next run of rows.
    #[inline]
    pub fn run(&self) -> SelectionRun {
        let ranges = match &self.piece {
            RowSelector::Ranges(ranges) => ranges,
            RowSelector::Mask { start, bits } => return self.run_of_mask(*start, bits),
        };
        let rows = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        match ranges.get(self.next) {
            None if self.is_open => SelectionRun::Unknown,
            None => SelectionRun::Done,
            Some(range) if self.position < range.start => {
                SelectionRun::Skip(rows(range.start - self.position))
            }
            Some(range) => SelectionRun::Take(rows(range.end - self.position)),
        }
    }

    fn run_of_mask(&self, start: u64, bits: &BooleanBuffer) -> SelectionRun {
        let rows = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        match self.position.checked_sub(start) {
            None => SelectionRun::Skip(rows(start - self.position)),
            Some(first) => run_of_bits(bits, rows(first)),
        }
    }

    /// Returns the rest of the mask, if a mask selects the next rows.
    pub fn mask(&self) -> Option<BooleanBuffer> {
        let RowSelector::Mask { start, bits } = &self.piece else {
            return None;
        };
        let first = usize::try_from(self.position.checked_sub(*start)?).ok()?;
        Some(bits.slice(first, bits.len().checked_sub(first)?))
    }

    /// Advances by `rows`. `rows` must not exceed the length of [`Self::run`] or the rest of the mask.
    pub fn advance(&mut self, rows: usize) {
        self.position += rows as u64;
        if let RowSelector::Ranges(ranges) = &self.piece
            && ranges
                .get(self.next)
                .is_some_and(|range| range.end <= self.position)
        {
            self.next += 1;
        }
        if !self.more.is_empty() || matches!(self.piece, RowSelector::Mask { .. }) {
            self.leave_pieces();
        }
    }

    /// Advances to `row`. Does nothing if the walk is already there or further.
    pub fn advance_to(&mut self, row: u64) {
        self.position = self.position.max(row);
        self.leave_pieces();
        if let RowSelector::Ranges(ranges) = &self.piece {
            self.next = ranges.partition_point(|range| range.end <= self.position);
        }
    }

    /// Moves to the next piece that ends after the current position.
    fn leave_pieces(&mut self) {
        while self.piece.end() <= self.position
            && let Some(piece) = self.more.pop_front()
        {
            self.piece = piece;
            self.next = 0;
        }
        // We replace an exhausted mask with empty ranges, so that `run` returns `Done` or `Unknown`.
        if matches!(self.piece, RowSelector::Mask { .. }) && self.piece.end() <= self.position {
            self.piece = RowSelector::Ranges([].into());
            self.next = 0;
        }
    }
}

/// Returns the position after the `n`-th set bit. At least `n` bits must be set.
pub(super) fn end_of_ones(mut bits: u64, n: usize) -> usize {
    for _ in 1..n {
        bits &= bits.wrapping_sub(1);
    }
    bits.trailing_zeros() as usize + 1
}

/// Returns the run of equal bits that starts at `first`.
fn run_of_bits(bits: &BooleanBuffer, first: usize) -> SelectionRun {
    let bits = bits.slice(first, bits.len().saturating_sub(first));
    let is_wanted = !bits.is_empty() && bits.value(0);
    let mut same = 0;
    for word in bits.bit_chunks().iter_padded() {
        let others = if is_wanted { !word } else { word };
        same += others.trailing_zeros() as usize;
        if others != 0 {
            break;
        }
    }
    let same = same.min(bits.len());
    match is_wanted {
        true => SelectionRun::Take(same),
        false => SelectionRun::Skip(same),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn walks_over_gaps_and_ranges() {
        let mut walk = SelectionCursor::new(Arc::from([2..5, 5..6, 9..10]));
        assert_eq!(walk.run(), SelectionRun::Skip(2));
        walk.advance(2);
        assert_eq!(walk.run(), SelectionRun::Take(3));
        walk.advance(1);
        assert_eq!(walk.run(), SelectionRun::Take(2));
        walk.advance(2);
        assert_eq!(walk.run(), SelectionRun::Take(1));
        walk.advance(1);
        assert_eq!(walk.run(), SelectionRun::Skip(3));
        walk.advance(3);
        assert_eq!(walk.run(), SelectionRun::Take(1));
        walk.advance(1);
        assert_eq!(walk.run(), SelectionRun::Done);
    }

    fn ranges<const N: usize>(ranges: [Range<u64>; N]) -> RowSelector {
        RowSelector::Ranges(Arc::from(ranges))
    }

    #[test]
    fn masks_are_runs_too() {
        let mut walk = SelectionCursor::new(Arc::from([1..2]));
        walk.open();
        let bits = BooleanBuffer::from(vec![false, true, true, false]);
        walk.extend(RowSelector::Mask { start: 3, bits });
        walk.extend(ranges([8..9]));
        walk.close();
        let mut taken = Vec::new();
        loop {
            match walk.run() {
                SelectionRun::Skip(rows) => walk.advance(rows),
                SelectionRun::Take(rows) => {
                    taken.push((walk.position(), rows));
                    walk.advance(rows);
                }
                end => {
                    assert_eq!(end, SelectionRun::Done);
                    break;
                }
            }
        }
        assert_eq!(taken, [(1, 1), (4, 2), (8, 1)]);
    }

    #[test]
    fn a_mask_is_what_is_left_of_it() {
        let mut walk = SelectionCursor::new(Arc::from([]));
        walk.open();
        let bits = BooleanBuffer::from(vec![true, false, true]);
        walk.extend(RowSelector::Mask { start: 2, bits });
        assert_eq!((walk.run(), walk.mask()), (SelectionRun::Skip(2), None));
        walk.advance(2);
        walk.advance(1);
        assert_eq!(walk.mask(), Some(BooleanBuffer::from(vec![false, true])));
        walk.advance(2);
        assert_eq!((walk.run(), walk.mask()), (SelectionRun::Unknown, None));
    }

    #[test]
    fn a_walk_advances_to_a_row_of_a_later_piece() {
        let bits = BooleanBuffer::from(vec![true, false, true]);
        let mut walk = SelectionCursor::new(Arc::from([1..2, 4..6]));
        walk.open();
        walk.extend(RowSelector::Mask { start: 10, bits });
        walk.extend(ranges([20..25, 30..31]));
        let mut run_at = |row| {
            walk.advance_to(row);
            (walk.position(), walk.run())
        };
        assert_eq!(run_at(0), (0, SelectionRun::Skip(1)));
        assert_eq!(run_at(5), (5, SelectionRun::Take(1)));
        assert_eq!(run_at(3), (5, SelectionRun::Take(1)));
        assert_eq!(run_at(11), (11, SelectionRun::Skip(1)));
        assert_eq!(run_at(22), (22, SelectionRun::Take(3)));
        assert_eq!(run_at(25), (25, SelectionRun::Skip(5)));
        assert_eq!(run_at(40), (40, SelectionRun::Unknown));
    }

    #[test]
    fn portions_of_masks_begin_where_the_rows_before_are_full() {
        let bits: Vec<bool> = (0..500_u32).map(|row| row % 7 < 3 || row > 400).collect();
        let mut walk = SelectionCursor::new(Arc::from([0..5]));
        let wanted = |first: u64| {
            let rows = bits.iter().zip(first..).filter(|(bit, _)| **bit);
            rows.map(|(_, row)| row).collect::<Vec<_>>()
        };
        for start in [10, 1000] {
            let bits = BooleanBuffer::from(bits.clone());
            walk.extend(RowSelector::Mask { start, bits });
        }
        let all = [(0..5).collect(), wanted(10), wanted(1000)].concat();
        for portion in [1, 2, 3, 63, 64, 65, 100, 1000] {
            let expected: Vec<u64> = all.iter().copied().step_by(portion).collect();
            assert_eq!(walk.portions(portion as u64), expected, "{portion}");
        }
    }

    #[test]
    fn so_many_wanted_rows_end_there() {
        let piece = ranges([2..5, 6..7, 9..12]);
        let ends: Vec<_> = (0..9).map(|wanted| piece.end_of(wanted)).collect();
        assert_eq!(ends, [2, 3, 4, 5, 7, 10, 11, 12, 12]);
        let bits: Vec<bool> = (0..300_usize).map(|row| row % 7 < 3 || row > 200).collect();
        let rows = (10..).zip(&bits).filter(|(_, bit)| **bit);
        let rows: Vec<u64> = rows.map(|(row, _)| row).collect();
        let bits = BooleanBuffer::from(bits);
        let mask = RowSelector::Mask { start: 10, bits };
        for (row, wanted) in rows.iter().zip(1..) {
            assert_eq!(mask.end_of(wanted), row + 1, "{wanted}");
        }
        assert_eq!(mask.end_of(301), 310);
    }

    #[test]
    fn portions_and_parts_of_walks() {
        let bits = BooleanBuffer::from(vec![true, false, true, true, false, true]);
        let mut walk = SelectionCursor::new(Arc::from([2..5, 6..7]));
        walk.extend(RowSelector::Mask { start: 10, bits });
        // The rows 2 3 4 6 10 12 13 15 are selected.
        assert_eq!(walk.portions(3), [2, 6, 13]);
        assert_eq!(walk.portions(1), [2, 3, 4, 6, 10, 12, 13, 15]);
        assert_eq!(walk.portions(100), [2]);
        let rows_of = |rows: Range<u64>| {
            let mut part = walk.within(&rows);
            let mut taken = Vec::new();
            loop {
                match part.run() {
                    SelectionRun::Skip(rows) => part.advance(rows),
                    SelectionRun::Take(_) => {
                        taken.push(part.position());
                        part.advance(1);
                    }
                    end => {
                        assert_eq!(end, SelectionRun::Done);
                        return taken;
                    }
                }
            }
        };
        assert_eq!(rows_of(0..100), [2, 3, 4, 6, 10, 12, 13, 15]);
        assert_eq!(rows_of(3..11), [3, 4, 6, 10]);
        assert_eq!(rows_of(11..15), [12, 13]);
        assert!(rows_of(14..15).is_empty());
    }

    #[test]
    fn rows_become_known_on_the_way() {
        let mut walk = SelectionCursor::new(Arc::from([]));
        walk.open();
        assert_eq!(walk.run(), SelectionRun::Unknown);
        walk.extend(ranges([1..2, 4..5]));
        walk.extend(ranges([]));
        walk.extend(ranges([5..7]));
        let mut runs = Vec::new();
        loop {
            match walk.run() {
                SelectionRun::Skip(rows) | SelectionRun::Take(rows) => {
                    runs.push(walk.run());
                    walk.advance(rows);
                }
                SelectionRun::Unknown if runs.len() == 5 => {
                    walk.extend(ranges([9..10]));
                    walk.close();
                }
                end => {
                    assert_eq!(end, SelectionRun::Done);
                    break;
                }
            }
        }
        let (skip, take) = (SelectionRun::Skip, SelectionRun::Take);
        let expected = [
            skip(1),
            take(1),
            skip(2),
            take(1),
            take(2),
            skip(2),
            take(1),
        ];
        assert_eq!(runs, expected);
    }
}
