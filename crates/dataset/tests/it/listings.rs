//! Counts listed directories and opened files exactly, and reads asynchronously.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Waker};

use bytes::Bytes;
use futures::executor::block_on;
use herringbone::filter::{Predicate, col};
use herringbone::{Error, ReadOptions, Result};
use herringbone_dataset::{Dataset, DatasetOptions, DatasetReadOptions, SchemaFrom};

use crate::files::{Bucket, all, batch, file, ids};

/// Returns three years of twelve months, where each month has one file with one row.
fn bucket() -> Arc<Bucket> {
    let months = (0..36).map(|at| {
        let (year, month) = (2022 + at / 12, at % 12 + 1);
        let path = format!("data/year={year}/month={month}/part.parquet");
        (path, file(&batch(at..at + 1)))
    });
    Bucket::new(months)
}

fn open(bucket: &Arc<Bucket>, options: DatasetOptions) -> Result<Dataset> {
    let paths = ["data/".to_owned()];
    block_on(Dataset::open_async(bucket.clone(), &paths, options))
}

fn given() -> DatasetOptions {
    DatasetOptions::new().schema(SchemaFrom::Given(batch(0..1).schema()))
}

#[test]
fn a_filter_stops_the_listing_level_by_level() {
    let bucket = bucket();
    let listed = |filter: Predicate| {
        let dataset = open(&bucket, given().filter(filter)).unwrap();
        assert_eq!(bucket.take_requested(), [""; 0]);
        let listed = bucket.take_listed().len();
        assert_eq!(listed, dataset.directories_listed());
        (listed, dataset.files().len())
    };
    // All of it is the root, three years and 36 months.
    assert_eq!(listed(col("id").eq(5)), (40, 36));
    assert_eq!(listed(col("year").eq(2023)), (1 + 1 + 12, 12));
    assert_eq!(listed(col("month").eq(2)), (1 + 3 + 3, 3));
    let one = col("year").eq(2023).and(col("month").eq(2));
    assert_eq!(listed(one.clone()), (1 + 1 + 1, 1));
    assert_eq!(listed(one.and(col("id").eq(99))), (1 + 1 + 1, 1));
    assert_eq!(listed(col("year").eq(1999)), (1, 0));
    let or = col("year").eq(2022).or(col("month").gt(11));
    assert_eq!(listed(or), (1 + 3 + 12 + 2, 14));
    let not = col("year").lt(2024).not().and(col("month").is_in([1, 2]));
    assert_eq!(listed(not), (1 + 1 + 2, 2));
}

#[test]
fn footers_are_opened_as_needed() {
    let bucket = bucket();
    let dataset = open(&bucket, DatasetOptions::new()).unwrap();
    // The schema comes from the first file by name.
    assert_eq!(
        bucket.take_requested(),
        ["data/year=2022/month=1/part.parquet"]
    );
    let options = ReadOptions::new().filter(col("year").eq(2024).and(col("month").le(2)));
    let files = [1, 2].map(|month| format!("data/year=2024/month={month}/part.parquet"));
    let batches = all(dataset.read(options.clone()).unwrap()).unwrap();
    assert_eq!(ids(&batches), [24, 25]);
    assert_eq!(bucket.take_requested(), files);
    let mut stream = dataset.stream(options).unwrap();
    let mut streamed = Vec::new();
    while let Some(batch) = block_on(stream.next_batch()).unwrap() {
        streamed.push(batch);
    }
    assert_eq!(streamed, batches);
    assert_eq!(bucket.take_requested(), files);
    open(&bucket, DatasetOptions::new().schema(SchemaFrom::Union)).unwrap();
    assert_eq!(bucket.take_requested().len(), 36);
}

#[test]
fn blocking_and_async_reads_return_the_same() {
    let files = (0..20).map(|at: i64| {
        let rows = [0, 1, 2500][at as usize % 3];
        (
            format!("d/p={at}/x"),
            file(&batch(at * 10_000..at * 10_000 + rows)),
        )
    });
    let bucket = Bucket::new(files);
    let paths = ["d".to_owned()];
    let dataset = Dataset::open_async(bucket, &paths, DatasetOptions::new());
    let dataset = block_on(dataset).unwrap();
    let plain = ReadOptions::new();
    let options = [
        plain.clone(),
        plain.clone().offset(2000).limit(4000),
        plain
            .clone()
            .filter(col("id").ge(50_001).and(col("p").lt(12))),
        plain
            .clone()
            .filter(col("p").gt(3).or(col("id").eq(7)))
            .offset(1)
            .limit(1),
        plain.limit(0),
    ];
    for options in options {
        let expected = all(dataset.read(options.clone().threads(1)).unwrap()).unwrap();
        for threads in [2, 4] {
            let read = options.clone().threads(threads);
            assert_eq!(all(dataset.read(read).unwrap()).unwrap(), expected);
        }
        for open in [1, 3, 16] {
            let read = DatasetReadOptions::from(options.clone()).max_open_files(open);
            let mut stream = dataset.stream(read).unwrap();
            let mut batches = Vec::new();
            while let Some(batch) = block_on(stream.next_batch()).unwrap() {
                batches.push(batch);
            }
            assert_eq!(batches, expected);
        }
        if options.limit.is_none() {
            let mut expected = ids(&expected);
            expected.sort_unstable();
            let read = DatasetReadOptions::from(options.clone().threads(3)).is_ordered(false);
            let mut unordered = ids(&all(dataset.read(read.clone()).unwrap()).unwrap());
            unordered.sort_unstable();
            assert_eq!(unordered, expected);
            let mut stream = dataset.stream(read).unwrap();
            let mut batches = Vec::new();
            while let Some(batch) = block_on(stream.next_batch()).unwrap() {
                batches.push(batch);
            }
            let mut unordered = ids(&batches);
            unordered.sort_unstable();
            assert_eq!(unordered, expected);
        }
    }
}

