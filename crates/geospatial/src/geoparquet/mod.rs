//! GeoParquet: the JSON under the key `geo` of the file's key-value metadata, versions 1.0, 1.1
//! and 2.0.
//!
//! [`GeoMetadata::parse`] reads it, [`GeoMetadata::disagreements`] compares it with the columns of the
//! file, [`GeoMetadata::to_json`] writes it. Members that the specification does not have are kept.

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
