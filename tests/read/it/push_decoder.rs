//! The push decoder returns the same batches as the reader, in whichever way the bytes arrive.

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch};
use herringbone::filter::col;
use herringbone::push::{Poll, PushDecoder, RowGroupPoll};
use herringbone::{ParquetFile, ReadOptions, WriteOptions, Writer};

use crate::files;
use crate::push::{SUPPLIES, Supply, pushed, read, supply};

/// Compares all rows, or the first `most` rows.
fn compare(path: &Path, most: u64) {
    let file = Bytes::from(std::fs::read(path).unwrap());
    for options in [
        ReadOptions::new().threads(1).limit(most),
        ReadOptions::new()
            .threads(1)
            .batch_size(7)
            .offset(3)
            .limit(40),
    ] {
        let expected = read(&file, &options);
        for how in SUPPLIES {
            let got = pushed(&file, &options, how);
            assert_eq!(got, expected, "{how:?} of {}", path.display());
        }
    }
}

/// Supplies the file in pieces before the first poll, and returns the batches.
fn pushed_ahead(
    file: &Bytes,
    options: &ReadOptions,
    pieces: impl Iterator<Item = Range<usize>>,
) -> Result<Vec<RecordBatch>, String> {
    let plan = ParquetFile::from_source(file.clone(), options.limits_or_default().into_owned())
        .and_then(|file| file.plan(options))
        .map_err(|error| error.to_string())?;
    let mut decoder = PushDecoder::new(Arc::new(plan));
    for piece in pieces {
        decoder.supply(piece.start as u64, &file.slice(piece));
    }
    let mut batches = Vec::new();
    loop {
        match decoder.poll().map_err(|error| error.to_string())? {
            Poll::Batch(batch) => batches.push(batch),
            Poll::Finished => return Ok(batches),
            // All bytes have been supplied, but a damaged file may refer to others.
            Poll::Needs(needs) => supply(&mut decoder, file, &needs, Supply::Coalesced),
            Poll::NeedsKeys(keys) => return Err(format!("{keys:?}")),
        }
    }
}

/// You may supply bytes before they are needed, in any pieces and in any order.
#[test]
fn bytes_ahead_of_time_give_the_same_batches() {
    let files = files::generated().into_iter();
    let hostile = files::parquet_files(&files::testdata().join("hostile"));
    let options = ReadOptions::new().threads(1).limit(3_000);
    let mut num_bytes = 0;
    for path in files.chain(hostile) {
        let file = Bytes::from(std::fs::read(&path).unwrap());
        let length = file.len();
        let expected = read(&file, &options);
        let check = |got, how: &str| assert_eq!(got, expected, "{how} of {}", path.display());
        let whole = std::iter::once(0..length);
        check(pushed_ahead(&file, &options, whole), "the whole");
        let thirds = [
            0..length / 3,
            length / 3..2 * length / 3,
            2 * length / 3..length,
        ];
        check(
            pushed_ahead(&file, &options, thirds.clone().into_iter()),
            "thirds",
        );
        check(
            pushed_ahead(&file, &options, thirds.into_iter().rev()),
            "thirds, reversed",
        );
        if length < 5_000 {
            num_bytes += 1;
            let bytes = (0..length).rev().map(|at| at..at + 1);
            check(pushed_ahead(&file, &options, bytes), "bytes");
        }
    }
    assert!(num_bytes > 20, "{num_bytes}");
}

/// Row groups that are taken out of the decoder are decoded on other threads, while the decoder continues.
#[test]
fn row_groups_are_taken_out() {
    let ids = Int64Array::from_iter_values(0..10_000);
    let batch = RecordBatch::try_from_iter([("id", Arc::new(ids) as ArrayRef)]).unwrap();
    let mut bytes = Vec::new();
    let options = WriteOptions::new().row_group_rows(2_500);
    let mut writer = Writer::new(&mut bytes, batch.schema(), options).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    let file = Bytes::from(bytes);
    let plan = ParquetFile::from_bytes(file.clone()).unwrap();
    let plan = plan
        .plan(&ReadOptions::new().filter(col("id").ge(3_000)))
        .unwrap();
    let mut decoder = PushDecoder::new(Arc::new(plan));
    decoder.supply(0, &file);
    let mut threads = Vec::new();
    while let Some(mut row_group) = decoder.take_row_group() {
        let file = file.clone();
        threads.push(std::thread::spawn(move || {
            let mut rows = 0;
            loop {
                match row_group.poll().unwrap() {
                    RowGroupPoll::Batch(batch) => rows += batch.num_rows(),
                    RowGroupPoll::Finished => return rows,
                    RowGroupPoll::Needs(ranges) => {
                        for range in ranges {
                            let part = range.start as usize..range.end as usize;
                            row_group.supply(range.start, &file.slice(part));
                        }
                    }
                }
            }
        }));
    }
    let rows: Vec<_> = threads
        .into_iter()
        .map(|thread| thread.join().unwrap())
        .collect();
    assert_eq!(rows, [0, 2_000, 2_500, 2_500]);
    assert!(matches!(decoder.poll(), Ok(Poll::Finished)));
}

/// A row group is not taken out if some of its rows were emitted, even if another filter restarted the rest of it.
#[test]
fn the_rest_of_a_row_group_is_not_taken_out() {
    let numbers = |by: i64| Arc::new(Int64Array::from_iter_values((0..10_000).map(|i| i * by)));
    let columns = [
        ("id", numbers(1) as ArrayRef),
        ("twice", numbers(2) as ArrayRef),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let file = crate::push::written(&batch, WriteOptions::new());
    let handle = ParquetFile::from_bytes(file.clone()).unwrap();
    let plan = |filter| {
        let options = ReadOptions::new().batch_size(1_000).filter(filter);
        Arc::new(handle.plan(&options).unwrap())
    };
    let mut decoder = PushDecoder::new(plan(col("id").ge(0)));
    decoder.supply(0, &file);
    assert!(matches!(decoder.poll(), Ok(Poll::Batch(_))));
    decoder
        .tighten_filter(&col("id").ge(0).and(col("twice").ge(10_000)))
        .unwrap();
    assert!(decoder.take_row_group().is_none());
    let mut rows = 0;
    while let Poll::Batch(batch) = decoder.poll().unwrap() {
        rows += batch.num_rows();
    }
    assert_eq!(rows, 5_000);
}

#[test]
fn pushed_bytes_give_the_same_batches() {
    let files = files::generated();
    assert!(files.len() > 50);
    files.iter().for_each(|path| compare(path, u64::MAX));
}

#[test]
fn pushed_bytes_give_the_same_errors() {
    let growing = crate::hostile::growing();
    for path in files::parquet_files(&files::testdata().join("hostile")) {
        // The rows of these files expand to gigabytes, because each row is a byte longer than the previous one.
        let is_growing = growing
            .iter()
            .any(|name| path.file_stem() == Some(name.as_ref()));
        compare(&path, if is_growing { 3_000 } else { u64::MAX });
    }
}
