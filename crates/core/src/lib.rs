//! The data path of Herringbone: pages decoded straight into Arrow arrays.
//!
//! ```text
//! bytes → footer → schema → plan → column chunk → page → levels + values → Arrow arrays → RecordBatch
//! ```
//!
//! This crate does no I/O and spawns no thread: it says which bytes it needs and takes them.
//! Most people want the `herringbone` crate instead, which reads files with it. What that crate does not
//! export of this one is for the crates of this workspace, and changes with any release.

#![forbid(unsafe_code)]

// In the order in which data flows.
mod step;
pub mod memory_pool;
pub mod budget;
pub mod loss;
pub mod metrics;
pub mod fetch;
pub mod footer;
mod created_by;
pub mod page;
pub mod compression;
pub mod statistics;
pub mod bloom_filter;
mod levels;
mod cast;
mod encoding;
mod array;
pub mod column;
pub mod physical;
pub mod extension;
pub mod pruning;
pub mod filter;
pub mod read;
pub mod write;

pub use step::Step;

use herringbone_format::Error;
use herringbone_kernels::Malformed;

/// A kernel refuses the bytes; the place is added by who knows it.
fn malformed(Malformed(message): Malformed) -> Error {
    Error::corrupt(message)
}
