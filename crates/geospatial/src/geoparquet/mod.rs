//! GeoParquet metadata of the versions 1.0, 1.1 and 2.0. It is JSON under the key `geo` of a file's
//! key-value metadata.
//!
//! [`GeoMetadata::parse`] reads it, [`GeoMetadata::disagreements`] compares it with the file's
//! columns, and [`GeoMetadata::to_json`] writes it. Unknown members are kept.

mod bbox;
mod disagreements;
mod model;
mod parse;
mod to_json;
#[cfg(test)]
mod tests;

pub use disagreements::FileColumn;
pub use model::{Covering, Encoding, GeoColumn, GeoMetadata, Others, Version};

/// The metadata's key in the key-value metadata.
pub const KEY: &str = "geo";
