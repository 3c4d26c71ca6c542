//! Plans for eight 32-bit or four 64-bit lanes.

use std::arch::x86_64::*;

use super::Packed;
use crate::bitmap::low_bits;

/// A plan that spreads packed values over eight 32-bit lanes.
#[derive(Clone, Copy)]
pub(crate) struct Plan32 {
    low: __m256i,
    high: __m256i,
    right: __m256i,
    left: __m256i,
    mask: __m256i,
    step: usize,
    shape: (usize, usize),
}

impl Plan32 {
    /// The number of lanes per register.
    pub(crate) const LANES: usize = 8;
    /// The largest bit width that a plan can spread.
    pub(crate) const WIDEST: usize = 32;

    /// Creates a plan for widths 0 to 32. Eight values and the bits before them always end within a register's 256
    /// bits. This is true for 7 + 8 * 31 bits, and values of 32 bits start at bit 0.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn new(run: &Packed<'_>) -> Self {
        let width = run.width as i32;
        let lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
        let bits = _mm256_add_epi32(
            _mm256_mullo_epi32(lanes, _mm256_set1_epi32(width)),
            _mm256_set1_epi32(run.shift as i32),
        );
        let low = _mm256_srli_epi32::<5>(bits);
        let right = _mm256_and_si256(bits, _mm256_set1_epi32(31));
        Self {
            low,
            high: _mm256_add_epi32(low, _mm256_set1_epi32(1)),
            right,
            left: _mm256_sub_epi32(_mm256_set1_epi32(32), right),
            mask: _mm256_srlv_epi32(_mm256_set1_epi32(-1), _mm256_set1_epi32(32 - width)),
            step: run.width,
            shape: run.shape(),
        }
    }

    /// Creates a plan for an empty run.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn none() -> Self {
        Self::new(&Packed::NONE)
    }

    /// Adapts the plan to `run`, unless it already fits, as it does for most runs.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn refit(&mut self, run: &Packed<'_>) {
        if self.shape != run.shape() {
            *self = Self::new(run);
        }
    }

    /// Returns the eight values in register `index` of the run. Lanes past its end are arbitrary.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn unpack(&self, run: &Packed<'_>, index: usize) -> __m256i {
        let words = load(run.data, index * self.step);
        let low = _mm256_srlv_epi32(_mm256_permutevar8x32_epi32(words, self.low), self.right);
        let high = _mm256_sllv_epi32(_mm256_permutevar8x32_epi32(words, self.high), self.left);
        _mm256_and_si256(_mm256_or_si256(low, high), self.mask)
    }
}

/// A plan that spreads packed values over four 64-bit lanes.
///
/// Four values may end in the middle of a byte. Then every other register starts four bits later or earlier than its
/// neighbours, so there is one plan for each of the two cases.
#[derive(Clone, Copy)]
pub(crate) struct Plan64 {
    even: Half,
    odd: Half,
    mask: __m256i,
    step: usize,
    middle: usize,
    shape: (usize, usize),
}

#[derive(Clone, Copy)]
struct Half {
    low: __m256i,
    high: __m256i,
    right: __m256i,
    left: __m256i,
}

impl Plan64 {
    /// The number of lanes per register.
    pub(crate) const LANES: usize = 4;
    /// The largest bit width that a plan can spread, because 7 + 4 * 62 bits end within a register.
    pub(crate) const WIDEST: usize = 62;

    /// Creates a plan for widths 0 to [`Self::WIDEST`].
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn new(run: &Packed<'_>) -> Self {
        let middle = run.shift + 4 * run.width;
        Self {
            even: Half::new(run.shift, run.width),
            odd: Half::new(middle % 8, run.width),
            mask: _mm256_set1_epi64x(low_bits(run.width).cast_signed()),
            step: run.width,
            shape: run.shape(),
            middle: middle / 8,
        }
    }

    /// Creates a plan for an empty run.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn none() -> Self {
        Self::new(&Packed::NONE)
    }

    /// Adapts the plan to `run`, unless it already fits, as it does for most runs.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn refit(&mut self, run: &Packed<'_>) {
        if self.shape != run.shape() {
            *self = Self::new(run);
        }
    }

    /// Returns the four values in register `index` of the run. Lanes past its end are arbitrary.
    #[inline]
    #[target_feature(enable = "avx2")]
    pub(crate) fn unpack(&self, run: &Packed<'_>, index: usize) -> __m256i {
        let start = index / 2 * self.step;
        let (half, start) = match index % 2 {
            0 => (&self.even, start),
            _ => (&self.odd, start + self.middle),
        };
        let words = load(run.data, start);
        let low = _mm256_srlv_epi64(_mm256_permutevar8x32_epi32(words, half.low), half.right);
        let high = _mm256_sllv_epi64(_mm256_permutevar8x32_epi32(words, half.high), half.left);
        _mm256_and_si256(_mm256_or_si256(low, high), self.mask)
    }
}

impl Half {
    /// Creates the half of a plan for registers that start at bit `shift`.
    ///
    /// If a value starts in 32-bit word `w`, its window is the words `w` and `w + 1`, and the next window is `w + 2`
    /// and `w + 3`. The permutation takes indices modulo 8, but words that wrap around contain no bits of a value.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn new(shift: usize, width: usize) -> Self {
        let products = _mm256_mul_epu32(
            _mm256_setr_epi64x(0, 1, 2, 3),
            _mm256_set1_epi64x(width as i64),
        );
        let bits = _mm256_add_epi64(products, _mm256_set1_epi64x(shift as i64));
        let word = _mm256_srli_epi64::<5>(bits);
        let pair = _mm256_or_si256(word, _mm256_slli_epi64::<32>(word));
        let right = _mm256_and_si256(bits, _mm256_set1_epi64x(31));
        Self {
            low: _mm256_add_epi32(pair, _mm256_set1_epi64x(1 << 32)),
            high: _mm256_add_epi32(pair, _mm256_set1_epi64x((3 << 32) | 2)),
            right,
            left: _mm256_sub_epi64(_mm256_set1_epi64x(64), right),
        }
    }
}

/// Loads 32 bytes of `data` from `start` on, with zeros past its end.
#[inline]
#[target_feature(enable = "avx2")]
fn load(data: &[u8], start: usize) -> __m256i {
    if data.len() >= start + 32 {
        // SAFETY: `data` has the 32 bytes to read; the load needs no alignment.
        unsafe { _mm256_loadu_si256(data.as_ptr().add(start).cast()) }
    } else {
        load_near_end(data.get(start..).unwrap_or_default())
    }
}

/// Loads fewer than 32 bytes, padded with zeros.
#[target_feature(enable = "avx2")]
fn load_near_end(rest: &[u8]) -> __m256i {
    let mut padded = [0; 32];
    for (to, from) in padded.iter_mut().zip(rest) {
        *to = *from;
    }
    // SAFETY: `padded` has the 32 bytes to read; the load needs no alignment.
    unsafe { _mm256_loadu_si256(padded.as_ptr().cast()) }
}
