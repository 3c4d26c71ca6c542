//! Turns the byte ranges needed by a read into requests, without I/O.
//!
//! ```text
//! wanted ranges + FetchPolicy ── requests() ──► Request: range to read, wanted ranges in it
//! byte range of the file ── row_groups_in() ──► row groups
//! ```

mod policy;
mod ranges;
mod requests;
mod splits;
mod tail;
#[cfg(test)]
mod tests;

pub use policy::{ChunkReads, FetchPolicy, request_cost};
pub use ranges::{bytes, union, without};
pub use requests::{Request, Requests, requests, requests_within};
pub use splits::row_groups_in;
pub use tail::{Tail, joined};
