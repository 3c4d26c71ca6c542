//! Writes Parquet files anew, or several of them as one, and keeps what goes with their rows.
//!
//! | to | use |
//! |---|---|
//! | keep what a file has besides its rows: schema, key-value metadata, bloom filters, sorting columns, encryption | [`CarryOver`] |
//! | find one Arrow schema for several files, and read them with it | [`SchemaMerge`] |
//! | find the first difference between two Arrow schemas | [`difference`] |
//! | know how a file is encrypted without its keys | [`encryption::InTheClear`] |
//!
//! All of it stands on `herringbone`, which does not depend on it.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

mod bloom_filters;
mod carry_over;
mod common_schema;
pub mod encryption;
mod geometries;
mod key_values;
mod note;
mod parquet_schema;
mod promotion;
mod same_schema;
mod sorting;

pub use carry_over::{Carried, CarryOver, InputFile};
pub use common_schema::{SchemaMerge, names_that_differ_in_case};
pub use geometries::is_geoarrow;
pub use note::Note;
pub use same_schema::difference;
