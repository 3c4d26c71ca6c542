//! Stores supplied bytes until they are used up.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use herringbone_format::Result;

use crate::bytes::FileBytes;
use herringbone_core::budget::{Budget, Reservation};
use herringbone_core::fetch::{FetchPolicy, request_cost, union, without};

/// A store of a file's bytes, in pieces of any size that arrived in any order.
///
/// A piece counts as memory of the read until all needed bytes in it are released. Bytes that a decoder is waiting for
/// do not count here, because the decoder has reserved memory for them.
pub struct ByteStore {
    /// The disjoint pieces, keyed by offset.
    pieces: BTreeMap<u64, Piece>,
    memory: Reservation,
    /// The memory for outstanding bytes requested ahead.
    in_flight: Reservation,
    /// The ranges requested by decoders but not available.
    unmet: Vec<Range<u64>>,
    /// True if the bytes are in memory anyway, so that decoders can take more of them than they need.
    in_memory: bool,
    /// The number of bytes a lookup must save to be worth a request.
    request_cost: u64,
}

/// The byte ranges to fetch for decoders.
#[derive(Debug, Default)]
pub struct Wanted {
    /// The ranges to fetch. They are ascending and disjoint.
    ranges: Vec<Range<u64>>,
    /// The ranges that decoders are waiting for. Memory has been reserved for them.
    due: Vec<Range<u64>>,
}

impl Wanted {
    /// Returns the ranges to fetch. They are ascending and disjoint.
    #[must_use]
    pub fn ranges(&self) -> &[Range<u64>] {
        &self.ranges
    }
}

struct Piece {
    bytes: Bytes,
    /// The parts of the piece still needed, ascending and disjoint.
    live: Vec<Range<u64>>,
    /// The number of the piece's bytes that count as memory of the read.
    counted: u64,
}

impl ByteStore {
    /// Creates an empty store. Its bytes will count as memory of the read with this budget.
    #[must_use]
    pub fn new(budget: Arc<Budget>, policy: &FetchPolicy) -> Self {
        Self {
            in_memory: policy.in_memory,
            request_cost: request_cost(policy),
            pieces: BTreeMap::new(),
            memory: Reservation::new(budget.clone()),
            in_flight: Reservation::new(budget),
            unmet: Vec::new(),
        }
    }

    /// Sets the number of outstanding bytes requested ahead. Returns false if the budget has no room for them.
    pub(super) fn reserve_in_flight(&mut self, bytes: u64) -> bool {
        self.in_flight.resize(bytes).is_ok()
    }

    /// Returns the number of bytes in all pieces.
    pub(super) fn buffered_bytes(&self) -> u64 {
        self.pieces
            .values()
            .map(|piece| piece.bytes.len() as u64)
            .sum()
    }

    /// Takes the ranges requested by decoders but not available.
    pub(super) fn take_unmet(&mut self) -> Vec<Range<u64>> {
        std::mem::take(&mut self.unmet)
    }

    /// Lists the missing parts of the ranges requested by decoders and of the `planned` ranges.
    #[must_use]
    pub fn want(&self, unmet: Vec<Range<u64>>, planned: &[Range<u64>]) -> Wanted {
        let due = union(unmet);
        Wanted {
            ranges: self.missing(&union([&*due, planned].concat())),
            due,
        }
    }

    /// Adds the missing parts of these ranges to a list, returning the added parts.
    pub(super) fn want_more(
        &self,
        wanted: &mut Wanted,
        planned: Vec<Range<u64>>,
    ) -> Vec<Range<u64>> {
        let missing = self.missing(&union(planned));
        let missing = without(&missing, &wanted.ranges);
        wanted.ranges = union([&*wanted.ranges, &missing].concat());
        missing
    }

