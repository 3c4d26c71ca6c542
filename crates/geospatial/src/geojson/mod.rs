//! Geometry objects of GeoJSON (RFC 7946, section 3.1): longitude, latitude and height, as in OGC:CRS84.
//!
//! [`write()`] converts a value to GeoJSON, and [`read`] converts GeoJSON to a value. Features are not supported.

mod read;
mod write;
#[cfg(test)]
mod tests;

pub use read::read;
pub use write::write;
