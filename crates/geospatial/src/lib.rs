//! GEOMETRY and GEOGRAPHY of Parquet: their values, statistics and metadata.
//!
//! A geospatial column stores shapes as well-known binary (WKB): points, lines, polygons and collections of them.
//! The edges of a GEOMETRY are straight lines in the plane of its coordinates. The edges of a GEOGRAPHY are paths on
//! the surface of the Earth. The logical type names the coordinate reference system. Each column chunk may have a
//! bounding box, by which a read prunes row groups that cannot touch the requested box.
//!
//! GeoParquet is an older convention for the same purpose. It describes geometry columns in JSON, in the key-value
//! metadata of the file. `Geospatial` reads both, and writes both on request.
//!
//! ```text
//! value of a column ──► wkb::Events ──► wkt, geojson, ISO WKB
//!                            └────────► bounds ──► GeospatialStatistics
//! ```
//!
//! ```
//! use herringbone::geospatial::{Edges, StatisticsBuilder, geojson, wkt};
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
//! # Ok::<(), herringbone::Error>(())
//! ```
//!
//! - [`wkb`] reads well-known binary without allocation and without recursion, and writes it.
//! - [`wkt`] and [`geojson`] read and write text. With the feature `geo-traits`, geometries of other crates can be
//!   converted to values (`wkb::write_geometry`), and values to geometries of other crates (`wkb::views`).
//! - [`bounds`] computes, merges and compares bounding boxes. [`StatisticsBuilder`] computes the statistics of a
//!   column chunk from its values.
//! - [`crs`] and [`geoarrow`] describe the meaning of coordinates in Parquet and in Arrow.
//! - `Geospatial` is the extension for readers and writers of files, available with one of the features `arrow-60`
//!   (default) and `arrow-59`. `GeometryColumn` describes a geometry column of a file, and checks if a box can
//!   match it.
//! - [`geoparquet`] is the metadata that GeoParquet adds to a file. [`ColumnMeaning`] resolves disagreements between
//!   it, the logical type and the Arrow schema.

#![deny(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]
#![cfg_attr(docsrs, feature(doc_cfg))]

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
