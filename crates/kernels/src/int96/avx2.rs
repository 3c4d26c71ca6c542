//! INT96 with AVX2, which converts four values, or 48 bytes, at a time.
//!
//! We load the values as two overlapping vectors, and permutations collect the nanoseconds and the days. AVX2 can
//! neither multiply nor divide 64-bit integers. But days fit into 32 bits, so two 32-bit products suffice. We divide
//! the nanoseconds of a day as floating-point numbers.

use std::arch::x86_64::*;

use super::{JULIAN_EPOCH, NANOS_PER_DAY, last_day, nanos_per_unit, units_per_day};

/// The number of values that we convert at a time.
pub(super) const BLOCK: usize = 4;

/// Converts whole blocks, and returns true if all values are usual.
///
/// # Safety
/// There are as many values as slots, a multiple of [`BLOCK`], and there is memory for the slots.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn convert<const PER_SECOND: i64>(values: &[[u8; 12]], slots: *mut i64) -> bool {
    // These are the 32-bit parts of values 0 to 3. The second vector begins with part 4.
    let nanos_low = _mm256_setr_epi32(0, 1, 3, 4, 6, 7, 0, 0);
    let nanos_high = _mm256_setr_epi32(0, 0, 0, 0, 0, 0, 5, 6);
    let days_low = _mm256_setr_epi32(2, 5, 0, 0, 0, 0, 0, 0);
    let days_high = _mm256_setr_epi32(0, 0, 4, 7, 0, 0, 0, 0);
    // The days must fit into 32 bits, because products have signed 32-bit factors.
    let last_day = const {
        if last_day(PER_SECOND) < i32::MAX as i64 {
            last_day(PER_SECOND)
        } else {
            i32::MAX as i64
        }
    };
    let per_day_low = const { units_per_day(PER_SECOND) as i32 as i64 };
    let per_day_high =
        const { (units_per_day(PER_SECOND) - units_per_day(PER_SECOND) as i32 as i64) >> 32 };
    let mut unusual = _mm256_setzero_si256();
    for (i, block) in values.as_chunks::<BLOCK>().0.iter().enumerate() {
        let from = block.as_ptr().cast::<u8>();
        // SAFETY: a block has 48 bytes, so 32 bytes are readable from each of the two positions.
        let (low, high) = unsafe {
            (
                _mm256_loadu_si256(from.cast()),
                _mm256_loadu_si256(from.add(16).cast()),
            )
        };
        let nanos = _mm256_blend_epi32::<0b1100_0000>(
            _mm256_permutevar8x32_epi32(low, nanos_low),
            _mm256_permutevar8x32_epi32(high, nanos_high),
        );
        let days = _mm256_blend_epi32::<0b0000_1100>(
            _mm256_permutevar8x32_epi32(low, days_low),
            _mm256_permutevar8x32_epi32(high, days_high),
        );
        let days = _mm256_cvtepi32_epi64(_mm256_castsi256_si128(days));
        let days = _mm256_sub_epi64(days, _mm256_set1_epi64x(JULIAN_EPOCH));
        for outside in [
            _mm256_cmpgt_epi64(days, _mm256_set1_epi64x(last_day)),
            _mm256_cmpgt_epi64(_mm256_set1_epi64x(-last_day), days),
            _mm256_cmpgt_epi64(nanos, _mm256_set1_epi64x(NANOS_PER_DAY - 1)),
            _mm256_cmpgt_epi64(_mm256_setzero_si256(), nanos),
        ] {
            unusual = _mm256_or_si256(unusual, outside);
        }
        let low = _mm256_mul_epi32(days, _mm256_set1_epi64x(per_day_low));
        let high = _mm256_mul_epi32(days, _mm256_set1_epi64x(per_day_high));
        let whole_days = _mm256_add_epi64(low, _mm256_slli_epi64::<32>(high));
        let units = _mm256_add_epi64(whole_days, units::<PER_SECOND>(nanos));
        // SAFETY: there are as many slots as values.
        unsafe { _mm256_storeu_si256(slots.add(i * BLOCK).cast(), units) };
    }
    _mm256_testz_si256(unusual, unusual) == 1
}

/// Converts nanoseconds of a day to units, rounded down.
#[inline]
#[target_feature(enable = "avx2")]
fn units<const PER_SECOND: i64>(nanos: __m256i) -> __m256i {
    /// 2^52, whose unit in the last place is 1. If we add a smaller number to it, the number ends up in its lowest
    /// bits.
    const WHOLE: f64 = (1_u64 << 52) as f64;
    let nanos_per_unit = const { nanos_per_unit(PER_SECOND) };
    if nanos_per_unit == 1 {
        return nanos;
    }
    let whole = _mm256_set1_pd(WHOLE);
    let bits = _mm256_castpd_si256(whole);
    let number = _mm256_sub_pd(_mm256_castsi256_pd(_mm256_or_si256(nanos, bits)), whole);
    // Numbers below 2^47 are exact. The quotient is rounded down correctly, because its distance from the next whole
    // number exceeds the rounding error.
    let quotient = _mm256_floor_pd(_mm256_div_pd(number, _mm256_set1_pd(nanos_per_unit as f64)));
    _mm256_xor_si256(_mm256_castpd_si256(_mm256_add_pd(quotient, whole)), bits)
}
