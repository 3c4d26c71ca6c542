//! INT96 with AVX-512, which converts eight values, or 96 bytes, at a time.
//!
//! We load the values as two overlapping vectors. One permutation collects the nanoseconds, and another one collects
//! the days.

use std::arch::x86_64::*;

use crate::prefetch;

use super::{JULIAN_EPOCH, NANOS_PER_DAY, last_day, nanos_per_unit, units_per_day};

/// The number of values that we convert at a time.
pub(super) const BLOCK: usize = 8;

/// The positions of the 32-bit parts that have the nanoseconds of values 0 to 7. The second vector begins with part 8.
const NANOS: [i32; 16] = [0, 1, 3, 4, 6, 7, 9, 10, 12, 13, 15, 24, 26, 27, 29, 30];
/// The positions of the 32-bit parts that have the days of values 0 to 7. The second vector begins with part 8.
const DAYS: [i32; 16] = [2, 5, 8, 11, 14, 25, 28, 31, 0, 0, 0, 0, 0, 0, 0, 0];

/// Converts whole blocks, and returns true if all values are usual.
///
/// # Safety
/// There are as many values as slots, a multiple of [`BLOCK`], and there is memory for the slots.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq")]
pub(super) unsafe fn convert<const PER_SECOND: i64>(values: &[[u8; 12]], slots: *mut i64) -> bool {
    // SAFETY: both arrays are as long as a vector.
    let (nanos_at, days_at) = unsafe {
        (
            _mm512_loadu_si512(NANOS.as_ptr().cast()),
            _mm512_loadu_si512(DAYS.as_ptr().cast()),
        )
    };
    let last_day = const { last_day(PER_SECOND) };
    let mut usual = 0xff;
    for (i, block) in values.as_chunks::<BLOCK>().0.iter().enumerate() {
        let from = block.as_ptr().cast::<u8>();
        prefetch::ahead(from);
        prefetch::ahead(from.wrapping_add(64));
        // SAFETY: a block has 96 bytes, so 64 bytes are readable from each of the two positions.
        let (low, high) = unsafe {
            (
                _mm512_loadu_si512(from.cast()),
                _mm512_loadu_si512(from.add(32).cast()),
            )
        };
        let nanos = _mm512_permutex2var_epi32(low, nanos_at, high);
        let days = _mm512_permutex2var_epi32(low, days_at, high);
        let days = _mm512_cvtepi32_epi64(_mm512_castsi512_si256(days));
        let days = _mm512_sub_epi64(days, _mm512_set1_epi64(JULIAN_EPOCH));
        // After we shift the days by the range, days outside it on either side are greater than the bound.
        let shifted = _mm512_add_epi64(days, _mm512_set1_epi64(last_day));
        usual &= _mm512_cmple_epu64_mask(shifted, _mm512_set1_epi64(last_day.saturating_mul(2)));
        usual &= _mm512_cmplt_epu64_mask(nanos, _mm512_set1_epi64(NANOS_PER_DAY));
        let whole_days = _mm512_mullo_epi64(days, _mm512_set1_epi64(units_per_day(PER_SECOND)));
        let units = _mm512_add_epi64(whole_days, units::<PER_SECOND>(nanos));
        // SAFETY: there are as many slots as values.
        unsafe { _mm512_storeu_si512(slots.add(i * BLOCK).cast(), units) };
    }
    usual == 0xff
}

/// Converts nanoseconds of a day to units, rounded down.
#[inline]
#[target_feature(enable = "avx512f,avx512dq")]
fn units<const PER_SECOND: i64>(nanos: __m512i) -> __m512i {
    let nanos_per_unit = const { nanos_per_unit(PER_SECOND) };
    if nanos_per_unit == 1 {
        return nanos;
    }
    // Numbers below 2^47 are exact. The quotient is rounded down correctly, because its distance from the next whole
    // number exceeds the rounding error.
    let quotient = _mm512_div_pd(
        _mm512_cvtepu64_pd(nanos),
        _mm512_set1_pd(nanos_per_unit as f64),
    );
    _mm512_cvttpd_epu64(quotient)
}
