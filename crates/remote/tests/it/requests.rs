//! Tests of the exact requests that async reads make. The constants of the fetch policy that matter
//! are next to each count.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use futures::executor::block_on;
use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch};
use herringbone::filter::{PruningSteps, col};
use herringbone::push::FetchPolicy;
use herringbone::{ColumnOptions, Compression, Limits, ParquetFile, ReadOptions, WriteOptions};
use herringbone_remote::RemoteFile;

use crate::files::{batch, blocking, file, written};
use crate::memory::{Memory, read};

fn bytes(ranges: &[Range<u64>]) -> u64 {
    ranges.iter().map(|range| range.end - range.start).sum()
}

/// Returns the requests of a read, the number of rows, and the number of rounds after the footer.
fn requests(object: &Arc<Memory>, options: &ReadOptions) -> (Vec<Range<u64>>, usize, u64) {
    let (rows, rounds) = block_on(async {
        let file = RemoteFile::open(object.clone(), Limits::default()).await;
        let mut stream = file.unwrap().read(options.clone()).unwrap();
        let mut rows = 0;
        while let Some(batch) = stream.next_batch().await.unwrap() {
            rows += batch.num_rows();
        }
        let metrics = stream.metrics();
        (rows, metrics.rounds)
    });
    (object.take(), rows, rounds)
}

/// The first request, for the footer, brings 262,144 bytes. Up to 134,217,728 bytes may be
/// requested ahead, by 64 requests at a time.
#[test]
fn three_columns_of_four_row_groups_take_five_requests() {
    // There are 6 columns of 160,000 bytes, and the three that we read are next to each other.
    let object = Arc::new(Memory::new(file(6, 4, 20_000)));
    let options = ReadOptions::new().columns(["c1", "c2", "c3"]);
    let (requests, rows, rounds) = requests(&object, &options);
    assert_eq!((rows, rounds), (80_000, 1));
    assert_eq!(requests.len(), 1 + 4, "{requests:?}");
    let column_bytes = 4 * 3 * 20_000 * 8;
    let fetched = bytes(&requests[1..]);
    assert!((column_bytes..column_bytes + column_bytes / 20).contains(&fetched));
    assert_eq!(object.most_in_flight.load(Ordering::SeqCst), 4);
}

#[test]
fn a_small_file_takes_one_request() {
    let object = Arc::new(Memory::new(file(3, 2, 1000)));
    let (requests, rows, rounds) = requests(&object, &ReadOptions::new());
    assert_eq!((requests.len(), rows, rounds), (1, 2000, 0));
}

#[test]
fn a_long_footer_takes_one_more_request_for_the_missing_part() {
    let bytes = file(3, 2, 1000);
    let length = bytes.len() as u64;
    let mut policy = FetchPolicy::remote();
    policy.suffix_bytes = 100;
    let object = Arc::new(Memory::new(bytes).policy(policy));
    block_on(RemoteFile::open(object.clone(), Limits::default())).unwrap();
    let requests = object.take();
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[0], length - 100..length);
    assert_eq!(requests[1].end, length - 100);
}

#[test]
fn requests_in_flight_are_bounded() {
    // This takes 40 requests of at most 100,000 bytes, 5 at a time.
    let mut policy = FetchPolicy::remote();
    (policy.max_request_bytes, policy.max_requests_in_flight) = (100_000, 5);
    let object = Arc::new(Memory::new(file(6, 4, 20_000)).policy(policy));
    let (requests, rows, rounds) = requests(&object, &ReadOptions::new());
    assert_eq!((rows, rounds), (80_000, 1));
    assert!(requests.len() > 30);
    assert_eq!(object.most_in_flight.load(Ordering::SeqCst), 5);
    // No byte is requested twice.
    let mut sorted = requests;
    sorted.sort_by_key(|range| range.start);
    assert!(sorted.windows(2).all(|two| two[0].end <= two[1].start));
}

/// Later bytes are requested while earlier ones are decoded, although only 300,000 bytes may be
/// ahead.
#[test]
fn bytes_are_requested_between_batches() {
    let mut policy = FetchPolicy::remote();
    (policy.max_bytes_ahead, policy.suffix_bytes) = (300_000, 20_000);
    (policy.max_request_bytes, policy.max_gap_bytes) = (30_000, 1000);
    let object = Arc::new(Memory::new(file(2, 30, 5_000)).policy(policy));
    let (requests, rows, rounds) = requests(&object, &ReadOptions::new().batch_size(1000));
    assert_eq!(rows, 150_000);
    // The 2,400,000 bytes arrive in at least 8 lots, in requests of at most 30,000 bytes.
    assert!((80..120).contains(&requests.len()), "{}", requests.len());
    assert!(rounds <= 2, "{rounds} rounds of {requests:?}");
}

