//! Validates boxes from files.

use std::fmt;

use herringbone_format::BoundingBox;

use crate::Edges;

/// The reason why a box is invalid. Never prune with an invalid box, because geometries can lie
/// outside it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum InvalidBox {
    /// A bound is NaN.
    Nan {
        /// The axis (`x`, `y`, `z` or `m`).
        axis: char,
    },
    /// The lower bound is above the upper one, which only x allows.
    Inverted {
        /// The axis (`y`, `z` or `m`).
        axis: char,
        /// The lower bound.
        min: f64,
        /// The upper bound.
        max: f64,
    },
    /// Only one of the two bounds is set.
    OneSided {
        /// The axis (`z` or `m`).
        axis: char,
    },
    /// The box of a GEOGRAPHY extends beyond the Earth's longitudes or latitudes.
    OutOfRange,
}

impl fmt::Display for InvalidBox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Nan { axis } => write!(f, "the bounding box has a NaN in {axis}"),
            Self::Inverted { axis, min, max } => {
                write!(f, "{axis}min is {min}, above {axis}max, {max}")
            }
            Self::OneSided { axis } => write!(
                f,
                "the bounding box has only one of {axis}min and {axis}max"
            ),
            Self::OutOfRange => f.write_str(
                "the bounding box exceeds the longitudes -180 to 180 or the latitudes -90 to 90",
            ),
        }
    }
}

/// Checks that a box is valid.
///
/// # Errors
///
/// Fails with the first fault found.
pub fn check(bbox: &BoundingBox, edges: Edges) -> Result<(), InvalidBox> {
    faults(bbox, edges).next().map_or(Ok(()), Err)
}

/// Returns all faults of a box.
pub fn faults(bbox: &BoundingBox, edges: Edges) -> impl Iterator<Item = InvalidBox> {
    let axes = [
        ('x', Some(bbox.xmin), Some(bbox.xmax)),
        ('y', Some(bbox.ymin), Some(bbox.ymax)),
        ('z', bbox.zmin, bbox.zmax),
        ('m', bbox.mmin, bbox.mmax),
    ];
    let is_beyond = |bound: f64, most: f64| bound.abs() > most;
    let leaves = is_beyond(bbox.xmin, 180.0)
        || is_beyond(bbox.xmax, 180.0)
        || is_beyond(bbox.ymin, 90.0)
        || is_beyond(bbox.ymax, 90.0);
    let out_of_range = (edges.is_geography() && leaves).then_some(InvalidBox::OutOfRange);
    let axis_faults = axes
        .into_iter()
        .filter_map(|(axis, min, max)| match (min, max) {
            (None, None) => None,
            (Some(min), Some(max)) if min.is_nan() || max.is_nan() => {
                Some(InvalidBox::Nan { axis })
            }
            (Some(min), Some(max)) if min > max && axis != 'x' => {
                Some(InvalidBox::Inverted { axis, min, max })
            }
            (Some(_), Some(_)) => None,
            _ => Some(InvalidBox::OneSided { axis }),
        });
    axis_faults.chain(out_of_range)
}
