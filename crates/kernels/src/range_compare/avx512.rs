//! Compares with AVX-512, whose comparisons produce one bit per number.

use std::arch::x86_64::*;

macro_rules! block {
    ($block:ident, $type:ty, $lanes:literal, load $load:ident, set $set:ident, ge $ge:ident, le $le:ident) => {
        /// Returns one bit per number, which is set if the number lies between `low` and `high`, both inclusive.
        #[target_feature(enable = "avx512f,avx512bw,avx512vl")]
        #[inline]
        pub(super) fn $block(block: &[$type; 64], (low, high): ($type, $type)) -> u64 {
            let (low, high) = ($set(low), $set(high));
            let (vectors, _) = block.as_chunks::<$lanes>();
            vectors.iter().enumerate().fold(0, |bits, (i, vector)| {
                // SAFETY: a vector has as many lanes as the chunk has numbers.
                let values = unsafe { $load(vector.as_ptr()) };
                let is_between = $ge(values, low) & $le(values, high);
                bits | u64::from(is_between) << ($lanes * i)
            })
        }
    };
}
block!(
    block_i32, i32, 16,
    load _mm512_loadu_epi32, set _mm512_set1_epi32, ge _mm512_cmpge_epi32_mask, le _mm512_cmple_epi32_mask
);
block!(
    block_i64, i64, 8,
    load _mm512_loadu_epi64, set _mm512_set1_epi64, ge _mm512_cmpge_epi64_mask, le _mm512_cmple_epi64_mask
);

/// Returns one bit per number, which is set if the number lies between `low` and `high`, both inclusive.
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
#[inline]
pub(super) fn block_i128(block: &[i128; 64], (low, high): (i128, i128)) -> u64 {
    let lower = |value: i128| _mm512_set1_epi64(value as i64);
    let upper = |value: i128| _mm512_set1_epi64((value >> 64) as i64);
    let (even, odd) = (
        _mm512_setr_epi64(0, 2, 4, 6, 8, 10, 12, 14),
        _mm512_setr_epi64(1, 3, 5, 7, 9, 11, 13, 15),
    );
    let (vectors, _) = block.as_chunks::<8>();
    let mut bits = 0;
    for (i, numbers) in vectors.iter().enumerate() {
        let numbers = numbers.as_ptr().cast::<i64>();
        // SAFETY: eight numbers are two vectors, with the lower half of each number first.
        let (first, second) = unsafe {
            (
                _mm512_loadu_epi64(numbers),
                _mm512_loadu_epi64(numbers.add(8)),
            )
        };
        let lowers = _mm512_permutex2var_epi64(first, even, second);
        let uppers = _mm512_permutex2var_epi64(first, odd, second);
        // If the upper halves differ, they decide.
        let is_not_below = _mm512_cmpgt_epi64_mask(uppers, upper(low))
            | _mm512_cmpeq_epi64_mask(uppers, upper(low))
                & _mm512_cmpge_epu64_mask(lowers, lower(low));
        let is_not_above = _mm512_cmplt_epi64_mask(uppers, upper(high))
            | _mm512_cmpeq_epi64_mask(uppers, upper(high))
                & _mm512_cmple_epu64_mask(lowers, lower(high));
        bits |= u64::from(is_not_below & is_not_above) << (8 * i);
    }
    bits
}
