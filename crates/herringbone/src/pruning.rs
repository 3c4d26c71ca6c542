//! Typed bounds, page indexes and bloom filters for deciding which data to read, decoded without
//! I/O.
//!
//! A Parquet file stores each column chunk's least and greatest value. With page indexes, it also
//! stores the bounds of each page. A bloom filter rules out values that do not occur in its column
//! chunk. A read with a [filter](crate::ReadOptions::filter) uses all of these by itself. You only
//! need this module if your program makes that decision itself. For example, a query engine might
//! prune files before distributing them.
//!
//! [`ColumnBounds`] contains Arrow arrays with one slot per row group or page.
//! [`ParquetFile::row_group_bounds`](crate::ParquetFile::row_group_bounds) and
//! [`ParquetFile::page_bounds`](crate::ParquetFile::page_bounds) return them. A slot is null if the
//! file lacks the bound, or if the bound cannot be trusted. Treat null as unknown, because the data
//! could then contain any value.
//!
//! ```
//! # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
//! use herringbone::ParquetFile;
//! use herringbone::arrow::array::{cast::AsArray, types::Int64Type};
//!
//! let file = ParquetFile::open("testdata/example.parquet")?;
//! let bounds = file.row_group_bounds(0)?;
//! // The row groups that may contain an id of 20 or above.
//! let max = bounds.max.as_primitive::<Int64Type>();
//! let wanted = max.iter().enumerate().filter(|(_, max)| max.is_none_or(|max| max >= 20));
//! assert_eq!(wanted.map(|(row_group, _)| row_group).collect::<Vec<_>>(), [1]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`ColumnBoundsDecoder`], [`IndexDecoder`] and [`BloomFilterProbe`] do no I/O, so you pass them
//! either metadata or the bytes in the ranges they return.

pub use herringbone_core::bloom_filter::hash as bloom_filter_hash;
pub use herringbone_filter::pruning::{
    BloomFilterProbe, BoundsDecoder, ColumnBloomFilter, ColumnBounds, ColumnBoundsDecoder,
    IndexDecoder, PageIndexCache,
};
