//! Packing integers to equal bit width, back to back, least significant bit first.
//!
//! The inverse of [`bit_unpack`](crate::bit_unpack), where the layout is drawn. Values are first
//! narrowed to the smallest lanes of 8, 16, 32 or 64 bits that hold them. The lanes of a 64-bit word
//! are then squeezed together all at once, and the words of eight values are joined:
//!
//! ```text
//! lanes        000ccccc 000bbbbb 000aaaaa  (width 5)
//! squeezed              0 cccccbb bbbaaaaa
//! ```
//!
//! Bits of a value above the width are ignored. The bits behind the last value are zero.

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

/// Values that start and end at byte borders together, for every width.
const GROUP: usize = 8;
/// Values that are narrowed at once.
const BLOCK: usize = 32 * GROUP;

/// An unsigned integer that is packed.
trait Value: Plain {
    /// Bits of the integer, and of the widest value.
    const BITS: usize;
    /// The lowest bits.
    fn low_u8(self) -> u8;
    /// The lowest bits.
    fn low_u16(self) -> u16;
    /// The lowest bits.
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

/// A token that knows how to squeeze.
trait Squeeze: Copy {
    /// The lowest `WIDTH` bits of each lane of `LANE` bits, back to back.
    fn squeeze<const LANE: usize, const WIDTH: usize>(self, word: u64) -> u64;
    /// [`scalar::pack_groups`], compiled once with the token's instructions.
    fn pack_groups(self, lanes: &[u8], width: usize, out: &mut [MaybeUninit<u8>]);
}

/// Appends `values`, `width` (at most 32) bits each: `ceil(values.len() * width / 8)` bytes.
pub fn pack_u32(values: &[u32], width: u8, out: &mut Vec<u8>) {
    pack(values, width, out);
}

/// Appends `values`, `width` (at most 64) bits each: `ceil(values.len() * width / 8)` bytes.
pub fn pack_u64(values: &[u64], width: u8, out: &mut Vec<u8>) {
    pack(values, width, out);
}

/// Appends `values`, `width` (at most 8) bits each: `ceil(values.len() * width / 8)` bytes.
pub fn pack_u8(values: &[u8], width: u8, out: &mut Vec<u8>) {
    pack(values, width, out);
}

/// Appends `values` with the best instructions there are. A greater width than the values have bits
/// is taken for that one.
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
    // The padding of the last group to eight values is cut to whole bytes.
    let len = out.len() + (values.len() * width).div_ceil(8);
    // SAFETY: `bytes` bytes were reserved behind the length, at least as many as it grows by, and
    // `pack_to` wrote all of them.
    unsafe { out.set_len(len) };
}

/// Writes all of `out`, the groups of `values`, the last one padded with zeros.
fn pack_to<V: Value>(values: &[V], width: usize, out: &mut [MaybeUninit<u8>]) {
    #[cfg(target_arch = "x86_64")]
    if let Some(cpu) = Avx2::detect()
        && let Some(bmi2) = cpu.bmi2()
    {
        /// Narrowing becomes part of this function.
        #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
        fn enabled<V: Value>(
            cpu: impl Squeeze,
            values: &[V],
            width: usize,
            out: &mut [MaybeUninit<u8>],
        ) {
            scalar::pack(cpu, values, width, out);
        }
        // SAFETY: the tokens prove that the instructions are there.
        return unsafe { enabled((cpu, bmi2), values, width, out) };
    }
    scalar::pack(Scalar, values, width, out);
}
