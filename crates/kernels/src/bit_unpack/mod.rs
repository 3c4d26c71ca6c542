//! Unpacks integers of equal bit width, which are packed back to back, least significant bit first.
//!
//! ```text
//! width 3        byte 0            byte 1            byte 2
//! bit        7 6 5 4 3 2 1 0   7 6 5 4 3 2 1 0   7 6 5 4 3 2 1 0
//! value      c c b b b a a a   f e e e d d d c   h h h g g g f f
//! ```
//!
//! Eight values of `width` bits fill exactly `width` bytes. Unpacking may start at any value, uses the narrowest output
//! type that fits, and never reads outside the given data.

use std::mem::MaybeUninit;

use crate::Malformed;
#[cfg(target_arch = "aarch64")]
use crate::cpu::Neon;
use crate::cpu::Scalar;
#[cfg(target_arch = "x86_64")]
use crate::cpu::{Avx2, Avx512};

#[cfg(target_arch = "x86_64")]
pub(crate) mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
pub(crate) mod neon;
mod scalar;

/// An unsigned integer type for unpacked values.
pub(crate) trait Lane: Copy + Default + Ord + Send + Sync + 'static {
    /// The largest width that fits into the type.
    const BITS: u8;
    /// Returns the low bits of `bits`.
    fn truncate(bits: u64) -> Self;
    /// Runs [`Unpack::unpack`] with AVX2.
    #[cfg(target_arch = "x86_64")]
    fn avx2(cpu: Avx2, data: &[u8], first: usize, width: u8, out: &mut [MaybeUninit<Self>]);
    /// Runs [`Unpack::unpack`] with AVX-512.
    #[cfg(target_arch = "x86_64")]
    fn avx512(cpu: Avx512, data: &[u8], first: usize, width: u8, out: &mut [MaybeUninit<Self>]);
    /// Runs [`Unpack::unpack`] with NEON.
    #[cfg(target_arch = "aarch64")]
    fn neon(cpu: Neon, data: &[u8], first: usize, width: u8, out: &mut [MaybeUninit<Self>]);
}

macro_rules! lanes {
    ($($lane:ty: $unpack:ident),*) => {$(
        impl Lane for $lane {
            const BITS: u8 = <$lane>::BITS as u8;
            #[inline(always)]
            fn truncate(bits: u64) -> Self {
                bits as $lane
            }
            #[cfg(target_arch = "x86_64")]
            #[inline(always)]
            fn avx2(
                cpu: Avx2, data: &[u8], first: usize, width: u8, out: &mut [MaybeUninit<Self>],
            ) {
                avx2::$unpack(cpu, data, first, width, out);
            }
            #[cfg(target_arch = "x86_64")]
            #[inline(always)]
            fn avx512(
                cpu: Avx512, data: &[u8], first: usize, width: u8, out: &mut [MaybeUninit<Self>],
            ) {
                avx512::$unpack(cpu, data, first, width, out);
            }
            #[cfg(target_arch = "aarch64")]
            #[inline(always)]
            fn neon(
                cpu: Neon, data: &[u8], first: usize, width: u8, out: &mut [MaybeUninit<Self>],
            ) {
                neon::$unpack(cpu, data, first, width, out);
            }
        }
    )*};
}

lanes!(u8: unpack_u8, u32: unpack_u32);

/// Unpacking, which tokens of instruction sets implement.
pub(crate) trait Unpack: Copy {
    /// Writes all of `out` with the values in `data` from value `first` on.
    ///
    /// Values that lie outside `data` are unspecified, but initialised, so callers must check the range with
    /// [`check_end`]. This must be called in a function that enables the token's instructions, so that it is inlined
    /// into the caller.
    fn unpack<L: Lane>(self, data: &[u8], first: usize, width: u8, out: &mut [MaybeUninit<L>]);
}

impl Unpack for Scalar {
    #[inline(always)]
    fn unpack<L: Lane>(self, data: &[u8], first: usize, width: u8, out: &mut [MaybeUninit<L>]) {
        scalar::unpack(data, first, width, out);
    }
}

#[cfg(target_arch = "x86_64")]
impl Unpack for Avx2 {
    #[inline(always)]
    fn unpack<L: Lane>(self, data: &[u8], first: usize, width: u8, out: &mut [MaybeUninit<L>]) {
        L::avx2(self, data, first, width, out);
    }
}

#[cfg(target_arch = "x86_64")]
impl Unpack for Avx512 {
    #[inline(always)]
    fn unpack<L: Lane>(self, data: &[u8], first: usize, width: u8, out: &mut [MaybeUninit<L>]) {
        L::avx512(self, data, first, width, out);
    }
}

#[cfg(target_arch = "aarch64")]
impl Unpack for Neon {
    #[inline(always)]
    fn unpack<L: Lane>(self, data: &[u8], first: usize, width: u8, out: &mut [MaybeUninit<L>]) {
        L::neon(self, data, first, width, out);
    }
}

/// Appends the `n` values from value `first` on, of `width` (0 to 8) bits each.
///
/// # Errors
/// Fails with [`Malformed`] if `data` is too short or `width` is too large. Nothing is appended in that case.
pub fn extend_u8_msb(
    data: &[u8],
    first: usize,
    width: u8,
    n: usize,
    out: &mut Vec<u8>,
) -> Result<(), Malformed> {
    if u32::from(width) > u8::BITS {
        return Err(Malformed("a bit width is too wide"));
    }
    check_end(data, first, width, n)?;
    out.extend((first..first + n).map(|value| scalar::value_msb(data, value, width)));
    Ok(())
}

/// Checks that `n` values from value `first` on lie inside `data`.
#[inline(always)]
pub(crate) fn check_end(data: &[u8], first: usize, width: u8, n: usize) -> Result<(), Malformed> {
    let bits = first
        .checked_add(n)
        .and_then(|end| end.checked_mul(usize::from(width)));
    match bits {
        Some(bits) if bits.div_ceil(8) <= data.len() => Ok(()),
        _ => Err(Malformed("bit-packed values end early")),
    }
}

/// Returns the bytes from the one in which value `first` begins, and the bit of that byte at which it begins.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn seek(data: &[u8], first: usize, width: u8) -> (&[u8], u32) {
    let bit = first.saturating_mul(usize::from(width));
    (data.get(bit / 8..).unwrap_or_default(), (bit % 8) as u32)
}

#[cfg(test)]
mod tests;
