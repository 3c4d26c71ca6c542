//! The base of the data path. This crate converts pages to column batches of Arrow arrays and back.
//!
//! ```text
//! bytes → footer → column chunk → page → levels + values → Arrow arrays
//! ```
//!
//! This crate does no I/O and does not spawn threads. Its decoders return the byte ranges that they need, and continue
//! when the caller has supplied them. `herringbone-read` uses it to build record batches, and `herringbone-write` to
//! build column chunks.
//!
//! Only the other crates of this workspace should depend on this crate. Its API changes with any release, except for
//! the items that `herringbone` exports.

#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

// The modules are in the order of data flow.
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

/// Converts a kernel's error. The caller adds the location, which a kernel does not know.
pub fn malformed(Malformed(message): Malformed) -> Error {
    Error::corrupt(message)
}
