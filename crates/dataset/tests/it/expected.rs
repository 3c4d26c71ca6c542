//! Reads datasets of pyarrow, DuckDB and polars, and compares the rows with those that DuckDB finds
//! (`testdata/scripts/datasets.py`).

use std::fs;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use futures::executor::block_on;
use herringbone::ReadOptions;
use herringbone::filter::{Predicate, col};
use herringbone_dataset::{Dataset, DatasetOptions, SchemaFrom};

use crate::files::{Bucket, all, ids};

/// Returns one of the script's conditions as a predicate.
fn predicate(condition: &str) -> Option<Predicate> {
    Some(match condition {
        "true" => return None,
        "m = '01'" => col("m").eq("01"),
        "m >= '02'" => col("m").ge("02"),
        "m <> '10' AND id > 1" => col("m").ne("10").and(col("id").gt(1)),
        "m IN ('10', '1')" => col("m").is_in(["10", "1"]),
        "code IS NULL" => col("code").is_null(),
        "code = 'a/b'" => col("code").eq("a/b"),
        "code = '01001'" => col("code").eq("01001"),
        "year = 2024 AND code <> '2A001'" => col("year").eq(2024).and(col("code").ne("2A001")),
        "year = 2023 OR id = 5" => col("year").eq(2023).or(col("id").eq(5)),
        "NOT (year = 2023)" => col("year").eq(2023).not(),
        "code IS NOT NULL AND year > 2023" => col("code").is_not_null().and(col("year").gt(2023)),
        "city = 'São Paulo'" => col("city").eq("São Paulo"),
        "city = 'a=b/c%2F'" => col("city").eq("a=b/c%2F"),
        "day >= '2024-02-01'" => col("day").ge("2024-02-01"),
        "city IS NULL" => col("city").is_null(),
        "k = 'x y'" => col("k").eq("x y"),
        "n < 10" => col("n").lt(10),
        "n = 10 AND k = 'z'" => col("n").eq(10).and(col("k").eq("z")),
        "x > 5" => col("x").gt(5),
        "t IS NULL" => col("t").is_null(),
        "f > 1.0 OR p = 1" => col("f").gt(1.0).or(col("p").eq(1)),
        "p = 2" => col("p").eq(2),
        "id >= 250 AND p < 3" => col("id").ge(250).and(col("p").lt(3)),
        other => panic!("a condition without a predicate: {other}"),
    })
}

fn datasets() -> String {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    let path = manifest.join("../../testdata/datasets");
    path.to_str().unwrap().to_owned()
}

/// Returns the ids in ascending order, for each of three ways to read: with the dataset's filter,
/// with the read's filter, and asynchronously.
fn found(name: &str, filter: Option<Predicate>) -> Vec<Vec<i64>> {
    let path = format!("{}/{name}", datasets());
    let union = DatasetOptions::new().schema(SchemaFrom::Union);
    let mut filtered = union.clone();
    filtered.filter = filter.clone();
    let mut read = ReadOptions::new();
    read.filter = filter;
    let whole = Dataset::open(&path, union).unwrap();
    let part = Dataset::open(&path, filtered).unwrap();
    let mut stream = whole.stream(read.clone()).unwrap();
    let mut streamed = Vec::new();
    while let Some(batch) = block_on(stream.next_batch()).unwrap() {
        streamed.push(batch);
    }
    let batches = [
        all(part.read(ReadOptions::new()).unwrap()).unwrap(),
        all(whole.read(read).unwrap()).unwrap(),
        streamed,
    ];
    let sorted = batches.iter().map(|batches| {
        let mut ids = ids(batches);
        ids.sort_unstable();
        ids
    });
    sorted.collect()
}

#[test]
fn rows_are_those_of_duckdb() {
    let expected = fs::read_to_string(format!("{}/expected.tsv", datasets())).unwrap();
    assert_eq!(expected.lines().count(), 29);
    for line in expected.lines() {
        let parts: Vec<&str> = line.split('\t').collect();
        let expected: Vec<i64> = parts[2].split(' ').map(|id| id.parse().unwrap()).collect();
        for found in found(parts[0], predicate(parts[1])) {
            assert_eq!(found, expected, "{line}");
        }
    }
}

/// Appends the files below a folder to `files`.
fn files(folder: &Path, prefix: &str, files: &mut Vec<(String, Bytes)>) {
    for entry in fs::read_dir(folder).unwrap() {
        let entry = entry.unwrap();
        let path = format!("{prefix}/{}", entry.file_name().into_string().unwrap());
        match entry.path().is_dir() {
            true => self::files(&entry.path(), &path, files),
            false => files.push((path, fs::read(entry.path()).unwrap().into())),
        }
    }
}

#[test]
fn metadata_of_pyarrow_replaces_footers() {
    let mut found = Vec::new();
    files(
        &Path::new(&datasets()).join("with_metadata"),
        "d",
        &mut found,
    );
    assert_eq!(found.len(), 6);
    let bucket: Arc<Bucket> = Bucket::new(found);
    let paths = ["d".to_owned()];
    let options = DatasetOptions::new()
        .schema(SchemaFrom::Union)
        .use_metadata_file(true);
    let dataset = block_on(Dataset::open_async(bucket.clone(), &paths, options)).unwrap();
    assert_eq!(bucket.take_requested(), ["d/_metadata"]);
    // Row groups have 50 rows, and the bounds of seven row groups rule them out.
    let options = ReadOptions::new().filter(col("id").eq(123));
    let explained = dataset.explain(options.clone()).unwrap();
    assert_eq!(
        (explained.row_groups, explained.rows, explained.undecided),
        (8, 400, 50)
    );
    assert_eq!(ids(&all(dataset.read(options).unwrap()).unwrap()), [123]);
    assert_eq!(bucket.take_requested(), ["d/p=1/part-0.parquet"]);
}
