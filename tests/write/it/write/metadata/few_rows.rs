//! Tests files of few rows, or of row groups that the memory limit keeps small. We count pages, and bytes other than
//! values.

use std::sync::Arc;

use bytes::Bytes;
use herringbone::{Compatibility, ParquetFile, ReadOptions, WriteOptions};
use herringbone_arrow::array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, RecordBatch, StringArray,
};
use parquet::arrow::arrow_reader::{ArrowReaderOptions, ParquetRecordBatchReaderBuilder};
use parquet::file::metadata::PageIndexPolicy;

use crate::batches::Random;
use crate::write::compare::{difference, read, written};

/// Returns columns of four types in turn.
fn table(columns: usize, rows: usize) -> RecordBatch {
    let mut random = Random(5);
    let column = |ordinal: usize| {
        let mut values = (0..rows).map(|_| random.below(1000) as i64);
        let column: ArrayRef = match ordinal % 4 {
            0 => Arc::new(Int64Array::from_iter_values(values)),
            1 => Arc::new(Float64Array::from_iter_values(
                values.map(|v| v as f64 / 8.0),
            )),
            2 => Arc::new(StringArray::from_iter_values(
                values.map(|v| format!("w{}", v % 20)),
            )),
            _ => Arc::new(BooleanArray::from_iter(
                values.by_ref().map(|v| Some(v % 2 == 0)),
            )),
        };
        (format!("feature_{ordinal}"), column, true)
    };
    let columns: Vec<_> = (0..columns).map(column).collect();
    RecordBatch::try_from_iter_with_nullable(columns).unwrap()
}

/// Returns the byte counts of the pages, of the page indexes, and of the file.
fn bytes(file: &ParquetFile) -> (u64, u64, u64) {
    let (mut pages, mut indexes) = (0, 0);
    for group in 0..file.metadata().num_row_groups() {
        for chunk in file.metadata().row_group(group).unwrap().columns {
            pages += chunk.meta_data.unwrap().total_compressed_size as u64;
            let lengths = [chunk.column_index_length, chunk.offset_index_length];
            indexes += lengths.into_iter().flatten().sum::<i32>() as u64;
        }
    }
    (pages, indexes, file.source().len())
}

/// Returns the number of rows that the `parquet` crate reads with page indexes, and true if it found an index.
fn by_peer(file: Bytes) -> (usize, bool) {
    let options = ArrowReaderOptions::new().with_page_index_policy(PageIndexPolicy::Required);
    let reader = ParquetRecordBatchReaderBuilder::try_new_with_options(file, options).unwrap();
    let has_index = reader.metadata().page_index().is_some();
    let rows = reader
        .build()
        .unwrap()
        .map(|batch| batch.unwrap().num_rows());
    (rows.sum(), has_index)
}

#[test]
fn a_file_of_single_pages_has_no_page_indexes() {
    for compatibility in [
        Compatibility::Widest,
        Compatibility::Modern,
        Compatibility::Newest,
    ] {
        let batch = table(200, 100);
        let options = WriteOptions::new().compatibility(compatibility);
        let file = written(&batch.schema(), std::slice::from_ref(&batch), options).unwrap();
        assert_eq!(by_peer(file.clone().into()), (100, false));
        let (_, back) = read(&file, ReadOptions::default()).unwrap();
        assert_eq!(
            difference(std::slice::from_ref(&batch), &back, &batch.schema()),
            None
        );
        let (pages, indexes, all) = bytes(&ParquetFile::from_bytes(file).unwrap());
        assert_eq!(indexes, 0);
        // In the footer, a column takes about 110 bytes for name, type, offsets, bounds and levels. The Arrow schema
        // contains its name, too.
        assert!(all - pages < 200 * 130, "{all} {pages}");
    }
}

#[test]
fn indexes_are_all_there_where_one_chunk_has_two_pages() {
    // The booleans have one page each.
    let batch = table(8, 20_000);
    let file = written(&batch.schema(), &[batch], WriteOptions::new()).unwrap();
    assert_eq!(by_peer(file.clone().into()), (20_000, true));
    let file = ParquetFile::from_bytes(file).unwrap();
    let pages: Vec<usize> = (0..8)
        .map(|column| {
            file.offset_index(0, column)
                .unwrap()
                .unwrap()
                .page_locations
                .len()
        })
        .collect();
    assert!(pages.contains(&1) && pages.contains(&2), "{pages:?}");
    let (pages, indexes, all) = bytes(&file);
    assert!(
        indexes > 0 && indexes < pages / 20,
        "{indexes} {pages} {all}"
    );
}

#[test]
fn little_memory_makes_row_groups_small_but_not_pages_tiny() {
    let batch = table(40, 120_000);
    let mut sizes = Vec::new();
    for memory in [64 << 20, 16 << 20, 4 << 20, 1 << 20] {
        let options = WriteOptions::new().memory_bytes(memory);
        let file = written(&batch.schema(), std::slice::from_ref(&batch), options).unwrap();
        let file = ParquetFile::from_bytes(file).unwrap();
        let num_row_groups = file.metadata().num_row_groups();
        for chunk in
            (0..num_row_groups).flat_map(|group| (0..40).map(move |column| (group, column)))
        {
            let Some(index) = file.offset_index(chunk.0, chunk.1).unwrap() else {
                continue;
            };
            // Pages end by their rows, as they do with more memory. A dictionary's first page ends after 8,192 rows,
            // and only the last page may be shorter.
            let starts: Vec<i64> = index
                .page_locations
                .iter()
                .map(|page_location| page_location.first_row_index)
                .collect();
            assert!(
                starts.windows(2).all(|pair| pair[1] - pair[0] >= 8192),
                "{starts:?}"
            );
        }
        sizes.push((num_row_groups, bytes(&file).2));
    }
    assert!(
        sizes.is_sorted() && sizes[0].0 == 1 && sizes[3].0 > 10,
        "{sizes:?}"
    );
    assert!(sizes[3].1 < sizes[0].1 * 3 / 2, "{sizes:?}");
}
