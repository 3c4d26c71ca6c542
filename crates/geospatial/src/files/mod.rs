//! Geometries in files: [`Geospatial`] is what readers and writers are given.
//!
//! ```text
//! READ   logical type, else `geo` metadata, else Arrow hint ──► field with geoarrow.wkb, its CRS and edges
//! WRITE  field with geoarrow.wkb ──► GEOMETRY or GEOGRAPHY, values as they are
//!        values of a column chunk ──► geospatial statistics
//! ```

mod extension;
mod known_metadata;
mod read;
mod statistics;
mod write;

use std::sync::Arc;

use herringbone_core::write::WriteOptions;

use known_metadata::KnownMetadata;

/// GEOMETRY and GEOGRAPHY as Arrow extension types, and their statistics.
///
/// Reading, it is an extension type of
/// [`ReadOptions`](herringbone_core::read::ReadOptions::extension): columns become `geoarrow.wkb`
/// with their CRS and edges, as the logical type says them, else the GeoParquet metadata. Columns
/// in one of the native encodings of GeoParquet 1.1 become `geoarrow.point` to
/// `geoarrow.multipolygon`.
///
/// Writing, [`write_options`](Self::write_options) adds it to other options: columns with
/// `geoarrow.wkb` become GEOMETRY or GEOGRAPHY, and column chunks get a bounding box and the types
/// that occur.
#[derive(Debug, Clone, Default)]
pub struct Geospatial {
    /// What the `geo` metadata of the file that is read say.
    known: Arc<KnownMetadata>,
}

impl Geospatial {
    /// Reads all that files say of geometries; writes values as they are.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The options with this: for columns of geometries, and for the statistics of their chunks.
    #[must_use]
    pub fn write_options(self, options: WriteOptions) -> WriteOptions {
        options.column_statistics(self.clone()).extension(self)
    }
}
