//! Well-known text (OGC 06-103r4 §7), in the style of GEOS and DuckDB: `POINT Z (1 2 3)`.
//!
//! [`write()`] converts a value to text, and [`read`] converts text to a value.

mod read;
mod write;

pub use read::read;
pub use write::write;
pub(crate) use write::write_number;
