//! Lists of byte ranges.

use std::ops::Range;

/// Returns the number of bytes in disjoint ranges.
pub fn bytes(ranges: &[Range<u64>]) -> u64 {
    ranges.iter().map(|range| range.end - range.start).sum()
}

/// Sorts ranges, merging ranges that overlap or touch.
pub fn union(mut ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    ranges.retain(|range| !range.is_empty());
    ranges.sort_unstable_by_key(|range| range.start);
    ranges.dedup_by(|next, last| {
        let touches = next.start <= last.end;
        if touches {
            last.end = last.end.max(next.end);
        }
        touches
    });
    ranges
}

/// Returns the parts of `ranges` outside of all `others`. Both lists must be ascending and disjoint.
pub fn without(ranges: &[Range<u64>], others: &[Range<u64>]) -> Vec<Range<u64>> {
    let mut rest = Vec::new();
    for range in ranges {
        let mut next = range.start;
        let first = others.partition_point(|other| other.end <= range.start);
        let others = others.iter().skip(first);
        for other in others.take_while(|other| other.start < range.end) {
            if next < other.start {
                rest.push(next..other.start);
            }
            next = other.end;
        }
        if next < range.end {
            rest.push(next..range.end);
        }
    }
    rest
}
