//! Converts CSV, JSON lines, GeoJSON and Arrow IPC to and from Arrow record batches. A value is
//! kept exactly, or is an error.
//!
//! ```text
//! bytes ─► read ─► record batches ─► write ─► text
//! ```
//!
//! [`read`] infers or takes a schema, and makes arrays from texts. [`mod@write`] prints the values
//! in arrays, and rows in a format. [`in_memory`] does both with bytes in memory. No function opens
//! a file or prints. Instead, callers pass [`read::Bytes`] and a [`write::TextOutput`].
//!
//! This crate is part of the [`herringbone`](https://docs.rs/herringbone) workspace. Its API is for
//! the command and for fuzzing, so error messages refer to the command's options.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

mod error;
pub mod in_memory;
pub mod read;
pub mod write;

pub use error::{Error, Result, shortened};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
