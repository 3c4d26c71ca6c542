//! Joins values of 2, 4 and 8 bytes, 32 at a time.
//!
//! AVX2 interleaves only within the halves of a register, so the low half contains values 0 to 15, and the high half
//! values 16 to 31. A last step puts the halves in order.

use std::arch::x86_64::*;

use super::{Streams, scalar};

const BLOCK: usize = 32;

/// Joins whole blocks with vectors, and the remaining values in portable code.
///
/// # Safety
/// See [`join`](super::join); the width is 2, 4 or 8.
#[target_feature(enable = "avx2")]
pub(super) unsafe fn join(streams: &Streams<'_>, width: usize, out: *mut u8) {
    let mut done = 0;
    while done + BLOCK <= streams.n {
        // SAFETY: the 32 values from `done` on are among the `n` values, in the streams and in `out`.
        unsafe {
            let out = out.add(done * width);
            match width {
                2 => join_2(load(streams, done), out),
                4 => join_4(load(streams, done), out),
                _ => join_8(load(streams, done), out),
            }
        }
        done += BLOCK;
    }
    // SAFETY: the contract of this function.
    unsafe { scalar::join(streams, done, width, out) };
}

/// Loads bytes `first..first + 32` of the first `K` streams.
///
/// # Safety
/// There must be `K` streams with at least `first + 32` bytes.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn load<const K: usize>(streams: &Streams<'_>, first: usize) -> [__m256i; K] {
    let mut rows = [_mm256_setzero_si256(); K];
    for (i, row) in rows.iter_mut().enumerate() {
        let bytes = streams
            .data
            .as_ptr()
            .wrapping_add(i * streams.stride + first);
        // SAFETY: stream `i` starts at `i * stride` and has the 32 bytes from `first` on; loads need no alignment.
        *row = unsafe { _mm256_loadu_si256(bytes.cast()) };
    }
    rows
}

/// Interleaves two streams and writes 32 values.
///
/// # Safety
/// `out` must be valid for writing 64 bytes.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn join_2([a, b]: [__m256i; 2], out: *mut u8) {
    // SAFETY: the contract of this function.
    unsafe {
        store(
            [_mm256_unpacklo_epi8(a, b), _mm256_unpackhi_epi8(a, b)],
            out,
        )
    }
}

/// Interleaves four streams and writes 32 values.
///
/// # Safety
/// `out` must be valid for writing 128 bytes.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn join_4([a, b, c, d]: [__m256i; 4], out: *mut u8) {
    let (ab, cd) = (_mm256_unpacklo_epi8(a, b), _mm256_unpacklo_epi8(c, d));
    let (ab_high, cd_high) = (_mm256_unpackhi_epi8(a, b), _mm256_unpackhi_epi8(c, d));
    let values = [
        _mm256_unpacklo_epi16(ab, cd),
        _mm256_unpackhi_epi16(ab, cd),
        _mm256_unpacklo_epi16(ab_high, cd_high),
        _mm256_unpackhi_epi16(ab_high, cd_high),
    ];
    // SAFETY: the contract of this function.
    unsafe { store(values, out) }
}

/// Interleaves eight streams and writes 32 values.
///
/// # Safety
/// `out` must be valid for writing 256 bytes.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn join_8([a, b, c, d, e, f, g, h]: [__m256i; 8], out: *mut u8) {
    let low = transpose_pairs([
        _mm256_unpacklo_epi8(a, b),
        _mm256_unpacklo_epi8(c, d),
        _mm256_unpacklo_epi8(e, f),
        _mm256_unpacklo_epi8(g, h),
    ]);
    let high = transpose_pairs([
        _mm256_unpackhi_epi8(a, b),
        _mm256_unpackhi_epi8(c, d),
        _mm256_unpackhi_epi8(e, f),
        _mm256_unpackhi_epi8(g, h),
    ]);
    let values = [
        low[0], low[1], low[2], low[3], high[0], high[1], high[2], high[3],
    ];
    // SAFETY: the contract of this function.
    unsafe { store(values, out) }
}

/// Turns four rows of byte pairs into rows of four pairs, with two such rows in each half of each register.
#[inline]
#[target_feature(enable = "avx2")]
fn transpose_pairs([ab, cd, ef, gh]: [__m256i; 4]) -> [__m256i; 4] {
    let (abcd, efgh) = (_mm256_unpacklo_epi16(ab, cd), _mm256_unpacklo_epi16(ef, gh));
    let (abcd_high, efgh_high) = (_mm256_unpackhi_epi16(ab, cd), _mm256_unpackhi_epi16(ef, gh));
    [
        _mm256_unpacklo_epi32(abcd, efgh),
        _mm256_unpackhi_epi32(abcd, efgh),
        _mm256_unpacklo_epi32(abcd_high, efgh_high),
        _mm256_unpackhi_epi32(abcd_high, efgh_high),
    ]
}

/// Writes the low halves of all registers, and then their high halves.
///
/// # Safety
/// `out` must be valid for writing `K * 32` bytes; `K` is even.
#[inline]
#[target_feature(enable = "avx2")]
unsafe fn store<const K: usize>(values: [__m256i; K], out: *mut u8) {
    for i in 0..K / 2 {
        let (a, b) = (values[2 * i], values[2 * i + 1]);
        // SAFETY: `K / 2` registers from `out` on, and `K / 2` after them, are writable; stores need no alignment.
        unsafe {
            let low = out.add(i * 32);
            _mm256_storeu_si256(low.cast(), _mm256_permute2x128_si256::<0x20>(a, b));
            let high = out.add((K / 2 + i) * 32);
            _mm256_storeu_si256(high.cast(), _mm256_permute2x128_si256::<0x31>(a, b));
        }
    }
}
