//! Finds the minimum and maximum ordinates in a sequence of positions.

use herringbone_kernels::positions::{PositionBounds, position_bounds};

use super::interval::Interval;
use crate::wkb::{ByteOrder, Coordinates, Dimensions};

/// Returns the bounds of x, y, z and m. A missing ordinate has empty bounds.
#[inline]
pub(super) fn bounds_of(coordinates: &Coordinates<'_>) -> [Interval; 4] {
    const NONE: Interval = Interval::EMPTY;
    if let Some(positions) = coordinates.little_endian() {
        let [x, y] = intervals(&position_bounds::<false>(&[positions]));
        return [x, y, NONE, NONE];
    }
    match coordinates.dimensions() {
        Dimensions::Xy => {
            let [x, y] = of(coordinates);
            [x, y, NONE, NONE]
        }
        Dimensions::Xyz => {
            let [x, y, z] = of(coordinates);
            [x, y, z, NONE]
        }
        Dimensions::Xym => {
            let [x, y, m] = of(coordinates);
            [x, y, NONE, m]
        }
        Dimensions::Xyzm => of(coordinates),
    }
}

/// Returns the bounds of x and y.
pub(super) fn intervals(bounds: &PositionBounds) -> [Interval; 2] {
    let ([min_x, min_y], [max_x, max_y]) = (bounds.min, bounds.max);
    let interval = |min, max| Interval { min, max };
    [interval(min_x, max_x), interval(min_y, max_y)]
}

/// Returns the bounds of positions with `N` ordinates. Each byte order has its own loop, so that
/// there is no branch per ordinate.
#[inline]
fn of<const N: usize>(coordinates: &Coordinates<'_>) -> [Interval; N] {
    let (ordinates, _) = coordinates.bytes().as_chunks::<8>();
    let (positions, _) = ordinates.as_chunks::<N>();
    match coordinates.byte_order() {
        ByteOrder::LittleEndian => fold(positions, f64::from_le_bytes),
        ByteOrder::BigEndian => fold(positions, f64::from_be_bytes),
    }
}

#[inline]
fn fold<const N: usize>(
    positions: &[[[u8; 8]; N]],
    number: impl Fn([u8; 8]) -> f64,
) -> [Interval; N] {
    let mut bounds = Bounds::EMPTY;
    bounds.add(positions, number);
    bounds.finish()
}

const AT_A_TIME: usize = 4;

/// Running bounds for positions with `N` ordinates. We process `AT_A_TIME` positions per round,
/// each with its own running bounds. This breaks the dependency between comparisons, so the
/// compiler can vectorize the loop.
#[derive(Clone, Copy)]
struct Bounds<const N: usize> {
    smallest: [[f64; N]; AT_A_TIME],
    largest: [[f64; N]; AT_A_TIME],
}

impl<const N: usize> Bounds<N> {
    const EMPTY: Self = Self {
        smallest: [[f64::INFINITY; N]; AT_A_TIME],
        largest: [[f64::NEG_INFINITY; N]; AT_A_TIME],
    };

    #[inline(always)]
    fn add(&mut self, positions: &[[[u8; 8]; N]], number: impl Fn([u8; 8]) -> f64) {
        let (blocks, rest) = positions.as_chunks::<AT_A_TIME>();
        // Work on a local copy, since it stays in registers.
        let mut bounds = *self;
        for block in blocks {
            bounds.compare(block, &number);
        }
        bounds.compare(rest, &number);
        *self = bounds;
    }

    /// Compares at most `AT_A_TIME` positions with the bounds.
    #[inline(always)]
    fn compare(&mut self, positions: &[[[u8; 8]; N]], number: &impl Fn([u8; 8]) -> f64) {
        let bounds = self.smallest.iter_mut().zip(&mut self.largest);
        for ((smallest, largest), position) in bounds.zip(positions) {
            let bounds = smallest.iter_mut().zip(largest);
            for ((min, max), bytes) in bounds.zip(position) {
                let number = number(*bytes);
                // Comparisons with NaN are false, so this ignores NaN.
                *min = if number < *min { number } else { *min };
                *max = if number > *max { number } else { *max };
            }
        }
    }

    #[inline]
    fn finish(self) -> [Interval; N] {
        let mut all = [Interval::EMPTY; N];
        for (smallest, largest) in self.smallest.into_iter().zip(self.largest) {
            let bounds = smallest.into_iter().zip(largest);
            for (all, (min, max)) in all.iter_mut().zip(bounds) {
                all.merge(Interval { min, max });
            }
        }
        all
    }
}
