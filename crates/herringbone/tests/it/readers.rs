//! Tests of readers on one thread or several, and with bytes fetched in rounds.

use herringbone::arrow::array::RecordBatchReader;
use herringbone::filter::col;
use herringbone::source::FetchPolicy;
use herringbone::{ErrorKind, Lost, OnError, ParquetFile, ReadOptions, Reader};

use crate::common::{Recorded, file, numbers, rest};

const ROW_GROUPS: i64 = 6;
const ROWS: i64 = 30_000;

/// The policies of a file in memory, on a disk, and across a network.
fn policies() -> [FetchPolicy; 3] {
    [
        FetchPolicy::memory(),
        FetchPolicy::local(),
        FetchPolicy::remote(),
    ]
}

#[test]
fn rows_left_fall_to_zero() {
    let bytes = file(ROW_GROUPS, ROWS);
    let all = (ROW_GROUPS * ROWS) as u64;
    for policy in policies() {
        for threads in [1, 2, 4] {
            let file = Recorded::new(bytes.clone(), policy.clone()).open();
            let options = ReadOptions::new().threads(threads).batch_size(7_000);
            let mut reader = file.read(options).unwrap();
            assert_eq!(reader.schema().fields().len(), 2);
            let mut left = all;
            while let Some(batch) = reader.next_batch().unwrap() {
                left -= batch.num_rows() as u64;
                assert_eq!(reader.rows_left(), left, "{threads} threads, {policy:?}");
                let shown = format!("{reader:?}");
                assert!(shown.contains(&format!("rows_left: {left}")), "{shown}");
            }
            assert_eq!((left, reader.rows_left()), (0, 0));
            assert!(reader.losses().is_empty());
            assert_eq!(reader.metrics().row_groups, ROW_GROUPS as u64);
        }
    }
}

/// Filters select half of the rows and then a quarter, whichever thread does the work.
#[test]
fn filters_and_limits_select_the_same_rows_on_any_thread() {
    let bytes = file(ROW_GROUPS, ROWS);
    let half = (ROW_GROUPS * ROWS) / 2;
    for policy in policies() {
        for threads in [1, 2, 4] {
            let file = Recorded::new(bytes.clone(), policy.clone()).open();
            let options = || ReadOptions::new().threads(threads);
            let of = |options: ReadOptions| rest(&mut file.read(options).unwrap());
            let wanted: Vec<i64> = (half..2 * half).collect();
            assert_eq!(of(options().filter(col("a").ge(half))), wanted);
            let limited = options().filter(col("a").ge(half)).limit(10);
            assert_eq!(of(limited), wanted[..10]);
            assert_eq!(of(options().limit(0)), [0; 0]);
            let mut reader = file.read(options().filter(col("a").ge(0))).unwrap();
            reader.tighten_filter(&col("a").ge(half)).unwrap();
            assert_eq!(rest(&mut reader), wanted);
        }
    }
}

/// A read reports the rows of a damaged row group as an error, or skips them on request.
#[test]
fn damage_ends_a_read_or_is_a_loss() {
    let bytes = file(ROW_GROUPS, ROWS);
    let whole = ParquetFile::from_bytes(bytes.clone()).unwrap();
    let chunk = whole.metadata().column_chunk(1, 0).unwrap();
    let at = usize::try_from(chunk.meta_data.unwrap().data_page_offset).unwrap();
    let mut damaged = bytes.to_vec();
    damaged[at..at + 16].fill(0xff);
    for policy in policies() {
        for threads in [1, 3] {
            let file = Recorded::new(damaged.clone().into(), policy.clone()).open();
            let options = ReadOptions::new().threads(threads);
            let mut reader = file.read(options.clone()).unwrap();
            let first = std::iter::from_fn(|| reader.next_batch().transpose());
            let found: Vec<_> = first.collect();
            let (last, good) = found.split_last().unwrap();
            assert_eq!(last.as_ref().unwrap_err().kind(), ErrorKind::Corrupt);
            let rows = good.iter().map(|it| it.as_ref().unwrap().num_rows());
            assert_eq!(rows.sum::<usize>(), ROWS as usize, "{threads} threads");
            // After an error, a reader has no more rows.
            assert!(reader.next_batch().unwrap().is_none());
            assert_eq!(reader.rows_left(), 0);
            reader.tighten_filter(&col("a").ge(0)).unwrap();

            let options = options.on_error(OnError::SkipRowGroup);
            let mut reader = file.read(options).unwrap();
            let wanted: Vec<i64> = (0..ROWS).chain(2 * ROWS..ROW_GROUPS * ROWS).collect();
            assert_eq!(rest(&mut reader), wanted);
            let lost: Vec<_> = reader.losses().kept().iter().map(|it| it.lost).collect();
            assert_eq!(lost, [Lost::Rows(ROWS as u64)]);
            assert_eq!(reader.take_losses().kept().len(), 1);
            assert!(reader.losses().is_empty());
        }
    }
}

#[test]
fn a_source_is_asked_in_rounds_or_for_each_part() {
    let bytes = file(ROW_GROUPS, ROWS);
    let read = |policy: FetchPolicy| {
        let source = Recorded::new(bytes.clone(), policy);
        let mut reader = source.open().read(ReadOptions::new().threads(1)).unwrap();
        source.take();
        rest(&mut reader);
        let requests = source.take();
        let metrics = reader.metrics();
        let fetched = requests.iter().map(|range| range.end - range.start);
        assert_eq!(metrics.fetched.bytes, fetched.sum::<u64>());
        assert_eq!(metrics.fetched.requests, requests.len() as u64);
        (metrics.rounds, requests.len() as u64, metrics.fetched.bytes)
    };
    let values = (ROW_GROUPS * ROWS * 16) as u64;
    let (rounds, requests, fetched) = read(FetchPolicy::remote());
    // The whole file is less than one request, and no byte is fetched twice.
    assert!(rounds <= 2 && requests <= 4, "{rounds} {requests}");
    assert!((values..bytes.len() as u64).contains(&fetched), "{fetched}");
    let (rounds, requests, _) = read(FetchPolicy::local());
    // Each request is waited for, and each column chunk needs at least one.
    assert_eq!(rounds, requests);
    assert!(requests >= 12, "{requests}");
}

#[test]
fn readers_are_those_of_arrow() {
    let file = ParquetFile::from_bytes(file(2, 10)).unwrap();
    let reader: Reader = file.read(ReadOptions::new().columns(["b"])).unwrap();
    let reader = reader.into_record_batch_reader();
    assert_eq!(reader.schema().field(0).name(), "b");
    let batches: Vec<_> = reader.map(|batch| batch.unwrap()).collect();
    let rows: usize = batches.iter().map(|batch| batch.num_rows()).sum();
    assert_eq!(rows, 20);
    let squares = numbers(0, 20).column(1).slice(0, batches[0].num_rows());
    assert_eq!(batches[0].column(0), &squares);
}
