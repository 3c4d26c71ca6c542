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
    /// use the bounds of this column to skip row groups and pages. The column is a struct of
    /// FLOATs, rounded outward. A row's box has all longitudes if the row crosses the antimeridian,
    /// and is null if there are no positions.
    pub covering: bool,
    /// The default column for readers. `None` picks the first geometry column.
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

    /// Sets the default column for readers.
    #[must_use]
    pub fn primary_column(mut self, name: impl Into<String>) -> Self {
        self.primary_column = Some(name.into());
        self
    }
}
