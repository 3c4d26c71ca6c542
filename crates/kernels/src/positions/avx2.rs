//! Computes the bounds of positions with AVX2, with two positions in a vector.

use std::arch::x86_64::*;

use super::{PositionBounds, PositionBytes};

#[target_feature(enable = "avx2")]
pub(super) fn bounds<const WITH_SPREAD: bool>(
    sequences: &[impl AsRef<[PositionBytes]>],
) -> PositionBounds {
    // There are two accumulators, so that one half of the comparisons does not wait for the other half.
    let (mut even, mut odd) = (Lanes::none(), Lanes::none());
    let mut spread = Spread::none();
    for sequence in sequences {
        let sequence = sequence.as_ref();
        let Some(first) = sequence.first() else {
            continue;
        };
        if WITH_SPREAD {
            spread.start(f64::from_le_bytes(first[0]));
        }
        let (pairs, single) = sequence.as_chunks::<2>();
        let (blocks, last) = pairs.as_chunks::<2>();
        for [a, b] in blocks {
            let (a, b) = (both(a), both(b));
            even.add(a);
            odd.add(b);
            if WITH_SPREAD {
                spread.add(a, b);
            }
        }
        if let [pair] = last {
            let pair = both(pair);
            even.add(pair);
            if WITH_SPREAD {
                spread.add(pair, pair);
            }
        }
        if let [position] = single {
            let position = twice(position);
            odd.add(position);
            if WITH_SPREAD {
                spread.add(position, position);
            }
        }
    }
    let lanes = even.merge(odd);
    PositionBounds {
        min: lanes.finish_min(),
        max: lanes.finish_max(),
        x_spread: if WITH_SPREAD { spread.finish() } else { 0.0 },
    }
}

/// Returns the numbers of two positions.
#[inline]
#[target_feature(enable = "avx2")]
fn both(positions: &[PositionBytes; 2]) -> __m256d {
    // SAFETY: two positions have 32 bytes.
    unsafe { _mm256_loadu_pd(positions.as_ptr().cast()) }
}

/// Returns a position's numbers, twice.
#[inline]
#[target_feature(enable = "avx2")]
fn twice(position: &PositionBytes) -> __m256d {
    let [x, y] = position.map(f64::from_le_bytes);
    _mm256_setr_pd(x, y, x, y)
}

/// The bounds of x and y for every other position.
#[derive(Clone, Copy)]
struct Lanes {
    min: __m256d,
    max: __m256d,
}

// If either operand is NaN, the minimum and maximum instructions return the second one. So the current bounds are
// always the second operand.
impl Lanes {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn none() -> Self {
        Self {
            min: _mm256_set1_pd(f64::INFINITY),
            max: _mm256_set1_pd(f64::NEG_INFINITY),
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn add(&mut self, positions: __m256d) {
        self.min = _mm256_min_pd(positions, self.min);
        self.max = _mm256_max_pd(positions, self.max);
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn merge(self, other: Self) -> Self {
        Self {
            min: _mm256_min_pd(other.min, self.min),
            max: _mm256_max_pd(other.max, self.max),
        }
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn finish_min(self) -> [f64; 2] {
        let (a, b) = halves(self.min);
        pair(_mm_min_pd(a, b))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn finish_max(self) -> [f64; 2] {
        let (a, b) = halves(self.max);
        pair(_mm_max_pd(a, b))
    }
}

/// The largest distance between a position's x and the x of the first position in its sequence.
struct Spread {
    first: __m256d,
    farthest: __m256d,
    /// All bits of a lane are set if a first position's x is NaN.
    unknown: __m256d,
}

impl Spread {
    #[inline]
    #[target_feature(enable = "avx2")]
    fn none() -> Self {
        Self {
            first: _mm256_setzero_pd(),
            farthest: _mm256_setzero_pd(),
            unknown: _mm256_setzero_pd(),
        }
    }

    /// Starts a sequence.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn start(&mut self, first: f64) {
        self.first = _mm256_set1_pd(first);
        let is_nan = _mm256_cmp_pd::<_CMP_UNORD_Q>(self.first, self.first);
        self.unknown = _mm256_or_pd(self.unknown, is_nan);
    }

    /// Adds two positions, and two more.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn add(&mut self, a: __m256d, b: __m256d) {
        let xs = _mm256_unpacklo_pd(a, b);
        let distance = _mm256_andnot_pd(_mm256_set1_pd(-0.0), _mm256_sub_pd(xs, self.first));
        self.farthest = _mm256_max_pd(distance, self.farthest);
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn finish(self) -> f64 {
        let infinite = _mm256_set1_pd(f64::INFINITY);
        let (a, b) = halves(_mm256_blendv_pd(self.farthest, infinite, self.unknown));
        let [a, b] = pair(_mm_max_pd(a, b));
        a.max(b)
    }
}

#[inline]
#[target_feature(enable = "avx2")]
fn halves(lanes: __m256d) -> (__m128d, __m128d) {
    (
        _mm256_castpd256_pd128(lanes),
        _mm256_extractf128_pd::<1>(lanes),
    )
}

#[inline]
#[target_feature(enable = "avx2")]
fn pair(lanes: __m128d) -> [f64; 2] {
    [
        _mm_cvtsd_f64(lanes),
        _mm_cvtsd_f64(_mm_unpackhi_pd(lanes, lanes)),
    ]
}
