//! Bounds of positions in the plane: pairs of doubles, as well-known binary has them.
//!
//! **Shapes**: any number of sequences of any number of positions in, one set of bounds out.

#[cfg(target_arch = "x86_64")]
use crate::cpu::Avx2;

#[cfg(target_arch = "x86_64")]
mod avx2;
mod scalar;
#[cfg(test)]
mod tests;

/// The bytes of x and y, the least significant first.
pub type PositionBytes = [[u8; 8]; 2];

/// Where the positions of some sequences are. NaN is no number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PositionBounds {
    /// The least x and the least y; infinite where there are none.
    pub min: [f64; 2],
    /// The greatest x and the greatest y; negative infinite where there are none.
    pub max: [f64; 2],
    /// How far the x of any position is from that of the first one of its sequence: infinite where the first one has NaN,
    /// 0 where nobody asked.
    pub x_spread: f64,
}

impl PositionBounds {
    const NONE: Self = Self {
        min: [f64::INFINITY; 2],
        max: [f64::NEG_INFINITY; 2],
        x_spread: 0.0,
    };
}

/// Bounds all positions of some sequences, and how far they spread `WITH_SPREAD`.
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
