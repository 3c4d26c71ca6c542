//! File ranges, fetched together.

use std::ops::Range;

use bytes::Bytes;
use herringbone_core::fetch::requests;
use herringbone_format::{Error, Result};

use super::Source;

/// The bytes of several file ranges, fetched in as few requests as the source's policy allows.
#[derive(Debug, Default)]
pub struct Fetched {
    /// Each request's bytes and file offset, sorted by offset.
    answers: Vec<(u64, Bytes)>,
}

impl Fetched {
    /// Takes the requests' answers, each with its file offset.
    #[must_use]
    pub fn new(mut answers: Vec<(u64, Bytes)>) -> Self {
        answers.sort_by_key(|(offset, _)| *offset);
        Self { answers }
    }

    /// Reads these ranges.
    ///
    /// # Errors
    /// Returns the source's errors.
    pub(crate) fn read(source: &dyn Source, ranges: Vec<Range<u64>>) -> Result<Self> {
        let requests = requests(ranges, &source.fetch_policy());
        let requests: Vec<_> = requests.map(|request| request.range).collect();
        let answers = match &*requests {
            [] => Vec::new(),
            [one] => vec![source.read(one.clone())?],
            several => source.read_many(several)?,
        };
        let starts = requests.iter().map(|range| range.start);
        Ok(Self {
            answers: starts.zip(answers).collect(),
        })
    }

    /// Returns the bytes in one of the ranges.
    ///
    /// # Errors
    /// Fails with [Argument](crate::ErrorKind::Argument) if the source returned fewer bytes than
    /// requested.
    pub fn get(&self, range: &Range<u64>) -> Result<Bytes> {
        let mut parts = Vec::new();
        let mut start = range.start;
        let first = self
            .answers
            .partition_point(|(start, _)| *start <= range.start);
        let answers = self
            .answers
            .get(first.saturating_sub(1)..)
            .unwrap_or_default();
        for (offset, bytes) in answers {
            if start == range.end {
                break;
            }
            let Some(from) = start.checked_sub(*offset) else {
                break;
            };
            // Both numbers are offsets into a request's bytes. Since these are in memory, the
            // offsets fit in `usize`.
            let to = (range.end - offset).min(bytes.len() as u64);
            if from >= to {
                break;
            }
            parts.push(bytes.slice(from as usize..to as usize));
            start = offset + to;
        }
        if start != range.end {
            return Err(
                Error::argument("the source returned fewer bytes than requested")
                    .at_offset(range.start),
            );
        }
        Ok(match <[Bytes; 1]>::try_from(parts) {
            Ok([whole]) => whole,
            Err(parts) => parts.concat().into(),
        })
    }
}
