//! Packs integers of equal bit width back to back, least significant bit first.
//!
//! This is the inverse of [`bit_unpack`](crate::bit_unpack), whose documentation shows the layout. We first narrow the
//! values to the smallest lanes of 8, 16, 32 or 64 bits that can represent them. Then we squeeze the lanes of each
//! 64-bit word together all at once, and join the words of eight values:
//!
//! ```text
//! lanes        000ccccc 000bbbbb 000aaaaa  (width 5)
//! squeezed              0 cccccbb bbbaaaaa
//! ```
//!
//! The bits of a value that exceed the width are ignored. The bits after the last value are zero.

use std::mem::MaybeUninit;

#[cfg(target_arch = "x86_64")]
use crate::cpu::Avx2;
use crate::cpu::Scalar;
use crate::plain::{self, Plain};

#[cfg(target_arch = "x86_64")]
mod bmi2;
mod scalar;
#[cfg(test)]
mod tests;

/// The number of values that start and end on byte boundaries together, for every width.
const GROUP: usize = 8;
/// The number of values that we narrow at once.
const BLOCK: usize = 32 * GROUP;

/// An unsigned integer type that can be packed.
trait Value: Plain {
    /// The number of bits in the integer, which is also the largest width.
    const BITS: usize;
    /// Returns the lowest 8 bits.
    fn low_u8(self) -> u8;
    /// Returns the lowest 16 bits.
    fn low_u16(self) -> u16;
    /// Returns the lowest 32 bits.
    fn low_u32(self) -> u32;
}

macro_rules! values {
    ($($value:ident)*) => {$(
        #[allow(trivial_numeric_casts, reason = "the macro serves several integers")]
        impl Value for $value {
            const BITS: usize = $value::BITS as usize;
            #[inline(always)]
            fn low_u8(self) -> u8 {
                self as u8
            }
            #[inline(always)]
            fn low_u16(self) -> u16 {
                self as u16
            }
            #[inline(always)]
            fn low_u32(self) -> u32 {
                self as u32
            }
        }
    )*};
}
values!(u8 u32 u64);

/// The squeezing of lanes, which tokens of instruction sets implement.
trait Squeeze: Copy {
    /// Returns the lowest `WIDTH` bits of each `LANE`-bit lane, back to back.
    fn squeeze<const LANE: usize, const WIDTH: usize>(self, word: u64) -> u64;
    /// Runs [`scalar::pack_groups`], compiled with the token's instructions.
    fn pack_groups(self, lanes: &[u8], width: usize, out: &mut [MaybeUninit<u8>]);
}

/// Appends `values` with `width` (at most 32) bits each, which makes `ceil(values.len() * width / 8)` bytes.
pub fn pack_u32(values: &[u32], width: u8, out: &mut Vec<u8>) {
    pack(values, width, out);
}

/// Appends `values` with `width` (at most 64) bits each, which makes `ceil(values.len() * width / 8)` bytes.
pub fn pack_u64(values: &[u64], width: u8, out: &mut Vec<u8>) {
    pack(values, width, out);
}

/// Appends `values` with `width` (at most 8) bits each, which makes `ceil(values.len() * width / 8)` bytes.
pub fn pack_u8(values: &[u8], width: u8, out: &mut Vec<u8>) {
    pack(values, width, out);
}

/// Appends `values` with the best available instructions. If a width exceeds the number of bits in a value, we use that
/// number instead.
fn pack<V: Value>(values: &[V], width: u8, out: &mut Vec<u8>) {
    let width = usize::from(width).min(V::BITS);
    if width == V::BITS {
        return out.extend_from_slice(plain::bytes(values));
    }
    let bytes = values.len().div_ceil(GROUP) * width;
    out.reserve(bytes);
    let Some(slots) = out.spare_capacity_mut().get_mut(..bytes) else {
        return;
    };
    pack_to(values, width, slots);
    // The last group of eight values is padded, so we only keep the whole bytes that the values need.
    let len = out.len() + (values.len() * width).div_ceil(8);
    // SAFETY: `bytes` bytes were reserved after the current length, at least as many as it grows by, and `pack_to`
    // wrote all of them.
    unsafe { out.set_len(len) };
}

/// Writes all of `out` with the groups of `values`, and pads the last group with zeros.
fn pack_to<V: Value>(values: &[V], width: usize, out: &mut [MaybeUninit<u8>]) {
    #[cfg(target_arch = "x86_64")]
    if let Some(cpu) = Avx2::detect()
        && let Some(bmi2) = cpu.bmi2()
    {
        /// Enables the instructions for narrowing, which is inlined into this function.
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
        fn enabled<V: Value>(
            cpu: impl Squeeze,
            values: &[V],
            width: usize,
            out: &mut [MaybeUninit<u8>],
        ) {
            scalar::pack(cpu, values, width, out);
        }
        // SAFETY: the tokens prove that the instructions are available.
        return unsafe { enabled((cpu, bmi2), values, width, out) };
    }
    scalar::pack(Scalar, values, width, out);
}
