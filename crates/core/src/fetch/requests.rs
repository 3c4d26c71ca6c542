//! Plans the requests for wanted ranges.
//!
//! A request costs a round trip, and a gap between two ranges costs its bytes. So we merge ranges if the gap between
//! them is small enough, as determined by the `FetchPolicy`.

use std::ops::Range;

use super::{FetchPolicy, bytes};

/// A range of the file to read at once.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Request {
    /// The bytes to read.
    pub range: Range<u64>,
    /// The wanted ranges in `range`, ascending and disjoint. The gaps between them are read over.
    pub wanted: Vec<Range<u64>>,
}

impl Request {
    fn new(wanted: Range<u64>) -> Self {
        Self {
            range: wanted.clone(),
            wanted: vec![wanted],
        }
    }

    /// Returns the number of bytes to fetch, including gaps.
    #[must_use]
    pub fn fetched_bytes(&self) -> u64 {
        length(&self.range)
    }

    /// Returns the number of wanted bytes, without the gaps.
    #[must_use]
    pub fn wanted_bytes(&self) -> u64 {
        self.wanted.iter().map(length).sum()
    }
}

/// The ascending and disjoint requests for some ranges of a file.
///
/// This iterator creates requests one by one, so that even a very long range takes no memory.
#[derive(Debug, Clone)]
pub struct Requests {
    /// The remaining wanted ranges, disjoint and in descending order.
    wanted: Vec<Range<u64>>,
    max_gap: u64,
    max_bytes: u64,
}

/// Returns the requests for these ranges. The ranges may overlap and be in any order.
///
/// - Each wanted byte is in exactly one request. Overlapping ranges become one wanted range.
/// - Ranges share a request if the gap between them is at most [`max_gap_bytes`](FetchPolicy::max_gap_bytes) and the
///   request stays within [`max_request_bytes`](FetchPolicy::max_request_bytes).
/// - A range is only split if it exceeds the maximum request size.
/// - Empty ranges are ignored.
///
/// ```
/// use herringbone::push::{FetchPolicy, requests};
///
/// let mut policy = FetchPolicy::remote();
/// policy.max_gap_bytes = 10;
/// let ranges = [300..400, 0..100, 105..200];
/// let requests: Vec<_> = requests(ranges, &policy).collect();
/// assert_eq!(requests.len(), 2);
/// assert_eq!(requests[0].range, 0..200);
/// assert_eq!(requests[0].wanted, [0..100, 105..200]);
/// assert_eq!((requests[0].fetched_bytes(), requests[0].wanted_bytes()), (200, 195));
/// assert_eq!(requests[1].range, 300..400);
/// ```
#[must_use]
pub fn requests(ranges: impl IntoIterator<Item = Range<u64>>, policy: &FetchPolicy) -> Requests {
    let mut wanted: Vec<_> = ranges
        .into_iter()
        .filter(|range| !range.is_empty())
        .collect();
    wanted.sort_unstable_by_key(|range| range.start);
    wanted.dedup_by(|next, last| {
        let overlaps = next.start < last.end;
        if overlaps {
            last.end = last.end.max(next.end);
        }
        overlaps
    });
    wanted.reverse();
    Requests {
        wanted,
        max_gap: policy.max_gap_bytes,
        max_bytes: policy.max_request_bytes.max(1),
    }
}

/// Returns the byte ranges of the requests for these ranges. Gaps are only included if the total size then stays within
/// `most` bytes.
#[must_use]
pub fn requests_within(ranges: &[Range<u64>], policy: &FetchPolicy, most: u64) -> Vec<Range<u64>> {
    let merged = |policy: &FetchPolicy| -> Vec<Range<u64>> {
        let requests = requests(ranges.iter().cloned(), policy);
        requests.map(|request| request.range).collect()
    };
    let with_gaps = merged(policy);
    if bytes(&with_gaps) <= most {
        return with_gaps;
    }
    let mut policy = policy.clone();
    policy.max_gap_bytes = 0;
    merged(&policy)
}

impl Iterator for Requests {
    type Item = Request;

    fn next(&mut self) -> Option<Request> {
        let mut first = self.wanted.pop()?;
        let most = first.start.saturating_add(self.max_bytes);
        if first.end > most {
            self.wanted.push(most..first.end);
            first.end = most;
            return Some(Request::new(first));
        }
        let mut request = Request::new(first);
        let end = &mut request.range.end;
        while let Some(next) = self
            .wanted
            .pop_if(|next| next.start - *end <= self.max_gap && next.end <= most)
        {
            *end = next.end;
            request.wanted.push(next);
        }
        Some(request)
    }
}

fn length(range: &Range<u64>) -> u64 {
    range.end - range.start
}
