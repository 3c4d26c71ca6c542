//! The pages of a column chunk as levels and values of the physical type: what the file stores, before it
//! becomes rows.
//!
//! [`ParquetFile::pages`](crate::ParquetFile::pages) finds the pages, and a [`PageDecoder`] takes their bodies.

pub use herringbone_core::physical::{Block, PageDecoder};
