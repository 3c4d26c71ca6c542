//! Reads and writes geometries in files. [`Geospatial`] is the extension for both.
//!
//! ```text
//! READ   logical type, else `geo` metadata, else Arrow hint ──► field with geoarrow.wkb, its CRS and edges
//! WRITE  field with geoarrow.wkb ──► GEOMETRY or GEOGRAPHY, values unchanged
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

/// An extension that reads and writes GEOMETRY and GEOGRAPHY as Arrow extension types, with their
/// statistics.
///
/// To read, pass it to `ReadOptions::extension`. Columns then become `geoarrow.wkb` with their CRS
/// and edges, taken from the logical type, or else from the GeoParquet metadata. Columns in a
/// native encoding of GeoParquet 1.1 become `geoarrow.point` to `geoarrow.multipolygon`.
///
/// To write, add it to other options with [`write_options`](Self::write_options). Columns with
/// `geoarrow.wkb` then become GEOMETRY or GEOGRAPHY, and each column chunk gets a bounding box and
/// a list of geometry types.
///
/// ```
/// # use std::{collections::HashMap, sync::Arc};
/// # use herringbone::arrow::array::{ArrayRef, BinaryArray, RecordBatch};
/// # use herringbone::arrow::schema::{DataType, Field, Schema};
/// # use herringbone::geospatial::wkt;
/// # let mut points = vec![Vec::new(), Vec::new()];
/// # wkt::read("POINT (12.5 41.9)", &mut points[0])?;
/// # wkt::read("POINT (2.3 48.9)", &mut points[1])?;
/// # let name = ("ARROW:extension:name".to_owned(), "geoarrow.wkb".to_owned());
/// # let field = Field::new("place", DataType::Binary, true).with_metadata(HashMap::from([name]));
/// # let points: ArrayRef = Arc::new(BinaryArray::from_iter_values(points));
/// # let batch = RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![points])?;
/// use herringbone::geospatial::{GeoParquetOptions, Geospatial, geoparquet::Version};
/// use herringbone::{WriteOptions, Writer};
///
/// // `batch` has the column `place`: points as `geoarrow.wkb`.
/// // GeoParquet 1.1 with a column of boxes, by which readers skip pages.
/// let geoparquet = GeoParquetOptions::new(Version::V1_1).covering(true);
/// let options = Geospatial::new().geoparquet(geoparquet).write_options(WriteOptions::new());
/// let mut writer = Writer::new(Vec::new(), batch.schema(), options)?;
/// writer.write(&batch)?;
/// let metadata = writer.finish()?;
/// assert!(metadata.key_value_metadata().iter().any(|pair| pair.key == "geo"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct Geospatial {
    geoparquet: Option<GeoParquetOptions>,
    writes_iso: bool,
    /// The parsed `geo` metadata of the open file.
    known: Arc<KnownMetadata>,
}

impl Geospatial {
    /// Creates an extension that reads all geospatial metadata of files, and writes values
    /// unchanged.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Writes GeoParquet metadata, even if the source file has none. You don't need this option to
    /// keep a GeoParquet file GeoParquet: a schema read from such a file has the key `geo` in its
    /// metadata, and we then recreate that metadata in its version, with the boxes and types of the
    /// written values.
    #[must_use]
    pub fn geoparquet(mut self, options: GeoParquetOptions) -> Self {
        self.geoparquet = Some(options);
        self
    }

    /// Converts big-endian values, and values in extended well-known binary (EWKB), to the form
    /// that Parquet requires (ISO, little-endian). SRIDs are dropped, since the column defines the
    /// reference system. With this option, a malformed value is an error. Without it, values are
    /// written unchanged.
    #[must_use]
    pub fn write_iso(mut self, iso: bool) -> Self {
        self.writes_iso = iso;
        self
    }

    /// Adds this extension to `options`, both for geometry columns and for the statistics of their
    /// chunks.
    #[must_use]
    pub fn write_options(self, options: WriteOptions) -> WriteOptions {
        options.column_statistics(self.clone()).extension(self)
    }
}
