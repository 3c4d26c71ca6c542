//! Compares boxes with each other, and with positions.

use herringbone_format::BoundingBox;

use crate::Edges;
use crate::wkb::Position;

/// Returns true if contents of one box might touch contents of the other. Boxes include their
/// borders, and a box with `xmin > xmax` crosses the antimeridian. A dimension always matches if
/// one of the boxes doesn't bound it.
///
/// Both boxes must be [valid](super::check).
#[must_use]
pub fn intersects(a: &BoundingBox, b: &BoundingBox, edges: Edges) -> bool {
    let bounded = |min: Option<f64>, max: Option<f64>| min.zip(max);
    let touch = |a: Option<(f64, f64)>, b: Option<(f64, f64)>| match (a, b) {
        (Some((amin, amax)), Some((bmin, bmax))) => amin <= bmax && bmin <= amax,
        _ => true,
    };
    intersects_x(a, b, edges)
        && a.ymin <= b.ymax
        && b.ymin <= a.ymax
        && touch(bounded(a.zmin, a.zmax), bounded(b.zmin, b.zmax))
        && touch(bounded(a.mmin, a.mmax), bounded(b.mmin, b.mmax))
}

fn intersects_x(a: &BoundingBox, b: &BoundingBox, edges: Edges) -> bool {
    let touch = match (wraps(a), wraps(b)) {
        // Both boxes contain the antimeridian.
        (true, true) => return true,
        (false, false) => a.xmin <= b.xmax && b.xmin <= a.xmax,
        (true, false) => b.xmax >= a.xmin || b.xmin <= a.xmax,
        (false, true) => a.xmax >= b.xmin || a.xmin <= b.xmax,
    };
    // On Earth, -180 and 180 are one meridian.
    let has_antimeridian = |it: &BoundingBox| wraps(it) || it.xmin <= -180.0 || it.xmax >= 180.0;
    touch || edges.is_geography() && has_antimeridian(a) && has_antimeridian(b)
}

/// Returns true if everything in the second box lies in the first. A dimension always matches if
/// the first box doesn't bound it. But if only the second box doesn't bound it, it never matches,
/// because we know nothing about the contents there.
///
/// Both boxes must be [valid](super::check).
#[must_use]
pub fn contains(outer: &BoundingBox, inner: &BoundingBox, edges: Edges) -> bool {
    let optional = |outer: (Option<f64>, Option<f64>), inner: (Option<f64>, Option<f64>)| match (
        outer.0.zip(outer.1),
        inner.0.zip(inner.1),
    ) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some((omin, omax)), Some((imin, imax))) => omin <= imin && imax <= omax,
    };
    contains_x(outer, inner, edges)
        && outer.ymin <= inner.ymin
        && inner.ymax <= outer.ymax
        && optional((outer.zmin, outer.zmax), (inner.zmin, inner.zmax))
        && optional((outer.mmin, outer.mmax), (inner.mmin, inner.mmax))
}

fn contains_x(outer: &BoundingBox, inner: &BoundingBox, edges: Edges) -> bool {
    let is_everywhere = edges.is_geography() && outer.xmin <= -180.0 && outer.xmax >= 180.0;
    is_everywhere
        || match (wraps(outer), wraps(inner)) {
            (false, false) | (true, true) => outer.xmin <= inner.xmin && inner.xmax <= outer.xmax,
            (true, false) => inner.xmin >= outer.xmin || inner.xmax <= outer.xmax,
            (false, true) => false,
        }
}

/// Returns, for each of x, y, z and m, true if the position's ordinate lies outside the box. For x
/// and y it must be outside by more than `slack`. Use the slack for GEOGRAPHY, since its bounds are
/// calculated. NaN is never outside, and missing or NaN bounds exclude nothing.
#[must_use]
pub fn outside(bbox: &BoundingBox, at: &Position, slack: f64) -> [bool; 4] {
    let beyond = |min: f64, max: f64, ordinate: f64| ordinate < min || ordinate > max;
    let (west, east) = (bbox.xmin - slack, bbox.xmax + slack);
    let optional = |min: Option<f64>, max: Option<f64>, ordinate| {
        beyond(min.unwrap_or(f64::NAN), max.unwrap_or(f64::NAN), ordinate)
    };
    [
        match wraps(bbox) {
            true => at.x < west && at.x > east,
            false => beyond(west, east, at.x),
        },
        beyond(bbox.ymin - slack, bbox.ymax + slack, at.y),
        optional(bbox.zmin, bbox.zmax, at.z),
        optional(bbox.mmin, bbox.mmax, at.m),
    ]
}

fn wraps(bbox: &BoundingBox) -> bool {
    bbox.xmin > bbox.xmax
}
