//! Well-known text (OGC 06-103r4 §7) in the style of GEOS and DuckDB, such as `POINT Z (1 2 3)`.
//!
//! [`write()`] converts a value to text, and [`read`] converts text to a value.
//!
//! ```
//! use herringbone::geospatial::wkt;
//!
//! let (mut value, mut text) = (Vec::new(), String::new());
//! wkt::read("point z(1 2.50 3)", &mut value)?;
//! wkt::write(&value, &mut text)?;
//! assert_eq!(text, "POINT Z (1 2.5 3)");
//! # Ok::<(), herringbone::Error>(())
//! ```

mod read;
mod write;

pub use read::read;
pub use write::write;
pub(crate) use write::write_number;
