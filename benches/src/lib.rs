//! Herringbone and `parquet` (arrow-rs) on the same files, in the same process, taking turns.
//!
//! What a case does is written once for each side ([`ours`], [`arrow_rs`]); [`workload`] pairs
//! them up, [`measure`] times them, [`table`] prints. README.md says how to run it.

pub mod arrow_rs;
pub mod arguments;
pub mod encryption;
pub mod kernels;
pub mod measure;
pub mod ours;
pub mod table;
pub mod workload;

use herringbone::arrow::array::RecordBatch;

/// Any error: a benchmark can only report it.
pub type Result<T, E = Box<dyn std::error::Error>> = std::result::Result<T, E>;

/// Rows a record batch, on both sides.
pub const BATCH_SIZE: usize = 8192;

/// Memory for the file that these rows become. Where a vector grows, it is copied or not by what happens to lie behind it.
pub(crate) fn memory_for(batches: &[RecordBatch]) -> Vec<u8> {
    let columns = batches.iter().flat_map(RecordBatch::columns);
    let bytes = columns.map(|column| column.to_data().get_slice_memory_size().unwrap_or(0));
    Vec::with_capacity(bytes.sum())
}
