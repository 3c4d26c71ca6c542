//! What a file says of its data, for those who want to know which of it they need: typed bounds, page indexes
//! and bloom filters, without I/O.

pub use herringbone_core::bloom_filter::hash as bloom_filter_hash;
pub use herringbone_filter::pruning::{
    BloomFilterProbe, BoundsDecoder, ColumnBounds, ColumnBoundsDecoder, IndexDecoder,
};
