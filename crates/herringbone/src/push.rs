//! Reads without built-in I/O. Your program fetches the bytes, and a decoder decodes them.
//!
//! A [`PushDecoder`] never reads. Your program owns the I/O, whether blocking or async, and drives
//! the decoder in a loop. [`PushDecoder::poll`] decodes the bytes supplied so far, returning the
//! next batch, the end of the read, or the byte ranges it needs. Your program then fetches these
//! ranges and passes their bytes to [`PushDecoder::supply`], in any order and in any pieces.
//!
//! [`Needs`] lists the ranges in two groups. The ranges in `now` belong to the row group that the
//! decoder is working on, and it cannot continue without them. The ranges in `soon` belong to later
//! row groups. Fetching `soon` along with `now` saves round trips, but might buffer more bytes. A
//! third list, `cancelled`, contains ranges from earlier answers that are no longer needed, so that
//! your program can drop their requests.
//!
//! Each answer lists all missing bytes, including outstanding ranges from earlier answers. If you
//! poll while requests are in flight, skip the ranges already requested.
//!
//! ```
//! # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
//! use std::sync::Arc;
//! use bytes::Bytes;
//! use herringbone::push::{FetchPolicy, Poll, PushDecoder, requests};
//! use herringbone::{ParquetFile, ReadOptions};
//!
//! // This store has its object in memory. Yours sends requests.
//! let store = Bytes::from(std::fs::read("testdata/example.parquet")?);
//! let plan = ParquetFile::from_bytes(store.clone())?.plan(&ReadOptions::new().columns(["id"]))?;
//! let mut decoder = PushDecoder::new(Arc::new(plan));
//! let mut rows = 0;
//! loop {
//!     match decoder.poll()? {
//!         Poll::Needs(needs) => {
//!             let soon = needs.soon.into_iter().map(|it| it.range);
//!             let ranges = needs.now.into_iter().chain(soon);
//!             for request in requests(ranges, &FetchPolicy::remote()) {
//!                 let (start, end) = (request.range.start, request.range.end);
//!                 decoder.supply(start, &store.slice(start as usize..end as usize));
//!             }
//!         }
//!         Poll::Batch(batch) => rows += batch.num_rows(),
//!         Poll::Finished => break,
//!         Poll::NeedsKeys(_) => return Err("the file is encrypted".into()),
//!     }
//! }
//! assert_eq!(rows, 24);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | to | use |
//! |---|---|
//! | decode the footer from its last bytes | [`MetadataHandle::decode`](crate::MetadataHandle::decode), or [`FooterDecoder`] |
//! | plan a read | [`MetadataHandle::plan`](crate::MetadataHandle::plan), or [`ParquetFile::plan`](crate::ParquetFile::plan) |
//! | merge ranges into few requests | [`requests`] |
//! | decode row groups on several threads | [`PushDecoder::take_row_group`] |
//! | write a file part by part | [`WriteSteps`] |

#[doc(hidden)] // For the crates of this workspace.
pub use crate::allocator::keep_memory_of_read;
pub use crate::write_steps::WriteSteps;
pub use herringbone_core::fetch::FetchPolicy;
pub use herringbone_core::fetch::{Request, Requests, requests};
pub use herringbone_core::footer::{FooterDecoder, FooterStep};
pub use herringbone_read::{
    DetachedRowGroup, Explainer, Needs, Poll, PushDecoder, RowGroupPoll, Soon,
};
