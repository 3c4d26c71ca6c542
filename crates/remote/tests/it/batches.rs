//! Tests that async reads return the batches and errors of blocking reads.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use futures::executor::block_on;
use herringbone::filter::{Predicate, col};
use herringbone::push::FetchPolicy;
use herringbone::{Limits, ParquetFile, ReadOptions, RowSelection};
use herringbone_remote::RemoteFile;

use crate::files::{blocking, file};
use crate::memory::{Host, Memory, Runs, read};

/// Returns policies that split reads into few and into many requests.
fn policies() -> [FetchPolicy; 3] {
    let mut small = FetchPolicy::remote();
    (small.suffix_bytes, small.max_gap_bytes) = (8, 0);
    (small.max_request_bytes, small.max_requests_in_flight) = (10_000, 3);
    (small.max_bytes_ahead, small.round_trip_bytes) = (50_000, 1000);
    let mut bare = small.clone();
    (bare.max_bytes_ahead, bare.round_trip_bytes) = (0, 0);
    [FetchPolicy::remote(), small, bare]
}

/// Compares all ways of async reading with the blocking read.
fn compare(bytes: &Bytes, options: &ReadOptions, what: &str) {
    let expected = blocking(bytes, Limits::default(), options);
    let expected = expected.map_err(|error| error.to_string());
    let hosts = [None, Some(Runs::OnThreads), Some(Runs::Never)];
    for (policy, host) in policies().into_iter().zip(hosts) {
        let object = Arc::new(Memory::new(bytes.clone()).policy(policy));
        let mut options = options.clone();
        if let Some(runs) = host {
            options = options.spawn(Arc::new(Host::new(runs))).threads(3);
        }
        let got = read(object.clone(), Limits::default(), &options);
        let got = got.map_err(|error| error.to_string());
        assert_eq!(got, expected, "{what}, {host:?}");
        assert_eq!(object.live(), 0, "{what}");
    }
}

fn parquet_files(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let is_parquet = |path: &PathBuf| {
        path.extension()
            .is_some_and(|extension| extension == "parquet")
    };
    let mut paths: Vec<_> = paths.filter(is_parquet).collect();
    paths.sort();
    paths
}

#[test]
fn the_official_files() {
    let Some(data) = std::env::var_os("PARQUET_TEST_DATA").map(PathBuf::from) else {
        println!("skipped: PARQUET_TEST_DATA is not set");
        return;
    };
    let mut files = parquet_files(&data);
    files.extend(parquet_files(&data.join("../bad_data")));
    assert!(files.len() > 60, "{}", files.len());
    for path in files {
        let bytes = Bytes::from(std::fs::read(&path).unwrap());
        let what = path.display().to_string();
        compare(&bytes, &ReadOptions::new().limit(5000), &what);
        let some = ReadOptions::new().batch_size(7).offset(3).limit(40);
        compare(&bytes, &some, &what);
    }
}

#[test]
fn units_of_int96() {
    let Some(data) = std::env::var_os("PARQUET_TEST_DATA").map(PathBuf::from) else {
        println!("skipped: PARQUET_TEST_DATA is not set");
        return;
    };
    let options = ReadOptions::new();
    for name in ["alltypes_plain.parquet", "int96_from_spark.parquet"] {
        let bytes = Bytes::from(std::fs::read(data.join(name)).unwrap());
        let expected = ParquetFile::from_bytes(bytes.clone()).unwrap();
        let expected = expected.int96_units(&options).unwrap();
        let object = Arc::new(Memory::new(bytes));
        let units = block_on(async {
            let file = RemoteFile::open(object, Limits::default()).await?;
            file.int96_units(&options).await
        });
        assert_eq!(units.unwrap(), expected, "{name}");
    }
}

