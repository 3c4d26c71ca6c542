//! Tests of decoding several row groups concurrently, with jobs run by the tests in any order.

use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake};

use bytes::Bytes;
use futures::executor::block_on;
use herringbone::arrow::array::RecordBatch;
use herringbone::filter::col;
use herringbone::{
    ColumnOptions, Compression, Limits, OnError, ParquetFile, ReadOptions, Spawn, WriteOptions,
};
use herringbone_remote::RemoteFile;

use crate::files::{batch, file, written};
use crate::memory::Memory;

type Job = Box<dyn FnOnce() + Send>;

/// A host that keeps jobs until a test runs them.
#[derive(Clone, Default)]
struct Queue(Arc<Mutex<Vec<Job>>>);

impl std::fmt::Debug for Queue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Queue")
    }
}

impl Spawn for Queue {
    fn spawn(&self, job: Job) {
        self.0.lock().unwrap().push(job);
    }
}

/// A waker that records that it was used.
#[derive(Default)]
struct Woken(AtomicBool);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// The batches, losses and error of a read.
#[derive(Debug, PartialEq)]
struct Outcome {
    batches: Vec<RecordBatch>,
    losses: String,
    error: Option<String>,
}

/// Reads an object, and runs only the last job of the queue at a time. Also returns the largest
/// number of jobs.
fn read(object: &Arc<Memory>, options: ReadOptions) -> (Outcome, usize) {
    let (queue, mut most) = (Queue::default(), 0);
    let options = options.spawn(Arc::new(queue.clone()));
    let mut file = pin!(RemoteFile::open(object.clone(), Limits::default()));
    let mut stream = block_on(&mut file).unwrap().read(options).unwrap();
    let woken = Arc::new(Woken::default());
    let waker = woken.clone().into();
    let mut cx = Context::from_waker(&waker);
    let (mut batches, mut error) = (Vec::new(), None);
    loop {
        woken.0.store(false, Ordering::SeqCst);
        let mut is_pending = false;
        match pin!(stream.next_batch()).poll(&mut cx) {
            Poll::Ready(Ok(Some(batch))) => batches.push(batch),
            Poll::Ready(Ok(None)) => break,
            Poll::Ready(Err(found)) => {
                error = Some(found.to_string());
                break;
            }
            Poll::Pending => is_pending = true,
        }
        let mut jobs = queue.0.lock().unwrap();
        most = most.max(jobs.len());
        let job = jobs.pop();
        drop(jobs);
        job.into_iter().for_each(|job| job());
        let is_woken = woken.0.load(Ordering::SeqCst);
        assert!(is_woken || !is_pending, "nothing wakes the stream");
    }
    assert_eq!(stream.rows_left(), 0);
    let losses = format!("{:?}", stream.losses());
    drop(stream);
    assert_eq!(object.live(), 0);
    let outcome = Outcome {
        batches,
        losses,
        error,
    };
    (outcome, most)
}

fn blocking(bytes: &Bytes, options: ReadOptions) -> Outcome {
    let file = ParquetFile::from_bytes(bytes.clone()).unwrap();
    let mut reader = file.read(options.threads(1)).unwrap();
    let (mut batches, mut error) = (Vec::new(), None);
    loop {
        match reader.next_batch() {
            Ok(Some(batch)) => batches.push(batch),
            Ok(None) => break,
            Err(found) => {
                error = Some(found.to_string());
                break;
            }
        }
    }
    Outcome {
        batches,
        losses: format!("{:?}", reader.losses()),
        error,
    }
}

/// Compares a read with the blocking one, returning the most concurrent jobs.
fn compare(bytes: &Bytes, options: ReadOptions, threads: usize) -> usize {
    let object = Arc::new(Memory::new(bytes.clone()));
    let (got, jobs) = read(&object, options.clone().threads(threads));
    let expected = blocking(bytes, options);
    assert_eq!(got.batches.len(), expected.batches.len());
    assert_eq!(got.losses, expected.losses);
    assert!(got == expected, "{:?} {:?}", got.error, expected.error);
    jobs
}

#[test]
fn as_many_row_groups_as_threads_are_decoded_at_the_same_time() {
    let bytes = file(3, 8, 5_000);
    let options = ReadOptions::new().batch_size(1000);
    for threads in [1, 2, 3, 5] {
        let jobs = compare(&bytes, options.clone(), threads);
        // Another job might plan later requests.
        let expected = if threads == 1 {
            1..2
        } else {
            threads..threads + 2
        };
        assert!(expected.contains(&jobs), "{jobs} jobs, {threads} threads");
    }
}

#[test]
fn filters_select_rows_before_row_groups_are_decoded() {
    let bytes = file(4, 8, 5_000);
    let filtered = ReadOptions::new().filter(col("c1").lt(0)).batch_size(700);
    assert!(compare(&bytes, filtered.clone(), 3) >= 3);
    // A limit counts the selected rows in order.
    assert_eq!(compare(&bytes, filtered.limit(9_000), 3), 1);
    let window = ReadOptions::new().offset(7_000).limit(21_001);
    assert!(compare(&bytes, window.batch_size(900), 3) >= 3);
}

