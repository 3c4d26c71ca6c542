//! A column chunk's pages as levels and physical values, the way the file stores them.
//!
//! A column chunk's pages are an optional dictionary page, followed by data pages. A data page
//! stores values without nulls, and two levels per slot. The definition level counts the optional
//! and repeated fields on the slot's path that are present, so a slot has a value if this level is
//! the column's largest one. The repetition level is 0 if the slot starts a new row, and higher
//! within a list.
//!
//! [`ParquetFile::pages`](crate::ParquetFile::pages) finds the pages, and a [`PageDecoder`] decodes
//! their bodies. Use these if you want to inspect or check files. For rows, use a
//! [`Reader`](crate::Reader) instead.
//!
//! ```
//! # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
//! use herringbone::physical::PageDecoder;
//! use herringbone::{Limits, ParquetFile};
//!
//! let file = ParquetFile::open("testdata/example.parquet")?;
//! let leaf = &file.parquet_schema().leaves()[3];
//! let chunk = file.metadata().column_chunk(0, 3)?.meta_data.ok_or("no metadata")?;
//! let created_by = file.metadata().created_by();
//! let mut decoder = PageDecoder::new(leaf, chunk.codec, created_by, Limits::default())?;
//! let mut counts = Vec::new();
//! for page in file.pages(0, 3)? {
//!     let page = page?;
//!     let start = page.start.offset + page.header_bytes as u64;
//!     let body = file.source().read(start..start + page.body_bytes)?;
//!     decoder.open(&page.header, &page.start, body)?;
//!     while let Some(block) = decoder.block()? {
//!         counts.push((block.def.len(), block.values.len()));
//!     }
//! }
//! // A dictionary of 14 entries, and 16 slots, 2 of them null.
//! assert_eq!(counts, [(14, 14), (16, 14)]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use herringbone_core::physical::{Block, PageDecoder};
