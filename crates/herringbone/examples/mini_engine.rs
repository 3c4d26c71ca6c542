//! Runs `SELECT max(id)` as an engine does: two tasks share a file by ranges of its bytes, and a memory pool; then a
//! top-k query tightens its filter while it reads.
//!
//! cargo run --example mini_engine

use std::sync::Arc;
use std::thread;

use herringbone::arrow::array::cast::AsArray;
use herringbone::arrow::array::types::Int64Type;
use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch};
use herringbone::filter::col;
use herringbone::{Error, ParquetFile, ReadOptions, Result, SharedMemory, WriteOptions, Writer};

fn max(file: &ParquetFile, options: ReadOptions) -> Result<Option<i64>> {
    let mut max = None;
    for batch in file.read(options)? {
        let values = batch?;
        let values = values.column(0).as_primitive::<Int64Type>().values().iter();
        max = max.max(values.max().copied());
    }
    Ok(max)
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    // 20,000 ids in 20 row groups of 1,000 rows.
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..20_000));
    let batch = RecordBatch::try_from_iter([("id", ids)])?;
    let options = WriteOptions::new().row_group_rows(1000);
    let mut writer = Writer::new(Vec::new(), batch.schema(), options)?;
    writer.write(&batch)?;
    let (_, bytes) = writer.finish_into()?;
    let length = bytes.len() as u64;
    let file = ParquetFile::from_bytes(bytes)?;

    // Ranges that tile the file tile its row groups: each row is read by one task.
    let pool = SharedMemory::new(64 << 20);
    let shared = ReadOptions::new().memory_pool(pool.clone());
    let splits = [0..length / 2, length / 2..length];
    let splits = splits.map(|bytes| file.row_groups_in(bytes));
    let maxima = thread::scope(|scope| {
        let tasks = splits.map(|row_groups| {
            let (file, options) = (&file, shared.clone());
            scope.spawn(move || max(file, options.row_groups(row_groups?).threads(1)))
        });
        tasks.map(|task| {
            task.join()
                .unwrap_or_else(|_| Err(Error::argument("a task panicked")))
        })
    });
    let [first, second] = maxima;
    assert_eq!(first?.max(second?), Some(19_999));
    assert_eq!(pool.used(), 0);

    // SELECT id … ORDER BY id DESC LIMIT 10: rows that cannot be among the ten largest are not read.
    let newest_first = shared.row_groups((0..20).rev()).threads(1);
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
    assert!(largest.into_iter().eq((19_990..20_000).rev()));
    let pruned = reader.metrics().row_groups_pruned;
    println!("{pruned} of 20 row groups were not read");
    assert_eq!(pruned, 19);
    Ok(())
}
