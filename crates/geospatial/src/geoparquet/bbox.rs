//! Boxes as arrays: the lower bounds of all dimensions, then the upper ones (RFC 7946, section 5).

use herringbone_format::BoundingBox;

/// Of 4, 6 or 8 numbers; `None` of any other count.
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

/// The numbers. There is no way to write m without z, nor before version 2.0, where `has_m` is false:
/// it is left out then.
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
