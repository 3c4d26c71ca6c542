//! Sources with checked answers.

use std::io;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use herringbone_format::{Error, Result};

use super::{FetchPolicy, Source, checked_length};

/// A source whose answers always have the requested length.
///
/// Decoders ask again for missing bytes, so a source whose answers are always too short would loop
/// forever. Since callers can bring their own sources, every answer passes through here before any
/// decoder sees it.
pub struct CheckedSource(Arc<dyn Source>);

impl CheckedSource {
    /// Wraps a source.
    #[must_use]
    pub fn new(source: Arc<dyn Source>) -> Self {
        Self(source)
    }

    /// Checks that a range lies in the file, because most sources don't check this themselves.
    fn check(&self, range: &Range<u64>) -> Result<()> {
        checked_length(range, self.0.len()).map(drop)
    }
}

impl Source for CheckedSource {
    fn len(&self) -> u64 {
        self.0.len()
    }

    fn read(&self, range: Range<u64>) -> Result<Bytes> {
        self.check(&range)?;
        checked(&range, self.0.read(range.clone())?)
    }

    fn read_many(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
        ranges.iter().try_for_each(|range| self.check(range))?;
        let answers = self.0.read_many(ranges)?;
        if answers.len() != ranges.len() {
            let (found, expected) = (answers.len(), ranges.len());
            return Err(invalid(format!(
                "the source answered a request for {expected} ranges with {found}; `read_many` \
                 must return one answer per range"
            )));
        }
        let answers = ranges.iter().zip(answers);
        answers
            .map(|(range, answer)| checked(range, answer))
            .collect()
    }

    fn fetch_policy(&self) -> FetchPolicy {
        self.0.fetch_policy()
    }
}

/// Checks the answer to a request for a range.
///
/// # Errors
/// Fails with Io if the answer's length differs from the range's.
fn checked(range: &Range<u64>, answer: Bytes) -> Result<Bytes> {
    let (found, expected) = (answer.len() as u64, range.end - range.start);
    if found == expected {
        return Ok(answer);
    }
    let (kind, cause) = match found < expected {
        true => (
            io::ErrorKind::UnexpectedEof,
            "the file may have become shorter since it was opened",
        ),
        false => (
            io::ErrorKind::InvalidData,
            "`read` must return exactly the requested bytes",
        ),
    };
    let message = format!(
        "the source answered a request for {expected} bytes with {found}, at the bytes \
         {:#x}..{:#x}; {cause}",
        range.start, range.end
    );
    Err(Error::from(io::Error::new(kind, message)).at_offset(range.start))
}

#[cold]
fn invalid(message: String) -> Error {
    io::Error::new(io::ErrorKind::InvalidData, message).into()
}

#[cfg(test)]
mod tests {
    use herringbone_format::ErrorKind;

    use super::*;

    /// A faulty 100-byte source. Each answer is `more` bytes too long or too short, and answers for
    /// several ranges lack the last `lost` ranges.
    struct Wrong {
        more: i64,
        lost: usize,
    }

    impl Source for Wrong {
        fn len(&self) -> u64 {
            100
        }

        fn read(&self, range: Range<u64>) -> Result<Bytes> {
            let length = (range.end - range.start).saturating_add_signed(self.more);
            Ok(vec![7; length as usize].into())
        }

        fn read_many(&self, ranges: &[Range<u64>]) -> Result<Vec<Bytes>> {
            let ranges = ranges.iter().take(ranges.len() - self.lost);
            ranges.map(|range| self.read(range.clone())).collect()
        }
    }

    fn source(more: i64, lost: usize) -> CheckedSource {
        CheckedSource::new(Arc::new(Wrong { more, lost }))
    }

    #[test]
    fn answers_of_the_requested_length_are_returned() {
        assert_eq!(source(0, 0).read(2..5).unwrap(), vec![7; 3]);
        let several = source(0, 0).read_many(&[0..1, 98..100, 5..5]).unwrap();
        assert_eq!(
            several.iter().map(Bytes::len).collect::<Vec<_>>(),
            [1, 2, 0]
        );
    }

    #[test]
    fn other_answers_are_errors_of_the_source() {
        for (more, kind) in [
            (-1, io::ErrorKind::UnexpectedEof),
            (-100, io::ErrorKind::UnexpectedEof),
            (1, io::ErrorKind::InvalidData),
        ] {
            let one = source(more, 0).read(2..5).unwrap_err();
            let several = source(more, 0).read_many(&[0..0, 2..5]).unwrap_err();
            for error in [one, several] {
                assert_eq!(error.kind(), ErrorKind::Io);
                assert_eq!(error.io_error().unwrap().kind(), kind);
            }
        }
        let error = source(-1, 0).read(0x20..0x30).unwrap_err().to_string();
        assert!(error.contains("a request for 16 bytes with 15"), "{error}");
        let error = source(0, 1).read_many(&[0..1, 1..2]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Io);
        assert!(error.to_string().contains("2 ranges with 1"), "{error}");
    }

    #[test]
    fn ranges_outside_the_file_are_not_requested() {
        for error in [
            source(0, 0).read(99..101).unwrap_err(),
            source(0, 0).read_many(&[0..1, 99..101]).unwrap_err(),
        ] {
            assert_eq!(error.kind(), ErrorKind::Corrupt);
            assert_eq!(error.location().offset, Some(99));
        }
    }
}
