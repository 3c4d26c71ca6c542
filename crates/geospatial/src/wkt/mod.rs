//! Well-known text (OGC 06-103r4 §7), as GEOS and DuckDB write it: `POINT Z (1 2 3)`.
//!
//! [`write()`] makes it of a value, [`read`] makes a value of it.

mod read;
mod write;

pub use read::read;
pub use write::write;
pub(crate) use write::write_number;
