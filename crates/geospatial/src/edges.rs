//! Describes the interpolation of edges between positions.

use std::fmt;

use herringbone_format::{EdgeInterpolationAlgorithm, Error, LogicalType, Result};

/// The interpolation of edges. GEOMETRY has straight edges in the plane, while the edges of a
/// GEOGRAPHY follow one of several paths on the Earth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Edges {
    /// Straight lines in the plane of the coordinates.
    #[default]
    Planar,
    /// Great circles of a sphere.
    Spherical,
    /// Geodesics by Vincenty's formulae, on the reference system's ellipsoid.
    Vincenty,
    /// Thomas' approximation, on the ellipsoid.
    Thomas,
    /// Andoyer's approximation, on the ellipsoid.
    Andoyer,
    /// Karney's geodesics, on the ellipsoid.
    Karney,
}

impl Edges {
    /// All interpolations.
    pub const ALL: [Self; 6] = [
        Self::Planar,
        Self::Spherical,
        Self::Vincenty,
        Self::Thomas,
        Self::Andoyer,
        Self::Karney,
    ];

    /// Returns the name in the metadata of GeoArrow and GeoParquet, such as `planar` or
    /// `spherical`.
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

    /// Converts a name from GeoArrow or GeoParquet metadata.
    ///
    /// # Errors
    ///
    /// Fails with [Unsupported](herringbone_format::ErrorKind::Unsupported) if no interpolation has
    /// this name.
    pub fn from_name(name: &str) -> Result<Self> {
        let known = Self::ALL.into_iter().find(|edges| edges.name() == name);
        known.ok_or_else(|| {
            Error::unsupported(format!(
                "unknown edges {name:?}; use one of: planar, spherical, vincenty, thomas, andoyer, \
                 karney"
            ))
        })
    }

    /// Returns a logical type's edges, or `None` if it is neither GEOMETRY nor GEOGRAPHY.
    ///
    /// # Errors
    ///
    /// Fails with [Unsupported](herringbone_format::ErrorKind::Unsupported) if the algorithm is not
    /// known.
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
                    let message = format!("unknown algorithm {other} of a GEOGRAPHY");
                    return Err(Error::unsupported(message));
                }
            },
            _ => return Ok(None),
        }))
    }

    /// Returns the logical type with these edges. We do not record spherical edges, because they
    /// are the default of GEOGRAPHY.
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

    /// Returns true for the edges of a GEOGRAPHY, whose positions are longitudes and latitudes in
    /// degrees.
    #[must_use]
    pub fn is_geography(self) -> bool {
        self != Self::Planar
    }
}

impl fmt::Display for Edges {
    /// Writes the interpolation's [`name`](Self::name).
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
