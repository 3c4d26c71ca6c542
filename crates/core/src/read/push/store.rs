//! Bytes of the file that were handed in and are not used up.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use herringbone_format::Result;

use crate::budget::{Budget, Reservation};
use crate::read::bytes::FileBytes;

/// Bytes of the file, in pieces of any size that arrived in any order.
///
/// A piece counts as memory of the read until all bytes of it that are needed were released. Bytes that a decoder waits for
/// do not count here: it has reserved memory for them.
pub(super) struct ByteStore {
    /// Disjoint pieces, by the offset of their first byte.
    pieces: BTreeMap<u64, Piece>,
    memory: Reservation,
    /// The ranges that decoders asked for and did not get since the last list.
    unmet: Vec<Range<u64>>,
    /// The ranges that decoders wait for: ascending and disjoint. They have reserved memory for these.
    due: Vec<Range<u64>>,
    /// The ranges that were listed last: ascending and disjoint.
    listed: Vec<Range<u64>>,
}

struct Piece {
    bytes: Bytes,
    /// The parts of it that are needed, ascending and disjoint.
    live: Vec<Range<u64>>,
    /// The bytes that count as memory of the read.
    counted: u64,
}

impl ByteStore {
    pub(super) fn new(budget: Arc<Budget>) -> Self {
        Self {
            pieces: BTreeMap::new(),
            memory: Reservation::new(budget),
            unmet: Vec::new(),
            due: Vec::new(),
            listed: Vec::new(),
        }
    }

    /// Returns the number of bytes in all pieces.
    pub(super) fn buffered_bytes(&self) -> u64 {
        self.pieces.values().map(|it| it.bytes.len() as u64).sum()
    }

    /// Takes the ranges that decoders asked for and did not get.
    pub(super) fn take_unmet(&mut self) -> Vec<Range<u64>> {
        std::mem::take(&mut self.unmet)
    }

    /// Starts a new list of missing ranges: those that decoders asked for, and the `planned` ones.
    pub(super) fn list(&mut self, planned: Vec<Range<u64>>) -> Vec<Range<u64>> {
        self.due = union(self.take_unmet());
        self.listed = self.missing(&union([&*self.due, &planned].concat()));
        self.listed.clone()
    }

    /// Adds the missing ones of these ranges to the list, and returns them.
    pub(super) fn list_more(&mut self, planned: Vec<Range<u64>>) -> Vec<Range<u64>> {
        let missing = self.missing(&union(planned));
        let missing = without(&missing, &self.listed);
        self.listed = union([&*self.listed, &missing].concat());
        missing
    }

    /// Returns the missing ranges that were listed last.
    pub(super) fn listed(&self) -> Vec<Range<u64>> {
        self.missing(&self.listed)
    }

    /// Takes bytes that start at `offset`.
    ///
    /// If the budget has no room for all of them, it keeps those that were listed, or those alone that a decoder waits for.
    /// Without `keeps_ahead`, it keeps only the latter.
    pub(super) fn supply(&mut self, offset: u64, bytes: &Bytes, keeps_ahead: bool) {
        let supplied = offset..offset.saturating_add(bytes.len() as u64);
        for gap in self.missing(std::slice::from_ref(&supplied)) {
            let mut live: Vec<_> = overlaps(&self.listed, &gap).collect();
            let listed = live.clone();
            if live.is_empty() {
                live.push(gap.clone());
            }
            if keeps_ahead && self.keep((offset, bytes), &gap, live) {
                continue;
            }
            for part in listed {
                if keeps_ahead && self.keep((offset, bytes), &part, vec![part.clone()]) {
                    continue;
                }
                for due in overlaps(&self.due, &part).collect::<Vec<_>>() {
                    self.keep((offset, bytes), &due, vec![due.clone()]);
                }
            }
        }
    }

    /// Keeps `part` of the bytes that start at `offset`. Returns false if the budget has no room for it.
    fn keep(
        &mut self,
        (offset, bytes): (u64, &Bytes),
        part: &Range<u64>,
        live: Vec<Range<u64>>,
    ) -> bool {
        let due = overlaps(&self.due, part).map(|it| it.end - it.start);
        let counted = (part.end - part.start).saturating_sub(due.sum());
        let is_kept = self.memory.add(counted).is_ok();
        if is_kept {
            let piece = Piece {
                bytes: slice(bytes, offset, part),
                live,
                counted,
            };
            self.pieces.insert(part.start, piece);
        }
        is_kept
    }

