//! Metadata for pruning, without I/O: bounds, page indexes and bloom filters.
//!
//! ```text
//! Statistics, ColumnIndex ── PLAIN bounds ──► BoundsDecoder ──► Arrow array, one value per bound
//!                                     ──► ColumnBoundsDecoder ──► usable bounds, and counts
//! ColumnChunk ──► IndexDecoder: a range of the file ── its bytes ──► ColumnIndex or OffsetIndex
//! ColumnMetaData ──► BloomFilterProbe: header, then the one block that a hash selects ──► maybe, or no
//! ```

mod bloom_filter;
mod bounds;
mod column_bounds;
pub mod index_trust;
mod page_index;
mod page_index_cells;
#[cfg(test)]
mod tests;

pub use bloom_filter::{BloomFilterProbe, ColumnBloomFilter};
pub use bounds::BoundsDecoder;
pub use column_bounds::{ColumnBounds, ColumnBoundsDecoder};
pub use page_index::IndexDecoder;
pub use page_index_cells::{FirstPage, PageIndexCache, PageIndexCell, PageIndexCells};
