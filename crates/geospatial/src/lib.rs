//! GEOMETRY and GEOGRAPHY of Parquet: what their values, statistics and metadata mean.
//!
//! ```text
//! value of a column ──► wkb::Events ──► wkt, geojson, ISO WKB
//!                            └────────► bounds ──► GeospatialStatistics
//! ```
//!
//! ```
//! use herringbone_geospatial::{Edges, StatisticsBuilder, geojson, wkt};
//!
//! // A path over the Pacific, across the antimeridian.
//! let mut value = Vec::new();
//! geojson::read(r#"{"type": "LineString", "coordinates": [[170, 50], [-170, 50]]}"#, &mut value)?;
//! let mut text = String::new();
//! wkt::write(&value, &mut text)?;
//! assert_eq!(text, "LINESTRING (170 50, -170 50)");
//!
//! let mut statistics = StatisticsBuilder::new(Edges::Spherical);
//! statistics.add(&value)?;
//! let bbox = statistics.extent().bbox().unwrap();
//! assert_eq!((bbox.xmin, bbox.xmax), (170.0, -170.0));
//! // Great circles bulge poleward.
//! assert!(bbox.ymin == 50.0 && bbox.ymax > 50.4);
//! # Ok::<(), herringbone_format::Error>(())
//! ```
//!
//! - [`wkb`] reads well-known binary without allocation and without recursion, and writes it.
//! - [`wkt`] and [`geojson`] are the same as text; with the feature `geo-traits`, geometries of other crates
//!   become values (`wkb::write_geometry`), and values geometries of other crates (`wkb::views`).
//! - [`bounds`] has bounding boxes: of geometries, merged, compared; [`StatisticsBuilder`] makes the
//!   statistics of a column chunk from its values.
//! - [`crs`] and [`geoarrow`] say what coordinates mean, to Parquet and to Arrow.
//! - `Geospatial`, with one of the features `arrow-60` (default) and `arrow-59`, is what readers and writers of
//!   files are given; `GeometryColumn` says what a file has of geometries, and whether a box can match them.
//! - [`geoparquet`] is the metadata that GeoParquet adds to a file; [`ColumnMeaning`] is what holds
//!   where it, the logical type and the Arrow schema disagree.

#![deny(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

pub mod bounds;
pub mod crs;
pub mod geoarrow;
pub mod geojson;
pub mod geoparquet;
pub mod wkb;
pub mod wkt;

mod column;
mod edges;
#[cfg(any(feature = "arrow-59", feature = "arrow-60"))]
mod files;
#[cfg(any(feature = "arrow-59", feature = "arrow-60"))]
mod native;
mod statistics;

pub use column::ColumnMeaning;
pub use edges::Edges;
#[cfg(any(feature = "arrow-59", feature = "arrow-60"))]
pub use files::{GeoParquetOptions, GeometryColumn, Geospatial};
pub use statistics::{GeometryTypes, StatisticsBuilder};
