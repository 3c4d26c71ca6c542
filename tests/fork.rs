//! Tests reads and unfinished files in a forked process, which lacks its parent's threads.

#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot run has failed"
)]

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::ThreadId;
use std::time::{Duration, Instant};

use bytes::Bytes;

use fork::{Fork, fork, waitpid_nohang};
use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use herringbone::push::FetchPolicy;
use herringbone::source::Source;
use herringbone::{Limits, ParquetFile, ReadOptions, Reader, Result, WriteOptions, Writer};

const ROWS: i64 = 400_000;

/// The time after which a child counts as stuck.
const PATIENCE: Duration = Duration::from_secs(30);

fn file() -> ParquetFile {
    let texts = (0..ROWS).map(|row| format!("{:0>20}", row * 7919 % 99_991));
    let columns: [(&str, ArrayRef); 2] = [
        ("row", Arc::new(Int64Array::from_iter_values(0..ROWS))),
        ("text", Arc::new(StringArray::from_iter_values(texts))),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut file = Vec::new();
    let options = WriteOptions::new().row_group_rows(5_000).threads(2);
    let mut writer = Writer::new(&mut file, batch.schema(), options).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    ParquetFile::from_bytes(file).unwrap()
}

fn rows(mut reader: Reader) -> i64 {
    let mut rows = 0;
    while let Some(batch) = reader.next_batch().unwrap() {
        rows += batch.num_rows() as i64;
    }
    rows
}

/// Runs `child` in a forked process. Returns true if it returned true in time.
fn in_child(child: impl FnOnce() -> bool) -> bool {
    match fork().unwrap() {
        Fork::Child => std::process::exit(i32::from(!child())),
        Fork::Parent(child) => {
            let begin = Instant::now();
            while begin.elapsed() < PATIENCE {
                if let Some(status) = waitpid_nohang(child).unwrap() {
                    return status == 0;
                }
                std::thread::sleep(Duration::from_millis(10));
            }
            false
        }
    }
}

/// A gate at which helpers wait for their bytes until it opens.
#[derive(Default)]
struct Gate {
    is_open: AtomicBool,
    has_helper: AtomicBool,
}

/// A source on which all threads except the caller's wait at a gate, after the first quarter of the file.
struct Slow {
    bytes: Bytes,
    gate: Arc<Gate>,
    caller: ThreadId,
}

impl Source for Slow {
    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read(&self, range: Range<u64>) -> Result<Bytes> {
        let is_helper = std::thread::current().id() != self.caller;
        while is_helper && range.end > self.len() / 4 && !self.gate.is_open.load(Ordering::Relaxed)
        {
            self.gate.has_helper.store(true, Ordering::Relaxed);
            std::thread::sleep(Duration::from_millis(1));
        }
        self.bytes.read(range)
    }

    fn fetch_policy(&self) -> FetchPolicy {
        self.bytes.fetch_policy()
    }
}

/// Checks that a child that drops, writes or finishes its copy of an unfinished file leaves the parent's file alone.
fn unfinished_files_belong_to_the_parent() {
    let name = format!("herringbone-fork-{}.parquet", std::process::id());
    let path = std::env::temp_dir().join(name);
    let ids = |rows: Range<i64>| {
        let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(rows));
        RecordBatch::try_from_iter([("id", ids)]).unwrap()
    };
    let (first, second) = (ids(0..1000), ids(1000..2000));
    // Row groups end with batches, so that there are bytes in the file before the fork.
    let options = WriteOptions::new().row_group_rows(1000).threads(1);
    let mut writer = herringbone::create_with(&path, first.schema(), options).unwrap();
    writer.write(&first).unwrap();
    let mut writer = Some(writer);
    assert!(in_child(|| {
        drop(writer.take());
        true
    }));
    assert!(in_child(|| writer.take().unwrap().finish().is_err()));
    assert!(in_child(|| {
        let mut writer = writer.take().unwrap();
        let written = writer.write(&second).and_then(|()| writer.finish());
        written.is_err()
    }));
    assert!(!path.exists());
    let mut writer = writer.unwrap();
    writer.write(&second).unwrap();
    writer.finish().unwrap();
    let file = ParquetFile::open(&path).unwrap();
    assert_eq!(rows(file.read(ReadOptions::new()).unwrap()), 2000);
    std::fs::remove_file(&path).unwrap();
}

/// This is a single test, because a fork next to other tests would copy the locks of their threads.
#[test]
fn readers_and_writers_work_after_a_fork() {
    unfinished_files_belong_to_the_parent();
    let file = file();
    let options = ReadOptions::new().threads(2);
    assert_eq!(rows(file.read(options.clone()).unwrap()), ROWS);
    // This process's pool has threads now, but a child makes its own pool.
    assert!(in_child(
        || rows(file.read(options.clone()).unwrap()) == ROWS
    ));

    // This reader has tasks under way, but the child may drop it and read again.
    let mut reader = file.read(options.clone()).unwrap();
    reader.next_batch().unwrap();
    assert!(in_child(|| {
        drop(reader);
        rows(file.read(options.clone()).unwrap()) == ROWS
    }));

    // A helper that waits for its bytes is lost in the child, but the reader there does not wait for it.
    let bytes = file.source().read(0..file.source().len()).unwrap();
    let gate = Arc::new(Gate::default());
    let source = Slow {
        bytes,
        gate: gate.clone(),
        caller: std::thread::current().id(),
    };
    let slow = ParquetFile::from_source(source, Limits::default()).unwrap();
    let mut reader = Some(slow.read(options.clone()).unwrap());
    let next = |reader: &mut Option<Reader>| reader.as_mut().unwrap().next_batch();
    let mut got = 0;
    while !gate.has_helper.load(Ordering::Relaxed) {
        let batch = next(&mut reader).unwrap().expect("a helper before the end");
        got += batch.num_rows() as i64;
        // A helper that has a task reaches the gate before this thread can wait for it.
        std::thread::sleep(Duration::from_millis(2));
    }
    let is_fine = in_child(|| {
        while let Ok(Some(_)) = next(&mut reader) {}
        drop(reader.take());
        true
    });
    gate.is_open.store(true, Ordering::Relaxed);
    assert!(is_fine);
    // The parent is not affected.
    while let Some(batch) = next(&mut reader).unwrap() {
        got += batch.num_rows() as i64;
    }
    assert_eq!(got, ROWS);
    assert_eq!(rows(file.read(options).unwrap()), ROWS);
}
