//! Which rows of a row group are wanted.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

/// Wanted rows of one row group: ascending, disjoint, non-empty ranges, counted from its first row.
pub(crate) type RowRanges = Arc<[Range<u64>]>;

/// A walk over the rows of a row group, wanted and unwanted. What is wanted may become known on the way.
#[derive(Debug, Clone)]
pub(crate) struct Selection {
    ranges: RowRanges,
    /// The first range that is not behind `position`.
    next: usize,
    /// Ranges behind those.
    more: VecDeque<RowRanges>,
    /// Whether others may follow.
    is_open: bool,
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
    /// Which row is wanted next is not known yet.
    Unknown,
    /// No wanted row is left.
    Done,
}

impl Selection {
    /// These rows and no others.
    pub(crate) fn new(ranges: RowRanges) -> Self {
        Self {
            ranges,
            next: 0,
            more: VecDeque::new(),
            is_open: false,
            position: 0,
        }
    }

    /// Rows that become known on the way.
    pub(crate) fn open(&mut self) {
        self.is_open = true;
    }

    /// Wants these rows too, which lie behind all others.
    pub(crate) fn extend(&mut self, ranges: RowRanges) {
        if ranges.is_empty() {
            return;
        }
        match self.next < self.ranges.len() {
            true => self.more.push_back(ranges),
            false => {
                self.ranges = ranges;
                self.next = 0;
            }
        }
    }

    /// No other rows are wanted.
    pub(crate) fn close(&mut self) {
        self.is_open = false;
    }

    /// Rows passed or taken so far.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// What comes next.
    pub(crate) fn run(&self) -> SelectionRun {
        let rows = |n: u64| usize::try_from(n).unwrap_or(usize::MAX);
        match self.ranges.get(self.next) {
            None if self.is_open => SelectionRun::Unknown,
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
            if self.next == self.ranges.len()
                && let Some(ranges) = self.more.pop_front()
            {
                self.ranges = ranges;
                self.next = 0;
            }
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

    #[test]
    fn rows_become_known_on_the_way() {
        let mut walk = Selection::new(Arc::from([]));
        walk.open();
        assert_eq!(walk.run(), SelectionRun::Unknown);
        walk.extend(Arc::from([1..2, 4..5]));
        walk.extend(Arc::from([]));
        walk.extend(Arc::from([5..7]));
        let mut runs = Vec::new();
        loop {
            match walk.run() {
                SelectionRun::Skip(rows) | SelectionRun::Take(rows) => {
                    runs.push(walk.run());
                    walk.advance(rows);
                }
                SelectionRun::Unknown if runs.len() == 5 => {
                    walk.extend(Arc::from([9..10]));
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
