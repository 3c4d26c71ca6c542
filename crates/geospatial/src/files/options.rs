//! What GeoParquet metadata are written.

use crate::geoparquet::Version;

/// How GeoParquet is written.
///
/// | version | geometries | readers |
/// |---|---|---|
/// | 1.0, 1.1 | BYTE_ARRAY without annotation, as those that know no GEOMETRY want it | all of GeoParquet |
/// | 2.0 | GEOMETRY and GEOGRAPHY | those that know these types |
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct GeoParquetOptions {
    /// Which rules hold.
    pub version: Version,
    /// Whether each column of well-known binary gets a column of boxes beside it, `bbox`, by whose
    /// bounds readers skip row groups and pages: a struct of FLOATs, rounded outward. A row that
    /// crosses the antimeridian has all longitudes there, one without positions has null.
    pub covering: bool,
    /// The column that is meant where none is named; the first one where this does not say.
    pub primary_column: Option<String>,
}

impl GeoParquetOptions {
    /// Metadata of a version, without coverings.
    #[must_use]
    pub fn new(version: Version) -> Self {
        Self {
            version,
            covering: false,
            primary_column: None,
        }
    }

    /// Writes a column of boxes beside each column of well-known binary, or not. Version 1.0 knows
    /// none.
    #[must_use]
    pub fn covering(mut self, covering: bool) -> Self {
        self.covering = covering;
        self
    }

    /// The column that is meant where none is named.
    #[must_use]
    pub fn primary_column(mut self, name: impl Into<String>) -> Self {
        self.primary_column = Some(name.into());
        self
    }
}
