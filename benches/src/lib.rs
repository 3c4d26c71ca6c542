//! Herringbone and `parquet` (arrow-rs) on the same files, taking turns in the same process.
//!
//! A case's work is written once per side, in [`ours`] and [`arrow_rs`]. Then [`workload`] pairs
//! the sides, [`measure`] times them, and [`table`] prints the results. README.md explains how to
//! run the benchmarks.

pub mod arrow_rs;
pub mod arguments;
pub mod encryption;
pub mod kernels;
pub mod measure;
pub mod ours;
pub mod table;
pub mod workload;

use std::sync::Mutex;

use herringbone::arrow::array::RecordBatch;

/// The result of benchmark code, whose error may be any, because a benchmark can only report it.
pub type Result<T, E = Box<dyn std::error::Error>> = std::result::Result<T, E>;

/// The number of rows per record batch, on both sides.
pub const BATCH_SIZE: usize = 8192;

/// The memory of files that are no longer needed.
static FILES: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());

/// Returns memory for a file with these rows and reuses an earlier file's memory if there is some.
/// If we let a vector grow, it would be copied or not, depending on the memory after it. New memory
/// from the system takes a page fault for every 4 KiB, which is a third of the time of some
/// writers.
pub(crate) fn memory_for(batches: &[RecordBatch]) -> Vec<u8> {
    let known = FILES.lock().ok().and_then(|mut files| files.pop());
    if let Some(file) = known {
        return file;
    }
    let columns = batches.iter().flat_map(RecordBatch::columns);
    let bytes = columns.map(|column| column.to_data().get_slice_memory_size().unwrap_or(0));
    Vec::with_capacity(bytes.sum())
}

/// Makes a file's memory available for the next file and returns the file size in bytes.
pub fn give_back(mut file: Vec<u8>) -> u64 {
    let bytes = file.len() as u64;
    file.clear();
    if let Ok(mut files) = FILES.lock() {
        files.push(file);
    }
    bytes
}
