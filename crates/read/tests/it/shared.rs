//! Tasks of row groups, taken and delivered by hand in any order, as threads do.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use herringbone::arrow::array::cast::AsArray;
use herringbone::arrow::array::types::Int64Type;
use herringbone::arrow::array::{ArrayRef, Int64Array, ListArray, RecordBatch};
use herringbone::filter::col;
use herringbone::{ColumnOptions, Compression, DataPageVersion, ReadOptions, Result, WriteOptions};
use herringbone_read::{FileBytes, ReadSequence, RowGroupRead, SharedStep, StageTask};

use crate::table::{compare, file, open, options, written};

/// A file in memory, as a source of bytes.
struct Whole(Bytes);

impl FileBytes for Whole {
    fn get(&mut self, need: &Range<u64>, end: u64) -> Result<Option<Bytes>> {
        let end = end.min(self.0.len() as u64).max(need.end);
        Ok(Some(self.0.slice(need.start as usize..end as usize)))
    }
}

/// Counts of a row group's tasks.
#[derive(Debug, Default)]
struct Work {
    tasks: usize,
    /// The largest number of tasks in progress.
    most: usize,
    splits: usize,
}

/// Decodes a row group in tasks. Up to `threads` of them are in progress. If `is_reversed`, the last one begun is
/// delivered first.
fn by_tasks(
    row_group: &mut RowGroupRead,
    bytes: &mut Whole,
    threads: usize,
    is_reversed: bool,
) -> (Vec<RecordBatch>, Work) {
    let (mut batches, mut work) = (Vec::new(), Work::default());
    assert!(row_group.open(bytes).unwrap());
    let mut running: VecDeque<StageTask> = VecDeque::new();
    loop {
        if running.is_empty() {
            match row_group.poll_shared(u64::MAX).unwrap() {
                SharedStep::Split => {
                    row_group.share(threads, bytes);
                    work.splits += 1;
                    continue;
                }
                SharedStep::Batch(mut assembly) => {
                    assembly.run();
                    let batch = row_group.deliver(StageTask::Batch(assembly)).unwrap();
                    batches.push(batch.unwrap());
                    continue;
                }
                SharedStep::End => return (batches, work),
                SharedStep::Pending => {}
            }
        }
        while running.len() < threads {
            let has_task = row_group.has_task(u64::MAX);
            let Some(task) = row_group.take_task(u64::MAX) else {
                break;
            };
            assert!(has_task || matches!(task, StageTask::Batch(_)));
            running.push_back(task);
        }
        work.most = work.most.max(running.len());
        let task = match is_reversed {
            true => running.pop_back(),
            false => running.pop_front(),
        };
        if let Some(mut task) = task {
            task.run(bytes);
            work.tasks += 1;
            batches.extend(row_group.deliver(task).unwrap());
        } else {
            let is_over = row_group.is_stage_over(u64::MAX);
            assert!(is_over || row_group.batches_left() == Some(0));
        }
    }
}

#[test]
fn tasks_decode_the_batches_of_each_row_group() {
    let file = file(options());
    for filter in [
        None,
        Some(col("kind").ne("red")),
        Some(col("kind").ne("red").and(col("text").is_not_null())),
    ] {
        for is_reversed in [false, true] {
            let mut options = ReadOptions::new().batch_size(70);
            options.filter = filter.clone();
            let is_wanted = |row: usize| {
                let predicate = filter
                    .as_ref()
                    .map(|it| it.evaluate(&crate::table::table(&[row])));
                predicate.is_none_or(|bits| bits.unwrap().value(0))
            };
            let plan = Arc::new(open(&file).plan(&options).unwrap());
            let mut sequence = ReadSequence::new(plan);
            let mut first = 0;
            while let Some(mut row_group) = sequence.next_row_group() {
                let rows = row_group.planned_rows() as usize;
                let mut bytes = Whole(file.clone());
                let (batches, work) = by_tasks(&mut row_group, &mut bytes, 3, is_reversed);
                let expected: Vec<_> = (first..first + rows)
                    .filter(|row| is_wanted(*row))
                    .collect();
                compare(&batches, &expected, &format!("{filter:?}, {is_reversed}"));
                assert!(!row_group.is_split_wrong());
                assert_eq!(row_group.rows_left(), 0);
                // There are nine leaves, more than one thread has tasks.
                assert!(work.tasks >= 9 && work.most == 3, "{work:?}");
                first += rows;
            }
            assert_eq!(first, 1_000);
        }
    }
}

