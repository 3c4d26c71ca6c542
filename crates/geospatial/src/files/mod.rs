//! Geometries in files: [`Geospatial`] is what readers and writers are given.
//!
//! ```text
//! READ   logical type, else `geo` metadata, else Arrow hint ──► field with geoarrow.wkb, its CRS and edges
//! WRITE  field with geoarrow.wkb ──► GEOMETRY or GEOGRAPHY, values as they are
//!        values of a column chunk ──► geospatial statistics
//! ```

mod columns;
mod covered;
mod covering;
mod each;
mod extension;
mod geo_column;
mod geo_file;
mod iso;
mod known_metadata;
mod options;
mod predicate;
mod read;
mod row_boxes;
mod statistics;
mod write;

use std::sync::Arc;

use herringbone_write::WriteOptions;

pub use columns::GeometryColumn;
use known_metadata::KnownMetadata;
pub use options::GeoParquetOptions;

/// GEOMETRY and GEOGRAPHY as Arrow extension types, and their statistics.
///
/// Reading, it is an extension type of `ReadOptions::extension`: columns become `geoarrow.wkb`
/// with their CRS and edges, as the logical type says them, else the GeoParquet metadata. Columns
/// in one of the native encodings of GeoParquet 1.1 become `geoarrow.point` to
/// `geoarrow.multipolygon`.
///
/// Writing, [`write_options`](Self::write_options) adds it to other options: columns with
/// `geoarrow.wkb` become GEOMETRY or GEOGRAPHY, and column chunks get a bounding box and the types
/// that occur.
///
/// ```
/// use std::sync::Arc;
/// use herringbone_geospatial::{GeoParquetOptions, Geospatial, geoparquet::Version};
/// use herringbone_write::WriteOptions;
///
/// // GeoParquet 1.1 with a column of boxes, which readers skip pages by.
/// let geoparquet = GeoParquetOptions::new(Version::V1_1).covering(true);
/// let options = Geospatial::new().geoparquet(geoparquet).write_options(WriteOptions::new());
/// ```
#[derive(Debug, Clone, Default)]
pub struct Geospatial {
    geoparquet: Option<GeoParquetOptions>,
    writes_iso: bool,
    /// What the `geo` metadata of the file that is read say.
    known: Arc<KnownMetadata>,
}

impl Geospatial {
    /// Reads all that files say of geometries; writes values as they are.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Writes GeoParquet metadata, whatever the rows had where they come from. Without this, GeoParquet
    /// stays what it was: where the metadata of the Arrow schema have the key `geo`, as those of
    /// files do that were read, it is written anew in its version, with the boxes and types of the
    /// values that are written.
    #[must_use]
    pub fn geoparquet(mut self, options: GeoParquetOptions) -> Self {
        self.geoparquet = Some(options);
        self
    }

    /// Turns values that are extended well-known binary (EWKB) or big-endian into what Parquet wants:
    /// ISO, little-endian. Their SRIDs are left out, as the reference system is that of the column.
    /// Values that are no well-known binary are an error then. Otherwise they are written as they are.
    #[must_use]
    pub fn write_iso(mut self, iso: bool) -> Self {
        self.writes_iso = iso;
        self
    }

    /// The options with this: for columns of geometries, and for the statistics of their chunks.
    #[must_use]
    pub fn write_options(self, options: WriteOptions) -> WriteOptions {
        options.column_statistics(self.clone()).extension(self)
    }
}
