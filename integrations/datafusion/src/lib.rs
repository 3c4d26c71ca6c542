//! Reads and writes Apache Parquet in [DataFusion](https://datafusion.apache.org) by Herringbone.
//!
//! After [`register`], Herringbone reads and writes tables `STORED AS PARQUET`, and the engine
//! pushes projections, filters, sorts and limits down to it.
//!
//! | to | use |
//! |---|---|
//! | use a session | [`register`], [`ReadParquet`] |
//! | build a table or a plan yourself | [`HerringboneFormat`], [`HerringboneFormatFactory`], [`HerringboneSource`], `HerringboneTable` |
//! | read and write encrypted files | options `format.crypto.…`, or a [`KeyFactory`] |
//! | run queries on several machines | `HerringboneCodec`, feature `proto` |
//! | read some rows of a file | a [`herringbone::RowSelection`] in the extensions of its `PartitionedFile` |

#![cfg_attr(not(test), deny(clippy::indexing_slicing))]
#![forbid(unsafe_code)]
#![warn(missing_docs)]

/// Runs the examples of the guide.
#[cfg(all(doctest, feature = "session"))]
#[doc = include_str!("../../../docs/engines.md")]
struct Guide;

mod bounds;
#[cfg(feature = "proto")]
mod codec;
mod encryption;
mod error;
mod file_schema;
mod footer;
mod format;
mod memory;
mod object;
mod options;
mod ordering;
mod partitions;
mod scan;
#[cfg(feature = "session")]
mod session;
mod sink;
mod source;
mod statistics;
#[cfg(feature = "session")]
mod table;
mod turns;

#[cfg(feature = "proto")]
pub use codec::HerringboneCodec;
pub use encryption::KeyFactory;
pub use format::{HerringboneFormat, HerringboneFormatFactory};
pub use herringbone;
pub use options::HerringboneOptions;
#[cfg(feature = "session")]
pub use session::{ReadParquet, register, register_with};
pub use sink::HerringboneSink;
pub use source::HerringboneSource;
#[cfg(feature = "session")]
pub use table::HerringboneTable;
