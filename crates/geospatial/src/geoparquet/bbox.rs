//! Converts boxes to and from arrays. An array has the lower bounds of all dimensions first, then
//! the upper bounds (RFC 7946, section 5).

use herringbone_format::BoundingBox;

/// Converts 4, 6 or 8 numbers to a box, or returns `None` for any other count.
pub(super) fn from_numbers(numbers: &[f64]) -> Option<BoundingBox> {
    Some(match *numbers {
        [xmin, ymin, xmax, ymax] => BoundingBox::new(xmin, xmax, ymin, ymax),
        [xmin, ymin, zmin, xmax, ymax, zmax] => BoundingBox::new(xmin, xmax, ymin, ymax)
            .zmin(zmin)
            .zmax(zmax),
        [xmin, ymin, zmin, mmin, xmax, ymax, zmax, mmax] => {
            BoundingBox::new(xmin, xmax, ymin, ymax)
                .zmin(zmin)
                .zmax(zmax)
                .mmin(mmin)
                .mmax(mmax)
        }
        _ => return None,
    })
}

/// Converts a box to numbers. M is omitted if there is no z, or if `has_m` is false, as for
/// versions before 2.0.
pub(super) fn to_numbers(bbox: &BoundingBox, has_m: bool) -> Vec<f64> {
    let (mut lower, mut upper) = (vec![bbox.xmin, bbox.ymin], vec![bbox.xmax, bbox.ymax]);
    if let Some((zmin, zmax)) = bbox.zmin.zip(bbox.zmax) {
        lower.push(zmin);
        upper.push(zmax);
        if let Some((mmin, mmax)) = bbox.mmin.zip(bbox.mmax).filter(|_| has_m) {
            lower.push(mmin);
            upper.push(mmax);
        }
    }
    [lower, upper].concat()
}
