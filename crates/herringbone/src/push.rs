//! Reading without I/O of our own: bytes are supplied as they come, in any order.
//!
//! [`ParquetFile::plan`](crate::ParquetFile::plan) says what is read, and a [`PushDecoder`] which bytes of
//! the file that takes. [`requests`] merges such ranges into few requests. A [`FooterDecoder`] decodes
//! the footer from the last bytes of a file.

pub use herringbone_core::fetch::FetchPolicy;
pub use herringbone_core::fetch::{Request, Requests, requests};
pub use herringbone_core::footer::{FooterDecoder, FooterStep};
pub use herringbone_read::{DetachedRowGroup, Needs, Poll, PushDecoder, RowGroupPoll, Soon};
