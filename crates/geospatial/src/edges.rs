//! How edges run from one position to the next.

use std::fmt;

use herringbone_format::{EdgeInterpolationAlgorithm, Error, LogicalType, Result};

/// How edges run: straight in the plane of a GEOMETRY, or along one of the paths of a GEOGRAPHY.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Edges {
    /// Straight in the plane of the coordinates.
    #[default]
    Planar,
    /// Great circles of a sphere.
    Spherical,
    /// Vincenty's formulae on the ellipsoid of the reference system.
    Vincenty,
    /// Thomas' approximation on the ellipsoid.
    Thomas,
    /// Andoyer's approximation on the ellipsoid.
    Andoyer,
    /// Karney's geodesics on the ellipsoid.
    Karney,
}

impl Edges {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Planar,
        Self::Spherical,
        Self::Vincenty,
        Self::Thomas,
        Self::Andoyer,
        Self::Karney,
    ];

    /// The name in the metadata of GeoArrow and GeoParquet: `planar`, `spherical`, ….
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Planar => "planar",
            Self::Spherical => "spherical",
            Self::Vincenty => "vincenty",
            Self::Thomas => "thomas",
            Self::Andoyer => "andoyer",
            Self::Karney => "karney",
        }
    }

    /// Of the name in the metadata of GeoArrow and GeoParquet.
    ///
    /// # Errors
    ///
    /// No edges have the name.
    pub fn from_name(name: &str) -> Result<Self> {
        let known = Self::ALL.into_iter().find(|edges| edges.name() == name);
        known.ok_or_else(|| {
            Error::unsupported(format!(
                "edges are {name:?}, and not planar, spherical, vincenty, thomas, andoyer or karney"
            ))
        })
    }

    /// Of a logical type; `None` of one that is neither GEOMETRY nor GEOGRAPHY.
    ///
    /// # Errors
    ///
    /// An algorithm that is not known.
    pub fn of(logical_type: &LogicalType) -> Result<Option<Self>> {
        Ok(Some(match logical_type {
            LogicalType::Geometry { .. } => Self::Planar,
            LogicalType::Geography { algorithm, .. } => match algorithm {
                None | Some(EdgeInterpolationAlgorithm::Spherical) => Self::Spherical,
                Some(EdgeInterpolationAlgorithm::Vincenty) => Self::Vincenty,
                Some(EdgeInterpolationAlgorithm::Thomas) => Self::Thomas,
                Some(EdgeInterpolationAlgorithm::Andoyer) => Self::Andoyer,
                Some(EdgeInterpolationAlgorithm::Karney) => Self::Karney,
                Some(other) => {
                    let message = format!("the algorithm of a GEOGRAPHY is {other}");
                    return Err(Error::unsupported(message));
                }
            },
            _ => return Ok(None),
        }))
    }

    /// The logical type with these edges. Spherical edges are what a GEOGRAPHY has that says nothing.
    #[must_use]
    pub fn logical_type(self, crs: Option<String>) -> LogicalType {
        let algorithm = match self {
            Self::Planar => return LogicalType::Geometry { crs },
            Self::Spherical => None,
            Self::Vincenty => Some(EdgeInterpolationAlgorithm::Vincenty),
            Self::Thomas => Some(EdgeInterpolationAlgorithm::Thomas),
            Self::Andoyer => Some(EdgeInterpolationAlgorithm::Andoyer),
            Self::Karney => Some(EdgeInterpolationAlgorithm::Karney),
        };
        LogicalType::Geography { crs, algorithm }
    }

    /// Whether they are those of a GEOGRAPHY: positions are longitudes and latitudes in degrees.
    #[must_use]
    pub fn is_geography(self) -> bool {
        self != Self::Planar
    }
}

impl fmt::Display for Edges {
    /// [`name`](Self::name).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
