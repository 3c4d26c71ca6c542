//! Plans for sixteen 32-bit or eight 64-bit lanes.

use std::arch::x86_64::*;

use super::Packed;

/// A plan that spreads packed values over sixteen 32-bit lanes.
#[derive(Clone, Copy)]
pub(crate) struct Plan32 {
    low: __m512i,
    high: __m512i,
    right: __m512i,
    left: __m512i,
    mask: __m512i,
    step: usize,
    shape: (usize, usize),
}

/// A plan that spreads packed values over eight 64-bit lanes.
#[derive(Clone, Copy)]
pub(crate) struct Plan64 {
    low: __m512i,
    high: __m512i,
    right: __m512i,
    left: __m512i,
    mask: __m512i,
    step: usize,
    shape: (usize, usize),
}

/// A plan that spreads packed values over two registers of 32-bit lanes, one for even positions and one for odd
/// positions.
///
/// With this plan, sums of neighbours are sums of registers.
#[derive(Clone, Copy)]
pub(crate) struct PairsPlan {
    even: Lanes,
    odd: Lanes,
    mask: __m512i,
    /// The number of bytes that half the values take.
    half: usize,
    shape: (usize, usize),
}

/// The positions of one register's values in two registers of packed words.
#[derive(Clone, Copy)]
struct Lanes {
    low: __m512i,
    high: __m512i,
    right: __m512i,
    left: __m512i,
}

impl PairsPlan {
    /// The number of values in both registers.
    pub(crate) const VALUES: usize = 32;

    /// Creates a plan for widths 0 to 32. The first sixteen values lie in the words at the start of the run, and the
    /// others in the words from the start of the seventeenth value on. Both halves end within a register's 512 bits, as
    /// in [`Plan32::new`].
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    pub(crate) fn new(run: &Packed<'_>) -> Self {
        let lanes = |first: i32| {
            let places = _mm512_set_epi32(14, 12, 10, 8, 6, 4, 2, 0, 14, 12, 10, 8, 6, 4, 2, 0);
            let places = _mm512_add_epi32(places, _mm512_set1_epi32(first));
            let (word, right) = place_32(run, places);
            // The words from 16 on belong to the second half.
            let low = _mm512_mask_add_epi32(word, 0xff00, word, _mm512_set1_epi32(16));
            Lanes {
                low,
                high: _mm512_add_epi32(low, _mm512_set1_epi32(1)),
                right,
                left: _mm512_sub_epi32(_mm512_set1_epi32(32), right),
            }
        };
        Self {
            even: lanes(0),
            odd: lanes(1),
            mask: mask_32(run),
            half: run.width * 2,
            shape: run.shape(),
        }
    }

    /// Creates a plan for an empty run.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    pub(crate) fn none() -> Self {
        Self::new(&Packed::NONE)
    }

    /// Adapts the plan to `run`, unless it already fits, as it does for most runs.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    pub(crate) fn refit(&mut self, run: &Packed<'_>) {
        if self.shape != run.shape() {
            *self = Self::new(run);
        }
    }

    /// Returns the values in group `index` of the run, first at even positions, then at odd positions. Values past the
    /// end of the run are arbitrary.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    pub(crate) fn unpack(&self, run: &Packed<'_>, index: usize) -> (__m512i, __m512i) {
        let start = index * 2 * self.half;
        let first = load(run.data, start);
        let second = load(run.data, start + self.half);
        let values = |at: &Lanes| {
            let low = _mm512_permutex2var_epi32(first, at.low, second);
            let high = _mm512_permutex2var_epi32(first, at.high, second);
            let bits = _mm512_or_si512(
                _mm512_srlv_epi32(low, at.right),
                _mm512_sllv_epi32(high, at.left),
            );
            _mm512_and_si512(bits, self.mask)
        };
        (values(&self.even), values(&self.odd))
    }
}

impl Plan32 {
    /// The number of lanes per register.
    pub(crate) const LANES: usize = 16;
    /// The largest bit width that a plan can spread.
    pub(crate) const WIDEST: usize = 32;

