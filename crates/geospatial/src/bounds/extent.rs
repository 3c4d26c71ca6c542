//! What is known of where geometries are.

use std::fmt;

use herringbone_format::BoundingBox;

/// Why there is no box although there are geometries.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum NoBox {
    /// A value is not well-known binary.
    Malformed,
    /// A geometry is of a kind that is not looked into.
    Opaque,
    /// A position of a GEOGRAPHY is not on Earth.
    OutOfRange,
    /// Nobody has proven how far the edges of the algorithm go.
    Edges,
    /// A part came without a box, or with an invalid one.
    Part,
    /// The boxes of parts leave no gap.
    Everywhere,
}

impl fmt::Display for NoBox {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Malformed => "a value is not well-known binary",
            Self::Opaque => "there are curves or surfaces",
            Self::OutOfRange => {
                "a value leaves the longitudes of -180 to 180 or the latitudes of -90 to 90"
            }
            Self::Edges => "how far edges of this algorithm go is not known",
            Self::Part => "a part has no valid bounding box",
            Self::Everywhere => "the bounding boxes of the parts leave no gap",
        })
    }
}

/// What is known of where geometries are.
#[derive(Debug, Clone, PartialEq)]
pub enum Extent {
    /// There is no position with an x, or none with a y.
    Empty,
    /// All of it lies within.
    Box(BoundingBox),
    /// There is no box.
    Unknown(NoBox),
}

impl Extent {
    /// The box, if there is one.
    #[must_use]
    pub fn bbox(self) -> Option<BoundingBox> {
        match self {
            Self::Box(bbox) => Some(bbox),
            Self::Empty | Self::Unknown(_) => None,
        }
    }
}
