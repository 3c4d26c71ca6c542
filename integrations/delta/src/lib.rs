//! Reads and writes Delta tables through Herringbone, for `delta_kernel` 0.30.
//!
//! | to | use |
//! |---|---|
//! | read and write tables | [`HerringboneEngine`] |
//! | build an engine of your own | [`HerringboneParquetHandler`] |

#![cfg_attr(not(test), deny(clippy::indexing_slicing))]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

/// Runs the example of the guide.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/delta.md")]
struct Guide;

mod engine;
mod error;
mod handler;
mod predicate;
mod read;
mod wanted;
mod write;

pub use engine::HerringboneEngine;
pub use error::FileError;
pub use handler::HerringboneParquetHandler;
