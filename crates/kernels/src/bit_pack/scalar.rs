//! Packing in portable Rust, with one copy of the loop per width, for all value types.
//!
//! Since each copy knows its width at compile time, every shift and every mask is a constant.

use std::mem::MaybeUninit;

use super::{BLOCK, GROUP, Squeeze, Value};
use crate::cpu::Scalar;
use crate::plain;

impl Squeeze for Scalar {
    /// Joins the lanes in pairs, then the pairs in pairs, and so on.
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

    #[inline(never)]
    fn pack_groups(self, lanes: &[u8], width: usize, out: &mut [MaybeUninit<u8>]) {
        pack_groups(self, lanes, width, out);
    }
}

/// Returns a word that has the lowest `width` (1 to `lane`) bits set in each `lane`-bit lane.
pub(super) const fn repeat(width: usize, lane: usize) -> u64 {
    let mut word = u64::MAX >> (64 - width);
    let mut shift = lane;
    while shift < 64 {
        word |= word << shift;
        shift *= 2;
    }
    word
}

/// Writes all of `out` with the groups of `values`, and pads the last group with zeros. `width` must be less than the
/// number of bits in `V`. This must be called in a function that enables the token's instructions.
#[inline(always)]
pub(super) fn pack<V: Value>(
    cpu: impl Squeeze,
    values: &[V],
    width: usize,
    out: &mut [MaybeUninit<u8>],
) {
    match width {
        0 => {}
        1..=8 if V::BITS > 8 => narrow(cpu, values, V::low_u8, width, out),
        9..=16 => narrow(cpu, values, V::low_u16, width, out),
        17..=32 if V::BITS > 32 => narrow(cpu, values, V::low_u32, width, out),
        _ => pack_lanes(cpu, plain::bytes(values), width, out),
    }
}

/// Narrows `values` to lanes and packs the lanes, one block at a time.
#[inline(always)]
fn narrow<V: Value, L: plain::Plain>(
    cpu: impl Squeeze,
    values: &[V],
    low: impl Fn(V) -> L,
    width: usize,
    out: &mut [MaybeUninit<u8>],
) {
    let mut lanes = [L::default(); BLOCK];
    for (values, out) in values
        .chunks(BLOCK)
        .zip(out.chunks_mut(BLOCK / GROUP * width))
    {
        for (lane, value) in lanes.iter_mut().zip(values) {
            *lane = low(*value);
        }
        let lanes = lanes.get(..values.len()).unwrap_or_default();
        pack_lanes(cpu, plain::bytes(lanes), width, out);
    }
}

/// Packs lanes of 8, 16, 32 or 64 bits, which is the smallest size that has at least `width` (1 to 64) bits.
#[inline(always)]
fn pack_lanes(cpu: impl Squeeze, lanes: &[u8], width: usize, out: &mut [MaybeUninit<u8>]) {
    // Eight lanes with `bits` bits each have `bits` bytes.
    let bits = width.next_power_of_two().max(8);
    let groups = lanes.len() >> bits.trailing_zeros();
    let (whole, rest) = lanes.split_at(groups * bits);
    let (out, last) = out.split_at_mut(groups * width);
    cpu.pack_groups(whole, width, out);
    if !rest.is_empty() {
        let mut padded = [0; 64];
        padded[..rest.len()].copy_from_slice(rest);
        cpu.pack_groups(&padded[..bits], width, last);
    }
}

/// Packs whole groups of eight lanes, whose size follows from `width` as in `pack_lanes`. This must be called in a
/// function that enables the token's instructions.
#[inline(always)]
pub(super) fn pack_groups(
    cpu: impl Squeeze,
    lanes: &[u8],
    width: usize,
    out: &mut [MaybeUninit<u8>],
) {
    macro_rules! by_width {
        ($($bits:literal: $($width:literal)*;)*) => {
            match width {
                $($($width => groups::<$bits, $width>(cpu, lanes, out),)*)*
                // Callers pass no other width.
                _ => groups::<64, 64>(cpu, lanes, out),
            }
        };
    }
    by_width!(
        8: 1 2 3 4 5 6 7 8;
        16: 9 10 11 12 13 14 15 16;
        32: 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32;
        64: 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61
            62 63;
    );
}

/// Packs groups of eight lanes. A group takes `LANE` bytes, and we pack it into `WIDTH` bytes.
#[inline(always)]
fn groups<const LANE: usize, const WIDTH: usize>(
    cpu: impl Squeeze,
    lanes: &[u8],
    out: &mut [MaybeUninit<u8>],
) {
    let groups = lanes.as_chunks::<LANE>().0;
    for (lanes, out) in groups.iter().zip(out.as_chunks_mut::<WIDTH>().0) {
        *out = group::<LANE, WIDTH>(cpu, lanes);
    }
}

/// Packs eight lanes.
#[inline(always)]
fn group<const LANE: usize, const WIDTH: usize>(
    cpu: impl Squeeze,
    lanes: &[u8; LANE],
) -> [MaybeUninit<u8>; WIDTH] {
    // The number of bits in a squeezed word.
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
