//! Where the bytes of a file come from.
//!
//! The decoders never read: they say which byte ranges they need. A [`Source`] is what a plain,
//! blocking driver asks for them: bytes in memory, or a [`FileSource`] that reads at positions, so
//! that several threads share one open file without a lock.
//!
//! A memory map is bytes in memory: hand it in with [`Bytes::from_owner`]. Mapping is left to the
//! caller, because a file that is cut short under a map ends the process.

mod fetched;
mod file;
mod tail;

pub(crate) use fetched::Fetched;
pub use file::FileSource;
pub use herringbone_core::fetch::{ChunkReads, FetchPolicy};
pub(crate) use tail::SourceWithTail;

use bytes::Bytes;
use herringbone_format::{Error, ErrorKind, Result};
use std::ops::Range;
use std::sync::Arc;

/// Something that holds the bytes of one Parquet file and gives them out by position.
pub trait Source: Send + Sync {
    /// The size of the file in bytes. Does not change.
    fn len(&self) -> u64;

    /// The bytes at `range`, counted from the start of the file: exactly as many as it spans.
    ///
    /// # Errors
    ///
    /// Corrupt when the range ends behind the end of the file, or before it starts; Io when the
    /// system refuses, or the file has become shorter than [`len`](Self::len).
    fn read(&self, range: Range<u64>) -> Result<Bytes>;

    /// Reads several ranges; returns their bytes in the same order.
    ///
    /// By default they are read one after the other. A source whose reads take long should read up
    /// to [`max_requests_in_flight`](FetchPolicy::max_requests_in_flight) of them at the same time.
    ///
    /// # Errors
    ///
    /// As [`read`](Self::read); one of them, if several ranges fail.
    fn read_many(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        ranges
            .iter()
            .map(|range| self.read(range.clone()))
            .collect()
    }

    /// Returns how the bytes are best asked for. Does not change.
    ///
    /// The default is [`FetchPolicy::remote`]: few and large requests, with bytes that are needed
    /// soon among them. That is right for a source across a network, and costs little with others.
    /// A source of local files should return [`FetchPolicy::local`]; one that gives slices of
    /// memory which it holds anyway, [`FetchPolicy::memory`].
    ///
    /// ```
    /// use bytes::Bytes;
    /// use herringbone::source::{FetchPolicy, Source};
    /// use std::ops::Range;
    ///
    /// /// A file on a memory card whose reads take 1 ms, at 20 MB/s.
    /// struct Card(Bytes);
    ///
    /// impl Source for Card {
    ///     fn len(&self) -> u64 {
    ///         self.0.len() as u64
    ///     }
    ///     fn read(&self, range: Range<u64>) -> herringbone::Result<Bytes> {
    ///         self.0.read(range)
    ///     }
    ///     fn fetch_policy(&self) -> FetchPolicy {
    ///         let mut policy = FetchPolicy::local();
    ///         policy.round_trip_bytes = 20_000;
    ///         policy.max_gap_bytes = 20_000;
    ///         policy
    ///     }
    /// }
    /// ```
    fn fetch_policy(&self) -> FetchPolicy {
        FetchPolicy::remote()
    }

    /// Whether the file has no bytes at all.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Bytes in memory. Reading gives slices that share the memory.
impl Source for Bytes {
    fn len(&self) -> u64 {
        self.as_ref().len() as u64
    }

    fn read(&self, range: Range<u64>) -> Result<Bytes> {
        let length = checked_length(&range, Source::len(self))?;
        // No larger than the length of this slice.
        let start = range.start as usize;
        Ok(self.slice(start..start + length))
    }

    fn fetch_policy(&self) -> FetchPolicy {
        FetchPolicy::memory()
    }
}

macro_rules! pointers {
    ($($pointer:ident)*) => {$(
        impl<S: Source + ?Sized> Source for $pointer<S> {
            fn len(&self) -> u64 {
                S::len(self)
            }

            fn read(&self, range: Range<u64>) -> Result<Bytes> {
                S::read(self, range)
            }

            fn read_many(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
                S::read_many(self, ranges)
            }

            fn fetch_policy(&self) -> FetchPolicy {
                S::fetch_policy(self)
            }
        }
    )*};
}
pointers!(Arc Box);

/// How many bytes `range` spans, if it lies in a file of `file_bytes` bytes.
///
/// # Errors
///
/// Corrupt when it does not: all ranges come from the file's own metadata.
fn checked_length(range: &Range<u64>, file_bytes: u64) -> Result<usize> {
    if range.start > range.end || range.end > file_bytes {
        return Err(Error::corrupt(format!(
            "the bytes {:#x}..{:#x} are asked for, but the file has {file_bytes:#x} bytes",
            range.start, range.end
        ))
        .at_offset(range.start));
    }
    usize::try_from(range.end - range.start).map_err(|_| {
        Error::new(
            ErrorKind::Unsupported,
            "a range larger than the memory of this machine",
        )
        .at_offset(range.start)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_sliced_without_a_copy() {
        let bytes = Bytes::from_static(b"PAR1 and more");
        let slice = Source::read(&bytes, 5..8).unwrap();
        assert_eq!(slice, "and");
        assert_eq!(slice.as_ptr(), bytes[5..].as_ptr());
        assert_eq!(Source::len(&bytes), 13);
        assert!(!Source::is_empty(&bytes));
    }

    #[test]
    fn the_whole_and_nothing_are_ranges_too() {
        let bytes = Bytes::from_static(b"abc");
        assert_eq!(bytes.read(0..3).unwrap(), "abc");
        assert_eq!(bytes.read(3..3).unwrap(), "");
    }

    #[test]
    #[expect(
        clippy::reversed_empty_ranges,
        reason = "hostile metadata asks for them"
    )]
    fn ranges_outside_the_file_are_errors() {
        let bytes = Bytes::from_static(b"abc");
        for range in [2..4, 4..4, 3..2, 0..u64::MAX, u64::MAX..u64::MAX] {
            let error = bytes.read(range.clone()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{range:?}");
            assert_eq!(error.location().offset, Some(range.start));
        }
    }

    /// A source that reads all of several ranges at once, and states no policy.
    struct AllAtOnce(Bytes);

    impl Source for AllAtOnce {
        fn len(&self) -> u64 {
            Source::len(&self.0)
        }

        fn read(&self, _: Range<u64>) -> Result<Bytes> {
            Err(Error::argument("one range at a time"))
        }

        fn read_many(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
            self.0.read_many(ranges)
        }
    }

    #[test]
    fn pointers_pass_several_ranges_on_together() {
        let source: Box<dyn Source> = Box::new(Arc::new(AllAtOnce(Bytes::from_static(b"abc"))));
        assert_eq!(source.read_many(&[2..3, 0..2]).unwrap(), ["c", "ab"]);
        assert_eq!(source.fetch_policy(), FetchPolicy::remote());
        let error = source.read_many(&[2..3, 0..4]).unwrap_err();
        assert_eq!(error.location().offset, Some(0));
    }

    #[test]
    fn sources_may_be_shared_and_boxed() {
        let shared: Arc<dyn Source> = Arc::new(Bytes::from_static(b"abc"));
        let boxed: Box<dyn Source> = Box::new(Arc::clone(&shared));
        assert_eq!(boxed.len(), 3);
        assert_eq!(boxed.read(1..2).unwrap(), "b");
        assert_eq!(boxed.read_many(&[1..3, 0..1]).unwrap(), ["bc", "a"]);
        assert_eq!(boxed.fetch_policy(), FetchPolicy::memory());
    }
}
