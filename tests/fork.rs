//! Reads in a forked process, which lacks the threads of its parent.

#![cfg(unix)]
#![allow(clippy::unwrap_used, reason = "a test that cannot run has failed")]

use std::sync::Arc;
use std::time::{Duration, Instant};

use fork::{Fork, fork, waitpid_nohang};
use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use herringbone::{ParquetFile, ReadOptions, Reader, WriteOptions, Writer};

const ROWS: i64 = 400_000;

/// The time after which a child counts as stuck.
const PATIENCE: Duration = Duration::from_secs(60);

fn file() -> ParquetFile {
    let texts = (0..ROWS).map(|row| format!("{:0>20}", row * 7919 % 99_991));
    let columns: [(&str, ArrayRef); 2] = [
        ("row", Arc::new(Int64Array::from_iter_values(0..ROWS))),
        ("text", Arc::new(StringArray::from_iter_values(texts))),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let mut file = Vec::new();
    let options = WriteOptions::new().row_group_rows(100_000).threads(2);
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

/// One test: a fork next to other tests would copy their threads' locks.
#[test]
fn readers_work_after_a_fork() {
    let file = file();
    let options = ReadOptions::new().threads(2);
    assert_eq!(rows(file.read(options.clone()).unwrap()), ROWS);
    // The pool of this process has threads now. A child makes its own.
    assert!(in_child(
        || rows(file.read(options.clone()).unwrap()) == ROWS
    ));

    // A reader with tasks under way: the child may drop it, and read again.
    let mut reader = file.read(options.clone()).unwrap();
    reader.next_batch().unwrap();
    assert!(in_child(|| {
        drop(reader);
        rows(file.read(options.clone()).unwrap()) == ROWS
    }));

    // The tasks that ran in the parent are lost. The reader returns batches or an error, and does not wait for them.
    let mut reader = file.read(options.clone()).unwrap();
    reader.next_batch().unwrap();
    assert!(in_child(|| {
        while let Ok(Some(_)) = reader.next_batch() {}
        true
    }));
    // The parent is not affected.
    assert_eq!(rows(file.read(options).unwrap()), ROWS);
}
