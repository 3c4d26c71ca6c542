//! Describes the known extent of geometries.

use std::fmt;

use herringbone_format::BoundingBox;

/// The reason why geometries have no box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoBox {
    /// A value is not well-known binary.
    Malformed,
    /// A geometry is of an opaque kind.
    Opaque,
    /// A position of a GEOGRAPHY is not on Earth.
    OutOfRange,
    /// No bound has been proven for the edges that this algorithm interpolates.
    Edges,
    /// A part has no box, or an invalid one.
    Part,
    /// The boxes of the parts leave no gap between them.
    Everywhere,
}

impl fmt::Display for NoBox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Malformed => "a value is not well-known binary",
            Self::Opaque => "a value is a curve or surface",
            Self::OutOfRange => {
                "a value exceeds the longitudes -180 to 180 or the latitudes -90 to 90"
            }
            Self::Edges => "the extent of edges of this algorithm is unknown",
            Self::Part => "a part does not have a valid bounding box",
            Self::Everywhere => "the bounding boxes of the parts cover all longitudes",
        })
    }
}

/// The extent of geometries, as far as it is known.
#[derive(Debug, Clone, PartialEq)]
pub enum Extent {
    /// There is nothing to bound, because no position has an x, or no position has a y.
    Empty,
    /// A box that contains all geometries.
    Box(BoundingBox),
    /// There is no box, for this reason.
    Unknown(NoBox),
}

impl Extent {
    /// Returns the box, if there is one.
    #[must_use]
    pub fn bbox(self) -> Option<BoundingBox> {
        match self {
            Self::Box(bbox) => Some(bbox),
            Self::Empty | Self::Unknown(_) => None,
        }
    }
}
