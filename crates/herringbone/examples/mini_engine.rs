//! Runs `SELECT max(id)` as an engine does: two tasks share a file by ranges of its bytes, and a memory pool; then on
//! threads of the program; then a top-k query tightens its filter while it reads.
//!
//! cargo run --example mini_engine

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use herringbone::arrow::array::cast::AsArray;
use herringbone::arrow::array::types::Int64Type;
use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch};
use herringbone::filter::col;
use herringbone::{Error, ParquetFile, ReadOptions, Result, SharedMemory, WriteOptions, Writer};

// docs: spawn
use std::fmt;

use herringbone::Spawn;

type Job = Box<dyn FnOnce() + Send>;

/// Threads of the program, which a function passes jobs to.
struct Threads<F>(F);

impl<F: Fn(Job) + Send + Sync> Spawn for Threads<F> {
    fn spawn(&self, job: Job) {
        (self.0)(job);
    }
}

impl<F> fmt::Debug for Threads<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Threads")
    }
}
// docs: end

fn max(file: &ParquetFile, options: ReadOptions) -> Result<Option<i64>> {
    let mut max = None;
    for batch in file.read(options)? {
        let values = batch?;
        let values = values.column(0).as_primitive::<Int64Type>().values().iter();
        max = max.max(values.max().copied());
    }
    Ok(max)
}

/// Returns the largest id, for which two tasks read half of the file each.
fn max_of_two_tasks(file: &ParquetFile, length: u64) -> Result<Option<i64>> {
    // docs: splits
    // Ranges that tile the file tile its row groups: each row is read by one task.
    let pool = SharedMemory::new(64 << 20);
    let options = ReadOptions::new().memory_pool(pool.clone()).threads(1);
    let splits = [0..length / 2, length / 2..length];
    let maxima = thread::scope(|scope| {
        let tasks = splits.map(|bytes| {
            let options = options.clone();
            scope.spawn(move || max(file, options.row_groups(file.row_groups_in(bytes)?)))
        });
        tasks.map(|task| {
            task.join()
                .unwrap_or_else(|_| Err(Error::argument("a task panicked")))
        })
    });
    assert_eq!(pool.used(), 0);
    // docs: end
    let [first, second] = maxima;
    Ok(first?.max(second?))
}

/// Returns the largest id, decoded by jobs on new threads, and the number of jobs.
fn max_of_jobs(file: &ParquetFile) -> Result<(Option<i64>, usize)> {
    let jobs = Arc::new(AtomicUsize::new(0));
    let counted = jobs.clone();
    let threads = Threads(move |job: Job| {
        counted.fetch_add(1, Ordering::Relaxed);
        thread::spawn(job);
    });
    let options = ReadOptions::new().spawn(Arc::new(threads)).threads(2);
    let max = max(file, options)?;
    Ok((max, jobs.load(Ordering::Relaxed)))
}

/// Returns the ten largest ids, and the number of skipped row groups.
fn ten_largest(file: &ParquetFile) -> Result<(Vec<i64>, u64)> {
    // docs: topk
    // SELECT id … ORDER BY id DESC LIMIT 10: rows that cannot be among the ten largest are not read.
    let newest_first = ReadOptions::new().row_groups((0..20).rev()).threads(1);
    let mut reader = file.read(newest_first)?;
    let mut largest: Vec<i64> = Vec::new();
    while let Some(batch) = reader.next_batch()? {
        largest.extend_from_slice(batch.column(0).as_primitive::<Int64Type>().values());
        largest.sort_unstable_by(|a, b| b.cmp(a));
        largest.truncate(10);
        if let [.., tenth] = largest[..] {
            reader.tighten_filter(&col("id").gt(tenth))?;
        }
    }
    let pruned = reader.metrics().row_groups_pruned;
    // docs: end
    Ok((largest, pruned))
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    // 2,000,000 ids in 20 row groups of 100,000 rows.
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..2_000_000));
    let batch = RecordBatch::try_from_iter([("id", ids)])?;
    let options = WriteOptions::new().row_group_rows(100_000);
    let mut writer = Writer::new(Vec::new(), batch.schema(), options)?;
    writer.write(&batch)?;
    let (_, bytes) = writer.finish_into()?;
    let length = bytes.len() as u64;
    let file = ParquetFile::from_bytes(bytes)?;

    assert_eq!(max_of_two_tasks(&file, length)?, Some(1_999_999));
    let (max, jobs) = max_of_jobs(&file)?;
    println!("{jobs} jobs");
    assert_eq!(max, Some(1_999_999));
    assert!(jobs > 0);
    let (largest, pruned) = ten_largest(&file)?;
    println!("{pruned} of 20 row groups were not read");
    assert!(largest.into_iter().eq((1_999_990..2_000_000).rev()));
    assert_eq!(pruned, 19);
    Ok(())
}
