//! `_metadata` files in place of the footers of the files that they list.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use futures::executor::block_on;
use herringbone::filter::col;
use herringbone::{ErrorKind, ParquetFile, ReadOptions};
use herringbone_dataset::{Dataset, DatasetOptions, SchemaFrom, metadata_file};

use crate::files::{Bucket, Folder, all, batch, file, ids};

/// Ten files of 2,500 rows, in row groups of 1,000, and their `_metadata`.
fn bucket(listed: impl Fn(i64) -> bool, damage: impl Fn(Bytes) -> Bytes) -> Arc<Bucket> {
    let files = (0..10).map(|at| {
        let ids = at * 2500..(at + 1) * 2500;
        (format!("p={at}/x.parquet"), file(&batch(ids)))
    });
    let mut files: Vec<_> = files.collect();
    let opened: Vec<_> = files
        .iter()
        .map(|(path, bytes)| {
            (
                path.clone(),
                ParquetFile::from_bytes(bytes.clone()).unwrap(),
            )
        })
        .collect();
    let of_files = opened
        .iter()
        .enumerate()
        .filter(|(at, _)| listed(*at as i64));
    let of_files = of_files.map(|(_, (path, file))| (path.as_str(), file.metadata()));
    let metadata = damage(metadata_file(of_files, true).unwrap());
    files.push(("_metadata".to_owned(), metadata));
    Bucket::new(
        files
            .into_iter()
            .map(|(path, bytes)| (format!("d/{path}"), bytes)),
    )
}

fn open(bucket: &Arc<Bucket>) -> Dataset {
    let options = DatasetOptions::new().schema(SchemaFrom::Union);
    block_on(Dataset::open_async(
        bucket.clone(),
        &["d".to_owned()],
        options,
    ))
    .unwrap()
}

/// Checks the rows. Returns the requested footers.
fn footers(bucket: &Arc<Bucket>) -> Vec<String> {
    let dataset = open(bucket);
    let batches = all(dataset.read(ReadOptions::new()).unwrap()).unwrap();
    assert_eq!(ids(&batches), (0..25_000).collect::<Vec<_>>());
    let filter = ReadOptions::new().filter(col("id").eq(12_345).and(col("p").eq(4)));
    let mut stream = dataset.stream(filter).unwrap();
    let found = block_on(stream.next_batch()).unwrap().unwrap();
    assert_eq!(ids(&[found]), [12_345]);
    bucket.take_footers()
}

#[test]
fn ten_files_share_one_footer() {
    assert_eq!(footers(&bucket(|_| true, |it| it)), ["d/_metadata"]);
}

#[test]
fn files_that_are_not_listed_have_their_own_footer() {
    let footers = footers(&bucket(|at| at != 3, |it| it));
    assert_eq!(footers, ["d/_metadata", "d/p=3/x.parquet"]);
}

#[test]
fn a_damaged_file_is_not_used() {
    let damage = |bytes: Bytes| bytes.slice(..bytes.len() - 1);
    assert_eq!(footers(&bucket(|_| true, damage)).len(), 1 + 10);
    // Paths that lead elsewhere are never looked up.
    let hostile = |bytes: Bytes| {
        let mut bytes = bytes.to_vec();
        for at in 0..bytes.len() - 2 {
            if bytes[at..].starts_with(b"p=") {
                bytes[at..at + 2].copy_from_slice(b"..");
            }
        }
        bytes.into()
    };
    assert_eq!(footers(&bucket(|_| true, hostile)).len(), 1 + 10);
}

