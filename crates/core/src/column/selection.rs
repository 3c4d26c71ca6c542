//! Which rows of a row group are wanted.

use std::ops::Range;
use std::sync::Arc;

/// Wanted rows of one row group: ascending, disjoint, non-empty ranges, counted from its first row.
pub(crate) type RowRanges = Arc<[Range<u64>]>;

/// A walk over the rows of a row group, wanted and unwanted.
#[derive(Debug, Clone)]
pub(crate) struct Selection {
    ranges: RowRanges,
    /// The first range that is not behind `position`.
    next: usize,
    /// Rows passed or taken so far.
    position: u64,
}

/// What comes next on the walk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SelectionRun {
    /// This many rows nobody wants.
    Skip(usize),
    /// This many rows that are wanted.
    Take(usize),
    /// No wanted row is left.
    Done,
}

impl Selection {
    pub(crate) fn new(ranges: RowRanges) -> Self {
        Self {
            ranges,
            next: 0,
            position: 0,
        }
    }

    /// Rows passed or taken so far.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// What comes next.
    pub(crate) fn run(&self) -> SelectionRun {
        let rows = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        match self.ranges.get(self.next) {
            None => SelectionRun::Done,
            Some(range) if self.position < range.start => {
                SelectionRun::Skip(rows(range.start - self.position))
            }
            Some(range) => SelectionRun::Take(rows(range.end - self.position)),
        }
    }

    /// Moves on by `rows`, at most what [`Self::run`] said.
    pub(crate) fn advance(&mut self, rows: usize) {
        self.position += rows as u64;
        if self
            .ranges
            .get(self.next)
            .is_some_and(|range| range.end <= self.position)
        {
            self.next += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn walks_over_gaps_and_ranges() {
        let mut walk = Selection::new(Arc::from([2..5, 5..6, 9..10]));
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
}
