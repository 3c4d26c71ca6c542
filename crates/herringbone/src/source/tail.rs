//! Sources with their last bytes already read.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use herringbone_core::fetch::Tail;
use herringbone_format::{Error, Result};

use super::{FetchPolicy, Source};

/// A source that does not read its last bytes again, since they came with the footer.
///
/// If a range is only partly in these bytes, we read all of it from the source. Most sources have
/// it in memory anyway, and joining the parts would need a copy. A source of
/// [`herringbone-remote`](https://docs.rs/herringbone-remote) has the tail itself.
pub(crate) struct SourceWithTail {
    source: Arc<dyn Source>,
    tail: Tail,
}

impl SourceWithTail {
    /// Adds a file's last bytes to its source.
    pub(crate) fn new(source: Arc<dyn Source>, tail: Bytes) -> Self {
        Self {
            tail: Tail::new(source.len(), tail),
            source,
        }
    }
}

impl Source for SourceWithTail {
    fn len(&self) -> u64 {
        self.source.len()
    }

    fn read(&self, range: Range<u64>) -> Result<Bytes> {
        match self.tail.get(&range) {
            Some(bytes) => Ok(bytes),
            None => self.source.read(range),
        }
    }

    fn read_many(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        let mut others = ranges.to_vec();
        others.retain(|range| self.tail.get(range).is_none());
        let fetched = match others.is_empty() {
            true => Vec::new(),
            false => self.source.read_many(&others)?,
        };
        let mut fetched = fetched.into_iter();
        let bytes = ranges
            .iter()
            .map(|range| self.tail.get(range).or_else(|| fetched.next()));
        bytes
            .collect::<Option<_>>()
            .ok_or_else(|| Error::argument("the source returned fewer ranges than requested"))
    }

    fn fetch_policy(&self) -> FetchPolicy {
        self.source.fetch_policy()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_the_tail_are_not_read() {
        // The source's bytes differ from the tail, so that the test can distinguish them.
        let source: Arc<dyn Source> = Arc::new(Bytes::from_static(b"abcdefgh"));
        let source = SourceWithTail::new(source, Bytes::from_static(b"FGH"));
        assert_eq!(source.read(5..8).unwrap(), "FGH");
        assert_eq!(source.read(6..7).unwrap(), "G");
        // The whole range is read from the source if it starts before the tail.
        assert_eq!(source.read(4..8).unwrap(), "efgh");
        let several = source.read_many(&[7..8, 0..2, 5..6, 4..6]).unwrap();
        assert_eq!(several, ["H", "ab", "F", "ef"]);
        assert!(source.read(5..9).is_err());
        assert!(source.read_many(&[5..8, 5..9]).is_err());
    }
}
