//! The check of Arrow's C structs before they are imported.
//!
//! ```text
//! ArrowSchema ─► Type (schema.rs): depth, counts, names, formats, metadata
//! ArrowArray + Type ─► check (array.rs): lengths, offsets, counts of buffers and nulls, places in other buffers
//! ArrowArrayStream ─► guard (stream.rs): the same stream, which checks its structs
//! Python's capsules ─► python.rs
//! ```
//!
//! Arrow's own importers believe the structs, and panic or read foreign memory if a number is wrong. The check refuses such
//! structs. It takes time proportional to the columns. Numbers that are places in other buffers, which are offsets, views, run
//! ends, type ids and dictionary keys, take one pass more. The producer promises the rest: that pointers point to as many bytes
//! as lengths and types ask for, that metadata are as long as their own lengths say, and that text is UTF-8.
//!
//! This crate and `herringbone-c` are the second place of `unsafe`, after the kernels, because a pointer of another language
//! cannot be read without it.

#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

mod array;
mod error;
#[cfg(feature = "python")]
pub mod python;
mod schema;
mod stream;
mod structs;

pub use array::check_array;
pub use error::{Refused, Result};
pub use schema::Type;
pub use stream::{Rows, guard_stream};
pub use structs::{ArrowArray, ArrowArrayStream, ArrowSchema};

#[cfg(test)]
mod tests;
