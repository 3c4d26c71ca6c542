//! Joins sixteen values at a time. Stores of several registers interleave their bytes, so two and four streams need nothing
//! else. Wider values are joined eight streams after another: each step writes eight bytes of a value. The last
//! eight streams are processed together even if some of them have been written before, so no width needs a remainder.

use std::arch::aarch64::*;

use super::{Streams, scalar};
use crate::cpu::Neon;

const BLOCK: usize = 16;

/// Joins whole blocks of values of 2, 4, or at least 8 bytes with vectors, and everything else in portable code.
///
/// # Safety
/// See [`join`](super::join).
pub(super) unsafe fn join(_: Neon, streams: &Streams<'_>, width: usize, out: *mut u8) {
    let blocks = match width {
        2 | 4 | 8.. => streams.n / BLOCK,
        _ => 0,
    };
    for first in (0..blocks).map(|block| block * BLOCK) {
        // SAFETY: the token proves that the instructions are available. The 16 values from `first` on are among the `n`
        // values. There are `width` streams, and the streams `k..k + 8` are among them.
        unsafe {
            match width {
                2 => join_2(streams, first, out),
                4 => join_4(streams, first, out),
                _ => {
                    let mut k = 0;
                    loop {
                        join_eight(streams, k, first, width, out);
                        if k + 8 >= width {
                            break;
                        }
                        k = (k + 8).min(width - 8);
                    }
                }
            }
        }
    }
    // SAFETY: the contract of this function.
    unsafe { scalar::join(streams, blocks * BLOCK, width, out) };
}

/// Loads the bytes of stream `k` for the values `first..first + 16`.
///
/// # Safety
/// The stream exists and has them.
#[inline(always)]
unsafe fn load(streams: &Streams<'_>, k: usize, first: usize) -> uint8x16_t {
    // SAFETY: stream `k` starts at `k * stride` and has the 16 bytes from `first` on; loads need no alignment.
    unsafe { vld1q_u8(streams.data.as_ptr().add(k * streams.stride + first)) }
}

/// Writes the values `first..first + 16`, of two bytes.
///
/// # Safety
/// See [`join`]; also `first + 16 <= streams.n`.
#[inline]
#[target_feature(enable = "neon")]
unsafe fn join_2(streams: &Streams<'_>, first: usize, out: *mut u8) {
    // SAFETY: both streams have the values, and these values lie within the `n * 2` bytes from `out` on.
    unsafe {
        let rows = uint8x16x2_t(load(streams, 0, first), load(streams, 1, first));
        vst2q_u8(out.add(first * 2), rows);
    }
}

/// Writes the values `first..first + 16`, of four bytes.
///
/// # Safety
/// See [`join`]; also `first + 16 <= streams.n`.
#[inline]
#[target_feature(enable = "neon")]
unsafe fn join_4(streams: &Streams<'_>, first: usize, out: *mut u8) {
    // SAFETY: all four streams have the values, and these values lie within the `n * 4` bytes from `out` on.
    unsafe {
        let rows = uint8x16x4_t(
            load(streams, 0, first),
            load(streams, 1, first),
            load(streams, 2, first),
            load(streams, 3, first),
        );
        vst4q_u8(out.add(first * 4), rows);
    }
}

/// Writes the bytes `k..k + 8` of the values `first..first + 16`.
///
/// # Safety
/// See [`join`]; also `first + 16 <= streams.n` and `k + 8 <= width`.
#[inline]
#[target_feature(enable = "neon")]
unsafe fn join_eight(streams: &Streams<'_>, k: usize, first: usize, width: usize, out: *mut u8) {
    // SAFETY: the streams `k..k + 8` exist, and have the values.
    let row = |i| unsafe { load(streams, k + i, first) };
    // SAFETY: the byte `k` of value `first` lies within the `n * width` bytes from `out` on.
    let out = unsafe { out.add(first * width + k) };
    // Streams that are four apart are interleaved three times, which turns the rows into columns.
    let zip = |a: uint8x16_t, b: uint8x16_t| (vzip1q_u8(a, b), vzip2q_u8(a, b));
    let ((a, b), (c, d)) = (zip(row(0), row(4)), zip(row(2), row(6)));
    let ((e, f), (g, h)) = (zip(row(1), row(5)), zip(row(3), row(7)));
    let ((a, c), (b, d)) = (zip(a, c), zip(b, d));
    let ((e, g), (f, h)) = (zip(e, g), zip(f, h));
    let [(a, b), (c, d), (e, f), (g, h)] = [zip(a, e), zip(c, g), zip(b, f), zip(d, h)];
    let pairs = [a, b, c, d, e, f, g, h];
    for (i, pair) in pairs.into_iter().enumerate() {
        // SAFETY: the bytes `k..k + 8` of the values `2 * i` and `2 * i + 1` from `first` on both lie within the `n * width`
        // bytes. Stores need no alignment.
        unsafe {
            let low = out.add(2 * i * width);
            if width == 8 {
                vst1q_u8(low, pair);
            } else {
                let pair = vreinterpretq_u64_u8(pair);
                vst1q_lane_u64::<0>(low.cast(), pair);
                vst1q_lane_u64::<1>(low.add(width).cast(), pair);
            }
        }
    }
}
