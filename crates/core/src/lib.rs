//! The base of the data path, converting pages to column batches of Arrow arrays and back.
//!
//! ```text
//! bytes → footer → column chunk → page → levels + values → Arrow arrays
//! ```
//!
//! This crate does no I/O and does not spawn threads. Its decoders return the byte ranges they need and continue once
//! the caller has supplied the bytes. `herringbone-read` uses this crate to build record batches, and
//! `herringbone-write` to build column chunks.
//!
//! Only the other crates of this workspace should depend on this crate. Its API can change with any release, except for
//! the items exported by `herringbone`.

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

/// Converts a kernel's error. The caller adds the location, since a kernel doesn't know it.
pub fn malformed(Malformed(message): Malformed) -> Error {
    Error::corrupt(message)
}
