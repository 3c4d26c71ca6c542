//! Counts the occurrences of each level.

use crate::multiversion::multiversion;

/// The maximum number of distinct levels that we count by separate comparisons.
const MAX_COMPARED_LEVELS: usize = 8;
/// The number of levels in a block, which is small enough that a count fits into a byte.
const BLOCK: usize = 128;

/// Adds the number of occurrences of each level in `levels` to `histogram[level]`. Levels past the end of
/// `histogram` are not counted.
pub fn count_levels(levels: &[u8], histogram: &mut [u64]) {
    if histogram.len() <= MAX_COMPARED_LEVELS {
        return count_by_comparisons(levels, histogram);
    }
    // There are several counters, so that a repeated level does not wait for its previous increment.
    let mut counts = [[0_u64; 256]; 4];
    for levels in levels.chunks(4) {
        for (counts, level) in counts.iter_mut().zip(levels) {
            counts[usize::from(*level)] += 1;
        }
    }
    for (level, sum) in histogram.iter_mut().enumerate().take(256) {
        *sum += counts.iter().map(|counts| counts[level]).sum::<u64>();
    }
}

/// Implements [`count_levels`] for few distinct levels, with one comparison for each of them.
fn count_by_comparisons(levels: &[u8], histogram: &mut [u64]) {
    multiversion!(inner(levels: &[u8], histogram: &mut [u64]))
}

#[inline(always)]
fn inner(levels: &[u8], histogram: &mut [u64]) {
    for block in levels.chunks(BLOCK) {
        for (level, count) in (0..).zip(histogram.iter_mut()) {
            let equal = block.iter().map(|other| u8::from(*other == level));
            *count += u64::from(equal.fold(0_u8, u8::wrapping_add));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd_lanes::noise;

    #[test]
    fn every_number_of_levels() {
        for len in [0, 1, 2, 3, 8, 9, 40, 256, 300] {
            for n in [0, 1, 127, 128, 129, 1000] {
                if cfg!(miri) && len * n > 1200 {
                    continue;
                }
                let levels: Vec<u8> = noise(n)
                    .iter()
                    .map(|byte| if len < 40 { byte % 12 } else { *byte })
                    .collect();
                let mut histogram = vec![5; len];
                count_levels(&levels, &mut histogram);
                for (level, count) in histogram.into_iter().enumerate() {
                    let expected = levels.iter().filter(|other| usize::from(**other) == level);
                    assert_eq!(count, 5 + expected.count() as u64, "{len} levels");
                }
            }
        }
        let mut histogram = [0; 2];
        const NUM_LEVELS: usize = if cfg!(miri) { 1000 } else { 100_000 };
        count_levels(&[1; NUM_LEVELS], &mut histogram);
        assert_eq!(histogram, [0, NUM_LEVELS as u64]);
    }
}
