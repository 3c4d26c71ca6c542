//! The pages of a column chunk as levels and values of the physical type, as stored in the file.
//!
//! [`ParquetFile::pages`](crate::ParquetFile::pages) finds the pages. A [`PageDecoder`] decodes their bodies.

pub use herringbone_core::physical::{Block, PageDecoder};
