//! Encodes values to streams, so that each stream contains one byte of every value.
//!
//! Values of 2, 4 and 8 bytes are shifted as integers and truncated to a byte, which compilers vectorise. We write all
//! streams for one block of values before the next block, so that the block stays in the L1 cache.

use std::mem::MaybeUninit;

use crate::multiversion::multiversion;

/// The number of value bytes that we split at once.
const BLOCK_BYTES: usize = 4096;

/// Appends the streams of `values`, which have `width` bytes each. This ignores an incomplete value at the end, and
/// appends nothing if `width` is 0.
pub fn split(values: &[u8], width: usize, out: &mut Vec<u8>) {
    let n = values.len().checked_div(width).unwrap_or_default();
    let bytes = n * width;
    let values = &values[..bytes];
    if width <= 1 {
        return out.extend_from_slice(values);
    }
    out.reserve(bytes);
    let slots = &mut out.spare_capacity_mut()[..bytes];
    match width {
        2 => split_2(values, slots),
        4 => split_4(values, slots),
        8 => split_8(values, slots),
        _ => any(values, width, slots),
    }
    // SAFETY: `bytes` bytes were reserved after the current length, and all of them were written.
    unsafe { out.set_len(out.len() + bytes) };
}

/// Writes all of `out`, which is as long as `values`.
fn any(values: &[u8], width: usize, out: &mut [MaybeUninit<u8>]) {
    let n = values.len() / width;
    let block = (BLOCK_BYTES / width).max(1);
    for (i, values) in values.chunks(block * width).enumerate() {
        for k in 0..width {
            let bytes = values.iter().skip(k).step_by(width);
            for (to, byte) in out[k * n + i * block..].iter_mut().zip(bytes) {
                to.write(*byte);
            }
        }
    }
}

macro_rules! split {
    ($name:ident, $inner:ident, $number:ident) => {
        /// Writes all of `out`, which is as long as `values`.
        fn $name(values: &[u8], out: &mut [MaybeUninit<u8>]) {
            multiversion!($inner(values: &[u8], out: &mut [MaybeUninit<u8>]))
        }

        #[inline(always)]
        fn $inner(values: &[u8], out: &mut [MaybeUninit<u8>]) {
            const WIDTH: usize = size_of::<$number>();
            let (values, _) = values.as_chunks::<WIDTH>();
            let n = values.len();
            for (i, values) in values.chunks(BLOCK_BYTES / WIDTH).enumerate() {
                for k in 0..WIDTH {
                    let start = k * n + i * (BLOCK_BYTES / WIDTH);
                    let stream = &mut out[start..start + values.len()];
                    for (to, value) in stream.iter_mut().zip(values) {
                        to.write(($number::from_le_bytes(*value) >> (8 * k)) as u8);
                    }
                }
            }
        }
    };
}
split!(split_2, inner_2, u16);
split!(split_4, inner_4, u32);
split!(split_8, inner_8, u64);
