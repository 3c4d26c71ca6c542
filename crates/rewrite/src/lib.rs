//! Rewrites or merges Parquet files, keeping the properties that belong to their rows.
//!
//! | to | use |
//! |---|---|
//! | keep the properties of a file besides its rows: schema, key-value metadata, bloom filters, sorting columns, encryption | [`CarryOver`] |
//! | find one Arrow schema for several files, and read them with it | [`SchemaMerge`] |
//! | find the first difference between two Arrow schemas | [`difference`] |
//! | inspect the encryption of a file without its keys | [`encryption::InTheClear`] |
//!
//! This crate is built on `herringbone`, which does not depend on it. For example, to merge two
//! files:
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
//! use herringbone::{ParquetFile, ReadOptions, WriteOptions, Writer};
//! use herringbone_rewrite::{CarryOver, InputFile, SchemaMerge};
//!
//! let paths = ["testdata/example.parquet", "testdata/example.parquet"];
//! let mut merge = SchemaMerge::default();
//! (merge.by_name, merge.cast) = (true, true);
//!
//! // One file is open at a time.
//! let (mut schemas, mut carry_over) = (Vec::new(), CarryOver::new());
//! for path in paths {
//!     let file = ParquetFile::open(path)?;
//!     let row_groups: Vec<usize> = (0..file.metadata().num_row_groups()).collect();
//!     schemas.push((path, file.plan(&ReadOptions::new())?.schema().clone()));
//!     carry_over.add(InputFile::new(path, &file, &row_groups))?;
//! }
//! let schema = merge.schema(&schemas)?;
//! let mut options = WriteOptions::new();
//! let carried = carry_over.apply(&schema, &mut options)?;
//! for note in &carried.notes {
//!     println!("{note}");
//! }
//! let mut out = Vec::new();
//! let mut writer = Writer::new(&mut out, carried.schema, options)?;
//! for path in paths {
//!     let mut read = ReadOptions::new();
//!     merge.read_as(&schema, &mut read);
//!     for batch in herringbone::open_with(path, read)? {
//!         writer.write(&batch?)?;
//!     }
//! }
//! writer.finish()?;
//! assert_eq!(ParquetFile::from_bytes(out)?.metadata().num_rows(), 48);
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod bloom_filters;
mod carry_over;
mod columns;
mod schema_merge;
pub mod encryption;
mod geometries;
mod key_values;
mod note;
mod origins;
mod parquet_schema;
mod promotion;
mod schema_diff;
mod sorting;

pub use carry_over::{Carried, CarryOver, InputFile};
pub use geometries::is_geoarrow;
pub use note::Note;
pub use origins::ColumnOrigin;
pub use schema_diff::difference;
pub use schema_merge::{SchemaMerge, names_that_differ_in_case, nullable};