#[test]
fn filters_and_selections() {
    let bytes = file(4, 5, 7_000);
    let filters: [Predicate; 5] = [
        col("id").eq(20_001),
        col("id").ge(6_500).and(col("id").lt(14_500)),
        col("c1").lt(0),
        col("c1").lt(0).and(col("c2").lt(i64::MIN >> 12)),
        col("id").is_null(),
    ];
    for (index, filter) in filters.into_iter().enumerate() {
        let options = ReadOptions::new().filter(filter);
        compare(&bytes, &options, &format!("filter {index}"));
        let limited = options.clone().columns(["c3"]).offset(5).limit(1500);
        compare(&bytes, &limited, &format!("limited filter {index}"));
    }
    let selection = RowSelection::keep([0..1, 9_999..10_001, 34_999..35_000]);
    compare(&bytes, &ReadOptions::new().row_selection(selection), "rows");
    let row_groups = ReadOptions::new()
        .row_groups(vec![3, 1])
        .columns(["c2", "id"]);
    compare(&bytes, &row_groups, "row groups");
}

/// Bytes ahead are dropped and requested again, but the batches stay the same.
#[test]
fn reads_with_little_memory() {
    let bytes = file(6, 4, 20_000);
    let mut succeeded = 0;
    for memory in [20_000, 200_000, 1 << 20, 3 << 20, 10 << 20] {
        let mut limits = Limits::default();
        limits.memory_bytes = memory;
        let options = ReadOptions::new().limits(limits).batch_size(1000);
        let expected = blocking(&bytes, Limits::default(), &options);
        for policy in policies() {
            let object = Arc::new(Memory::new(bytes.clone()).policy(policy));
            let got = read(object.clone(), Limits::default(), &options);
            assert_eq!(object.live(), 0);
            match (got, &expected) {
                (Ok(got), Ok(expected)) => {
                    assert_eq!(got, *expected);
                    succeeded += 1;
                }
                (got, expected) => {
                    assert_eq!(got.unwrap_err().limit_name(), Some("memory_bytes"));
                    assert!(expected.is_err(), "{memory}");
                }
            }
        }
    }
    assert!((6..15).contains(&succeeded), "{succeeded}");
}

/// A search for the greatest values tightens its filter from batch to batch, so that it requests
/// fewer bytes.
#[test]
fn a_tightened_filter_requests_less() {
    let bytes = file(2, 20, 5_000);
    let mut policy = FetchPolicy::remote();
    (policy.suffix_bytes, policy.max_gap_bytes) = (20_000, 0);
    (policy.max_bytes_ahead, policy.round_trip_bytes) = (0, 0);
    for runs in [None, Some(Runs::OnThreads), Some(Runs::Never)] {
        let fetched = |tightens: bool| {
            let object = Arc::new(Memory::new(bytes.clone()).policy(policy.clone()));
            let mut options = ReadOptions::new().filter(col("id").ge(0));
            if let Some(runs) = runs {
                options = options.spawn(Arc::new(Host::new(runs))).threads(2);
            }
            block_on(async {
                let file = RemoteFile::open(object, Limits::default()).await.unwrap();
                let mut stream = file.read(options).unwrap();
                let (mut rows, mut last) = (0, i64::MIN);
                while let Some(batch) = stream.next_batch().await.unwrap() {
                    rows += batch.num_rows();
                    let values = batch.column(0).to_data();
                    last = *values.buffers()[0].typed_data::<i64>().last().unwrap();
                    if tightens {
                        stream.tighten_filter(&col("id").ge(95_000)).unwrap();
                    }
                }
                let error = match tightens {
                    true => stream.tighten_filter(&col("id").ge(1)).unwrap_err(),
                    false => stream.tighten_filter(&col("c1").ge(1)).unwrap_err(),
                };
                assert!(error.message().contains("combine both"), "{error}");
                assert_eq!(last, 99_999);
                (rows, stream.metrics().fetched.bytes)
            })
        };
        let (all, few) = (fetched(false), fetched(true));
        assert_eq!(all.0, 100_000);
        assert!(5_000 <= few.0 && few.0 <= 30_000, "{runs:?}: {few:?}");
        assert!(3 * few.1 < all.1, "{runs:?}: {few:?} of {all:?}");
    }
}
