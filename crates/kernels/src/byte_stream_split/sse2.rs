//! Joins values of 8 bytes or more, in steps that join eight streams for sixteen values.
//!
//! For each value, a step writes eight bytes. The last step takes the last eight streams even if some of them have been
//! written before, so no width needs a remainder.

use std::arch::x86_64::*;

use super::{Streams, scalar};

const BLOCK: usize = 16;

/// Joins whole blocks with vectors, and the remaining values in portable code.
///
/// # Safety
/// See [`join`](super::join); the width is 8 or more.
pub(super) unsafe fn join(streams: &Streams<'_>, width: usize, out: *mut u8) {
    let blocks = streams.n / BLOCK;
    for block in 0..blocks {
        let mut k = 0;
        loop {
            // SAFETY: the 16 values from `block * 16` on are among the `n` values, and the streams `k..k + 8` are
            // among the `width` streams.
            unsafe { join_eight(streams, k, block * BLOCK, width, out) };
            if k + 8 >= width {
                break;
            }
            k = (k + 8).min(width - 8);
        }
    }
    // SAFETY: the contract of this function.
    unsafe { scalar::join(streams, blocks * BLOCK, width, out) };
}

/// Writes the bytes `k..k + 8` of the values `first..first + 16`.
///
/// # Safety
/// See [`join`](super::join); also `first + 16 <= streams.n` and `k + 8 <= width`.
#[inline(always)]
unsafe fn join_eight(streams: &Streams<'_>, k: usize, first: usize, width: usize, out: *mut u8) {
    // SAFETY: every x86-64 has SSE2.
    let mut rows = [unsafe { _mm_setzero_si128() }; 8];
    for (i, row) in rows.iter_mut().enumerate() {
        let bytes = streams
            .data
            .as_ptr()
            .wrapping_add((k + i) * streams.stride + first);
        // SAFETY: stream `k + i` starts at `(k + i) * stride` and has the 16 bytes from `first` on; loads need no
        // alignment.
        *row = unsafe { _mm_loadu_si128(bytes.cast()) };
    }
    for (i, pair) in transpose(rows).into_iter().enumerate() {
        // SAFETY: the bytes `k..k + 8` of value `first + 2 * i` and of the value after it both lie within the
        // `n * width` bytes from `out` on. Stores need no alignment.
        unsafe {
            let low = out.add((first + 2 * i) * width + k);
            _mm_storel_epi64(low.cast(), pair);
            // We do not use `_mm_storeh_pd`, which writes an `f64` and so needs an aligned pointer.
            _mm_storel_epi64(low.add(width).cast(), _mm_unpackhi_epi64(pair, pair));
        }
    }
}

/// Turns eight rows of sixteen bytes into sixteen rows of eight bytes, with two rows in each register.
#[inline(always)]
fn transpose(rows: [__m128i; 8]) -> [__m128i; 8] {
    // SAFETY: every x86-64 has SSE2.
    unsafe {
        let [a, b, c, d, e, f, g, h] = rows;
        let (ab, cd) = (_mm_unpacklo_epi8(a, b), _mm_unpacklo_epi8(c, d));
        let (ef, gh) = (_mm_unpacklo_epi8(e, f), _mm_unpacklo_epi8(g, h));
        let low = transpose_pairs(ab, cd, ef, gh);
        let (ab, cd) = (_mm_unpackhi_epi8(a, b), _mm_unpackhi_epi8(c, d));
        let (ef, gh) = (_mm_unpackhi_epi8(e, f), _mm_unpackhi_epi8(g, h));
        let high = transpose_pairs(ab, cd, ef, gh);
        [
            low[0], low[1], low[2], low[3], high[0], high[1], high[2], high[3],
        ]
    }
}

/// Turns four rows of eight byte pairs into eight rows of four pairs, with two rows in each register.
#[inline(always)]
fn transpose_pairs(ab: __m128i, cd: __m128i, ef: __m128i, gh: __m128i) -> [__m128i; 4] {
    // SAFETY: every x86-64 has SSE2.
    unsafe {
        let (abcd, efgh) = (_mm_unpacklo_epi16(ab, cd), _mm_unpacklo_epi16(ef, gh));
        let (abcd_high, efgh_high) = (_mm_unpackhi_epi16(ab, cd), _mm_unpackhi_epi16(ef, gh));
        [
            _mm_unpacklo_epi32(abcd, efgh),
            _mm_unpackhi_epi32(abcd, efgh),
            _mm_unpacklo_epi32(abcd_high, efgh_high),
            _mm_unpackhi_epi32(abcd_high, efgh_high),
        ]
    }
}
