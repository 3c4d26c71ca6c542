//! Bounds of positions with AVX2: two positions in a vector.

use std::arch::x86_64::*;

use super::{PositionBounds, PositionBytes};

#[target_feature(enable = "avx2")]
pub(super) fn bounds<const WITH_SPREAD: bool>(
    sequences: &[impl AsRef<[PositionBytes]>],
) -> PositionBounds {
    // Two, so that half of the comparisons don't wait for the other half.
    let (mut even, mut odd) = (Lanes::none(), Lanes::none());
    let mut unknown = _mm256_setzero_pd();
    for sequence in sequences {
        let sequence = sequence.as_ref();
        let Some(first) = sequence.first() else {
            continue;
        };
        let first = twice(first);
        unknown = _mm256_or_pd(unknown, _mm256_cmp_pd::<_CMP_UNORD_Q>(first, first));
        let (pairs, single) = sequence.as_chunks::<2>();
        let (blocks, last) = pairs.as_chunks::<2>();
        for [a, b] in blocks {
            even.add::<WITH_SPREAD>(both(a), first);
            odd.add::<WITH_SPREAD>(both(b), first);
        }
        if let [pair] = last {
            even.add::<WITH_SPREAD>(both(pair), first);
        }
        if let [position] = single {
            odd.add::<WITH_SPREAD>(twice(position), first);
        }
    }
    let mut lanes = even.merge(odd);
    if WITH_SPREAD {
        let infinite = _mm256_set1_pd(f64::INFINITY);
        lanes.spread = _mm256_blendv_pd(lanes.spread, infinite, unknown);
    }
    lanes.finish()
}

/// The numbers of two positions.
#[inline]
#[target_feature(enable = "avx2")]
fn both(positions: &[PositionBytes; 2]) -> __m256d {
    // SAFETY: there are 32 bytes.
    unsafe { _mm256_loadu_pd(positions.as_ptr().cast()) }
}

/// The numbers of a position, twice.
#[inline]
#[target_feature(enable = "avx2")]
fn twice(position: &PositionBytes) -> __m256d {
    let [x, y] = position.map(f64::from_le_bytes);
    _mm256_setr_pd(x, y, x, y)
}

/// Bounds of x and y of every other position.
#[derive(Clone, Copy)]
struct Lanes {
    min: __m256d,
    max: __m256d,
    spread: __m256d,
}

// The least and the greatest of two numbers are the second one where either is NaN: what was found comes second.
impl Lanes {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn none() -> Self {
        Self {
            min: _mm256_set1_pd(f64::INFINITY),
            max: _mm256_set1_pd(f64::NEG_INFINITY),
            spread: _mm256_setzero_pd(),
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn add<const WITH_SPREAD: bool>(&mut self, positions: __m256d, first: __m256d) {
        self.min = _mm256_min_pd(positions, self.min);
        self.max = _mm256_max_pd(positions, self.max);
        if WITH_SPREAD {
            let sign = _mm256_set1_pd(-0.0);
            let distance = _mm256_andnot_pd(sign, _mm256_sub_pd(positions, first));
            self.spread = _mm256_max_pd(distance, self.spread);
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn merge(self, other: Self) -> Self {
        Self {
            min: _mm256_min_pd(other.min, self.min),
            max: _mm256_max_pd(other.max, self.max),
            spread: _mm256_max_pd(other.spread, self.spread),
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn finish(self) -> PositionBounds {
        let halves = |it| (_mm256_extractf128_pd::<1>(it), _mm256_castpd256_pd128(it));
        let (min, before) = halves(self.min);
        let min = _mm_min_pd(min, before);
        let (max, before) = halves(self.max);
        let max = _mm_max_pd(max, before);
        let (spread, before) = halves(self.spread);
        let spread = _mm_max_pd(spread, before);
        let pair = |it| [_mm_cvtsd_f64(it), _mm_cvtsd_f64(_mm_unpackhi_pd(it, it))];
        PositionBounds {
            min: pair(min),
            max: pair(max),
            spread: pair(spread),
        }
    }
}
