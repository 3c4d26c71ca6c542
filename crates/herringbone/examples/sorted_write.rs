//! Sorts rows by a column while writing them, and merges files by it.
//!
//! cargo run --example sorted_write

use std::sync::Arc;

use herringbone::arrow::array::cast::AsArray;
use herringbone::arrow::array::types::Int64Type;
use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch};
use herringbone::{ParquetFile, ReadOptions, SortingColumnOption, WriteOptions, Writer};

/// A prime, so that multiples of another number modulo it have each remainder once.
const PRIME: i64 = 20_011;

fn writer(batch: &RecordBatch) -> herringbone::Result<Writer<Vec<u8>>> {
    // Rows that exceed this memory are sorted in temporary files.
    let options = WriteOptions::new()
        .sort_by(vec![SortingColumnOption::new(["id"])])
        .sort_memory_bytes(64 << 10);
    Writer::new(Vec::new(), batch.schema(), options)
}

fn ids(file: &ParquetFile) -> herringbone::Result<Vec<i64>> {
    let mut ids = Vec::new();
    for batch in file.read(ReadOptions::new())? {
        ids.extend_from_slice(batch?.column(0).as_primitive::<Int64Type>().values());
    }
    Ok(ids)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut files = Vec::new();
    for half in [0..PRIME / 2, PRIME / 2..PRIME] {
        let shuffled: ArrayRef = Arc::new(Int64Array::from_iter_values(
            half.map(|row| row * 7919 % PRIME),
        ));
        let batch = RecordBatch::try_from_iter([("id", shuffled)])?;
        let mut writer = writer(&batch)?;
        for start in (0..batch.num_rows()).step_by(1000) {
            writer.write(&batch.slice(start, 1000.min(batch.num_rows() - start)))?;
        }
        let (metadata, bytes) = writer.finish_into()?;
        // The footer declares the order, so that readers need not sort.
        let sorting = &metadata.row_group_header(0)?.sorting_columns;
        assert_eq!(sorting.as_ref().map(Vec::len), Some(1));
        let file = ParquetFile::from_bytes(bytes)?;
        assert!(ids(&file)?.is_sorted());
        files.push(file);
    }

    // A writer that sorts also merges files.
    let mut batches = files[0].read(ReadOptions::new())?;
    let first = batches.next_batch()?.ok_or("no rows")?;
    let mut merged = writer(&first)?;
    merged.write(&first)?;
    for batch in batches.chain(files[1].read(ReadOptions::new())?) {
        merged.write(&batch?)?;
    }
    let (_, bytes) = merged.finish_into()?;
    assert!(
        ids(&ParquetFile::from_bytes(bytes)?)?
            .into_iter()
            .eq(0..PRIME)
    );
    println!("{PRIME} rows are in order");
    Ok(())
}