/// Without work ahead, the tasks are the columns of the due batch. The next ones follow once it is assembled.
#[test]
fn tasks_without_work_ahead_are_the_columns_of_the_due_batch() {
    let file = file(options());
    let plan = open(&file).plan(&ReadOptions::new().batch_size(70));
    let mut sequence = ReadSequence::new(Arc::new(plan.unwrap()));
    let mut row_group = sequence.next_row_group().unwrap();
    let mut bytes = Whole(file);
    assert!(row_group.open(&mut bytes).unwrap());
    row_group.share(2, &mut bytes);
    let mut batches = Vec::new();
    // 300 rows are four batches of 70 rows, and one of 20.
    for left in (1..=5).rev() {
        assert_eq!(row_group.batches_left(), Some(left));
        let mut tasks = 0;
        while let Some(mut task) = row_group.take_task(0) {
            task.run(&mut bytes);
            assert!(row_group.deliver(task).unwrap().is_none());
            tasks += 1;
        }
        // The table has eight leaves.
        assert_eq!(tasks, 8, "with {left} batches left");
        let Ok(SharedStep::Batch(mut assembly)) = row_group.poll_shared(u64::MAX) else {
            panic!("all columns of a batch are decoded");
        };
        assembly.run();
        let batch = row_group.deliver(StageTask::Batch(assembly)).unwrap();
        batches.push(batch.unwrap());
    }
    assert!(matches!(
        row_group.poll_shared(u64::MAX),
        Ok(SharedStep::End)
    ));
    compare(&batches, &(0..300).collect::<Vec<_>>(), "batch by batch");
}

/// 400,000 numbers in pages of 10,000 rows, taking 80,000 bytes each.
const LONG: i64 = 400_000;

fn long(options: WriteOptions) -> Bytes {
    let numbers = Arc::new(Int64Array::from_iter_values((0..LONG).map(|row| row * 7)));
    let columns = [("number", numbers as ArrayRef)];
    written(&RecordBatch::try_from_iter(columns).unwrap(), options)
}

fn long_options() -> WriteOptions {
    let columns = ColumnOptions::new()
        .compression(Compression::Uncompressed)
        .dictionary(false)
        .page_rows(10_000);
    WriteOptions::new()
        .columns(columns)
        .row_group_rows(LONG as usize)
}

/// Returns the batches of the file's only row group, counting the work.
fn decode(file: &Bytes, options: &ReadOptions, threads: usize) -> (Vec<RecordBatch>, Work) {
    let plan = Arc::new(open(file).plan(options).unwrap());
    let mut row_group = ReadSequence::new(plan).next_row_group().unwrap();
    by_tasks(&mut row_group, &mut Whole(file.clone()), threads, true)
}

/// A column of 3.2 MB is split at batches, so that each part has at least 1 MiB of work.
#[test]
fn a_long_column_is_split() {
    for options in [
        long_options(),
        long_options().page_index(false),
        long_options()
            .page_index(false)
            .data_page_version(DataPageVersion::V2),
    ] {
        let file = long(options);
        let read = ReadOptions::new().batch_size(3_000);
        let (batches, work) = decode(&file, &read, 4);
        assert_eq!(batches.len(), 134);
        assert!(
            batches
                .iter()
                .rev()
                .skip(1)
                .all(|batch| batch.num_rows() == 3_000)
        );
        let numbers = batches.iter().flat_map(|batch| {
            let column = batch.column(0).as_primitive::<Int64Type>();
            column.values().to_vec()
        });
        assert!(numbers.eq((0..LONG).map(|row| row * 7)));
        // Three or four parts can be in progress at the same time, but one thread only has one task.
        assert!((2..=4).contains(&work.most), "{work:?}");
        assert_eq!(decode(&file, &read, 1).1.most, 1);
    }
}

/// A column is not split if few of its rows are selected, and lists are split only if all rows are read.
#[test]
fn a_sparse_selection_stays_whole() {
    let file = long(long_options());
    let most = |ranges: &[Range<u64>]| {
        let read = ReadOptions::new()
            .batch_size(3_000)
            .row_ranges(ranges.to_vec());
        let (batches, work) = decode(&file, &read, 4);
        let rows_read: usize = batches.iter().map(RecordBatch::num_rows).sum();
        let rows: u64 = ranges.iter().map(|rows| rows.end - rows.start).sum();
        assert_eq!(rows_read as u64, rows);
        work.most
    };
    assert!(most(&[0..LONG as u64 - 1]) > 1);
    // A quarter of the rows, spread over the column, is enough, but one row less is not.
    let mut quarter: Vec<_> = (0..100).map(|at| 4_000 * at..4_000 * at + 1_000).collect();
    assert!(most(&quarter) > 1);
    quarter[50].end -= 1;
    assert_eq!(most(&quarter), 1);
}

#[test]
fn a_long_column_of_lists_is_split_by_counted_rows() {
    let lists = (0..LONG / 4).map(|row| Some((0..row % 8).map(move |value| Some(row + value))));
    let lists = Arc::new(ListArray::from_iter_primitive::<Int64Type, _, _>(lists));
    let columns = [("list", lists as ArrayRef)];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    for options in [
        long_options(),
        long_options().page_index(false),
        long_options()
            .page_index(false)
            .data_page_version(DataPageVersion::V2),
    ] {
        let file = written(&batch, options);
        for threads in [2, 4] {
            let (batches, work) = decode(&file, &ReadOptions::new().batch_size(3_000), threads);
            let mut first = 0;
            for read in &batches {
                let expected = batch.column(0).slice(first, read.num_rows());
                assert_eq!(read.column(0), &expected);
                first += read.num_rows();
            }
            assert_eq!(first, batch.num_rows());
            assert!(work.most > 1, "{work:?}");
        }
    }
}
