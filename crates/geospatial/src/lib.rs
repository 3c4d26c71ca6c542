//! GEOMETRY and GEOGRAPHY of Parquet, without Parquet: what their values, statistics and metadata mean.
//!
//! ```text
//! value of a column ──► wkb::Events ──► wkt, geojson, ISO WKB
//!                            └────────► bounds ──► GeospatialStatistics
//! ```
//!
//! - [`wkb`] reads well-known binary without allocation and without recursion, and writes it.
//! - [`wkt`] is the same as text.

#![forbid(unsafe_code)]

pub mod wkb;
pub mod wkt;
