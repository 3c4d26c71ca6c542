//! GEOMETRY and GEOGRAPHY of Parquet, with their values, statistics and metadata.
//!
//! A geospatial column stores shapes as well-known binary (WKB). These are points, lines, polygons
//! and collections of them. The edges of a GEOMETRY are straight lines in the plane of its
//! coordinates, and the edges of a GEOGRAPHY are paths on the Earth's surface. The logical type
//! names the coordinate reference system. Each column chunk can have a bounding box, so that a read
//! can prune row groups that don't touch the requested box.
//!
//! GeoParquet is an older convention for this purpose. It describes geometry columns as JSON in the
//! file's key-value metadata. `Geospatial` reads both, and writes both if you ask for it.
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
//! - [`wkb`] reads well-known binary without allocation or recursion, and writes it.
//! - [`wkt`] and [`geojson`] read and write text. With the feature `geo-traits`, you can convert
//!   geometries of other crates to values (`wkb::write_geometry`), and values to geometries of
//!   other crates (`wkb::views`).
//! - [`bounds`] computes, merges and compares bounding boxes. [`StatisticsBuilder`] computes a
//!   column chunk's statistics from its values.
//! - [`crs`] and [`geoarrow`] describe how Parquet and Arrow record the meaning of coordinates.
//! - `Geospatial` is the extension for reading and writing files, available with one of the
//!   features `arrow-60` (default) and `arrow-59`. `GeometryColumn` describes a file's geometry
//!   column and checks it against a box.
//! - [`geoparquet`] is the metadata that GeoParquet adds to a file. [`ColumnMeaning`] decides
//!   between it, the logical type and the Arrow schema if they disagree.

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