#[test]
fn a_row_by_a_sorted_key_takes_two_rounds() {
    let object = Arc::new(Memory::new(file(6, 4, 80_000)));
    let options = ReadOptions::new().filter(col("id").eq(200_001));
    let (requests, rows, rounds) = requests(&object, &options);
    assert_eq!(rows, 1);
    assert!(rounds <= 2, "{rounds} rounds of {requests:?}");
    // Each column needs one page of 1,000 numbers.
    assert!(bytes(&requests[1..]) < 6 * 10_000, "{requests:?}");
}

#[test]
fn a_stream_that_is_not_polled_requests_nothing() {
    let object = Arc::new(Memory::new(file(3, 2, 20_000)));
    let stream = block_on(async {
        let file = RemoteFile::open(object.clone(), Limits::default()).await;
        file.unwrap().read(ReadOptions::new()).unwrap()
    });
    assert_eq!(stream.rows_left(), 40_000);
    assert_eq!(object.take().len(), 1);
}

/// A read's memory bounds the bytes in flight, because only half of the free memory can be used
/// ahead.
#[test]
fn memory_bounds_the_requests_ahead() {
    let bytes = file(6, 8, 20_000);
    let object = Arc::new(Memory::new(bytes));
    let mut limits = Limits::default();
    limits.memory_bytes = 2_000_000;
    let options = ReadOptions::new().limits(limits).batch_size(1000);
    block_on(async {
        let file = RemoteFile::open(object.clone(), Limits::default()).await;
        let mut stream = file.unwrap().read(options).unwrap();
        object.take();
        let first = stream.next_batch().await.unwrap().unwrap();
        assert_eq!(first, batch(6, 160_000).slice(0, 1000));
    });
    // The due row group has 960,000 bytes.
    let asked = super::requests::bytes(&object.take());
    assert!((960_000..2_000_000).contains(&asked), "{asked}");
    let batches = read(object, Limits::default(), &ReadOptions::new()).unwrap();
    assert_eq!(
        batches.iter().map(|batch| batch.num_rows()).sum::<usize>(),
        160_000
    );
}

/// The filter selects one row in a hundred, in all row groups. With the footer, 20,000 bytes
/// arrive.
fn scattered(policy: &mut FetchPolicy) -> ReadOptions {
    // A row group's five other columns cost more than a round trip, so they wait for the test.
    (policy.round_trip_bytes, policy.suffix_bytes) = (200_000, 20_000);
    policy.max_gap_bytes = 10_000;
    let filter = col("c5").lt(-((1_i64 << 55) / 100 * 98));
    // Without lookups in page indexes, one round is for the tested column, and another for the
    // other columns.
    ReadOptions::new()
        .filter(filter)
        .pruning(PruningSteps::none())
}

/// The file has 6 columns of 160,000 bytes in each of 4 row groups, and the last column is tested.
#[test]
fn a_filter_takes_two_rounds_for_all_row_groups() {
    let bytes = file(6, 4, 20_000);
    let mut policy = FetchPolicy::remote();
    let options = scattered(&mut policy);
    let expected = blocking(&bytes, Limits::default(), &options).unwrap();
    let object = Arc::new(Memory::new(bytes).policy(policy));
    let batches = read(object.clone(), Limits::default(), &options).unwrap();
    assert_eq!(batches, expected);
    object.take();
    let (requests, rows, rounds) = requests(&object, &options);
    assert_eq!(
        rows,
        expected
            .iter()
            .map(|expected| expected.num_rows())
            .sum::<usize>()
    );
    assert!((700..900).contains(&rows), "{rows}");
    assert_eq!((rounds, requests.len()), (2, 9), "{requests:?}");
}

/// The columns of later row groups are requested while the first row group waits for its own.
#[test]
fn later_row_groups_are_tested_while_bytes_are_missing() {
    let mut policy = FetchPolicy::remote();
    let options = scattered(&mut policy);
    let mut object = Memory::new(file(6, 4, 20_000)).policy(policy);
    // The tested columns arrive one after the other, all of them before five columns of the first
    // row group.
    object.delay = |range| match range.end - range.start {
        ..700_000 => (range.start / 900_000) as usize,
        _ => 100,
    };
    let object = Arc::new(object);
    let (requests, _, rounds) = requests(&object, &options);
    assert_eq!((rounds, requests.len()), (2, 9), "{requests:?}");
    assert_eq!(object.most_in_flight.load(Ordering::SeqCst), 4);
    let is_large = |range: &&Range<u64>| range.end - range.start > 700_000;
    assert_eq!(requests.iter().filter(is_large).count(), 4);
}

