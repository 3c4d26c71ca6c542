//! Parquet for browsers and node.
//!
//! ```text
//! package/: File, URL ─► ranges of bytes ─► file.rs: metadata, explain, report ─► JSON
//!                                       └─► read.rs: PushDecoder ─► output.rs ─► JSON, CSV, Arrow, Parquet
//! ```
//!
//! Nothing here waits. A function returns the ranges that it needs, and JavaScript fetches them, because only there a program can
//! wait for a request, and end it.

mod error;
mod file;
mod json;
mod options;
mod output;
mod read;
mod source;

pub use file::File;
pub use read::Read;
