//! Finds the poles that a polygon encloses.

use super::bulge::{GeoPoint, Surface};
use super::path::Path;

/// The area of half a sphere, in steradians.
const HALF: f64 = std::f64::consts::TAU;

/// The poles inside a ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Poles {
    Neither,
    North,
    South,
    /// Both poles, and therefore all longitudes. Either the ring encloses about half of the
    /// surface, or its smaller side is the one around the poles.
    Both,
}

/// Returns the poles on a ring's smaller side, because that is the inside to readers. Returns both
/// poles if it isn't clear which side is smaller, or if the ring goes around twice.
///
/// `path` is the path along the whole ring. `places` are the ring's positions, repeating the first
/// position at the end.
pub(super) fn enclosed(
    surface: Surface,
    path: &Path,
    places: impl Iterator<Item = GeoPoint>,
) -> Poles {
    /// The width in degrees below which a ring without a pole encloses less than half of the
    /// surface.
    const NARROW: f64 = 170.0;
    /// The error margin of an area on a sphere, in steradians.
    const ROUNDED: f64 = 1e-6;
    /// The error margin, in steradians, of calculating an ellipsoid's area as if on a sphere. The
    /// two areas differ by less than the flattening implies.
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

/// Returns the area between a ring's edges and the equator, in steradians. Edges that head west
/// count as negative, and so do edges south of the equator.
fn area_below(mut places: impl Iterator<Item = GeoPoint>) -> f64 {
    let Some(first) = places.next() else {
        return 0.0;
    };
    let half_tangent = |place: GeoPoint| (place.latitude / 2.0).to_radians().tan();
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
