//! The base of the data path: pages ⇄ column batches of Arrow arrays.
//!
//! ```text
//! bytes → footer → column chunk → page → levels + values → Arrow arrays
//! ```
//!
//! This crate does no I/O and does not spawn threads: its decoders return the ranges of bytes that they need, and are
//! then supplied with the bytes. `herringbone-read` builds record batches with it, and `herringbone-write` builds
//! column chunks.
//!
//! This crate is for the crates of this workspace. Its API changes with any release, except for the items that
//! `herringbone` exports.

#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

// In the order of data flow.
mod step;
pub mod memory_pool;
pub mod budget;
pub mod loss;
pub mod metrics;
pub mod fetch;
pub mod outlook;
pub mod footer;
pub mod created_by;
pub mod page;
pub mod compression;
pub mod statistics;
pub mod bloom_filter;
pub mod levels;
pub mod cast;
pub mod encoding;
pub mod array;
pub mod column;
pub mod physical;
pub mod extension;

pub use step::Step;

use herringbone_format::Error;
use herringbone_kernels::Malformed;

/// Converts the error of a kernel. The caller adds the location.
pub fn malformed(Malformed(message): Malformed) -> Error {
    Error::corrupt(message)
}
