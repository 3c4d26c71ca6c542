//! Computes bounds, one position at a time.

use super::{PositionBounds, PositionBytes};

pub(super) fn bounds<const WITH_SPREAD: bool>(
    sequences: &[impl AsRef<[PositionBytes]>],
) -> PositionBounds {
    let mut bounds = PositionBounds::NONE;
    for sequence in sequences {
        let sequence = sequence.as_ref();
        let Some(first) = sequence.first() else {
            continue;
        };
        let first_x = f64::from_le_bytes(first[0]);
        if WITH_SPREAD && first_x.is_nan() {
            bounds.x_spread = f64::INFINITY;
        }
        for position in sequence {
            let [x, y] = position.map(f64::from_le_bytes);
            bounds.min = [lesser(x, bounds.min[0]), lesser(y, bounds.min[1])];
            bounds.max = [greater(x, bounds.max[0]), greater(y, bounds.max[1])];
            if WITH_SPREAD {
                bounds.x_spread = greater((x - first_x).abs(), bounds.x_spread);
            }
        }
    }
    bounds
}

/// Returns `number` if it is less than `than`. Otherwise, and also if `number` is NaN, returns `than`.
#[inline(always)]
fn lesser(number: f64, than: f64) -> f64 {
    if number < than { number } else { than }
}

/// Returns `number` if it is greater than `than`. Otherwise, and also if `number` is NaN, returns `than`.
#[inline(always)]
fn greater(number: f64, than: f64) -> f64 {
    if number > than { number } else { than }
}
