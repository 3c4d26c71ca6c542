//! Measures the memory that `_metadata` files take, by an allocator that counts.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot run has failed"
)]

use futures::executor::block_on;
use herringbone::filter::col;
use herringbone::{ParquetFile, ReadOptions};
use herringbone_dataset::{Dataset, DatasetOptions, metadata_file};
use peak_alloc::PeakAlloc;

use files::{Bucket, all, batch, file};

#[path = "it/files.rs"]
#[allow(dead_code, reason = "the other tests need all of it")]
mod files;

#[global_allocator]
static ALLOCATOR: PeakAlloc = PeakAlloc;

/// Returns the result of `work`, with the peak number of bytes allocated meanwhile.
fn peak<T>(work: impl FnOnce() -> T) -> (T, usize) {
    let before = ALLOCATOR.current_usage();
    ALLOCATOR.reset_peak_usage();
    let result = work();
    (result, ALLOCATOR.peak_usage() - before)
}

/// We decode the row groups of one file in a hundred only, and one at a time.
#[test]
fn metadata_of_a_hundred_thousand_row_groups() {
    let bytes = file(&batch(0..10));
    let part = ParquetFile::from_bytes(bytes.clone()).unwrap();
    let paths: Vec<_> = (0..100_000)
        .map(|at| format!("p={}/{at:06}.parquet", at / 1000))
        .collect();
    let parts = paths.iter().map(|path| (path.as_str(), part.metadata()));
    let (metadata, written) = peak(|| metadata_file(parts, true).unwrap());
    let encoded = metadata.len();
    let files = paths
        .iter()
        .map(|path| (format!("d/{path}"), bytes.clone()));
    let files = files.chain([("d/_metadata".to_owned(), metadata)]);
    let bucket = Bucket::new(files);
    let options = DatasetOptions::new().filter(col("p").eq(7));
    let named = ["d/_metadata".to_owned()];
    let (dataset, opened) =
        peak(|| block_on(Dataset::open_async(bucket, &named, options)).unwrap());
    assert_eq!(dataset.files().len(), 1000);
    let (batches, read) = peak(|| all(dataset.read(ReadOptions::new()).unwrap()).unwrap());
    assert_eq!(batches.len(), 1000);
    // Writing copies the bytes. Opening copies them a few times, and has the paths of all files. If
    // we decoded the metadata of all row groups, it would take more than 100 MB.
    let counts = format!("{encoded} bytes: {written} to write, {opened} to open, {read} to read");
    assert!(written < 4 * encoded, "{counts}");
    assert!(opened < 3 * encoded + 100_000 * 500, "{counts}");
    assert!(read < encoded, "{counts}");
}
