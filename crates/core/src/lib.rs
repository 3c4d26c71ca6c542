//! The base of the data path: pages ⇄ column batches of Arrow arrays.
//!
//! ```text
//! bytes → footer → column chunk → page → levels + values → Arrow arrays
//! ```
//!
//! This crate does no I/O and spawns no thread: its decoders return the ranges of bytes that they need, and take the bytes.
//! `herringbone-read` makes record batches with it, and `herringbone-write` makes column chunks.
//!
//! This crate is for the crates of this workspace. Its API changes with any release, except for the items that
//! `herringbone` exports.

#![forbid(unsafe_code)]

// In the order in which data flows.
mod step;
pub mod memory_pool;
pub mod budget;
pub mod loss;
pub mod metrics;
pub mod fetch;
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

/// Turns the refusal of a kernel into an error. The caller adds the place.
pub fn malformed(Malformed(message): Malformed) -> Error {
    Error::corrupt(message)
}
