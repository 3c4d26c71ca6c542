//! The exact requests of async reads. The relevant constants of the fetch policy are next to each count.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use futures::executor::block_on;
use herringbone::filter::col;
use herringbone::push::FetchPolicy;
use herringbone::{Limits, ReadOptions};
use herringbone_remote::RemoteFile;

use crate::files::{batch, file};
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

/// 262,144 bytes arrive with the footer. Up to 134,217,728 bytes may be requested ahead, by 64 requests at a time.
#[test]
fn three_columns_of_four_row_groups_take_five_requests() {
    // 6 columns of 160,000 bytes: the three are next to each other.
    let object = Arc::new(Memory::new(file(6, 4, 20_000)));
    let options = ReadOptions::new().columns(["c1", "c2", "c3"]);
    let (requests, rows, rounds) = requests(&object, &options);
    assert_eq!((rows, rounds), (80_000, 1));
    assert_eq!(requests.len(), 1 + 4, "{requests:?}");
    let of_columns = 4 * 3 * 20_000 * 8;
    let fetched = bytes(&requests[1..]);
    assert!((of_columns..of_columns + of_columns / 20).contains(&fetched));
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
    // 40 requests of 100,000 bytes at most, 5 at a time.
    let mut policy = FetchPolicy::remote();
    (policy.max_request_bytes, policy.max_requests_in_flight) = (100_000, 5);
    let object = Arc::new(Memory::new(file(6, 4, 20_000)).policy(policy));
    let (requests, rows, rounds) = requests(&object, &ReadOptions::new());
    assert_eq!((rows, rounds), (80_000, 1));
    assert!(requests.len() > 30);
    assert_eq!(object.most_in_flight.load(Ordering::SeqCst), 5);
    // Nothing is requested twice.
    let mut sorted = requests;
    sorted.sort_by_key(|range| range.start);
    assert!(sorted.windows(2).all(|two| two[0].end <= two[1].start));
}

/// Later bytes are requested while earlier ones are decoded, although only 300,000 bytes may be ahead.
#[test]
fn bytes_are_requested_between_batches() {
    let mut policy = FetchPolicy::remote();
    (policy.max_bytes_ahead, policy.suffix_bytes) = (300_000, 20_000);
    (policy.max_request_bytes, policy.max_gap_bytes) = (30_000, 1000);
    let object = Arc::new(Memory::new(file(2, 30, 5_000)).policy(policy));
    let (requests, rows, rounds) = requests(&object, &ReadOptions::new().batch_size(1000));
    assert_eq!(rows, 150_000);
    // The 2,400,000 bytes arrive in at least 8 lots, of requests of at most 30,000 bytes.
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
    // One page of 1,000 numbers per column.
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

/// The memory of a read bounds the bytes in flight: half of the free memory may be ahead.
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
        batches.iter().map(|it| it.num_rows()).sum::<usize>(),
        160_000
    );
}