/// Here, a local file's round trip is as long as an object store's. All the same, a row group's
/// bytes are requested only when it has shown that it needs them.
#[test]
fn a_local_file_waits_for_the_rows_of_a_filter() {
    let mut policy = FetchPolicy::local_async();
    (policy.round_trip_bytes, policy.suffix_bytes) = (8 << 20, 20_000);
    // The file has 6 columns of 640,000 bytes in each of 4 row groups.
    let bytes_of_file = file(6, 4, 80_000);
    let fetched = |filter| {
        let options = ReadOptions::new().filter(filter);
        let object = Arc::new(Memory::new(bytes_of_file.clone()).policy(policy.clone()));
        let expected = blocking(&bytes_of_file, Limits::default(), &options).unwrap();
        let (requests, rows, _) = requests(&object, &options);
        let expected = expected.iter().map(RecordBatch::num_rows).sum::<usize>();
        assert_eq!(rows, expected);
        bytes(&requests[1..])
    };
    // No row has this value, but nearly all pages might have it.
    let none = fetched(col("c5").eq(1));
    assert!((2_500_000..2_700_000).contains(&none), "{none}");
    // This takes one page of each column, with the column's first header.
    let one = fetched(col("id").eq(200_001));
    assert!(one < 400_000, "{one}");
    // Half of the rows need all pages.
    let all = fetched(col("c5").lt(0));
    assert!((15_300_000..15_600_000).contains(&all), "{all}");
}

/// Pages have 1,000 rows, and runs have 1,500. Of 214 runs, 13 are selected.
#[test]
fn a_selective_filter_requests_only_pages() {
    let columns = batch(6, 320_000);
    let runs = Int64Array::from_iter_values((0..320_000).map(|row| row / 1500 * 37 % 53));
    let columns = RecordBatch::try_from_iter(
        (columns.schema().fields().iter())
            .zip(columns.columns())
            .map(|(field, column)| (field.name().clone(), column.clone()))
            .chain([("run".to_owned(), Arc::new(runs) as ArrayRef)]),
    );
    let pages = ColumnOptions::new().page_rows(1000);
    let pages = pages.compression(Compression::Uncompressed);
    let options = WriteOptions::new().columns(pages).row_group_rows(80_000);
    let bytes_of_file = written(&columns.unwrap(), options);
    let mut policy = FetchPolicy::remote();
    (policy.round_trip_bytes, policy.max_gap_bytes) = (200_000, 10_000);
    let options = ReadOptions::new().filter(col("run").lt(3));
    let expected = blocking(&bytes_of_file, Limits::default(), &options).unwrap();
    let object = Arc::new(Memory::new(bytes_of_file).policy(policy));
    let batches = read(object.clone(), Limits::default(), &options).unwrap();
    assert_eq!(batches, expected);
    object.take();
    let (requests, rows, rounds) = requests(&object, &options);
    // The read needs the headers of the first pages, the tested pages, and the pages of the
    // selected rows.
    assert_eq!((rows, rounds), (13 * 1500, 3), "{requests:?}");
    // A run is in two or three pages of 8,000 bytes in each of 6 columns. The indexes come with the
    // footer.
    let fetched = bytes(&requests[1..]);
    let pages = 13 * 2 * 6 * 8000..13 * 3 * 6 * 8200;
    assert!(pages.contains(&fetched), "{fetched} {requests:?}");
}

/// In 8 row groups of 960,000 bytes, neither bytes ahead nor tested columns exceed the read's
/// memory.
#[test]
fn memory_bounds_tests_ahead() {
    let file = file(6, 8, 20_000);
    let mut policy = FetchPolicy::remote();
    let options = scattered(&mut policy);
    let expected = blocking(&file, Limits::default(), &options).unwrap();
    let object = Arc::new(Memory::new(file).policy(policy));
    for memory in [1_000_000, 2_000_000, 4_000_000] {
        let mut limits = Limits::default();
        limits.memory_bytes = memory;
        let options = options.clone().limits(limits);
        let batches = read(object.clone(), Limits::default(), &options).unwrap();
        assert_eq!(batches, expected);
        // Each byte is requested once, and 20,000 bytes come with the footer.
        let all = bytes(&object.take());
        assert!(all < 8 * 970_000 + 20_000, "{memory}: {all}");
        block_on(async {
            let file = RemoteFile::open(object.clone(), Limits::default()).await;
            let mut stream = file.unwrap().read(options.clone()).unwrap();
            object.take();
            stream.next_batch().await.unwrap();
        });
        let before_the_first_batch = bytes(&object.take());
        // The due row group is requested in any case.
        let most = memory + 960_000;
        assert!(before_the_first_batch < most, "{before_the_first_batch}");
    }
}

