//! Which poles a polygon encloses.

use super::bulge::{Place, Surface};
use super::path::Path;

/// Half of a sphere, in steradians.
const HALF: f64 = std::f64::consts::TAU;

/// The poles that are inside of a ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Poles {
    Neither,
    North,
    South,
    /// Both, and with them all longitudes: it encloses about half of the surface, or its smaller side is
    /// the one around the poles.
    Both,
}

/// The poles on the side of a ring that is the smaller one, which is what readers take for the inside;
/// both poles where it is not clear which side that is, or where the ring goes around twice.
///
/// `path` went along the whole ring, and `places` are its positions, the first one again at the end.
pub(super) fn enclosed(
    surface: Surface,
    path: &Path,
    places: impl Iterator<Item = Place>,
) -> Poles {
    /// A ring that is narrower and does not go around a pole has less than half of the surface.
    const NARROW: f64 = 170.0;
    /// Steradians by which an area may be wrong. Areas of an ellipsoid differ from those that are
    /// calculated as if it was a sphere by less than its flattening says.
    const ROUNDED: f64 = 1e-6;
    const FLATTENED: f64 = 0.3;
    let turns = path.turns();
    if turns == 0 && path.width() < NARROW {
        return Poles::Neither;
    }
    let error = match surface {
        Surface::Sphere => ROUNDED,
        Surface::Ellipsoid => FLATTENED,
    };
    let below = area_below(places);
    match turns {
        0 if below.abs() < HALF - error => Poles::Neither,
        1 | -1 => {
            let around_north = HALF - below * turns as f64;
            if around_north < HALF - error {
                Poles::North
            } else if around_north > HALF + error {
                Poles::South
            } else {
                Poles::Both
            }
        }
        _ => Poles::Both,
    }
}

/// The area between the edges of a ring and the equator, in steradians; edges that lead west, and
/// those south of the equator, count against it.
fn area_below(mut places: impl Iterator<Item = Place>) -> f64 {
    let Some(first) = places.next() else {
        return 0.0;
    };
    let half_tangent = |place: Place| (place.latitude / 2.0).to_radians().tan();
    let mut path = Path::new(first.longitude);
    let mut before = half_tangent(first);
    let mut area = 0.0;
    for place in places {
        let east = (path.go(place.longitude) / 2.0).to_radians().tan();
        let after = half_tangent(place);
        area += 2.0 * (east * (before + after)).atan2(1.0 + before * after);
        before = after;
    }
    area
}
