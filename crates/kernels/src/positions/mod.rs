//! Computes the bounds of positions in the plane, which are pairs of doubles, as in well-known binary.
//!
//! Any number of sequences, with any number of positions each, have one set of bounds.

#[cfg(target_arch = "x86_64")]
use crate::cpu::Avx2;

#[cfg(target_arch = "x86_64")]
mod avx2;
mod scalar;
#[cfg(test)]
mod tests;

/// The bytes of x and y, least significant byte first.
pub type PositionBytes = [[u8; 8]; 2];

/// The bounds of the positions in some sequences, in which NaNs are ignored.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PositionBounds {
    /// The least x and the least y, which are infinite if there are none.
    pub min: [f64; 2],
    /// The greatest x and the greatest y, which are negative infinite if there are none.
    pub max: [f64; 2],
    /// The largest distance between a position's x and the x of the first position in its sequence. This is infinite if
    /// a first position's x is NaN, and 0 if the spread was not requested.
    pub x_spread: f64,
}

impl PositionBounds {
    const NONE: Self = Self {
        min: [f64::INFINITY; 2],
        max: [f64::NEG_INFINITY; 2],
        x_spread: 0.0,
    };
}

/// Returns the bounds of all positions in some sequences, and their spread if `WITH_SPREAD` is set.
#[must_use]
pub fn position_bounds<const WITH_SPREAD: bool>(
    sequences: &[impl AsRef<[PositionBytes]>],
) -> PositionBounds {
    #[cfg(target_arch = "x86_64")]
    if Avx2::detect().is_some() {
        // SAFETY: the token proves that the processor has these instructions.
        return unsafe { avx2::bounds::<WITH_SPREAD>(sequences) };
    }
    scalar::bounds::<WITH_SPREAD>(sequences)
}
