//! Counts how often each text occurs.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::hash::{BuildHasher as _, BuildHasherDefault, Hasher, RandomState};

/// The memory that an entry takes in addition to its text, in bytes.
const ENTRY: usize = 48;

/// The mark that ends a chain of entries.
const END: u32 = u32::MAX;

/// Texts, and how often each occurs. All texts share one buffer, because many of them may differ,
/// and each would need an allocation of its own otherwise.
#[derive(Default)]
pub(crate) struct Tally {
    hashes: RandomState,
    /// The newest entry for each hash, from which a chain leads to the older ones.
    newest: HashMap<u64, u32, BuildHasherDefault<Same>>,
    entries: Vec<Entry>,
    text: String,
}

struct Entry {
    /// The position in the buffer at which the text ends.
    end: usize,
    count: u64,
    /// The previous entry that has the same hash.
    before: u32,
}

/// A hasher that passes hashes through unchanged. This is safe because they are already random, so
/// that a file cannot choose values that collide.
#[derive(Default)]
struct Same(u64);

impl Hasher for Same {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}

impl Tally {
    /// Counts a text. Returns its place if it is new.
    pub(crate) fn add(&mut self, text: &str) -> Option<usize> {
        let hash = self.hashes.hash_one(text);
        let newest = self.newest.entry(hash).or_insert(END);
        let mut at = *newest;
        while at != END {
            let (start, entry) = place(&self.entries, at as usize);
            let Some(entry) = entry else { break };
            if self.text.get(start..entry.end) == Some(text) {
                if let Some(entry) = self.entries.get_mut(at as usize) {
                    entry.count += 1;
                }
                return None;
            }
            at = entry.before;
        }
        let place = self.entries.len();
        let before = std::mem::replace(newest, place as u32);
        self.text.push_str(text);
        self.entries.push(Entry {
            end: self.text.len(),
            count: 1,
            before,
        });
        Some(place)
    }

    /// Returns the number of different texts.
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

    /// Returns the places of the most frequent texts. If texts are equally frequent, the one that
    /// sorts first comes first.
    pub(crate) fn most(&self, limit: usize) -> Vec<usize> {
        let order = |a: &usize, b: &usize| -> Ordering {
            let ((a, more), (b, less)) = (self.get(*a), self.get(*b));
            less.cmp(&more).then_with(|| a.cmp(b))
        };
        let mut places: Vec<usize> = (0..self.entries.len()).collect();
        if limit < places.len() {
            // We only have to sort the texts that are returned.
            places.select_nth_unstable_by(limit, order);
            places.truncate(limit);
        }
        places.sort_unstable_by(order);
        places
    }
}

/// Returns an entry and the position at which its text starts.
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
        for text in ["x", "y"] {
            tally.add(text);
        }
        // We chain both entries by hand, as if their hashes were equal.
        let hash = tally.hashes.hash_one("z");
        tally.newest.insert(hash, 1);
        tally.entries[1].before = 0;
        assert_eq!(tally.add("z"), Some(2));
        assert_eq!((tally.add("z"), tally.get(2)), (None, ("z", 2)));
        assert_eq!((tally.get(0), tally.get(1)), (("x", 1), ("y", 1)));
    }
}
