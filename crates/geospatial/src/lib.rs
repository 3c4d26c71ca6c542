//! GEOMETRY and GEOGRAPHY of Parquet, without Parquet: what their values, statistics and metadata mean.
//!
//! ```text
//! value of a column ──► wkb::Events ──► wkt, geojson, ISO WKB
//!                            └────────► bounds ──► GeospatialStatistics
//! ```
//!
//! - [`wkb`] reads well-known binary without allocation and without recursion, and writes it.
//! - [`wkt`] and [`geojson`] are the same as text.
//! - [`bounds`] has bounding boxes: of geometries, merged, compared; [`StatisticsBuilder`] makes the
//!   statistics of a column chunk from its values.
//! - [`crs`] and [`geoarrow`] say what coordinates mean, to Parquet and to Arrow.
//! - [`geoparquet`] is the metadata that GeoParquet adds to a file; [`ColumnMeaning`] is what holds
//!   where it, the logical type and the Arrow schema disagree.

#![forbid(unsafe_code)]

pub mod bounds;
pub mod crs;
pub mod geoarrow;
pub mod geojson;
pub mod geoparquet;
pub mod wkb;
pub mod wkt;

mod column;
mod edges;
mod statistics;

pub use column::ColumnMeaning;
pub use edges::Edges;
pub use statistics::{GeometryTypes, StatisticsBuilder};
