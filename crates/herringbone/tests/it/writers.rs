//! Tests of a writer's counts between its steps.

use std::sync::Arc;

use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch};
use herringbone::push::WriteSteps;
use herringbone::{ErrorKind, ParquetFile, ReadOptions, SortingColumnOption, WriteOptions, Writer};

use crate::common::{file, numbers, plain, rest};

/// Returns the counts of accepted rows, of the open row group's rows, and of the row groups in the
/// output.
fn counts(writer: &Writer<Vec<u8>>) -> (u64, usize, usize) {
    let written = writer.get_ref().unwrap().len() as u64;
    assert_eq!(writer.bytes_written(), written);
    (
        writer.num_rows(),
        writer.rows_in_progress(),
        writer.row_groups().len(),
    )
}

#[test]
fn rows_are_counted_when_they_are_accepted() {
    let schema = numbers(0, 0).schema();
    let options = plain().row_group_rows(8).threads(1);
    let mut writer = Writer::new(Vec::new(), schema, options).unwrap();
    assert_eq!(counts(&writer), (0, 0, 0));
    // Only the magic number is written so far.
    assert_eq!(writer.bytes_written(), 4);
    writer.write(&numbers(0, 5)).unwrap();
    assert_eq!(counts(&writer), (5, 5, 0));
    let small = writer.memory_size();
    assert!((80..100_000).contains(&small), "{small}");
    // Two row groups have 8 rows each, and the next one has 1 row.
    writer.write(&numbers(5, 12)).unwrap();
    let (rows, open, row_groups) = counts(&writer);
    assert_eq!((rows, open), (17, 1));
    // The last complete row group might still be in memory.
    assert!((1..=2).contains(&row_groups), "{row_groups}");
    writer.flush().unwrap();
    assert_eq!(counts(&writer), (17, 0, 3));
    // The output has three row groups of two columns with eight bytes per value, and a header per
    // page.
    let bytes = writer.bytes_written();
    assert!((17 * 16..17 * 16 + 6 * 200).contains(&bytes), "{bytes}");
    let row_groups: Vec<i64> = writer.row_groups().iter().map(|it| it.num_rows).collect();
    assert_eq!(row_groups, [8, 8, 1]);
    let (metadata, bytes) = writer.finish_into().unwrap();
    assert_eq!((metadata.num_rows(), metadata.num_row_groups()), (17, 3));
    let file = ParquetFile::from_bytes(bytes).unwrap();
    let mut reader = file.read(ReadOptions::new()).unwrap();
    assert_eq!(rest(&mut reader), (0..17).collect::<Vec<_>>());
}

/// Between two steps, a batch's rows are in an open row group, in row groups that wait, or in the
/// output.
#[test]
fn no_row_is_missing_between_steps() {
    for threads in [1, 3] {
        let schema = numbers(0, 0).schema();
        let options = plain().row_group_rows(1_500).threads(threads);
        let mut writer = Writer::new(Vec::new(), schema, options).unwrap();
        let (mut steps, mut accepted) = (0, 0);
        for (first, rows) in [(0, 5_000), (5_000, 1), (5_001, 4_000)] {
            writer.start_write(&numbers(first, rows)).unwrap();
            accepted += rows as u64;
            loop {
                let (rows, open, row_groups) = counts(&writer);
                assert_eq!(rows, accepted, "after {steps} steps");
                assert!(open < 1_500 && row_groups * 1_500 + open <= 9_001);
                if !writer.step().unwrap() {
                    break;
                }
                steps += 1;
            }
        }
        // Six full row groups have two columns each.
        assert!(steps >= 6, "{steps}");
        writer.start_finish().unwrap();
        while writer.step().unwrap() {
            assert_eq!(writer.num_rows(), 9_001);
        }
        assert_eq!(counts(&writer), (9_001, 0, 7));
        let error = writer.write(&numbers(0, 1)).unwrap_err();
        assert!(error.message().contains("start_finish"), "{error}");
    }
}

#[test]
fn rows_that_wait_to_be_sorted_are_counted() {
    let descending = |first: i64| -> RecordBatch {
        let a: ArrayRef = Arc::new((first..first + 50).rev().collect::<Int64Array>());
        RecordBatch::try_from_iter([("a", a)]).unwrap()
    };
    let options = WriteOptions::new()
        .sort_by(vec![SortingColumnOption::new(["a"])])
        .row_group_rows(40);
    let mut writer = Writer::new(Vec::new(), descending(0).schema(), options).unwrap();
    let empty = writer.memory_size();
    writer.write(&descending(50)).unwrap();
    writer.write(&descending(0)).unwrap();
    assert_eq!(counts(&writer), (100, 0, 0));
    // The rows wait in memory, with eight bytes for each key.
    assert!(writer.memory_size() >= empty + 800);
    let error = writer.append_row_group(Vec::new()).unwrap_err();
    assert!(error.message().contains("`sort_by`"), "{error}");
}

#[test]
fn rows_after_a_failed_row_are_refused() {
    let mut writer = Writer::new(Vec::new(), numbers(0, 0).schema(), plain()).unwrap();
    let other = RecordBatch::try_from_iter([("z", numbers(0, 1).column(0).clone())]).unwrap();
    assert_eq!(
        writer.write(&other).unwrap_err().kind(),
        ErrorKind::Argument
    );
    let error = writer.write(&numbers(0, 1)).unwrap_err();
    assert!(error.message().contains("failed earlier"), "{error}");
    assert!(writer.finish().is_err());
}

#[test]
fn row_groups_of_another_file_are_copied_and_counted() {
    let source = ParquetFile::from_bytes(file(3, 100)).unwrap();
    let mut writer = Writer::new(Vec::new(), numbers(0, 0).schema(), plain()).unwrap();
    writer.check_copy(&source).unwrap();
    writer.write(&numbers(-5, 5)).unwrap();
    // The open row group ends before the copy.
    writer.copy_row_group(&source, 2).unwrap();
    assert_eq!(counts(&writer), (105, 0, 2));
    writer.copy_row_group(&source, 0).unwrap();
    assert_eq!(counts(&writer), (205, 0, 3));
    assert!(writer.copy_row_group(&source, 3).is_err());
    let mut writer = Writer::new(Vec::new(), numbers(0, 0).schema(), plain()).unwrap();
    writer.copy_row_group(&source, 1).unwrap();
    writer.write(&numbers(7, 2)).unwrap();
    let (metadata, bytes) = writer.finish_into().unwrap();
    assert_eq!((metadata.num_rows(), metadata.num_row_groups()), (102, 2));
    let file = ParquetFile::from_bytes(bytes).unwrap();
    let mut reader = file.read(ReadOptions::new()).unwrap();
    let wanted: Vec<i64> = (100..200).chain([7, 8]).collect();
    assert_eq!(rest(&mut reader), wanted);
}
