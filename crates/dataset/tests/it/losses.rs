//! Checks a read's losses and counts, summed over its files.

use std::sync::Arc;

use bytes::Bytes;
use futures::executor::block_on;
use herringbone::filter::{ReadMetrics, col};
use herringbone::{Losses, Lost, OnError, ParquetFile, ReadOptions, Result, SharedMemory};
use herringbone_dataset::{Dataset, DatasetOptions, DatasetReadOptions};

use crate::files::{Bucket, batch, file, ids};

/// Overwrites a row group's first bytes.
fn damaged(bytes: &Bytes, row_group: usize) -> Bytes {
    let file = ParquetFile::from_bytes(bytes.clone()).unwrap();
    let chunk = file.metadata().column_chunk(row_group, 0).unwrap();
    let chunk = chunk.meta_data.unwrap();
    let start = chunk
        .dictionary_page_offset
        .unwrap_or(chunk.data_page_offset) as usize;
    let mut bytes = bytes.to_vec();
    bytes[start..start + 8].fill(0xff);
    bytes.into()
}

/// Returns five files of 3,000 rows, in row groups of 1,000 rows. The second row group of `d/1` and
/// the first of `d/3` are damaged.
fn files() -> Vec<(String, Bytes)> {
    let files = (0..5).map(|at: i64| {
        let whole = file(&batch(at * 3000..(at + 1) * 3000));
        let bytes = match at {
            1 => damaged(&whole, 1),
            3 => damaged(&whole, 0),
            _ => whole,
        };
        (format!("d/{at}"), bytes)
    });
    files.collect()
}

fn open(bucket: &Arc<Bucket>) -> Dataset {
    let paths = ["d".to_owned()];
    let dataset = Dataset::open_async(bucket.clone(), &paths, DatasetOptions::new());
    block_on(dataset).unwrap()
}

/// The rows, the losses as paths with numbers of lost rows, and the counts.
type Found = (Vec<i64>, Vec<(String, Lost)>, ReadMetrics);

fn losses(losses: &Losses) -> Vec<(String, Lost)> {
    assert_eq!(losses.not_kept(), 0);
    let kept = losses.kept().iter();
    let named = kept.map(|loss| (loss.error.message()[..4].to_owned(), loss.lost));
    named.collect()
}

fn read(dataset: &Dataset, options: DatasetReadOptions) -> Result<Found> {
    let mut reader = dataset.read(options)?;
    let mut batches = Vec::new();
    while let Some(batch) = reader.next_batch()? {
        batches.push(batch);
    }
    assert!(reader.next_batch()?.is_none());
    Ok((ids(&batches), losses(reader.losses()), reader.metrics()))
}

fn streamed(dataset: &Dataset, options: DatasetReadOptions) -> Result<Found> {
    let mut stream = dataset.stream(options)?;
    let mut batches = Vec::new();
    while let Some(batch) = block_on(stream.next_batch())? {
        batches.push(batch);
    }
    Ok((ids(&batches), losses(stream.losses()), stream.metrics()))
}

#[test]
fn losses_have_the_paths_of_their_files() {
    let dataset = open(&Bucket::new(files()));
    let lost = |path: &str| (format!("{path}:"), Lost::Rows(1000));
    let rows: Vec<i64> = (0..15_000)
        .filter(|id| !matches!(id / 1000, 4 | 9))
        .collect();
    for threads in [1, 2, 4, 8] {
        let options = ReadOptions::new()
            .on_error(OnError::SkipRowGroup)
            .threads(threads);
        for is_ordered in [true, false] {
            let options = DatasetReadOptions::from(options.clone()).is_ordered(is_ordered);
            for found in [read(&dataset, options.clone()), streamed(&dataset, options)] {
                let (found, losses, metrics) = found.unwrap();
                assert_eq!(found, rows);
                assert_eq!(losses, [lost("d/1"), lost("d/3")]);
                assert_eq!(metrics.row_groups, 15);
            }
        }
        // Offset and limit count the rows that remain, both with a filter and without.
        for filter in [None, Some(col("id").ge(0))] {
            let mut options = options.clone().offset(3500).limit(1000);
            options.filter = filter;
            for found in [
                read(&dataset, options.clone().into()),
                streamed(&dataset, options.into()),
            ] {
                let (found, losses, _) = found.unwrap();
                assert_eq!(found, rows[3500..4500]);
                assert_eq!(losses, [lost("d/1")]);
            }
        }
        assert!(read(&dataset, ReadOptions::new().threads(threads).into()).is_err());
    }
}

/// If files ahead cannot get memory, this is not mistaken for damage.
#[test]
fn refused_memory_is_no_loss_if_one_file_can_be_read() {
    let files = (0..12).map(|at: i64| {
        (
            format!("d/{at:02}"),
            file(&batch(at * 20_000..(at + 1) * 20_000)),
        )
    });
    let dataset = open(&Bucket::new(files));
    let rows: Vec<i64> = (0..240_000).collect();
    for threads in [1, 4] {
        let pool = SharedMemory::new(4 << 20);
        let options = ReadOptions::new()
            .on_error(OnError::SkipRowGroup)
            .threads(threads);
        let options = options.memory_pool(pool.clone());
        for found in [
            read(&dataset, options.clone().into()),
            streamed(&dataset, options.into()),
        ] {
            let (found, losses, _) = found.unwrap();
            assert_eq!(losses, []);
            assert_eq!(found, rows);
        }
        assert_eq!(pool.used(), 0);
    }
}

#[test]
fn counts_are_sums_over_files() {
    let ranges = [0..3000, 3000..3500, 4000..4000, 5000..9000];
    let files = ranges.map(|ids| file(&batch(ids)));
    let options = ReadOptions::new().filter(col("id").ge(2500)).threads(1);
    let mut expected = ReadMetrics::default();
    for bytes in &files {
        let mut reader = ParquetFile::from_bytes(bytes.clone())
            .unwrap()
            .read(options.clone())
            .unwrap();
        while reader.next_batch().unwrap().is_some() {}
        expected += &reader.metrics();
    }
    assert_eq!((expected.row_groups, expected.row_groups_pruned), (8, 2));
    assert_eq!(expected.rows_tested, 1000);
    let dataset = open(&Bucket::new(
        files
            .into_iter()
            .enumerate()
            .map(|(at, it)| (format!("d/{at}"), it)),
    ));
    for open_files in [1, 16] {
        let options = DatasetReadOptions::from(options.clone()).max_open_files(open_files);
        for found in [read(&dataset, options.clone()), streamed(&dataset, options)] {
            let (_, _, found) = found.unwrap();
            let columns = |it: &ReadMetrics| {
                (
                    it.row_groups,
                    it.row_groups_pruned,
                    it.rows_tested,
                    it.rows_found,
                )
            };
            assert_eq!(columns(&found), columns(&expected));
            assert_eq!(
                (found.pages_read, found.pages_skipped),
                (expected.pages_read, expected.pages_skipped)
            );
            let steps = |it: &ReadMetrics| -> Vec<_> {
                let steps = it.steps.iter();
                steps
                    .map(|steps| (steps.step, steps.rows_ruled_out, steps.rows_accepted))
                    .collect()
            };
            assert_eq!(steps(&found), steps(&expected));
            assert_eq!(found.columns.bytes, expected.columns.bytes);
        }
    }
}
