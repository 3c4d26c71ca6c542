//! Packing in portable Rust, one copy of the loop for each width.
//!
//! With the width known to the compiler, every shift and every mask is a constant.

use std::mem::MaybeUninit;

use super::{BLOCK, GROUP, Squeeze, Value};
use crate::cpu::Scalar;
use crate::plain;

impl Squeeze for Scalar {
    /// Joins lanes in pairs, the pairs in pairs, and so on.
    #[inline(always)]
    fn squeeze<const LANE: usize, const WIDTH: usize>(self, word: u64) -> u64 {
        let (mut lane, mut width) = (LANE, WIDTH);
        let mut word = word & repeat(width, lane);
        while lane < 64 {
            let low = repeat(width, 2 * lane);
            word = word & low | word >> (lane - width) & low << width;
            lane *= 2;
            width *= 2;
        }
        word
    }
}

/// A word whose lanes of `lane` bits have their lowest `width` (1 to `lane`) bits set.
pub(super) const fn repeat(width: usize, lane: usize) -> u64 {
    let mut word = u64::MAX >> (64 - width);
    let mut shift = lane;
    while shift < 64 {
        word |= word << shift;
        shift *= 2;
    }
    word
}

/// Writes all of `out`, the groups of `values`, the last one padded with zeros; `width` is less than
/// the bits of `V`. To be called where the token's instructions are enabled.
#[inline(always)]
pub(super) fn pack<V: Value>(
    cpu: impl Squeeze,
    values: &[V],
    width: usize,
    out: &mut [MaybeUninit<u8>],
) {
    match width {
        0 => {}
        1..=8 if V::BITS > 8 => narrow(values, V::low_u8, width, out, |lanes, out| {
            lanes_8(cpu, lanes, width, out);
        }),
        9..=16 => narrow(values, V::low_u16, width, out, |lanes, out| {
            lanes_16(cpu, lanes, width, out);
        }),
        17..=32 if V::BITS > 32 => narrow(values, V::low_u32, width, out, |lanes, out| {
            lanes_32(cpu, lanes, width, out);
        }),
        1..=8 => lanes_8(cpu, plain::bytes(values), width, out),
        17..=32 => lanes_32(cpu, plain::bytes(values), width, out),
        _ => lanes_64(cpu, plain::bytes(values), width, out),
    }
}

/// Cuts `values` down to lanes, a block at a time, and packs those.
#[inline(always)]
fn narrow<V: Value, L: plain::Plain>(
    values: &[V],
    low: impl Fn(V) -> L,
    width: usize,
    out: &mut [MaybeUninit<u8>],
    pack: impl Fn(&[u8], &mut [MaybeUninit<u8>]),
) {
    let mut lanes = [L::default(); BLOCK];
    for (values, out) in values
        .chunks(BLOCK)
        .zip(out.chunks_mut(BLOCK / GROUP * width))
    {
        for (lane, value) in lanes.iter_mut().zip(values) {
            *lane = low(*value);
        }
        pack(
            plain::bytes(lanes.get(..values.len()).unwrap_or_default()),
            out,
        );
    }
}

macro_rules! by_width {
    ($lanes:ident, $bits:literal: $($width:literal)*) => {
        /// Packs lanes of so many bits.
        #[inline(always)]
        fn $lanes(cpu: impl Squeeze, lanes: &[u8], width: usize, out: &mut [MaybeUninit<u8>]) {
            match width {
                $($width => groups::<$bits, $width>(cpu, lanes, out),)*
                // As wide as the lanes: other widths do not come here.
                _ => groups::<$bits, $bits>(cpu, lanes, out),
            }
        }
    };
}
by_width!(lanes_8, 8: 1 2 3 4 5 6 7);
by_width!(lanes_16, 16: 9 10 11 12 13 14 15);
by_width!(lanes_32, 32: 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31);
by_width!(lanes_64, 64: 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57
    58 59 60 61 62 63);

/// Packs groups of eight lanes, `LANE` bytes, into `WIDTH` bytes each.
#[inline(always)]
fn groups<const LANE: usize, const WIDTH: usize>(
    cpu: impl Squeeze,
    lanes: &[u8],
    out: &mut [MaybeUninit<u8>],
) {
    let (groups, tail) = lanes.as_chunks::<LANE>();
    let (out, _) = out.as_chunks_mut::<WIDTH>();
    let mut out = out.iter_mut();
    for (lanes, out) in groups.iter().zip(&mut out) {
        *out = group::<LANE, WIDTH>(cpu, lanes);
    }
    if let Some(out) = out.next() {
        let mut last = [0; LANE];
        for (to, from) in last.iter_mut().zip(tail) {
            *to = *from;
        }
        *out = group::<LANE, WIDTH>(cpu, &last);
    }
}

/// Packs eight lanes.
#[inline(always)]
fn group<const LANE: usize, const WIDTH: usize>(
    cpu: impl Squeeze,
    lanes: &[u8; LANE],
) -> [MaybeUninit<u8>; WIDTH] {
    // Bits of a squeezed word.
    let bits = WIDTH * 64 / LANE;
    let mut joined = [0_u64; GROUP];
    for (i, word) in lanes.as_chunks::<8>().0.iter().enumerate() {
        let word = cpu.squeeze::<LANE, WIDTH>(u64::from_le_bytes(*word));
        let (at, shift) = (i * bits / 64, i * bits % 64);
        joined[at] |= word << shift;
        if shift + bits > 64 {
            joined[at + 1] |= word >> (64 - shift);
        }
    }
    let mut out = [MaybeUninit::new(0); WIDTH];
    for (bytes, word) in out.chunks_mut(8).zip(joined) {
        for (byte, packed) in bytes.iter_mut().zip(word.to_le_bytes()) {
            byte.write(packed);
        }
    }
    out
}
