//! Sources for a file's bytes.
//!
//! The decoders do no I/O. They return the byte ranges they need, and a blocking driver reads these
//! from a [`Source`]. A source can be bytes in memory, or a [`FileSource`], whose positioned reads
//! let several threads share one open file without a lock. If your bytes are elsewhere, implement
//! [`Source`] yourself. All it needs is a length and a positioned read. If your store is async, use
//! [`push`](crate::push) instead.
//!
//! A source's [`FetchPolicy`] describes the cost of its reads. From it, the reader derives the
//! largest gap between two ranges sharing a request, the number of concurrent requests, and how far
//! to read ahead.
//!
//! You can pass a memory map as bytes in memory, with [`Bytes::from_owner`]. We leave the mapping
//! to you because of its risk: the system kills your process if another one truncates a mapped
//! file.
//!
//! ```
//! # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
//! use bytes::Bytes;
//! use herringbone::source::{FetchPolicy, FileSource, Source};
//! use herringbone::{Limits, ParquetFile};
//!
//! let source = FileSource::open("testdata/example.parquet")?;
//! assert_eq!(source.read(0..4)?, "PAR1");
//! assert_eq!(source.fetch_policy(), FetchPolicy::local());
//! let on_disk = ParquetFile::from_source(source, Limits::default())?;
//!
//! let bytes = Bytes::from(std::fs::read("testdata/example.parquet")?);
//! let in_memory = ParquetFile::from_source(bytes, Limits::default())?;
//! assert_eq!(on_disk.metadata().num_rows(), in_memory.metadata().num_rows());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod checked;
mod fetched;
mod file;
mod tail;

#[doc(hidden)] // For `herringbone-inspect`.
pub use checked::CheckedSource;
#[doc(hidden)] // For files in stores.
pub use fetched::Fetched;
pub use file::FileSource;
pub use herringbone_core::fetch::{ChunkReads, FetchPolicy};
pub(crate) use tail::SourceWithTail;

use bytes::Bytes;
use herringbone_format::{Error, ErrorKind, Result};
use std::ops::Range;
use std::sync::Arc;

/// The bytes of one Parquet file, read by position.
///
/// ```
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
/// use std::ops::Range;
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// use bytes::Bytes;
/// use herringbone::source::{FileSource, Source};
/// use herringbone::{Limits, ParquetFile};
///
/// /// Counts the reads of a [`FileSource`].
/// struct Counted(FileSource, AtomicU64);
///
/// impl Source for Counted {
///     fn len(&self) -> u64 {
///         self.0.len()
///     }
///
///     fn read(&self, range: Range<u64>) -> herringbone::Result<Bytes> {
///         self.1.fetch_add(1, Ordering::Relaxed);
///         self.0.read(range)
///     }
/// }
///
/// let file = FileSource::open("testdata/example.parquet")?;
/// let source = Arc::new(Counted(file, AtomicU64::new(0)));
/// let file = ParquetFile::from_source(source.clone(), Limits::default())?;
/// assert_eq!(file.metadata().num_rows(), 24);
/// assert_eq!(source.1.load(Ordering::Relaxed), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Source: Send + Sync {
    /// Returns the file's size in bytes. It must not change.
    fn len(&self) -> u64;

    /// Returns the bytes in `range`, counted from the start of the file. An answer must have
    /// exactly as many bytes as the range, because a read ends with an Io error if it is shorter or
    /// longer.
    ///
    /// # Errors
    ///
    /// Fails with [Corrupt](ErrorKind::Corrupt) if the range ends past the end of the file or
    /// before it starts, and with [Io](ErrorKind::Io) if the system returns an error or the file is
    /// now shorter than [`len`](Self::len). If your store fails, return its error as
    /// `std::io::Error::other(error).into()`. The kind is then [Io](ErrorKind::Io), and
    /// [`Error::io_error`] returns your error.
    fn read(&self, range: Range<u64>) -> Result<Bytes>;

    /// Reads several ranges, returning their bytes in the same order.
    ///
    /// By default, the ranges are read one after the other. A source with slow reads should instead
    /// read up to [`max_requests_in_flight`](FetchPolicy::max_requests_in_flight) ranges
    /// concurrently.
    ///
    /// # Errors
    ///
    /// Fails for the same reasons as [`read`](Self::read). If several ranges fail, one of their
    /// errors is returned.
    fn read_many(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        ranges
            .iter()
            .map(|range| self.read(range.clone()))
            .collect()
    }

    /// Returns the best way to request bytes from this source, which must not change.
    ///
    /// The default is [`FetchPolicy::remote`], with few large requests that include bytes needed
    /// soon. This suits a source across a network and costs little otherwise. Return
    /// [`FetchPolicy::local`] if your source reads local files, or [`FetchPolicy::memory`] if it
    /// returns slices of memory.
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

    /// Returns true if the file has zero bytes.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Bytes in memory. Reads return slices sharing this memory, without a copy.
impl Source for Bytes {
    fn len(&self) -> u64 {
        self.as_ref().len() as u64
    }

    fn read(&self, range: Range<u64>) -> Result<Bytes> {
        let length = checked_length(&range, Source::len(self))?;
        // The range lies in this slice, so its start fits in `usize`.
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

/// Returns the byte count of `range`, if it lies in a file of `file_bytes` bytes.
///
/// # Errors
///
/// Fails with Corrupt if `range` lies outside the file, since all ranges come from the file's own
/// metadata, or with Unsupported if the count doesn't fit in `usize`.
fn checked_length(range: &Range<u64>, file_bytes: u64) -> Result<usize> {
    if range.start > range.end || range.end > file_bytes {
        return Err(Error::corrupt(format!(
            "the bytes {:#x}..{:#x} were requested, but the file has {file_bytes:#x} bytes",
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
        reason = "hostile metadata has such ranges"
    )]
    fn ranges_outside_the_file_are_errors() {
        let bytes = Bytes::from_static(b"abc");
        for range in [2..4, 4..4, 3..2, 0..u64::MAX, u64::MAX..u64::MAX] {
            let error = bytes.read(range.clone()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Corrupt, "{range:?}");
            assert_eq!(error.location().offset, Some(range.start));
        }
    }

    /// A source with the default policy that can only read several ranges together.
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
