//! Metadata about the written values: their bounds and counts, and the page index.
//!
//! ```text
//! values of a page ──► BoundsBuilder ──finish──► EncodedBounds ──► ColumnIndexBuilder ──► ColumnIndex
//!                            │ merge
//!                            ▼
//!                      BoundsBuilder of the chunk ──finish──► EncodedBounds ──► Statistics
//! ```
//!
//! Bounds are computed from the dense physical values in the logical type's order, a
//! [`ColumnOrderKind`](herringbone_schema::ColumnOrderKind). We only shorten bounds when encoding them, so that merging
//! the bounds of pages loses nothing.

mod bounds;
mod bytes;
mod encoded;
mod range;
mod float;
mod page_index;
mod truncate;

#[cfg(test)]
mod tests;

pub use bounds::BoundsBuilder;
pub use encoded::{EncodedBounds, compare};
pub use page_index::{ColumnIndexBuilder, OffsetIndexBuilder, PageSummary};
