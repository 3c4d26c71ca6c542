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

use std::sync::Mutex;

use herringbone::arrow::array::RecordBatch;

/// Any error: a benchmark can only report it.
pub type Result<T, E = Box<dyn std::error::Error>> = std::result::Result<T, E>;

/// Rows a record batch, on both sides.
pub const BATCH_SIZE: usize = 8192;

/// Memory of files that nobody needs any more.
static FILES: Mutex<Vec<Vec<u8>>> = Mutex::new(Vec::new());

/// Memory for the file that these rows become. Where a vector grows, it is copied or not by what happens to lie behind it; and
/// memory that the system gives anew takes a page fault for every 4 KiB, which is a third of the time of some writers. So it is
/// that of a file that was written before, if there is one.
pub(crate) fn memory_for(batches: &[RecordBatch]) -> Vec<u8> {
    let known = FILES.lock().ok().and_then(|mut files| files.pop());
    if let Some(file) = known {
        return file;
    }
    let columns = batches.iter().flat_map(RecordBatch::columns);
    let bytes = columns.map(|column| column.to_data().get_slice_memory_size().unwrap_or(0));
    Vec::with_capacity(bytes.sum())
}

/// Lets the next file have the memory of this one; the bytes that it had.
pub fn give_back(mut file: Vec<u8>) -> u64 {
    let bytes = file.len() as u64;
    file.clear();
    if let Ok(mut files) = FILES.lock() {
        files.push(file);
    }
    bytes
}
