//! Converts geometry objects of GeoJSON (RFC 7946, section 3.1). Coordinates are longitude,
//! latitude and height, as in OGC:CRS84.
//!
//! [`write()`] converts a value to GeoJSON, and [`read`] converts GeoJSON to a value. Features are not supported.
//!
//! ```
//! use herringbone::geospatial::{geojson, wkt};
//!
//! let (mut value, mut json) = (Vec::new(), String::new());
//! wkt::read("POINT (12.5 41.9)", &mut value)?;
//! geojson::write(&value, &mut json)?;
//! assert_eq!(json, r#"{"type":"Point","coordinates":[12.5,41.9]}"#);
//! # Ok::<(), herringbone::Error>(())
//! ```

mod read;
mod write;
#[cfg(test)]
mod tests;

pub use read::read;
pub use write::write;
