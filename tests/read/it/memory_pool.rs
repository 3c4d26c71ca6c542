//! Tests memory that several reads share.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use bytes::Bytes;
use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use herringbone::filter::col;
use herringbone::push::{Poll, PushDecoder};
use herringbone::{
    ErrorKind, MemoryPool, ParquetFile, ReadOptions, Remedy, SharedMemory, WriteOptions,
};

use crate::push::written;

const ROWS: i64 = 100_000;

fn file() -> Bytes {
    let texts = (0..ROWS).map(|row| format!("{:0>40}", row.wrapping_mul(7919) % 99_991));
    let columns: [(&str, ArrayRef); 2] = [
        ("row", Arc::new(Int64Array::from_iter_values(0..ROWS))),
        ("text", Arc::new(StringArray::from_iter_values(texts))),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    written(&batch, WriteOptions::new().row_group_rows(25_000))
}

/// A pool that records a read's peak memory.
#[derive(Debug)]
struct Counted {
    memory: Arc<SharedMemory>,
    most: AtomicU64,
}

impl Counted {
    fn new(bytes: u64) -> Arc<Self> {
        Arc::new(Self {
            memory: SharedMemory::new(bytes),
            most: AtomicU64::new(0),
        })
    }
}

impl MemoryPool for Counted {
    fn take(&self, bytes: u64) -> bool {
        let is_taken = self.memory.take(bytes);
        self.most.fetch_max(self.memory.used(), Relaxed);
        is_taken
    }

    fn give_back(&self, bytes: u64) {
        self.memory.give_back(bytes);
    }
}

fn rows(file: &Bytes, options: ReadOptions) -> herringbone::Result<usize> {
    let file = ParquetFile::from_bytes(file.clone())?;
    let mut reader = file.read(options)?;
    let mut rows = 0;
    while let Some(batch) = reader.next_batch()? {
        rows += batch.num_rows();
    }
    Ok(rows)
}

#[test]
fn a_read_takes_its_memory_from_the_pool_and_gives_it_back() {
    let file = file();
    for threads in [1, 2, 4] {
        for options in [
            ReadOptions::new(),
            ReadOptions::new().filter(col("row").ge(10)),
        ] {
            let expected = rows(&file, options.clone().threads(1)).unwrap();
            let pool = Counted::new(1 << 30);
            let options = options.threads(threads).memory_pool(pool.clone());
            assert_eq!(rows(&file, options).unwrap(), expected);
            assert_eq!(pool.memory.used(), 0, "{threads} threads");
            assert!(pool.most.load(Relaxed) > 1 << 20, "{threads} threads");
        }
    }
}

/// The first read takes all memory except 64 KiB. Another read is refused at once, and succeeds after the first one is
/// dropped.
#[test]
fn reads_that_share_a_pool_do_not_wait_for_each_other() {
    let file = file();
    let pool = SharedMemory::new(8 << 20);
    let left = (8 << 20) - (64 << 10);
    assert!(pool.take(left));
    for threads in [1, 2] {
        let options = ReadOptions::new()
            .threads(threads)
            .memory_pool(pool.clone());
        let error = rows(&file, options).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Limit);
        assert_eq!(error.remedy(), Some(Remedy::EnlargeMemoryPool), "{error}");
        assert_eq!(pool.used(), left);
    }
    let plan = ParquetFile::from_bytes(file.clone())
        .unwrap()
        .plan(&ReadOptions::new().memory_pool(pool.clone()))
        .unwrap();
    let mut decoder = PushDecoder::new(Arc::new(plan));
    let error = loop {
        match decoder.poll() {
            Ok(Poll::Needs(needs)) => {
                for range in needs.now {
                    let part = range.start as usize..range.end as usize;
                    decoder.supply(range.start, &file.slice(part));
                }
            }
            Ok(step) => panic!("{step:?} with little memory"),
            Err(error) => break error,
        }
    };
    assert_eq!(error.remedy(), Some(Remedy::EnlargeMemoryPool), "{error}");
    drop(decoder);
    pool.give_back(left);
    let options = ReadOptions::new().threads(2).memory_pool(pool.clone());
    assert_eq!(rows(&file, options).unwrap(), ROWS as usize);
    assert_eq!(pool.used(), 0);
}

/// If several threads have less memory than they would use, they drop the work that they did ahead, and return the same
/// rows.
#[test]
fn several_threads_need_no_more_of_a_pool_than_one() {
    let file = file();
    let reads = |bytes: u64, threads| {
        let pool = SharedMemory::new(bytes);
        let options = ReadOptions::new().threads(threads).memory_pool(pool);
        rows(&file, options)
    };
    let least = (1..)
        .map(|n| n << 14)
        .find(|bytes| reads(*bytes, 1).is_ok());
    let least = least.unwrap();
    for threads in [2, 3, 8] {
        for _ in 0..5 {
            let read = reads(least + (64 << 10), threads);
            assert_eq!(read.unwrap(), ROWS as usize, "{threads} threads");
        }
    }
}
