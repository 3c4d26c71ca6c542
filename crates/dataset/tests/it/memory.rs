//! Reads many files within the limits on memory and open files for a single read.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures::executor::block_on;
use herringbone::{Limits, ReadOptions, SharedMemory};
use herringbone_dataset::{Dataset, DatasetOptions, DatasetReadOptions};

use crate::files::{Bucket, all, batch, file, ids};

fn dataset(files: i64, rows: i64) -> (Arc<Bucket>, Dataset) {
    let bytes = |at: i64| file(&batch(at * rows..(at + 1) * rows));
    let bucket = Bucket::new((0..files).map(|at| (format!("d/{at:06}"), bytes(at))));
    let (paths, options) = (["d".to_owned()], DatasetOptions::new());
    let dataset = block_on(Dataset::open_async(bucket.clone(), &paths, options));
    (bucket, dataset.unwrap())
}

fn streamed(dataset: &Dataset, options: DatasetReadOptions) -> herringbone::Result<Vec<i64>> {
    let mut stream = dataset.stream(options)?;
    let mut batches = Vec::new();
    while let Some(batch) = block_on(stream.next_batch())? {
        batches.push(batch);
    }
    Ok(ids(&batches))
}

#[test]
fn open_files_are_bounded() {
    let (bucket, dataset) = dataset(300, 1);
    bucket.most_open.store(0, Ordering::SeqCst);
    let options = DatasetReadOptions::from(ReadOptions::new().threads(4)).max_open_files(5);
    let batches = all(dataset.read(options.clone()).unwrap()).unwrap();
    assert_eq!(ids(&batches), (0..300).collect::<Vec<_>>());
    assert!(bucket.most_open.swap(0, Ordering::SeqCst) <= 5);
    assert_eq!(
        streamed(&dataset, options).unwrap(),
        (0..300).collect::<Vec<_>>()
    );
    assert!(bucket.most_open.load(Ordering::SeqCst) <= 5);
    assert_eq!(bucket.open.load(Ordering::SeqCst), 0);
}

#[test]
fn three_thousand_files() {
    many_files(3000, 64);
}

#[test]
#[ignore = "takes a minute"]
fn a_hundred_thousand_files() {
    many_files(100_000, DatasetReadOptions::DEFAULT_MAX_OPEN_FILES);
}

/// Reads files of one row each in 16 MiB of memory, with at most this number of open files.
fn many_files(files: i64, most_open: usize) {
    let bytes = |at: i64| file(&batch(at..at + 1));
    let paths = (0..files).map(|at| (format!("d/p={:03}/{at:06}", at / 100), bytes(at)));
    let bucket = Bucket::new(paths);
    let (paths, options) = (["d".to_owned()], DatasetOptions::new());
    let dataset = block_on(Dataset::open_async(bucket.clone(), &paths, options)).unwrap();
    assert_eq!(dataset.directories_listed() as i64, 1 + files / 100);
    bucket.most_open.store(0, Ordering::SeqCst);
    let pool = SharedMemory::new(16 << 20);
    let read = ReadOptions::new().memory_pool(pool.clone()).threads(4);
    let options = DatasetReadOptions::from(read).max_open_files(most_open);
    let mut reader = dataset.read(options.clone()).unwrap();
    let mut next = 0;
    while let Some(batch) = reader.next_batch().unwrap() {
        assert_eq!(ids(&[batch]), [next]);
        next += 1;
    }
    assert_eq!(next, files);
    assert!(bucket.most_open.swap(0, Ordering::SeqCst) <= most_open);
    let streamed = streamed(&dataset, options).unwrap();
    assert!(streamed.into_iter().eq(0..files));
    assert!(bucket.most_open.load(Ordering::SeqCst) <= most_open);
    assert_eq!((bucket.open.load(Ordering::SeqCst), pool.used()), (0, 0));
}

/// Counts the open files below a folder in the process's file table.
#[cfg(target_os = "linux")]
fn open_below(folder: &crate::files::Folder) -> usize {
    let entries = std::fs::read_dir("/proc/self/fd").unwrap();
    // A file might be closed while we look.
    let targets = entries.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok());
    targets
        .filter(|target| target.starts_with(&folder.0))
        .count()
}

#[test]
#[cfg(target_os = "linux")]
fn open_local_files_are_bounded() {
    let folder = crate::files::Folder::new("descriptors");
    for at in 0..300 {
        folder.add(&format!("{at:03}.parquet"), at..at + 1);
    }
    let dataset = Dataset::open(&folder.0, DatasetOptions::new()).unwrap();
    for threads in [1, 4] {
        let read = ReadOptions::new().threads(threads);
        let options = DatasetReadOptions::from(read).max_open_files(8);
        let mut reader = dataset.read(options).unwrap();
        let (mut next, mut most) = (0, 0);
        while let Some(batch) = reader.next_batch().unwrap() {
            assert_eq!(ids(&[batch]), [next]);
            most = most.max(open_below(&folder));
            next += 1;
        }
        assert_eq!(next, 300);
        assert!((1..=8).contains(&most), "{most}");
    }
    assert_eq!(open_below(&folder), 0);
}

/// The least memory that can read one file is enough for all of them.
#[test]
fn memory_for_one_file_is_enough_for_many() {
    let (_, dataset) = dataset(12, 20_000);
    let expected: Vec<_> = (0..240_000).collect();
    let mut refused = 0;
    for mebibytes in 1..8 {
        let mut limits = Limits::default();
        limits.memory_bytes = mebibytes << 20;
        let read = ReadOptions::new().limits(limits).threads(1);
        let alone = Dataset::read(&dataset, read.clone()).and_then(all);
        let Ok(alone) = alone else {
            refused += 1;
            continue;
        };
        assert_eq!(ids(&alone), expected);
        for threads in [2, 4, 8] {
            let read = read.clone().threads(threads);
            assert_eq!(ids(&all(dataset.read(read).unwrap()).unwrap()), expected);
        }
        assert_eq!(streamed(&dataset, read.into()).unwrap(), expected);
    }
    assert!(refused < 4, "{refused}");
}

#[test]
fn a_pool_of_the_program_gets_everything_back() {
    let (_, dataset) = dataset(12, 20_000);
    let pool = SharedMemory::new(4 << 20);
    let read = ReadOptions::new().memory_pool(pool.clone()).threads(4);
    let expected: Vec<_> = (0..240_000).collect();
    let batches = all(dataset.read(read.clone()).unwrap()).unwrap();
    assert_eq!(ids(&batches), expected);
    assert_eq!(pool.used(), 0);
    assert_eq!(streamed(&dataset, read.clone().into()).unwrap(), expected);
    assert_eq!(pool.used(), 0);
    // This reader is dropped halfway.
    let mut reader = dataset.read(read.clone()).unwrap();
    reader.next_batch().unwrap();
    let mut stream = dataset.stream(read).unwrap();
    block_on(stream.next_batch()).unwrap();
    drop((reader, stream));
    for _ in 0..1000 {
        if pool.used() == 0 {
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    panic!("{} bytes are still used", pool.used());
}