#[test]
fn names_of_a_listing_are_not_trusted() {
    for name in ["d/../x", "d/./x"] {
        let bucket = Bucket::new([(name, Bytes::new())]);
        let paths = ["d".to_owned()];
        let dataset = Dataset::open_async(bucket, &paths, given());
        let error = block_on(dataset).unwrap_err();
        assert!(error.message().contains("an entry named"), "{error}");
    }
    let deep = format!("d/{}x", "y/".repeat(70));
    let bucket = Bucket::new([(deep, Bytes::new())]);
    let error = block_on(Dataset::open_async(bucket, &["d".to_owned()], given())).unwrap_err();
    assert!(error.message().contains("64 levels"), "{error}");
}

#[test]
fn an_error_names_the_file_and_comes_in_order() {
    let files = (0..8).map(|at: i64| {
        let bytes = match at {
            5 => Bytes::from_static(b"PAR1 is not enough"),
            at => file(&batch(at..at + 1)),
        };
        (format!("d/{at}.parquet"), bytes)
    });
    let bucket = Bucket::new(files);
    let dataset = block_on(Dataset::open_async(bucket, &["d".to_owned()], given())).unwrap();
    for threads in [1, 4] {
        let mut reader = dataset.read(ReadOptions::new().threads(threads)).unwrap();
        let good: Vec<_> = (0..5)
            .map(|_| reader.next_batch().unwrap().unwrap())
            .collect();
        assert_eq!(ids(&good), [0, 1, 2, 3, 4]);
        let error = reader.next_batch().unwrap_err();
        assert!(error.message().contains("d/5.parquet"), "{error}");
        assert!(reader.next_batch().unwrap().is_none());
    }
    let mut stream = dataset.stream(ReadOptions::new()).unwrap();
    let good: Vec<_> = (0..5)
        .map(|_| block_on(stream.next_batch()).unwrap().unwrap())
        .collect();
    assert_eq!(ids(&good), [0, 1, 2, 3, 4]);
    let error = block_on(stream.next_batch()).unwrap_err();
    assert!(error.message().contains("d/5.parquet"), "{error}");
    assert!(block_on(stream.next_batch()).unwrap().is_none());
}

fn assert_send<T: Send>(it: T) -> T {
    it
}

#[test]
fn futures_can_move_to_other_threads() {
    let paths = ["data".to_owned()];
    let opening = assert_send(Dataset::open_async(bucket(), &paths, given()));
    let dataset = block_on(opening).unwrap();
    let mut stream = assert_send(dataset.stream(ReadOptions::new()).unwrap());
    let batch = block_on(assert_send(stream.next_batch())).unwrap();
    assert_eq!(ids(&[batch.unwrap()]), [0]);
    assert_send(dataset.read(ReadOptions::new()).unwrap());
}

/// Opening and reading can be dropped after any number of polls.
#[test]
fn nothing_is_left_of_a_dropped_read() {
    let bucket = bucket();
    let paths = ["data".to_owned()];
    for polls in 0.. {
        let mut work = Box::pin(async {
            let options = DatasetOptions::new().filter(col("year").eq(2023));
            let dataset = Dataset::open_async(bucket.clone(), &paths, options).await?;
            let mut stream = dataset.stream(ReadOptions::new())?;
            let mut rows = 0;
            while let Some(batch) = stream.next_batch().await? {
                rows += batch.num_rows();
            }
            Ok::<_, Error>(rows)
        });
        let mut cx = Context::from_waker(Waker::noop());
        let is_over = (0..polls).any(|_| work.as_mut().poll(&mut cx).is_ready());
        drop(work);
        assert_eq!(bucket.open.load(Ordering::SeqCst), 0, "after {polls} polls");
        assert_eq!(
            bucket.futures.load(Ordering::SeqCst),
            0,
            "after {polls} polls"
        );
        if is_over {
            // At least there are three levels, a footer, and a request for the files.
            assert!(polls > 5, "{polls}");
            return;
        }
    }
}

/// If a file exists at a path that looks like a pattern, the path means that file.
#[test]
fn names_may_have_the_signs_of_patterns() {
    let names = ["d/a[1]?.parquet", "d/a1x.parquet", "d/b.parquet"];
    let files = names
        .iter()
        .zip(0..)
        .map(|(name, id)| (*name, file(&batch(id..id + 1))));
    let bucket = Bucket::new(files.map(|(name, bytes)| (name.to_owned(), bytes)));
    for (path, expected) in [("d/a[1]?.parquet", vec![0]), ("d/[a]*", vec![1, 0])] {
        let paths = [path.to_owned()];
        let dataset = Dataset::open_async(bucket.clone(), &paths, DatasetOptions::new());
        let dataset = block_on(dataset).unwrap();
        let found = all(dataset.read(ReadOptions::new()).unwrap()).unwrap();
        assert_eq!(ids(&found), expected, "{path}");
        let first = dataset.open_file(&dataset.files()[0]).unwrap();
        assert_eq!(first.metadata().num_rows(), 1);
    }
}
