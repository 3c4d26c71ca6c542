//! Reading ahead, for readers that ask for one short range after another.

use std::collections::VecDeque;
use std::ops::Range;

use bytes::Bytes;

/// The most windows to keep. Each concurrent reader needs its own window.
const MOST: usize = 16;
/// The window size in bytes when a reader first continues.
const FIRST: u64 = 64 << 10;
/// The largest window in bytes, about as much as arrives in one round trip.
const LARGEST: u64 = 4 << 20;

/// The most recently read ranges.
#[derive(Default)]
pub(super) struct RecentRanges(VecDeque<RecentRange>);

struct RecentRange {
    start: u64,
    bytes: Bytes,
    /// The size of this reader's next window.
    next: u64,
}

impl RecentRange {
    fn end(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }
}

impl RecentRanges {
    /// Returns a range's bytes, if it lies within a window.
    pub(super) fn find(&self, range: &Range<u64>) -> Option<Bytes> {
        let includes = |it: &&RecentRange| it.start <= range.start && range.end <= it.end();
        let window = self.0.iter().find(includes)?;
        let offset = |at: u64| usize::try_from(at - window.start).ok();
        Some(window.bytes.slice(offset(range.start)?..offset(range.end)?))
    }

    /// Returns the end of the range to request for a reader that needs `range`. If an earlier range
    /// is near, we assume sequential reads and request more than needed.
    pub(super) fn wanted_end(&self, range: &Range<u64>, limit: u64) -> u64 {
        let ahead = self.before(range).and_then(|at| self.0.get(at));
        let ahead = ahead.map_or(0, |window| window.next);
        range.end.max(limit.min(range.start.saturating_add(ahead)))
    }

    /// Adds the bytes read for `range`. They start at `range.start`, but can go past its end.
    pub(super) fn add(&mut self, range: &Range<u64>, bytes: Bytes) {
        let before = self.before(range).and_then(|at| self.0.remove(at));
        let next = before.map_or(FIRST, |window| LARGEST.min(window.next * 4));
        if self.0.len() == MOST {
            self.0.pop_front();
        }
        let start = range.start;
        self.0.push_back(RecentRange { start, bytes, next });
    }

    /// Returns the window that the reader of `range` has just passed or is about to leave.
    fn before(&self, range: &Range<u64>) -> Option<usize> {
        let is_near = |it: &RecentRange| {
            it.start <= range.start && range.start <= it.end().saturating_add(LARGEST / 4)
        };
        self.0.iter().position(is_near)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads a range like a file, returning the number of bytes requested.
    fn read(windows: &mut RecentRanges, range: Range<u64>) -> u64 {
        if windows.find(&range).is_some() {
            return 0;
        }
        let end = windows.wanted_end(&range, 100 << 20);
        let bytes = Bytes::from(vec![0; (end - range.start) as usize]);
        windows.add(&range, bytes);
        end - range.start
    }

    #[test]
    fn readers_of_one_range_after_the_other_read_ahead() {
        let mut windows = RecentRanges::default();
        let step = 10_000;
        let requests: Vec<u64> = (0..1000)
            .map(|at| read(&mut windows, at * step..(at + 1) * step))
            .filter(|bytes| *bytes > 0)
            .collect();
        assert_eq!(requests[..4], [step, FIRST, 4 * FIRST, 16 * FIRST]);
        assert!(requests[4..].iter().all(|bytes| *bytes == LARGEST));
        assert_eq!(requests.len(), 7);
    }

    #[test]
    fn scattered_ranges_are_read_exactly() {
        let mut windows = RecentRanges::default();
        for at in (0..50).rev() {
            let start = at * (2 << 20);
            assert_eq!(read(&mut windows, start..start + 100), 100);
        }
        assert_eq!(windows.0.len(), MOST);
        // A range in a window takes no request, but the oldest windows are gone.
        assert_eq!(read(&mut windows, 50..100), 0);
        assert_eq!(read(&mut windows, (49 << 21)..(49 << 21) + 1), 1);
    }
}
