//! Unpacking with AVX-512: a vector of values from a single load.
//!
//! The values of one output vector need at most 64 bytes of input. For each lane, two permutations fetch the input
//! element in which its value begins, and the next one. Two shifts, with different counts for each lane, join them:
//!
//! ```text
//! value = (input[i] >> s | input[i + 1] << (bits - s)) & mask     i, s from lane × width + start
//! ```
//!
//! A shift by `bits` returns zero. If a permutation fetches an element past the last one, the shift moves it to
//! bits that the mask clears. Masked loads and stores handle the end without a tail loop.

use std::arch::x86_64::*;
use std::mem::MaybeUninit;

use super::seek;
use crate::bitmap::low_bits;
use crate::cpu::Avx512;

/// Writes all of `out`: the values of `data` from value `first` on.
///
/// There is no shift for lanes of bytes. PDEP spreads them, which AVX2 processors also have.
#[inline(always)]
pub(super) fn unpack_u8(
    cpu: Avx512,
    data: &[u8],
    first: usize,
    width: u8,
    out: &mut [MaybeUninit<u8>],
) {
    super::avx2::unpack_u8(cpu.avx2(), data, first, width, out);
}

macro_rules! unpack {
    (
        $unpack:ident, $vectors:ident, $lane:ty, $lanes:literal, $signed:ty, mask $mask:ty,
        set $set:ident, add $add:ident, sub $sub:ident, mul $mul:ident, shift $shift:ident,
        permute $permute:ident, right $right:ident, left $left:ident, store $store:ident
    ) => {
        /// Writes all of `out`: the values of `data` from value `first` on.
        #[inline(always)]
        pub(super) fn $unpack(
            _: Avx512,
            data: &[u8],
            first: usize,
            width: u8,
            out: &mut [MaybeUninit<$lane>],
        ) {
            // SAFETY: the token proves that the instructions are available.
            unsafe { $vectors(data, first, width, out) }
        }

        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,bmi1,bmi2,lzcnt,popcnt")]
        fn $vectors(data: &[u8], first: usize, width: u8, out: &mut [MaybeUninit<$lane>]) {
            const BITS: u32 = <$lane>::BITS;
            const IOTA: [$lane; $lanes] = {
                let mut iota = [0; $lanes];
                let mut lane = 0;
                while lane < $lanes {
                    iota[lane] = lane as $lane;
                    lane += 1;
                }
                iota
            };
            let (data, inside) = seek(data, first, width);
            // SAFETY: the array is a whole vector.
            let iota = unsafe { _mm512_loadu_si512(IOTA.as_ptr().cast()) };
            let bit = $add($mul(iota, $set(width as $signed)), $set(inside as $signed));
            let element = $shift::<{ BITS.ilog2() }>(bit);
            let behind = $add(element, $set(1));
            let right = _mm512_and_si512(bit, $set(BITS as $signed - 1));
            let left = $sub($set(BITS as $signed), right);
            let mask = $set(low_bits(width.into()) as $signed);
            let values = |bytes: __m512i| {
                let low = $right($permute(element, bytes), right);
                let high = $left($permute(behind, bytes), left);
                _mm512_ternarylogic_epi64::<MASK_AND_EITHER>(mask, low, high)
            };
            let step = $lanes / 8 * usize::from(width);
            let (vectors, tail) = out.as_chunks_mut::<$lanes>();
            let mut at = 0;
            for to in vectors {
                let bytes = load(data, at);
                at += step;
                // SAFETY: the slots fill a whole vector.
                unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), values(bytes)) };
            }
            if !tail.is_empty() {
                let slots = low_bits(tail.len()) as $mask;
                // SAFETY: the mask selects the lanes with existing slots; no other lane is stored.
                unsafe { $store(tail.as_mut_ptr().cast(), slots, values(load(data, at))) };
            }
        }
    };
}

/// The truth table of `a & (b | c)`.
const MASK_AND_EITHER: i32 = 0b1110_0000;

unpack!(
    unpack_u16, vectors_u16, u16, 32, i16, mask __mmask32,
    set _mm512_set1_epi16, add _mm512_add_epi16, sub _mm512_sub_epi16, mul _mm512_mullo_epi16,
    shift _mm512_srli_epi16, permute _mm512_permutexvar_epi16, right _mm512_srlv_epi16,
    left _mm512_sllv_epi16, store _mm512_mask_storeu_epi16
);
unpack!(
    unpack_u32, vectors_u32, u32, 16, i32, mask __mmask16,
    set _mm512_set1_epi32, add _mm512_add_epi32, sub _mm512_sub_epi32, mul _mm512_mullo_epi32,
    shift _mm512_srli_epi32, permute _mm512_permutexvar_epi32, right _mm512_srlv_epi32,
    left _mm512_sllv_epi32, store _mm512_mask_storeu_epi32
);
unpack!(
    unpack_u64, vectors_u64, u64, 8, i64, mask __mmask8,
    set _mm512_set1_epi64, add _mm512_add_epi64, sub _mm512_sub_epi64, mul _mm512_mullo_epi64,
    shift _mm512_srli_epi64, permute _mm512_permutexvar_epi64, right _mm512_srlv_epi64,
    left _mm512_sllv_epi64, store _mm512_mask_storeu_epi64
);

/// Loads 64 bytes from byte `at` on, with zeros past the end.
#[inline]
#[target_feature(enable = "avx512f,avx512bw")]
fn load(data: &[u8], at: usize) -> __m512i {
    let there = data.len().saturating_sub(at);
    if there >= 64 {
        // SAFETY: at least 64 bytes are there.
        return unsafe { _mm512_loadu_si512(data.as_ptr().add(at).cast()) };
    }
    let rest = data.get(at..).unwrap_or_default();
    // SAFETY: the mask selects the existing bytes; no other byte is loaded.
    unsafe { _mm512_maskz_loadu_epi8(low_bits(there), rest.as_ptr().cast()) }
}