/// A test ahead fails, but the batches before it and the error are the same as in a blocking read.
#[test]
fn an_error_of_a_test_ahead_waits_for_its_turn() {
    let mut damaged = file(6, 4, 20_000).to_vec();
    let mut policy = FetchPolicy::remote();
    let options = scattered(&mut policy);
    // The third row group's tested column ends near 3 × 960,000 bytes.
    damaged[3 * 960_000 - 80_000..3 * 960_000 - 60_000].fill(0xff);
    let damaged = Bytes::from(damaged);
    let open = ParquetFile::from_source(damaged.clone(), Limits::default()).unwrap();
    let mut expected = open.read(options.clone().threads(1)).unwrap();
    block_on(async {
        let object = Arc::new(Memory::new(damaged).policy(policy));
        let file = RemoteFile::open(object, Limits::default()).await;
        let mut stream = file.unwrap().read(options).unwrap();
        let mut batches = 0;
        loop {
            match (stream.next_batch().await, expected.next_batch()) {
                (Ok(Some(batch)), Ok(Some(expected))) => assert_eq!(batch, expected),
                (Err(error), Err(expected)) => {
                    assert_eq!(error.to_string(), expected.to_string());
                    break;
                }
                others => panic!("{others:?}"),
            }
            batches += 1;
        }
        assert_eq!(batches, 2);
    });
}

/// Returns a file with large dictionaries and small data pages. Each of 4 row groups has a column
/// `run` of runs of 100 rows, and then 5 columns of 40,000 bytes of dictionary and 33,000 bytes of
/// pages.
fn of_dictionaries() -> Bytes {
    let rows = 80_000;
    let runs = (0..rows).map(|row| row / 100 * 37 % 101);
    let column = |column: u64| -> (String, ArrayRef) {
        let values = (0..rows as u64).map(|row| {
            let x = (row * 2_654_435_761 + column) % 5_000;
            (x << 40 | column) as i64
        });
        let values = Int64Array::from_iter_values(values);
        (format!("c{column}"), Arc::new(values))
    };
    let run: ArrayRef = Arc::new(Int64Array::from_iter_values(runs));
    let columns = [("run".to_owned(), run)].into_iter();
    let columns = RecordBatch::try_from_iter(columns.chain((0..5).map(column)));
    let pages = ColumnOptions::new().page_rows(1000);
    let pages = pages.compression(Compression::Uncompressed);
    let options = WriteOptions::new().columns(pages).row_group_rows(20_000);
    written(&columns.unwrap(), options)
}

/// The filter selects one row in a hundred. Page maps and headers are not requested, because
/// leaving out pages of 33,000 bytes saves less than a request costs.
#[test]
fn a_filter_requests_small_chunks_whole() {
    let bytes_of_file = of_dictionaries();
    let file = ParquetFile::from_bytes(bytes_of_file.clone()).unwrap();
    let chunk = |leaf| file.metadata().column_chunk(1, leaf).unwrap();
    let layout = |leaf| {
        let chunk = chunk(leaf).meta_data.unwrap();
        let data = chunk.data_page_offset - chunk.dictionary_page_offset.unwrap_or(0);
        (data, chunk.total_compressed_size - data)
    };
    assert!((40_000..41_000).contains(&layout(3).0));
    assert!((30_000..36_000).contains(&layout(3).1), "{:?}", layout(3));
    assert!(chunk(0).meta_data.as_ref().unwrap().total_compressed_size < 10_000);
    let mut policy = FetchPolicy::remote();
    // A row group's columns cost more than a round trip, so they wait for the test of `run`.
    (policy.round_trip_bytes, policy.max_gap_bytes) = (200_000, 40_000);
    let options = ReadOptions::new().filter(col("run").eq(5));
    let expected = blocking(&bytes_of_file, Limits::default(), &options).unwrap();
    let object = Arc::new(Memory::new(bytes_of_file.clone()).policy(policy.clone()));
    let (asked, rows, rounds) = requests(&object, &options);
    assert_eq!(
        rows,
        expected
            .iter()
            .map(|expected| expected.num_rows())
            .sum::<usize>()
    );
    assert_eq!(rows, 800);
    // The requests are for the footer, for `run` of each row group together with its first header,
    // and for the other columns, between which `run` is a gap of 2,001 bytes.
    assert_eq!((asked.len(), rounds), (1 + 4 + 1, 2), "{asked:?}");
    // If a request costs less than these pages, one is sent for the header of each chunk.
    policy.max_gap_bytes = 10_000;
    let object = Arc::new(Memory::new(bytes_of_file).policy(policy));
    let (asked, _, _) = requests(&object, &options);
    let is_header = |range: &&Range<u64>| range.end - range.start == 128;
    assert!(asked.iter().filter(is_header).count() >= 15, "{asked:?}");
}
