//! Typed bounds, page indexes and bloom filters, decoded without I/O. Use them to decide which data to read.

pub use herringbone_core::bloom_filter::hash as bloom_filter_hash;
pub use herringbone_filter::pruning::{
    BloomFilterProbe, BoundsDecoder, ColumnBloomFilter, ColumnBounds, ColumnBoundsDecoder,
    IndexDecoder,
};