    /// Stores bytes starting at `offset`.
    ///
    /// If the budget has no room for all of them, only the wanted bytes are stored. If there is no room for these
    /// either, only the bytes that a decoder is waiting for are stored. Without `keeps_ahead`, no others are stored in
    /// any case.
    pub fn supply(&mut self, (offset, bytes): (u64, &Bytes), wanted: &Wanted, keeps_ahead: bool) {
        let supplied = offset..offset.saturating_add(bytes.len() as u64);
        let due_bytes = |part: &Range<u64>| {
            let due = overlaps(&wanted.due, part).map(|overlaps| overlaps.end - overlaps.start);
            due.sum()
        };
        for gap in self.missing(std::slice::from_ref(&supplied)) {
            let listed: Vec<_> = overlaps(&wanted.ranges, &gap).collect();
            let live = match listed.is_empty() {
                true => vec![gap.clone()],
                false => listed.clone(),
            };
            if keeps_ahead && self.keep((offset, bytes), &gap, (live, due_bytes(&gap))) {
                continue;
            }
            // We copy the part, since a slice would keep the whole request's memory alive.
            let copy = |part: &Range<u64>| match *part == supplied {
                true => bytes.clone(),
                false => Bytes::copy_from_slice(&slice(bytes, offset, part)),
            };
            for part in listed {
                let live = (vec![part.clone()], due_bytes(&part));
                if keeps_ahead && self.keep((part.start, &copy(&part)), &part, live) {
                    continue;
                }
                for due in overlaps(&wanted.due, &part) {
                    let live = (vec![due.clone()], due.end - due.start);
                    self.keep((due.start, &copy(&due)), &due, live);
                }
            }
        }
    }

    /// Stores `part` of the bytes starting at `offset`. A decoder is waiting for `due` of these bytes, and these need
    /// no budget. Returns false if the budget has no room for the others.
    fn keep(
        &mut self,
        (offset, bytes): (u64, &Bytes),
        part: &Range<u64>,
        (live, due): (Vec<Range<u64>>, u64),
    ) -> bool {
        let counted = (part.end - part.start).saturating_sub(due);
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

    /// Returns the parts of `ranges` missing from the store.
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

    /// Returns the bytes of `need`, followed by any number of further bytes up to `end`, or `None` if some bytes of
    /// `need` are missing.
    #[must_use]
    pub fn find(&mut self, need: &Range<u64>, end: u64) -> Option<Bytes> {
        let first = self.pieces.range(..=need.start).next_back();
        if let Some((offset, piece)) = first {
            let piece_end = offset + piece.bytes.len() as u64;
            if need.end <= piece_end {
                let end = if self.in_memory { end } else { need.end };
                let part = need.start..end.clamp(need.end, piece_end);
                return Some(slice(&piece.bytes, *offset, &part));
            }
        }
        if !self.missing(std::slice::from_ref(need)).is_empty() {
            return None;
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
        let joined = joined.freeze();
        self.replace_pieces(need, &joined);
        Some(joined)
    }

    /// Replaces the pieces within `range` with slices of `bytes`, so that these bytes are only in memory once.
    fn replace_pieces(&mut self, range: &Range<u64>, bytes: &Bytes) {
        let within = self.pieces.range(range.clone());
        let within =
            within.filter(|(offset, piece)| *offset + piece.bytes.len() as u64 <= range.end);
        let offsets: Vec<u64> = within.map(|(offset, _)| *offset).collect();
        let pieces = offsets
            .iter()
            .filter_map(|offset| self.pieces.remove(offset));
        let joined = pieces.reduce(|mut first, next| {
            first.live.extend(next.live);
            first.counted += next.counted;
            first
        });
        let Some((start, mut joined)) = offsets.first().copied().zip(joined) else {
            return;
        };
        let next = self.pieces.range(start..range.end).next();
        let end = next.map_or(range.end, |(offset, _)| *offset);
        joined.bytes = slice(bytes, range.start, &(start..end));
        self.pieces.insert(start, joined);
    }

    /// Moves the bytes in `ranges` to another store, sharing rather than copying them.
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
        // We release the memory here before the other store counts it, so that the budget has room for it.
        ranges.iter().for_each(|range| self.release(range.clone()));
        let mut other = Self {
            pieces: BTreeMap::new(),
            memory: Reservation::new(self.memory.budget().clone()),
            in_flight: Reservation::new(self.memory.budget().clone()),
            unmet: Vec::new(),
            in_memory: self.in_memory,
            request_cost: self.request_cost,
        };
        for (offset, bytes) in &parts {
            other.supply((*offset, bytes), &Wanted::default(), true);
        }
        other
    }

    /// Adds another store's bytes, dropping any that the budget has no room for.
    pub(super) fn join(&mut self, mut other: Self) {
        let pieces = std::mem::take(&mut other.pieces);
        drop(other);
        for (offset, piece) in pieces {
            self.supply((offset, &piece.bytes), &Wanted::default(), true);
        }
    }

    /// Drops the pieces matching `is_dropped` and gives back their memory.
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
        let found = self.find(need, end);
        if found.is_none() {
            self.unmet.push(need.clone());
        }
        Ok(found)
    }