#[test]
fn newer_and_shorter_files_have_their_own_footer() {
    let folder = Folder::new("newer");
    folder.add("a.parquet", 0..2000);
    folder.add("b.parquet", 2000..4000);
    let opened = ["a.parquet", "b.parquet"].map(|name| {
        let file = ParquetFile::open(folder.0.join(name)).unwrap();
        (name, file)
    });
    let files = opened.iter().map(|(name, file)| (*name, file.metadata()));
    folder.put("_metadata", &metadata_file(files, true).unwrap());
    let rows = || {
        let dataset = Dataset::open(&folder.0, DatasetOptions::new()).unwrap();
        ids(&all(dataset.read(ReadOptions::new()).unwrap()).unwrap())
    };
    assert_eq!(rows(), (0..4000).collect::<Vec<_>>());
    let before = Dataset::open(&folder.0, DatasetOptions::new()).unwrap();
    let known = |dataset: &Dataset, at: usize| {
        let footer = dataset.known_footer(&dataset.files()[at]).unwrap();
        footer.map(|footer| footer.metadata().num_rows())
    };
    assert_eq!(
        (known(&before, 0), known(&before, 1)),
        (Some(2000), Some(2000))
    );
    // This file has the same length and other values. It is written later.
    folder.add("b.parquet", 3000..5000);
    let later = SystemTime::now() + Duration::from_secs(10);
    let b = std::fs::File::options()
        .write(true)
        .open(folder.0.join("b.parquet"))
        .unwrap();
    b.set_modified(later).unwrap();
    assert_eq!(rows(), (0..2000).chain(3000..5000).collect::<Vec<_>>());
    let after = Dataset::open(&folder.0, DatasetOptions::new()).unwrap();
    for dataset in [&before, &after] {
        assert_eq!((known(dataset, 0), known(dataset, 1)), (Some(2000), None));
    }
    // Shorter, with an old time.
    folder.add("b.parquet", 0..10);
    let b = std::fs::File::options()
        .write(true)
        .open(folder.0.join("b.parquet"))
        .unwrap();
    b.set_modified(SystemTime::UNIX_EPOCH).unwrap();
    assert_eq!(rows(), (0..2000).chain(0..10).collect::<Vec<_>>());
}

#[test]
fn only_paths_below_the_directory_are_written() {
    let bytes = file(&batch(0..3));
    let file = ParquetFile::from_bytes(bytes).unwrap();
    for path in ["", "/a", "../a", "a/../../b", "a//b", "./a"] {
        let error = metadata_file([(path, file.metadata())], true).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Argument, "{path}");
    }
    let common = metadata_file([("a", file.metadata())], false).unwrap();
    let common = ParquetFile::from_bytes(common).unwrap();
    assert_eq!(common.metadata().num_row_groups(), 0);
    assert_eq!(
        common.arrow_schema(&Default::default()).unwrap(),
        batch(0..1).schema()
    );
    assert!(metadata_file([], true).is_err());
}

fn open_metadata(bucket: &Arc<Bucket>, options: DatasetOptions) -> herringbone::Result<Dataset> {
    let paths = ["d/_metadata".to_owned()];
    block_on(Dataset::open_async(bucket.clone(), &paths, options))
}

#[test]
fn an_opened_metadata_file_lists_the_files() {
    let bucket = bucket(|at| at != 3, |it| it);
    let dataset = open_metadata(&bucket, DatasetOptions::new()).unwrap();
    let batches = all(dataset.read(ReadOptions::new()).unwrap()).unwrap();
    let expected: Vec<_> = (0..7500).chain(10_000..25_000).collect();
    assert_eq!(ids(&batches), expected);
    let part = DatasetOptions::new().filter(col("p").eq(4));
    assert_eq!(open_metadata(&bucket, part).unwrap().files().len(), 1);
    assert_eq!(bucket.take_listed(), [""; 0]);
    let footers = bucket.take_footers();
    assert!(
        footers.iter().all(|path| path == "d/_metadata"),
        "{footers:?}"
    );
}

#[test]
fn paths_of_an_opened_metadata_file_stay_below_the_directory() {
    for hostile in [
        "../../a.parqu",
        "/etc/a.parque",
        "s3://a/b.parq",
        "p=0\\..\\..\\abc",
        "p=0/./a.parqu",
    ] {
        let replace = |bytes: Bytes| {
            let (mut bytes, old) = (bytes.to_vec(), b"p=0/x.parquet");
            assert_eq!(hostile.len(), old.len());
            for at in 0..bytes.len() - old.len() {
                if bytes[at..].starts_with(old) {
                    bytes[at..at + old.len()].copy_from_slice(hostile.as_bytes());
                }
            }
            bytes.into()
        };
        let bucket = bucket(|_| true, replace);
        let error = open_metadata(&bucket, DatasetOptions::new()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{hostile}: {error}");
        assert!(error.message().contains(hostile), "{error}");
    }
    // A missing file.
    let gone = |bytes: Bytes| {
        let mut bytes = bytes.to_vec();
        for at in 0..bytes.len() - 5 {
            if bytes[at..].starts_with(b"p=0/x") {
                bytes[at + 4] = b'y';
            }
        }
        bytes.into()
    };
    let error = open_metadata(&bucket(|_| true, gone), DatasetOptions::new()).unwrap_err();
    assert!(error.message().contains("d/p=0/y.parquet"), "{error}");
}