    /// Creates a plan for widths 0 to 32. Sixteen values and the bits before them always end within a register's 512
    /// bits. This is true for 7 + 16 * 31 bits, and values of 32 bits start at bit 0.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    pub(crate) fn new(run: &Packed<'_>) -> Self {
        let lanes = _mm512_set_epi32(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0);
        let (low, right) = place_32(run, lanes);
        Self {
            low,
            high: _mm512_add_epi32(low, _mm512_set1_epi32(1)),
            right,
            left: _mm512_sub_epi32(_mm512_set1_epi32(32), right),
            mask: mask_32(run),
            step: run.width * 2,
            shape: run.shape(),
        }
    }

    /// Creates a plan for an empty run.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    pub(crate) fn none() -> Self {
        Self::new(&Packed::NONE)
    }

    /// Adapts the plan to `run`, unless it already fits, as it does for most runs.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    pub(crate) fn refit(&mut self, run: &Packed<'_>) {
        if self.shape != run.shape() {
            *self = Self::new(run);
        }
    }

    /// Returns the sixteen values in register `index` of the run. Lanes past its end are arbitrary.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    pub(crate) fn unpack(&self, run: &Packed<'_>, index: usize) -> __m512i {
        let words = load(run.data, index * self.step);
        let low = _mm512_srlv_epi32(_mm512_permutexvar_epi32(self.low, words), self.right);
        let high = _mm512_sllv_epi32(_mm512_permutexvar_epi32(self.high, words), self.left);
        _mm512_and_si512(_mm512_or_si512(low, high), self.mask)
    }
}

impl Plan64 {
    /// The number of lanes per register.
    pub(crate) const LANES: usize = 8;
    /// The largest bit width that a plan can spread.
    pub(crate) const WIDEST: usize = 64;

    /// Creates a plan for widths 0 to 64. Eight values and the bits before them always end within a register's 512
    /// bits. This is true for 7 + 8 * 63 bits, and values of 64 bits start at bit 0.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    pub(crate) fn new(run: &Packed<'_>) -> Self {
        let width = run.width as i64;
        // A 32-bit product suffices, because products of lane and width have at most 9 bits.
        let products = _mm512_mul_epu32(
            _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0),
            _mm512_set1_epi64(width),
        );
        let bits = _mm512_add_epi64(products, _mm512_set1_epi64(run.shift as i64));
        let low = _mm512_srli_epi64::<6>(bits);
        let right = _mm512_and_si512(bits, _mm512_set1_epi64(63));
        Self {
            low,
            high: _mm512_add_epi64(low, _mm512_set1_epi64(1)),
            right,
            left: _mm512_sub_epi64(_mm512_set1_epi64(64), right),
            mask: _mm512_srlv_epi64(_mm512_set1_epi64(-1), _mm512_set1_epi64(64 - width)),
            step: run.width,
            shape: run.shape(),
        }
    }

    /// Creates a plan for an empty run.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    pub(crate) fn none() -> Self {
        Self::new(&Packed::NONE)
    }

    /// Adapts the plan to `run`, unless it already fits, as it does for most runs.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    pub(crate) fn refit(&mut self, run: &Packed<'_>) {
        if self.shape != run.shape() {
            *self = Self::new(run);
        }
    }

    /// Returns the eight values in register `index` of the run. Lanes past its end are arbitrary.
    #[inline]
    #[target_feature(enable = "avx512f,avx512bw")]
    pub(crate) fn unpack(&self, run: &Packed<'_>, index: usize) -> __m512i {
        let words = load(run.data, index * self.step);
        let low = _mm512_srlv_epi64(_mm512_permutexvar_epi64(self.low, words), self.right);
        let high = _mm512_sllv_epi64(_mm512_permutexvar_epi64(self.high, words), self.left);
        _mm512_and_si512(_mm512_or_si512(low, high), self.mask)
    }
}

/// Returns the 32-bit words in which the values at `places` of a run start, and the bits at which they start in these
/// words.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn place_32(run: &Packed<'_>, places: __m512i) -> (__m512i, __m512i) {
    let bits = _mm512_add_epi32(
        _mm512_mullo_epi32(places, _mm512_set1_epi32(run.width as i32)),
        _mm512_set1_epi32(run.shift as i32),
    );
    let right = _mm512_and_si512(bits, _mm512_set1_epi32(31));
    (_mm512_srli_epi32::<5>(bits), right)
}

/// Returns a mask for the lowest `width` bits of each 32-bit lane.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn mask_32(run: &Packed<'_>) -> __m512i {
    _mm512_srlv_epi32(
        _mm512_set1_epi32(-1),
        _mm512_set1_epi32(32 - run.width as i32),
    )
}

/// Loads 64 bytes of `data` from `start` on, with zeros past its end.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn load(data: &[u8], start: usize) -> __m512i {
    if data.len() >= start + 64 {
        // SAFETY: `data` has the 64 bytes to read; the load needs no alignment.
        unsafe { _mm512_loadu_si512(data.as_ptr().add(start).cast()) }
    } else {
        let rest = data.get(start..).unwrap_or_default();
        // SAFETY: only the bytes of `rest` are read; the masked ones are not touched.
        unsafe { _mm512_maskz_loadu_epi8((1 << rest.len()) - 1, rest.as_ptr().cast()) }
    }
}