    /// Returns the parts of `ranges` that are not here.
    pub(super) fn missing(&self, ranges: &[Range<u64>]) -> Vec<Range<u64>> {
        let mut missing = Vec::new();
        for range in ranges {
            let mut next = range.start;
            let first = self.pieces.range(..=range.start).next_back();
            let first = first.map_or(range.start, |(offset, _)| *offset);
            for (offset, piece) in self.pieces.range(first..range.end) {
                if *offset > next {
                    missing.push(next..*offset);
                }
                next = next.max(offset + piece.bytes.len() as u64);
            }
            if next < range.end {
                missing.push(next..range.end);
            }
        }
        missing
    }

    /// Moves the bytes of `ranges` to another store. Bytes are shared, not copied.
    pub(super) fn split_off(&mut self, ranges: &[Range<u64>]) -> Self {
        let mut parts = Vec::new();
        for range in ranges {
            let first = self.pieces.range(..=range.start).next_back();
            let first = first.map_or(range.start, |(offset, _)| *offset);
            for (offset, piece) in self.pieces.range(first..range.end) {
                let end = range.end.min(offset + piece.bytes.len() as u64);
                let part = range.start.max(*offset)..end;
                if part.start < part.end {
                    parts.push((part.start, slice(&piece.bytes, *offset, &part)));
                }
            }
        }
        // Their memory is free before it is counted again.
        ranges.iter().for_each(|range| self.release(range.clone()));
        let mut other = Self::new(self.memory.budget().clone());
        for (offset, bytes) in &parts {
            other.supply(*offset, bytes, true);
        }
        other
    }

    /// Drops some of the pieces.
    fn drop_pieces(&mut self, is_dropped: impl Fn(&Piece) -> bool) {
        let mut freed = 0;
        self.pieces.retain(|_, piece| {
            let is_kept = !is_dropped(piece);
            if !is_kept {
                freed += piece.counted;
            }
            is_kept
        });
        self.memory.give_back(freed);
    }
}

impl FileBytes for ByteStore {
    fn get(&mut self, need: &Range<u64>, end: u64) -> Result<Option<Bytes>> {
        let first = self.pieces.range(..=need.start).next_back();
        if let Some((offset, piece)) = first {
            let piece_end = offset + piece.bytes.len() as u64;
            if need.end <= piece_end {
                let part = need.start..end.clamp(need.end, piece_end);
                return Ok(Some(slice(&piece.bytes, *offset, &part)));
            }
        }
        if !self.missing(std::slice::from_ref(need)).is_empty() {
            self.unmet.push(need.clone());
            return Ok(None);
        }
        let first = first.map_or(need.start, |(offset, _)| *offset);
        let mut joined = BytesMut::with_capacity((need.end - need.start) as usize);
        for (offset, piece) in self.pieces.range(first..need.end) {
            let piece_end = offset + piece.bytes.len() as u64;
            let part = need.start.max(*offset)..need.end.min(piece_end);
            if part.start < part.end {
                joined.extend_from_slice(&slice(&piece.bytes, *offset, &part));
            }
        }
        Ok(Some(joined.freeze()))
    }

    fn release(&mut self, range: Range<u64>) {
        let first = self.pieces.range(..=range.start).next_back();
        let first = first.map_or(range.start, |(offset, _)| *offset);
        let mut has_dropped = false;
        for (_, piece) in self.pieces.range_mut(first..range.end) {
            let live = std::mem::take(&mut piece.live);
            for part in live {
                let before = part.start..part.end.min(range.start);
                let after = part.start.max(range.end)..part.end;
                piece
                    .live
                    .extend([before, after].into_iter().filter(|it| !it.is_empty()));
            }
            has_dropped |= piece.live.is_empty();
        }
        if has_dropped {
            self.drop_pieces(|piece| piece.live.is_empty());
        }
    }

    fn drop_ahead(&mut self) -> bool {
        let has_counted = self.memory.bytes() > 0;
        self.drop_pieces(|piece| piece.counted > 0);
        has_counted
    }
}

