//! Bounds how far an edge bulges toward a pole between its ends.
//!
//! On a sphere, a great circle's latitude is highest at its apex, and at `d` degrees of longitude
//! from there `tan(latitude) = tan(apex) · cos(d)`. If the apex lies on an edge, one of the ends is
//! at most half the edge away, so that
//!
//! ```text
//! tan(apex) ≤ tan(higher end) / cos(longitudes between the ends / 2)
//! ```
//!
//! A geodesic of an ellipsoid is such a circle in reduced latitudes, `tan β = (1 - f) tan φ`. This
//! factor is on both sides of the bound and cancels out. But the difference of longitudes is
//! greater there: ω = λ + f sin α₀ I₃(σ), where I₃(σ) ≤ σ. The arc σ is no longer than ω plus the
//! difference of β. Therefore ω ≤ (λ + f |Δβ|) / (1 - f), where
//! |Δβ| ≤ |Δφ| / (1 - f).

use super::interval::Interval;
use super::path::HALF_WAY;

/// An upper bound for an ellipsoid's flattening. No ellipsoid of the Earth (1/311 to 1/293), the
/// Moon or Mars exceeds it.
const FLATTENING: f64 = 0.01;
/// The error margin for a calculated angle, in radians. The actual rounding error is many times
/// smaller.
const ROUNDED: f64 = 1e-14;

/// Tolerance around the equator in degrees. A latitude this close to it can count as either side.
const EQUATOR: f64 = 1e-6;

/// The surface that edges run on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Surface {
    Sphere,
    Ellipsoid,
}

/// A longitude and a latitude, in degrees.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct GeoPoint {
    pub(super) longitude: f64,
    pub(super) latitude: f64,
}

/// Adds the latitudes of an edge, including its ends. The ends are `east` degrees apart.
pub(super) fn add_edge(
    surface: Surface,
    start: GeoPoint,
    end: GeoPoint,
    east: f64,
    latitudes: &mut Interval,
) {
    let ends = Interval {
        min: start.latitude.min(end.latitude),
        max: start.latitude.max(end.latitude),
    };
    latitudes.merge(ends);
    // Along a meridian, an edge does not extend beyond its ends.
    if east == 0.0 || is_within(surface, ends, east.abs(), *latitudes) {
        return;
    }
    let between = on_sphere(surface, ends, east.abs());
    let headings = match surface {
        Surface::Sphere => Headings::new(start, end),
        Surface::Ellipsoid => Headings::UNKNOWN,
    };
    // An edge within one hemisphere bulges toward that hemisphere's pole. But along the equator,
    // the shortest path on an ellipsoid can take either side.
    if ends.max > -EQUATOR && headings.may_reach_north {
        latitudes.add(poleward(ends.max, between, headings.apex).min(90.0));
    }
    if ends.min < EQUATOR && headings.may_reach_south {
        latitudes.add(-poleward(-ends.min, between, headings.apex).min(90.0));
    }
}

/// Returns true if edges are known to lie within `latitudes`. Their ends have latitudes within
/// `ends`, and are at most `between` degrees of longitude apart.
#[inline]
pub(super) fn is_within(
    surface: Surface,
    ends: Interval,
    between: f64,
    latitudes: Interval,
) -> bool {
    let most = most_bulge(on_sphere(surface, ends, between));
    ends.max + most <= latitudes.max && ends.min - most >= latitudes.min
}

/// Returns an upper bound for the distance between an edge's ends, in degrees of longitude. The
/// distance is measured on the auxiliary sphere, where the edge is a great circle.
#[inline]
fn on_sphere(surface: Surface, ends: Interval, between: f64) -> f64 {
    match surface {
        Surface::Sphere => between,
        Surface::Ellipsoid => {
            let poleward = (ends.max - ends.min) / (1.0 - FLATTENING);
            (between + FLATTENING * poleward) / (1.0 - FLATTENING)
        }
    }
}

/// Returns a bound in degrees for how far an edge extends beyond its higher end. This replaces
/// asin(tan²(`between` / 4)) by plain arithmetic.
fn most_bulge(between: f64) -> f64 {
    /// For `between` up to 90 degrees, x²/14 in radians is the greater value, so it is a bound.
    const FACTOR: f64 = std::f64::consts::PI / 180.0 / 14.0;
    if between > 90.0 {
        return 90.0;
    }
    between * between * FACTOR
}

/// Returns an upper bound for an edge's latitude if its higher end is at `latitude`.
fn poleward(latitude: f64, between: f64, apex: f64) -> f64 {
    if between >= HALF_WAY {
        return apex.to_degrees().max(latitude);
    }
    let cos = (between / 2.0).to_radians().cos();
    let bound = (latitude.to_radians().tan() / cos).atan() + ROUNDED / cos;
    bound.min(apex).to_degrees().max(latitude)
}

/// The directions in which an edge can bulge beyond its ends.
struct Headings {
    may_reach_north: bool,
    may_reach_south: bool,
    /// The highest latitude that the edge's great circle reaches, in radians.
    apex: f64,
}

impl Headings {
    const UNKNOWN: Self = Self {
        may_reach_north: true,
        may_reach_south: true,
        apex: std::f64::consts::FRAC_PI_2,
    };

    /// Finds the headings of an edge on a sphere. The apex is on the edge if the edge heads north
    /// at its start and south at its end.
    fn new(start: GeoPoint, end: GeoPoint) -> Self {
        let (a, b) = (vector(start), vector(end));
        // This equals twice a × b, but stays accurate if a and b are close.
        let normal = cross(
            [a[0] - b[0], a[1] - b[1], a[2] - b[2]],
            [a[0] + b[0], a[1] + b[1], a[2] + b[2]],
        );
        let length = (normal[0].powi(2) + normal[1].powi(2) + normal[2].powi(2)).sqrt();
        let northward = |at: [f64; 3]| normal[0] * at[1] - normal[1] * at[0];
        let (first, last) = (northward(a), northward(b));
        // The circle's plane is ill-conditioned if the ends are nearly equal or nearly antipodal.
        let uncertain = 4.0 * ROUNDED / length.max(ROUNDED);
        let apex = normal[0].hypot(normal[1]).atan2(normal[2].abs());
        Self {
            may_reach_north: first >= -ROUNDED && last <= ROUNDED,
            may_reach_south: first <= ROUNDED && last >= -ROUNDED,
            apex: (apex + uncertain).min(std::f64::consts::FRAC_PI_2),
        }
    }
}

fn vector(place: GeoPoint) -> [f64; 3] {
    let (sin, cos) = place.longitude.to_radians().sin_cos();
    let (up, out) = place.latitude.to_radians().sin_cos();
    [out * cos, out * sin, up]
}

fn cross(a: [f64; 3], b: [f64; 3]) -> [f64; 3] {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}
