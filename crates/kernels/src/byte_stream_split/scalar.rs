//! Portable code: a loop that compilers turn into vectors for the usual widths.

use super::Streams;

/// Writes the values from `start` on, `width` bytes each; `out` is where value 0 belongs.
///
/// # Safety
/// As for [`join`](super::join).
pub(super) unsafe fn join(streams: &Streams<'_>, start: usize, width: usize, out: *mut u8) {
    // SAFETY: passed on from the caller.
    unsafe {
        match width {
            2 => constant::<2>(streams, start, out),
            4 => constant::<4>(streams, start, out),
            8 => constant::<8>(streams, start, out),
            _ => any(streams, start, width, out),
        }
    }
}

/// # Safety
/// As for [`join`](super::join), with a width of `WIDTH`.
#[allow(
    clippy::needless_range_loop,
    reason = "`i` indexes each of the streams"
)]
unsafe fn constant<const WIDTH: usize>(streams: &Streams<'_>, start: usize, out: *mut u8) {
    let streams: [&[u8]; WIDTH] = std::array::from_fn(|i| streams.get(i));
    // All of them have this length: said once here, so that the loop need not check it.
    let n = streams[0].len();
    let streams = streams.map(|stream| &stream[..n]);
    for i in start..n {
        let value: [u8; WIDTH] = std::array::from_fn(|stream| streams[stream][i]);
        // SAFETY: value `i` of `n` lies within the `n * WIDTH` bytes behind `out`.
        unsafe {
            out.add(i * WIDTH)
                .cast::<[u8; WIDTH]>()
                .write_unaligned(value)
        };
    }
}

/// # Safety
/// As for [`join`](super::join).
unsafe fn any(streams: &Streams<'_>, start: usize, width: usize, out: *mut u8) {
    for k in 0..width {
        for (i, &byte) in streams.get(k).iter().enumerate().skip(start) {
            // SAFETY: byte `k < width` of value `i < n` lies within the `n * width` bytes.
            unsafe { out.add(i * width + k).write(byte) };
        }
    }
}
