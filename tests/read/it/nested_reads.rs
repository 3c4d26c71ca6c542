//! Tests reads within reads, with a predicate that reads another file on the threads of the same pool.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use bytes::Bytes;
use herringbone::arrow::array::cast::AsArray;
use herringbone::arrow::array::types::Int64Type;
use herringbone::arrow::array::{ArrayRef, BooleanArray, Int64Array, RecordBatch};
use herringbone::arrow::schema::SchemaRef;
use herringbone::filter::{Predicate, RowError, RowPredicate, RowTest};
use herringbone::{ParquetFile, ReadOptions, WriteOptions};

use crate::push::written;

fn file(rows: i64, row_group_rows: usize) -> Bytes {
    let column = |factor: i64| -> ArrayRef {
        Arc::new(Int64Array::from_iter_values(
            (0..rows).map(|row| row * factor),
        ))
    };
    let batch = RecordBatch::try_from_iter([("row", column(1)), ("twice", column(2))]).unwrap();
    written(&batch, WriteOptions::new().row_group_rows(row_group_rows))
}

/// A custom predicate that selects the rows whose number is in a file. It reads that file again for each batch.
#[derive(Debug)]
struct InFile {
    file: Bytes,
    reads: Arc<AtomicUsize>,
}

impl RowPredicate for InFile {
    fn columns(&self) -> Vec<Vec<String>> {
        vec![vec!["row".to_owned()]]
    }

    fn bind(&self, _: &SchemaRef) -> Result<RowTest, RowError> {
        let (file, reads) = (self.file.clone(), self.reads.clone());
        Ok(Box::new(move |batch| {
            reads.fetch_add(1, Relaxed);
            let options = ReadOptions::new().columns(["twice"]).threads(4);
            let mut rows = HashSet::<i64>::new();
            for batch in ParquetFile::from_bytes(file.clone())?.read(options)? {
                rows.extend(batch?.column(0).as_primitive::<Int64Type>().values());
            }
            let tested = batch.column(0).as_primitive::<Int64Type>().values();
            let selected: Vec<bool> = tested.iter().map(|row| rows.contains(row)).collect();
            Ok(BooleanArray::from(selected))
        }))
    }
}

#[test]
fn a_predicate_may_read_on_the_threads_of_the_read() {
    const ROWS: i64 = 100_000;
    let others = file(150_000, 30_000);
    for row_group_rows in [ROWS as usize, 10_000] {
        let bytes = file(ROWS, row_group_rows);
        for threads in [1, 2, 4] {
            let reads = Arc::new(AtomicUsize::new(0));
            let predicate = Predicate::rows(InFile {
                file: others.clone(),
                reads: reads.clone(),
            });
            let options = ReadOptions::new().filter(predicate).batch_size(20_000);
            let options = options.threads(threads);
            let file = ParquetFile::from_bytes(bytes.clone()).unwrap();
            let batches = file.read(options).unwrap();
            let rows: usize = batches.map(|batch| batch.unwrap().num_rows()).sum();
            // These are the even numbers.
            assert_eq!(rows, ROWS as usize / 2, "{threads} threads");
            assert!(reads.load(Relaxed) >= 5, "{threads} threads");
        }
    }
}
