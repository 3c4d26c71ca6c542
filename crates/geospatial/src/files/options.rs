//! Options for GeoParquet metadata.

use crate::geoparquet::Version;

/// Options for writing GeoParquet.
///
/// | version | geometries | readers |
/// |---|---|---|
/// | 1.0, 1.1 | BYTE_ARRAY without annotation, for readers that do not support GEOMETRY | all readers of GeoParquet |
/// | 2.0 | GEOMETRY and GEOGRAPHY | readers that support these types |
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct GeoParquetOptions {
    /// The version of the specification to follow.
    pub version: Version,
    /// True if each column of well-known binary gets a column of boxes next to it, `bbox`. Readers
    /// use the bounds of this column to skip row groups and pages. It is a struct of FLOATs,
    /// rounded outward. If a row crosses the antimeridian, its box has all longitudes, and if it
    /// has no positions, its box is null.
    pub covering: bool,
    /// The column that readers use by default. If this is `None`, it is the first one.
    pub primary_column: Option<String>,
}

impl GeoParquetOptions {
    /// Creates options for a version, without coverings.
    #[must_use]
    pub fn new(version: Version) -> Self {
        Self {
            version,
            covering: false,
            primary_column: None,
        }
    }

    /// Sets whether each column of well-known binary gets a column of boxes next to it. Version 1.0
    /// does not support this.
    #[must_use]
    pub fn covering(mut self, covering: bool) -> Self {
        self.covering = covering;
        self
    }

    /// Sets the column that readers use by default.
    #[must_use]
    pub fn primary_column(mut self, name: impl Into<String>) -> Self {
        self.primary_column = Some(name.into());
        self
    }
}