/// Returns the parts of ascending, disjoint `ranges` within a range.
fn overlaps<'a>(
    ranges: &'a [Range<u64>],
    within: &'a Range<u64>,
) -> impl Iterator<Item = Range<u64>> + 'a {
    let first = ranges.partition_point(|range| range.end <= within.start);
    let ranges = ranges.iter().skip(first);
    let ranges = ranges.take_while(|range| range.start < within.end);
    ranges.map(|range| range.start.max(within.start)..range.end.min(within.end))
}

/// Returns the bytes of `part`, where `bytes` start at `offset` and have all of it.
fn slice(bytes: &Bytes, offset: u64, part: &Range<u64>) -> Bytes {
    bytes.slice((part.start - offset) as usize..(part.end - offset) as usize)
}

/// Sorts ranges, and joins those that overlap or touch.
pub(super) fn union(mut ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    ranges.retain(|range| !range.is_empty());
    ranges.sort_unstable_by_key(|range| range.start);
    ranges.dedup_by(|next, last| {
        let touches = next.start <= last.end;
        if touches {
            last.end = last.end.max(next.end);
        }
        touches
    });
    ranges
}

/// Returns the parts of `ranges` that are in none of `others`. Both are ascending and disjoint.
pub(super) fn without(ranges: &[Range<u64>], others: &[Range<u64>]) -> Vec<Range<u64>> {
    let mut rest = Vec::new();
    for range in ranges {
        let mut next = range.start;
        let first = others.partition_point(|other| other.end <= range.start);
        let others = others.iter().skip(first);
        for other in others.take_while(|other| other.start < range.end) {
            if next < other.start {
                rest.push(next..other.start);
            }
            next = other.end;
        }
        if next < range.end {
            rest.push(next..range.end);
        }
    }
    rest
}

#[cfg(test)]
mod tests {
    use herringbone_format::Limits;

    use super::*;

    fn store(memory: u64) -> ByteStore {
        let mut limits = Limits::default();
        limits.memory_bytes = memory;
        ByteStore::new(Budget::new(&limits))
    }

    fn file(range: Range<u8>) -> Bytes {
        range.collect::<Vec<u8>>().into()
    }

    fn get(store: &mut ByteStore, need: Range<u64>) -> Option<Bytes> {
        store.get(&need, need.end).unwrap()
    }

    #[test]
    fn pieces_are_joined_and_overlaps_are_not_stored_twice() {
        let mut store = store(100);
        store.supply(5, &file(5..8), true);
        store.supply(0, &file(0..3), true);
        assert_eq!(get(&mut store, 1..3), Some(file(1..3)));
        assert_eq!(get(&mut store, 1..6), None);
        assert_eq!(store.take_unmet(), [1..6]);
        assert_eq!(store.missing(&[0..9, 20..21]), [3..5, 8..9, 20..21]);
        store.supply(2, &file(2..6), true);
        assert_eq!(store.buffered_bytes(), 8);
        assert_eq!(get(&mut store, 1..8), Some(file(1..8)));
        // What comes after the need comes along.
        assert_eq!(store.get(&(5..6), 100).unwrap(), Some(file(5..8)));
    }

    #[test]
    fn a_piece_counts_until_all_that_was_wanted_of_it_is_released() {
        let mut store = store(10);
        store.list(vec![2..4, 6..8]);
        store.supply(0, &file(0..10), true);
        assert_eq!(store.memory.bytes(), 10);
        store.release(0..4);
        assert_eq!((store.memory.bytes(), store.buffered_bytes()), (10, 10));
        store.release(5..9);
        assert_eq!((store.memory.bytes(), store.buffered_bytes()), (0, 0));
    }

    #[test]
    fn bytes_that_are_waited_for_are_kept_whatever_the_budget() {
        let mut store = store(3);
        assert_eq!(get(&mut store, 4..6), None);
        assert_eq!(store.list(vec![0..5]), [0..6]);
        store.supply(0, &file(0..10), true);
        assert_eq!(get(&mut store, 4..6), Some(file(4..6)));
        assert_eq!((store.memory.bytes(), store.buffered_bytes()), (0, 2));
        assert!(!store.drop_ahead());
        store.supply(6, &file(6..9), true);
        assert_eq!(store.memory.bytes(), 3);
        assert!(store.drop_ahead());
        assert_eq!((store.memory.bytes(), store.buffered_bytes()), (0, 2));
    }
}
