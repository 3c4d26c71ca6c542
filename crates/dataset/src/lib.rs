//! Reads and writes many Apache Parquet files as one table.
//!
//! ```text
//! paths ─► directories, level by level ─► files ─► one schema ─► record batches
//!          └─► partition columns: `year=2024` ─► ruled out by the filter before any file is opened
//! ```
//!
//! | to | use |
//! |---|---|
//! | read files | [`open`] |
//! | filter directories and files, choose the schema, read several times | [`Dataset`] and [`DatasetOptions`] |
//! | read asynchronously, from a store | [`Dataset::open_async`], [`Dataset::stream`] and a [`Listing`] |
//! | write files by the values of columns | [`DatasetWriter`], and [`AsyncDatasetWriter`] to a store |
//! | write `_metadata` and `_common_metadata` | [`metadata_file`] |
//! | read some files, or parts of them, as the tasks of an engine | [`Dataset::split`] and [`DataPart`] |
//! | look at the work of a read | [`Dataset::explain`] |
//! | read files of other kinds, or with schemas of their own | [`sequence`] |
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
//! for batch in herringbone_dataset::open("testdata/example.parquet")? {
//!     println!("{} rows", batch?.num_rows());
//! }
//! # Ok(())
//! # }
//! ```
//!
//! Listings for stores from the crate `object_store` need the feature `object-store-014` or
//! `object-store-013`.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod async_writer;
mod checked;
mod dataset;
mod directory;
mod explain;
mod files;
mod listing;
mod local;
mod metadata_file;
mod new_files;
mod options;
mod part;
mod partition;
mod partition_name;
mod partition_value;
mod partitioner;
mod pattern;
mod plan;
mod pool;
mod progress;
mod reader;
mod schema;
pub mod sequence;
mod side_by_side;
#[cfg(any(feature = "object-store-013", feature = "object-store-014"))]
mod store;
mod stream;
#[cfg(feature = "urls")]
pub mod urls;
mod walk;
mod window;
mod writer;

pub use async_writer::AsyncDatasetWriter;
pub use dataset::Dataset;
pub use explain::DatasetExplanation;
pub use listing::{Entry, Listing};
pub use local::LocalFiles;
pub use metadata_file::metadata_file;
pub use new_files::{NewFile, NewFiles};
pub use options::{DatasetOptions, DatasetReadOptions, SchemaFrom};
pub use part::DataPart;
pub use partition::Partitioning;
pub use reader::DatasetReader;
#[cfg(feature = "object-store-013")]
pub use store::object_store_013;
#[cfg(feature = "object-store-014")]
pub use store::object_store_014;
pub use stream::DatasetStream;
pub use walk::DataFile;
pub use writer::{DatasetWriteOptions, DatasetWriter, WrittenFile};

use std::path::Path;

use herringbone::{ReadOptions, Result};

/// Reads the files at a path as an iterator of record batches. The path can be a directory, a file,
/// or a pattern such as `data/**/*.parquet`.
///
/// ```
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
/// let reader = herringbone_dataset::open("testdata/datasets/codes/**/*.parquet")?;
/// let rows = reader.map(|batch| Ok(batch?.num_rows())).sum::<herringbone::Result<usize>>()?;
/// assert_eq!(rows, 8);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Fails for the same reasons as [`Dataset::open`].
pub fn open(path: impl AsRef<Path>) -> Result<DatasetReader> {
    Dataset::open(path, DatasetOptions::new())?.read(ReadOptions::new())
}