/// Damages a page in the middle of each of these row groups.
fn damaged(bytes: &Bytes, row_groups: &[usize]) -> Bytes {
    let file = ParquetFile::from_bytes(bytes.clone()).unwrap();
    let mut bytes = bytes.to_vec();
    for row_group in row_groups {
        let row_group = file.metadata().row_group(*row_group).unwrap();
        let chunk = row_group.columns[1].meta_data.as_ref().unwrap();
        let middle = chunk.data_page_offset + chunk.total_compressed_size / 2;
        bytes[middle as usize - 2000..middle as usize].fill(0xff);
        bytes[middle as usize..middle as usize + 9000].fill(0xff);
    }
    bytes.into()
}

#[test]
fn damage_is_returned_after_the_rows_before_it() {
    let whole = file(3, 8, 5_000);
    for row_groups in [&[0][..], &[3], &[2, 3, 5], &[7]] {
        let bytes = damaged(&whole, row_groups);
        for on_error in [OnError::Fail, OnError::SkipRowGroup, OnError::NullPage] {
            let options = ReadOptions::new().batch_size(1000).on_error(on_error);
            compare(&bytes, options.clone(), 3);
            compare(&bytes, options.filter(col("id").ge(700)), 3);
        }
        let expected = blocking(&bytes, ReadOptions::new().batch_size(1000));
        assert!(expected.error.is_some());
    }
}

/// If a read succeeds on one thread, it succeeds on several threads, with the same batches.
#[test]
fn row_groups_within_little_memory() {
    // Each row group has 6 columns of 160,000 bytes.
    let bytes = file(6, 6, 20_000);
    let (mut succeeded, mut jobs) = (0, Vec::new());
    for memory in [
        300_000,
        1 << 20,
        2 << 20,
        4 << 20,
        8 << 20,
        16 << 20,
        32 << 20,
    ] {
        let mut limits = Limits::default();
        limits.memory_bytes = memory;
        let options = ReadOptions::new().limits(limits).batch_size(1000);
        let expected = blocking(&bytes, options.clone());
        let object = Arc::new(Memory::new(bytes.clone()));
        let (got, most) = read(&object, options.threads(4));
        if expected.error.is_none() {
            assert!(got == expected, "{memory}, {:?}", got.error);
            succeeded += 1;
        }
        jobs.push(most);
    }
    assert!(succeeded >= 4, "{succeeded}");
    // Work ahead waits as long as more than half of the memory is in use.
    assert_eq!((jobs[0], jobs[1]), (1, 1));
    assert!(jobs[6] >= 4, "{jobs:?}");
}

/// While memory is short, only the due row group's job starts. If a row group has no batches, the
/// next one is due.
#[test]
fn a_row_group_without_batches_does_not_stop_a_read_with_little_memory() {
    let pages = ColumnOptions::new().page_rows(1000);
    let options = WriteOptions::new()
        .columns(pages.compression(Compression::Uncompressed))
        .row_group_rows(5_000)
        .page_index(false);
    let mut bytes = written(&batch(2, 25_000), options).to_vec();
    let file = ParquetFile::from_bytes(bytes.clone()).unwrap();
    for row_group in [0, 2] {
        let page = file.pages(row_group, 0).unwrap().next().unwrap().unwrap();
        let body = page.start.offset as usize + page.header_bytes;
        bytes[body + 100] ^= 0x10;
    }
    let bytes = Bytes::from(bytes);
    let options = ReadOptions::new()
        .on_error(OnError::SkipRowGroup)
        .filter(col("id").ge(1_000))
        .batch_size(1000);
    for memory in (100_000..600_000).step_by(10_000) {
        let mut limits = Limits::default();
        limits.memory_bytes = memory;
        let options = options.clone().limits(limits);
        let expected = blocking(&bytes, options.clone());
        let object = Arc::new(Memory::new(bytes.clone()));
        let (got, _) = read(&object, options.threads(4));
        assert!(got == expected, "{memory}: {}", got.losses);
        assert_eq!(got.batches.len(), 15, "{memory}: {}", got.losses);
    }
}

/// Rows of row groups that jobs decode count until they are emitted.
#[test]
fn rows_left_counts_down_while_jobs_decode() {
    let bytes = file(3, 8, 5_000);
    for threads in [1, 2, 5] {
        let object = Arc::new(Memory::new(bytes.clone()));
        let queue = Queue::default();
        let options = ReadOptions::new().batch_size(1000).threads(threads);
        let options = options.spawn(Arc::new(queue.clone()));
        let mut file = pin!(RemoteFile::open(object.clone(), Limits::default()));
        let mut stream = block_on(&mut file).unwrap().read(options).unwrap();
        let mut left = stream.rows_left();
        assert!(left > 0);
        let mut cx = Context::from_waker(std::task::Waker::noop());
        while left > 0 {
            if let Poll::Ready(batch) = pin!(stream.next_batch()).poll(&mut cx) {
                left -= batch.unwrap().unwrap().num_rows() as u64;
            }
            assert_eq!(stream.rows_left(), left, "{threads} threads");
            let job = queue.0.lock().unwrap().pop();
            job.into_iter().for_each(|job| job());
        }
    }
}
