//! Counts how often each text occurs.

use std::cmp::Ordering;
use std::hash::BuildHasher as _;

use hashbrown::{DefaultHashBuilder, HashTable};

/// An entry's memory overhead on top of its text, in bytes.
const ENTRY: usize = 48;

/// The minimum number of candidates to collect before each selection of the most frequent texts.
const CANDIDATES: usize = 1024;

/// Counts occurrences of texts. All texts share one buffer, which saves an allocation per text if
/// many are distinct.
#[derive(Default)]
pub(crate) struct Tally {
    /// Seeded at random for each tally, so that a file cannot know which of its texts collide.
    hashes: DefaultHashBuilder,
    slots: HashTable<Slot>,
    entries: Vec<Entry>,
    text: String,
}

/// A hash table slot. It only keeps half of the hash, since a smaller table has fewer cache misses.
struct Slot {
    hash: u32,
    /// The index of the entry.
    at: u32,
}

struct Entry {
    /// The text's end offset in the buffer.
    end: usize,
    count: u64,
}

impl Tally {
    /// Counts a text. Returns its place if it is new.
    pub(crate) fn add(&mut self, text: &str) -> Option<usize> {
        let hash = self.hashes.hash_one(text);
        self.add_hashed(text, (hash >> 32) as u32)
    }

    fn add_hashed(&mut self, text: &str, hash: u32) -> Option<usize> {
        let (entries, texts) = (&self.entries, &self.text);
        let is_same = |slot: &Slot| {
            let (start, entry) = place(entries, slot.at as usize);
            let end = entry.map_or(0, |entry| entry.end);
            slot.hash == hash && texts.get(start..end) == Some(text)
        };
        let found = self.slots.find(spread(hash), is_same);
        if let Some(Slot { at, .. }) = found {
            if let Some(entry) = self.entries.get_mut(*at as usize) {
                entry.count += 1;
            }
            return None;
        }
        let at = self.entries.len();
        let slot = Slot {
            hash,
            at: at as u32,
        };
        self.slots
            .insert_unique(spread(hash), slot, |slot| spread(slot.hash));
        self.text.push_str(text);
        self.entries.push(Entry {
            end: self.text.len(),
            count: 1,
        });
        Some(at)
    }

    /// Returns the number of distinct texts.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns the approximate memory, in bytes.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.text.len() + self.entries.len() * ENTRY
    }

    /// Returns the text at a place, and its count.
    pub(crate) fn get(&self, at: usize) -> (&str, u64) {
        let (start, entry) = place(&self.entries, at);
        let entry = entry.map(|entry| (self.text.get(start..entry.end), entry.count));
        entry.map_or(("", 0), |(text, count)| (text.unwrap_or_default(), count))
    }

    /// Returns the indexes of the most frequent texts, breaking ties in sort order.
    pub(crate) fn most(&self, limit: usize) -> Vec<usize> {
        let order = |a: &usize, b: &usize| rank(self.get(*a), self.get(*b));
        let room = limit.saturating_mul(2).max(CANDIDATES);
        let mut best: Vec<usize> = Vec::new();
        // The worst candidate still in the running. Most texts are ruled out by this single
        // comparison, which also reads them in memory order.
        let mut last = None;
        for at in 0..self.entries.len() {
            if last.is_some_and(|last| rank(last, self.get(at)).is_lt()) {
                continue;
            }
            best.push(at);
            if best.len() > room {
                best.select_nth_unstable_by(limit, order);
                best.truncate(limit + 1);
                last = best.last().map(|at| self.get(*at));
            }
        }
        best.sort_unstable_by(order);
        best.truncate(limit);
        best
    }
}

/// Compares two texts with their counts.
fn rank((a, more): (&str, u64), (b, less): (&str, u64)) -> Ordering {
    less.cmp(&more).then_with(|| a.cmp(b))
}

/// Returns the hash for the table, with slot indexes in the low bits and tags in the high bits.
fn spread(hash: u32) -> u64 {
    u64::from(hash) << 32 | u64::from(hash)
}

/// Returns an entry and its text's start offset.
fn place(entries: &[Entry], at: usize) -> (usize, Option<&Entry>) {
    let before = at.checked_sub(1).and_then(|before| entries.get(before));
    (before.map_or(0, |before| before.end), entries.get(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_counted() {
        let mut tally = Tally::default();
        let new = ["b", "a", "", "b", "c", "", "b"].map(|text| tally.add(text));
        assert_eq!(new, [Some(0), Some(1), Some(2), None, Some(3), None, None]);
        let most = |limit: usize| -> Vec<(&str, u64)> {
            tally
                .most(limit)
                .into_iter()
                .map(|at| tally.get(at))
                .collect()
        };
        assert_eq!(most(2), [("b", 3), ("", 2)]);
        assert_eq!(most(9), [("b", 3), ("", 2), ("a", 1), ("c", 1)]);
        assert_eq!((most(0).len(), tally.len()), (0, 4));
    }

    #[test]
    fn equal_hashes_are_different_texts() {
        let mut tally = Tally::default();
        let new = ["x", "y", "x", "y", "z"].map(|text| tally.add_hashed(text, 7));
        assert_eq!(new, [Some(0), Some(1), None, None, Some(2)]);
        assert_eq!([0, 1, 2].map(|at| tally.get(at).1), [2, 2, 1]);
    }

    #[test]
    fn the_most_frequent_of_many_are_those_of_a_sort() {
        let mut tally = Tally::default();
        // Each text occurs once to nine times, in no order.
        let mut all: Vec<(u64, String)> = (0..5000_u64)
            .map(|at| (at * 7919 % 9 + 1, format!("{:04}", at * 3571 % 5000)))
            .collect();
        for (count, text) in &all {
            for _ in 0..*count {
                tally.add(text);
            }
        }
        all.sort_by(|(more, a), (less, b)| less.cmp(more).then_with(|| a.cmp(b)));
        for limit in [0, 1, 10, 600, 4999, 5000, usize::MAX] {
            let most = tally.most(limit);
            let most: Vec<(u64, String)> = most
                .into_iter()
                .map(|at| (tally.get(at).1, tally.get(at).0.to_owned()))
                .collect();
            assert_eq!(most, all[..limit.min(5000)], "{limit}");
        }
    }
}
