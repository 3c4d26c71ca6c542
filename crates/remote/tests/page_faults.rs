//! Tests that the memory of batches is reused for the next ones, and not requested from the system
//! again.
//!
//! The test needs processes of its own, and is the only test here, because no buffer may be freed
//! earlier that the C library could learn from. Other systems than GNU/Linux do not count faults
//! this way.

#![cfg(all(target_os = "linux", target_env = "gnu"))]
#![allow(clippy::unwrap_used, reason = "a test that cannot run has failed")]

use std::ops::Range;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use bytes::Bytes;
use futures::executor::block_on;
use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch};
use herringbone::{OpenOptions, ReadOptions, Result, WriteOptions, Writer};
use herringbone_remote::{Answer, BoxFuture, Identity, Object, RemoteFile};

/// The environment variable with another process's task.
const TASK: &str = "HERRINGBONE_TEST_TASK";

const COLUMNS: usize = 8;
const ROWS: usize = 1 << 20;
/// The number of rows per batch, for 512 KiB columns. The C library retains smaller ones by itself.
const BATCH: usize = 1 << 16;

#[derive(Debug)]
struct InMemory(Bytes);

impl InMemory {
    fn answer(&self, range: Range<u64>) -> BoxFuture<Result<Answer>> {
        // We copy the bytes, as a network would.
        let bytes = Bytes::copy_from_slice(&self.0[range.start as usize..range.end as usize]);
        let identity = Identity::new(self.0.len() as u64);
        Box::pin(async move {
            Ok(Answer {
                bytes,
                range,
                identity,
            })
        })
    }
}

impl Object for InMemory {
    fn name(&self) -> &str {
        "columns.parquet"
    }

    fn tail(&self, bytes: u64) -> BoxFuture<Result<Answer>> {
        let length = self.0.len() as u64;
        self.answer(length.saturating_sub(bytes)..length)
    }

    fn range(&self, range: Range<u64>, _: &Identity) -> BoxFuture<Result<Answer>> {
        self.answer(range)
    }
}

/// Returns the number of this process's page faults so far that needed no disk.
fn page_faults() -> usize {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    // The name can contain spaces. After it, the state is the third field, and the minor faults are
    // the tenth.
    let (_, fields) = stat.rsplit_once(')').unwrap();
    fields.split_whitespace().nth(7).unwrap().parse().unwrap()
}

fn write(path: &Path) {
    let values: ArrayRef = Arc::new(Int64Array::from_iter_values(0..ROWS as i64));
    let columns = (0..COLUMNS).map(|at| (format!("c{at}"), values.clone()));
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let file = std::fs::File::create(path).unwrap();
    let mut writer = Writer::new(file, batch.schema(), WriteOptions::new()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
}

/// Does two reads, returning the second one's page faults.
fn faults_of_second_read(path: &Path, tunes: bool) -> usize {
    let bytes = Bytes::from(std::fs::read(path).unwrap());
    let read = || {
        let object = Arc::new(InMemory(bytes.clone()));
        let options = ReadOptions::new()
            .threads(1)
            .batch_size(BATCH)
            .tune_allocator(tunes);
        let before = page_faults();
        let rows = block_on(async {
            let file = RemoteFile::open(object, OpenOptions::new()).await.unwrap();
            let mut batches = file.read(options).unwrap();
            let mut rows = 0;
            while let Some(batch) = batches.next_batch().await.unwrap() {
                rows += batch.num_rows();
            }
            rows
        });
        assert_eq!(rows, ROWS);
        page_faults() - before
    };
    read();
    read()
}

#[test]
fn async_reads_retain_memory_unless_that_is_switched_off() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("page_faults.parquet");
    let run = |task: &str| {
        let mut other = Command::new(std::env::current_exe().unwrap());
        assert!(other.env(TASK, task).status().unwrap().success(), "{task}");
    };
    match std::env::var(TASK).as_deref() {
        Ok("write") => write(&path),
        Ok("tuned") => {
            let faults = faults_of_second_read(&path, true);
            assert!(faults < 1_000, "{faults}");
        }
        Ok("untuned") => {
            let faults = faults_of_second_read(&path, false);
            assert!(faults > 1_500, "{faults}");
        }
        _ => {
            run("write");
            run("tuned");
            run("untuned");
        }
    }
}
