//! Well-known binary (ISO/IEC 13249-3, OGC 06-103r4 §8). You read it with [`Events`], and write it
//! with [`Writer`].
//!
//! ```text
//! byte order   code    parts  ...
//! 01           u32     u32    line string: coordinates · polygon: rings · others: geometries
//! 00 or 01             ─      a point has no count, just its coordinates
//! ```
//!
//! The code is the kind plus 1000 with Z, 2000 with M, or 3000 with both. EWKB is the extended
//! form, used by PostGIS and by default also written by GEOS. It has flags in the highest bits
//! instead, optionally with an SRID after the code. We read it too, although Parquet only allows
//! the ISO form.

mod code;
mod coordinates;
mod error;
mod events;
mod header;
mod sequences;
#[cfg(feature = "geo-traits")]
mod traits;
#[cfg(feature = "geo-traits")]
pub mod views;
mod writer;
#[cfg(test)]
mod tests;

pub use code::{Dimensions, GeometryKind, GeometryType};
pub use coordinates::{Coordinates, Position};
pub use error::{WkbError, WkbErrorKind};
pub use events::{Event, Events, MAX_DEPTH, ReadOptions};
pub use header::{ByteOrder, Header};
pub(crate) use sequences::{for_each_sequence, only_sequence};
#[cfg(feature = "geo-traits")]
pub use traits::write_geometry;
pub use writer::{Writer, write_iso};
