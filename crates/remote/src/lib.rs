//! Async reads and writes of Apache Parquet files in object stores.
//!
//! ```text
//! Object ─► RemoteFile ─► RecordBatchStream ─► record batches ─► RemoteWriter ─► ObjectSink
//! ```
//!
//! An [`Object`] is a file in a store, with its bytes requested by range. [`RemoteFile::open`]
//! reads its footer, and [`RemoteFile::read`] returns a stream of record batches. The stream uses
//! the decoder of [`herringbone::push`], so you get the same batches and errors as from a blocking
//! read.
//!
//! An [`ObjectSink`] is the place for a new object. [`RemoteWriter`] encodes with the blocking
//! [`Writer`](herringbone::Writer) and sends the file in parts.
//!
//! This crate needs no async runtime. If you use stores from the crate `object_store`, enable the
//! adapters with the features `object-store-014` and `object-store-013`. The feature `urls` finds
//! stores for URLs, and `blocking` has a [source](herringbone::source::Source) for blocking reads.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "blocking")]
pub mod blocking;
mod cache;
mod chunk_objects;
mod fetches;
mod file;
#[cfg(feature = "urls")]
pub mod http;
mod keys;
mod lookups;
mod object;
mod options;
mod parts;
#[cfg(any(feature = "object-store-013", feature = "object-store-014"))]
mod plain;
pub mod request;
mod row_groups;
mod seat;
mod secrets;
mod sink;
#[cfg(any(feature = "object-store-013", feature = "object-store-014"))]
mod store;
mod stream;
mod uploads;
mod url_key;
#[cfg(feature = "urls")]
pub mod urls;
mod whole;
mod write_options;
mod writer;

pub use cache::{CachedFooter, FileKey, LruMetadataCache, MetadataCache};
pub use chunk_objects::ChunkObjects;
pub use file::RemoteFile;
pub use herringbone_core::fetch::Tail;
pub use keys::KeyService;
pub use object::{Answer, BoxFuture, Identity, Object};
pub use options::RemoteOptions;
pub use secrets::without_secrets;
pub use sink::{ObjectSink, Upload};
#[cfg(feature = "object-store-013")]
pub use store::object_store_013;
#[cfg(feature = "object-store-014")]
pub use store::object_store_014;
pub use stream::RecordBatchStream;
pub use url_key::escaped_key;
pub use write_options::RemoteWriteOptions;
pub use writer::{RemoteWriter, SentObject};
