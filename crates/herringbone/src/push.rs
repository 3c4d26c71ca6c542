//! Reading without built-in I/O: you supply bytes as they arrive, in any order.
//!
//! [`ParquetFile::plan`](crate::ParquetFile::plan) plans a read, and a [`PushDecoder`] returns the byte ranges
//! that it needs. [`requests`] merges such ranges into few requests. A [`FooterDecoder`] decodes the footer
//! from the last bytes of a file.

pub use herringbone_core::fetch::FetchPolicy;
pub use herringbone_core::fetch::{Request, Requests, requests};
pub use herringbone_core::footer::{FooterDecoder, FooterStep};
pub use herringbone_read::{DetachedRowGroup, Needs, Poll, PushDecoder, RowGroupPoll, Soon};