    fn request_cost(&self) -> u64 {
        self.request_cost
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
        let has_counted = self.memory.bytes() > 0 || self.in_flight.bytes() > 0;
        self.in_flight.release();
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

/// Returns the bytes of `part` from `bytes`. `bytes` start at `offset` and include the part.
fn slice(bytes: &Bytes, offset: u64, part: &Range<u64>) -> Bytes {
    bytes.slice((part.start - offset) as usize..(part.end - offset) as usize)
}

#[cfg(test)]
mod tests {
    use herringbone_format::Limits;

    use super::*;

    fn store(memory: u64) -> ByteStore {
        let mut limits = Limits::default();
        limits.memory_bytes = memory;
        ByteStore::new(Budget::new(&limits), &FetchPolicy::memory())
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
        store.supply((5, &file(5..8)), &Wanted::default(), true);
        store.supply((0, &file(0..3)), &Wanted::default(), true);
        assert_eq!(get(&mut store, 1..3), Some(file(1..3)));
        assert_eq!(get(&mut store, 1..6), None);
        assert_eq!(store.take_unmet(), [1..6]);
        assert_eq!(store.missing(&[0..9, 20..21]), [3..5, 8..9, 20..21]);
        store.supply((2, &file(2..6)), &Wanted::default(), true);
        assert_eq!(store.buffered_bytes(), 8);
        assert_eq!(get(&mut store, 1..8), Some(file(1..8)));
        // Bytes after the needed ones are included.
        assert_eq!(store.get(&(5..6), 100).unwrap(), Some(file(5..8)));
    }

    #[test]
    fn a_piece_counts_until_all_that_was_wanted_of_it_is_released() {
        let mut store = store(10);
        let wanted = store.want(Vec::new(), &[2..4, 6..8]);
        store.supply((0, &file(0..10)), &wanted, true);
        assert_eq!(store.memory.bytes(), 10);
        store.release(0..4);
        assert_eq!((store.memory.bytes(), store.buffered_bytes()), (10, 10));
        store.release(5..9);
        assert_eq!((store.memory.bytes(), store.buffered_bytes()), (0, 0));
    }

    #[test]
    fn bytes_in_flight_count_until_memory_is_short() {
        let mut store = store(10);
        assert!(store.reserve_in_flight(8));
        assert!(!store.reserve_in_flight(11));
        assert_eq!(store.in_flight.bytes(), 8);
        // The budget has no room left for bytes that arrive ahead.
        store.supply((0, &file(0..3)), &Wanted::default(), true);
        assert_eq!(store.buffered_bytes(), 0);
        assert!(store.reserve_in_flight(5));
        store.supply((0, &file(0..3)), &Wanted::default(), true);
        assert_eq!(store.buffered_bytes(), 3);
        assert!(store.drop_ahead());
        assert_eq!((store.in_flight.bytes(), store.buffered_bytes()), (0, 0));
        assert!(!store.drop_ahead());
    }

    #[test]
    fn bytes_that_are_waited_for_are_kept_whatever_the_budget() {
        let mut store = store(3);
        assert_eq!(get(&mut store, 4..6), None);
        let unmet = store.take_unmet();
        let wanted = store.want(unmet, &[0..5]);
        assert_eq!(wanted.ranges(), [0..6]);
        store.supply((0, &file(0..10)), &wanted, true);
        assert_eq!(get(&mut store, 4..6), Some(file(4..6)));
        assert_eq!((store.memory.bytes(), store.buffered_bytes()), (0, 2));
        assert!(!store.drop_ahead());
        store.supply((6, &file(6..9)), &Wanted::default(), true);
        assert_eq!(store.memory.bytes(), 3);
        assert!(store.drop_ahead());
        assert_eq!((store.memory.bytes(), store.buffered_bytes()), (0, 2));
    }
}
