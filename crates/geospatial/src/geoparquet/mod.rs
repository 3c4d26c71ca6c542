//! GeoParquet: the JSON under the key `geo` of the file's key-value metadata, versions 1.0, 1.1
//! and 2.0.
//!
//! [`GeoMetadata::parse`] reads it, [`GeoMetadata::disagreements`] compares it with the columns of the file, and
//! [`GeoMetadata::to_json`] writes it. Members outside the specification are retained.

mod bbox;
mod disagreements;
mod model;
mod parse;
mod to_json;
#[cfg(test)]
mod tests;

pub use disagreements::FileColumn;
pub use model::{Covering, Encoding, GeoColumn, GeoMetadata, Others, Version};

/// The key in the key-value metadata.
pub const KEY: &str = "geo";
