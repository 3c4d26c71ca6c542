//! Geometry objects of GeoJSON (RFC 7946, section 3.1): longitude, latitude and height, as in OGC:CRS84.
//!
//! [`write()`] makes one of a value, [`read`] makes a value of one. Features are not known here.

mod read;
mod write;
#[cfg(test)]
mod tests;

pub use read::read;
pub use write::write;
