//! Comparisons with AVX-512, which produce one bit per number.

use std::arch::x86_64::*;

macro_rules! block {
    ($block:ident, $type:ty, $lanes:literal, load $load:ident, set $set:ident, ge $ge:ident, le $le:ident) => {
        /// Returns one bit per number, set if it lies between `low` and `high`, both inclusive.
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
