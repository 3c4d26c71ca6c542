//! The bytes fetched along with a footer.
//!
//! A footer request often fetches more than the footer, for example the page indexes or all of a small file. We keep
//! these bytes so that later reads don't have to request them again.

use std::ops::Range;

use bytes::{Bytes, BytesMut};

/// The last bytes of a file, kept in memory because they came with its footer. Ranges within the tail aren't requested
/// again. If a longer range extends into it, we only request the part before.
///
/// ```text
/// file     ├──────────────────────┬──────┤
///                                 │ tail │
/// range              ├── head ────┼──┤
/// ```
#[derive(Debug, Clone, Default)]
pub struct Tail {
    start: u64,
    bytes: Bytes,
}

impl Tail {
    /// Creates the tail for a file of `length` bytes.
    #[must_use]
    pub fn new(length: u64, bytes: Bytes) -> Self {
        Self::at(length.saturating_sub(bytes.len() as u64), bytes)
    }

    /// Creates a part before the end of the file, such as the page indexes.
    #[must_use]
    pub fn at(start: u64, bytes: Bytes) -> Self {
        Self { start, bytes }
    }

    /// Returns the bytes' range in the file.
    #[must_use]
    pub fn range(&self) -> Range<u64> {
        self.start..self.start.saturating_add(self.bytes.len() as u64)
    }

    /// Returns the bytes.
    #[must_use]
    pub fn bytes(&self) -> &Bytes {
        &self.bytes
    }

    /// Returns true if there are no bytes.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns the bytes of a range, if it lies entirely in the tail.
    #[must_use]
    pub fn get(&self, range: &Range<u64>) -> Option<Bytes> {
        let from = usize::try_from(range.start.checked_sub(self.start)?).ok()?;
        let to = usize::try_from(range.end.checked_sub(self.start)?).ok()?;
        (from <= to && to <= self.bytes.len()).then(|| self.bytes.slice(from..to))
    }

    /// Returns the part of a range before the tail, which can be empty, and the bytes of the rest. There's no rest if
    /// the range ends before the tail or doesn't begin before its own end.
    #[must_use]
    pub fn split(&self, range: &Range<u64>) -> (Range<u64>, Bytes) {
        let middle = range.end.min(self.start).max(range.start);
        match self.get(&(middle..range.end)) {
            Some(rest) => (range.start..middle, rest),
            None => (range.clone(), Bytes::new()),
        }
    }
}

/// Returns a range's bytes, put together from its two parts.
#[must_use]
pub fn joined(head: Bytes, rest: Bytes) -> Bytes {
    match (head.is_empty(), rest.is_empty()) {
        (true, _) => rest,
        (_, true) => head,
        _ => {
            let mut all = BytesMut::with_capacity(head.len() + rest.len());
            all.extend_from_slice(&head);
            all.extend_from_slice(&rest);
            all.freeze()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_split_where_the_tail_begins() {
        let tail = Tail::new(8, Bytes::from_static(b"fgh"));
        assert_eq!(tail.range(), 5..8);
        for (range, head, rest) in [
            (5..8, 5..5, "fgh"),
            (6..7, 6..6, "g"),
            (8..8, 8..8, ""),
            (4..6, 4..5, "f"),
            (0..8, 0..5, "fgh"),
            (0..5, 0..5, ""),
            (0..3, 0..3, ""),
            (2..2, 2..2, ""),
            // These ranges end beyond the file. We still request them in full, so that the store refuses them.
            (5..9, 5..9, ""),
            (4..9, 4..9, ""),
            (9..9, 9..9, ""),
        ] {
            let (first, bytes) = tail.split(&range);
            assert_eq!((first, bytes), (head.clone(), rest.into()), "{range:?}");
            let is_whole = head.is_empty() && !(rest.is_empty() && range.start != 8);
            assert_eq!(tail.get(&range).is_some(), is_whole, "{range:?}");
        }
        let middle = Tail::at(2, Bytes::from_static(b"cd"));
        assert_eq!(middle.split(&(1..3)), (1..2, "c".into()));
        assert_eq!(middle.split(&(3..5)), (3..5, Bytes::new()));
        assert_eq!(Tail::default().split(&(0..3)), (0..3, Bytes::new()));
    }

    #[test]
    fn parts_are_joined_without_a_copy_if_there_is_one() {
        let bytes = Bytes::from_static(b"abc");
        let same = [
            joined(bytes.clone(), Bytes::new()),
            joined(Bytes::new(), bytes.clone()),
        ];
        assert!(same.iter().all(|same| same.as_ptr() == bytes.as_ptr()));
        assert_eq!(joined(bytes.clone(), bytes), "abcabc");
    }
}
