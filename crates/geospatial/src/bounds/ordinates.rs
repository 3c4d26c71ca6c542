//! The smallest and the largest ordinates of a sequence of positions.

use super::interval::Interval;
use crate::wkb::{ByteOrder, Coordinates, Dimensions};

/// The bounds of x, y, z and m: empty where there is no such ordinate.
#[inline]
pub(super) fn bounds_of(coordinates: &Coordinates<'_>) -> [Interval; 4] {
    const NONE: Interval = Interval::EMPTY;
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

/// The same of positions of `N` ordinates. One loop for each order of bytes, so that neither asks.
#[inline]
fn of<const N: usize>(coordinates: &Coordinates<'_>) -> [Interval; N] {
    let (ordinates, _) = coordinates.bytes().as_chunks::<8>();
    let (positions, _) = ordinates.as_chunks::<N>();
    match coordinates.byte_order() {
        ByteOrder::LittleEndian => fold(positions, f64::from_le_bytes),
        ByteOrder::BigEndian => fold(positions, f64::from_be_bytes),
    }
}

/// Several positions at a time, each compared with bounds of its own: no comparison waits for the one before it, and the
/// compiler makes vectors of them.
#[inline]
fn fold<const N: usize>(
    positions: &[[[u8; 8]; N]],
    number: impl Fn([u8; 8]) -> f64,
) -> [Interval; N] {
    const AT_A_TIME: usize = 4;
    let (blocks, rest) = positions.as_chunks::<AT_A_TIME>();
    let mut all = [Interval::EMPTY; N];
    if !blocks.is_empty() {
        let mut smallest = [[f64::INFINITY; N]; AT_A_TIME];
        let mut largest = [[f64::NEG_INFINITY; N]; AT_A_TIME];
        for block in blocks {
            let bounds = smallest.as_flattened_mut().iter_mut();
            let bounds = bounds.zip(largest.as_flattened_mut());
            for ((min, max), bytes) in bounds.zip(block.as_flattened()) {
                let number = number(*bytes);
                // Comparisons with NaN are false.
                *min = if number < *min { number } else { *min };
                *max = if number > *max { number } else { *max };
            }
        }
        for (smallest, largest) in smallest.into_iter().zip(largest) {
            let bounds = smallest.into_iter().zip(largest);
            for (all, (min, max)) in all.iter_mut().zip(bounds) {
                all.merge(Interval { min, max });
            }
        }
    }
    for position in rest {
        for (all, bytes) in all.iter_mut().zip(position) {
            all.add(number(*bytes));
        }
    }
    all
}
