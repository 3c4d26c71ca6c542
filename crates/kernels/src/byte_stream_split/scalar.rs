//! Joins streams in portable code, with a loop that compilers vectorise for the usual widths.

use super::Streams;

/// Writes the values from `start` on, with `width` bytes each. `out` is the position of value 0.
///
/// # Safety
/// See [`join`](super::join).
pub(super) unsafe fn join(streams: &Streams<'_>, start: usize, width: usize, out: *mut u8) {
    // SAFETY: the contract of this function.
    unsafe {
        match width {
            2 => constant::<2>(streams, start, out),
            4 => constant::<4>(streams, start, out),
            8 => constant::<8>(streams, start, out),
            _ => any(streams, start, width, out),
        }
    }
}

/// Writes blocks of a fixed number of values, which compilers vectorise, and then the rest.
///
/// # Safety
/// See [`join`](super::join); the width is `WIDTH`.
unsafe fn constant<const WIDTH: usize>(streams: &Streams<'_>, start: usize, out: *mut u8) {
    const BLOCK: usize = 16;
    let mut rows: [&[u8]; WIDTH] = std::array::from_fn(|k| streams.get(k));
    for row in &mut rows {
        *row = row.get(start..).unwrap_or_default();
    }
    let mut done = start;
    while done + BLOCK <= streams.n {
        let mut block = [[0; WIDTH]; BLOCK];
        for (k, row) in rows.iter_mut().enumerate() {
            let (bytes, rest) = row
                .split_first_chunk::<BLOCK>()
                .unwrap_or((&[0; BLOCK], &[]));
            for (value, byte) in block.iter_mut().zip(bytes) {
                value[k] = *byte;
            }
            *row = rest;
        }
        // SAFETY: the values `done..done + BLOCK` are among the `n` values, so they lie within the bytes from
        // `out` on.
        unsafe {
            out.add(done * WIDTH)
                .cast::<[[u8; WIDTH]; BLOCK]>()
                .write_unaligned(block)
        };
        done += BLOCK;
    }
    // SAFETY: the contract of this function.
    unsafe { any(streams, done, WIDTH, out) };
}

/// Writes the values from `start` on, stream by stream.
///
/// # Safety
/// See [`join`](super::join).
unsafe fn any(streams: &Streams<'_>, start: usize, width: usize, out: *mut u8) {
    for k in 0..width {
        for (i, &byte) in streams.get(k).iter().enumerate().skip(start) {
            // SAFETY: byte `k < width` of value `i < n` lies within the `n * width` bytes.
            unsafe { out.add(i * width + k).write(byte) };
        }
    }
}
