//! Uses `_metadata` files instead of the listed files' own footers.

use std::fs::File;
use std::ops::Range;
use std::sync::Arc;
use std::time::SystemTime;

use bytes::Bytes;
use futures::executor::block_on;
use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch};
use herringbone::filter::col;
use herringbone::source::FileSource;
use herringbone::{ErrorKind, ParquetFile, ReadOptions, Remedy};
use herringbone_dataset::{Dataset, DatasetOptions, SchemaFrom, metadata_file};

use crate::files::{Bucket, Folder, all, batch, file, ids};

/// Returns ten files of 2,500 rows, in row groups of 1,000 rows, with their `_metadata`.
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
    let summarised = opened
        .iter()
        .enumerate()
        .filter(|(at, _)| listed(*at as i64));
    let summarised = summarised.map(|(_, (path, file))| (path.as_str(), file.metadata()));
    let metadata = damage(metadata_file(summarised, true).unwrap());
    files.push(("_metadata".to_owned(), metadata));
    Bucket::new(
        files
            .into_iter()
            .map(|(path, bytes)| (format!("d/{path}"), bytes)),
    )
}

fn open(bucket: &Arc<Bucket>) -> herringbone::Result<Dataset> {
    let options = DatasetOptions::new()
        .schema(SchemaFrom::Union)
        .use_metadata_file(true);
    block_on(Dataset::open_async(
        bucket.clone(),
        &["d".to_owned()],
        options,
    ))
}

/// Reads one row by a filter, then all rows, on threads and asynchronously. Returns the footers
/// requested for the schema, and the footers requested for the one row.
fn footers(bucket: &Arc<Bucket>) -> (Vec<String>, Vec<String>) {
    let dataset = open(bucket).unwrap();
    let schema_footers = bucket.take_footers();
    let filter = ReadOptions::new().filter(col("id").eq(12_345));
    let mut stream = dataset.stream(filter.clone()).unwrap();
    let found = block_on(stream.next_batch()).unwrap().unwrap();
    assert_eq!(ids(&[found]), [12_345]);
    assert!(block_on(stream.next_batch()).unwrap().is_none());
    let stream_footers = bucket.take_footers();
    let found = all(open(bucket).unwrap().read(filter).unwrap()).unwrap();
    assert_eq!(ids(&found), [12_345]);
    let mut reader_footers = bucket.take_footers();
    reader_footers.retain(|path| !schema_footers.contains(path));
    assert_eq!(stream_footers, reader_footers);
    let rows = stream_all(&dataset).unwrap();
    assert_eq!(ids(&rows), (0..25_000).collect::<Vec<_>>());
    let rows = all(dataset.read(ReadOptions::new()).unwrap()).unwrap();
    assert_eq!(ids(&rows), (0..25_000).collect::<Vec<_>>());
    (schema_footers, stream_footers)
}

fn stream_all(dataset: &Dataset) -> herringbone::Result<Vec<RecordBatch>> {
    let mut stream = dataset.stream(ReadOptions::new())?;
    let mut batches = Vec::new();
    while let Some(batch) = block_on(stream.next_batch())? {
        batches.push(batch);
    }
    Ok(batches)
}

#[test]
fn ten_files_share_one_footer() {
    // For the file with the row, we compare the file's own footer.
    let (schema_footers, row_footers) = footers(&bucket(|_| true, |it| it));
    assert_eq!(schema_footers, ["d/_metadata"]);
    assert_eq!(row_footers, ["d/p=4/x.parquet"]);
}

#[test]
fn files_that_are_not_listed_have_their_own_footer() {
    let (schema_footers, row_footers) = footers(&bucket(|at| at != 3, |it| it));
    assert_eq!(schema_footers, ["d/_metadata", "d/p=3/x.parquet"]);
    assert_eq!(row_footers, ["d/p=4/x.parquet"]);
}

/// pyarrow, DuckDB and polars do not read `_metadata` unasked either.
#[test]
fn the_file_is_not_used_unless_asked() {
    let bucket = bucket(|_| true, |bytes| bytes.slice(..9));
    let paths = ["d".to_owned()];
    let dataset = Dataset::open_async(bucket.clone(), &paths, DatasetOptions::new());
    let dataset = block_on(dataset).unwrap();
    let rows = all(dataset.read(ReadOptions::new()).unwrap()).unwrap();
    assert_eq!(ids(&rows), (0..25_000).collect::<Vec<_>>());
    let footers = bucket.take_footers();
    assert!(!footers.contains(&"d/_metadata".to_owned()), "{footers:?}");
}

#[test]
fn a_damaged_file_is_an_error() {
    let damage = |bytes: Bytes| bytes.slice(..bytes.len() - 1);
    let error = open(&bucket(|_| true, damage)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert_eq!(error.remedy(), Some(Remedy::UseOwnFooters));
    assert!(error.message().contains("d/_metadata"), "{error}");
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
    let (schema_footers, _) = footers(&bucket(|_| true, hostile));
    assert_eq!(schema_footers.len(), 1 + 10);
}

/// Returns a file with these ids, next to a `_metadata` file describing other ids at the same path.
fn misfit(listed: &[Range<i64>], ids: Range<i64>) -> Arc<Bucket> {
    let listed: Vec<_> = listed
        .iter()
        .map(|ids| ParquetFile::from_bytes(file(&batch(ids.clone()))).unwrap())
        .collect();
    let listed = listed.iter().map(|file| ("a.parquet", file.metadata()));
    let metadata = metadata_file(listed, true).unwrap();
    Bucket::new([
        ("d/a.parquet", file(&batch(ids))),
        ("d/_metadata", metadata),
    ])
}

#[test]
fn footers_that_disagree_are_errors() {
    let (replaced, corrupt) = (ErrorKind::Replaced, ErrorKind::Corrupt);
    for (listed, ids_of_file, kind, message) in [
        (&[0..1000][..], 0..2000, replaced, "1 of its 2 row groups"),
        (&[0..2000, 0..2000], 0..2000, corrupt, "twice"),
        // The bytes have the same places, and `_metadata` may be newer than the file.
        (&[2000..4000], 3000..5000, replaced, "other statistics"),
        (&[0..500], 0..900, replaced, "500 rows in place of 900"),
        (&[0..2500], 0..10, replaced, "outside the file"),
    ] {
        let bucket = misfit(listed, ids_of_file.clone());
        let paths = ["d".to_owned()];
        let options = DatasetOptions::new().schema(SchemaFrom::Given(batch(0..1).schema()));
        let plain = Dataset::open_async(bucket.clone(), &paths, options.clone());
        let plain = block_on(plain).unwrap();
        let expected: Vec<_> = ids_of_file.collect();
        let rows = all(plain.read(ReadOptions::new()).unwrap()).unwrap();
        assert_eq!(ids(&rows), expected);
        assert_eq!(ids(&stream_all(&plain).unwrap()), expected);
        let options = options.use_metadata_file(true);
        let used = block_on(Dataset::open_async(bucket, &paths, options)).unwrap();
        let reader_footers = used.read(ReadOptions::new()).and_then(all);
        for error in [reader_footers.unwrap_err(), stream_all(&used).unwrap_err()] {
            assert_eq!(error.kind(), kind, "{error}");
            assert!(error.message().contains(message), "{error}");
            assert!(error.message().starts_with("d/a.parquet: "), "{error}");
            assert_eq!(error.remedy(), Some(Remedy::UseOwnFooters), "{error}");
        }
    }
    // A read that selects no row compares the footers, too, because it read bytes to find that out.
    let evens: ArrayRef = Arc::new(Int64Array::from_iter_values((0..2000).map(|at| at * 2)));
    let evens = RecordBatch::try_from_iter([("id", evens)]).unwrap();
    let whole = file(&evens);
    let first = ParquetFile::from_bytes(file(&evens.slice(0, 1000))).unwrap();
    let metadata = metadata_file([("a.parquet", first.metadata())], true).unwrap();
    let bucket = Bucket::new([("d/a.parquet", whole), ("d/_metadata", metadata)]);
    let dataset = open(&bucket).unwrap();
    let filter = ReadOptions::new().filter(col("id").eq(7));
    let mut stream = dataset.stream(filter.clone()).unwrap();
    assert!(block_on(stream.next_batch()).is_err());
    assert!(dataset.read(filter).and_then(all).is_err());
}

#[test]
fn local_files_are_compared() {
    let folder = Folder::new("misfit");
    folder.add("a.parquet", 0..2000);
    folder.add("b.parquet", 2000..4000);
    let opened = ["a.parquet", "b.parquet"].map(|name| {
        let file = ParquetFile::open(folder.0.join(name)).unwrap();
        (name, file)
    });
    let files = opened.iter().map(|(name, file)| (*name, file.metadata()));
    folder.put("_metadata", &metadata_file(files, true).unwrap());
    let dataset = |is_used| {
        let options = DatasetOptions::new().use_metadata_file(is_used);
        Dataset::open(&folder.0, options).unwrap()
    };
    let rows = |dataset: &Dataset| {
        let batches = dataset.read(ReadOptions::new()).and_then(all);
        batches.map(|batches| ids(&batches))
    };
    let expected: Vec<_> = (0..4000).collect();
    for is_used in [false, true] {
        assert_eq!(rows(&dataset(is_used)).unwrap(), expected);
    }
    // This is our own reader. It knows the row count immediately, but can only read bytes after the
    // comparison.
    let known = |dataset: &Dataset, at: usize| {
        let file = &dataset.files()[at];
        let source = FileSource::open(file.path()).unwrap();
        dataset.known_file(file, Arc::new(source)).unwrap()
    };
    assert!(known(&dataset(false), 0).is_none());
    let before = dataset(true);
    // This file has the same length, but other values and an older time.
    folder.add("b.parquet", 3000..5000);
    let b = File::options()
        .write(true)
        .open(folder.0.join("b.parquet"))
        .unwrap();
    b.set_modified(SystemTime::UNIX_EPOCH).unwrap();
    let after: Vec<_> = (0..2000).chain(3000..5000).collect();
    assert_eq!(rows(&dataset(false)).unwrap(), after);
    for dataset in [&before, &dataset(true)] {
        assert_eq!(rows(dataset).unwrap_err().kind(), ErrorKind::Replaced);
        for (at, is_same) in [(0, true), (1, false)] {
            let file = known(dataset, at).unwrap();
            assert_eq!(file.metadata().num_rows(), 2000);
            let first = file.read(ReadOptions::new()).unwrap().next_batch();
            assert_eq!(first.is_ok(), is_same);
        }
    }
    // The listing had another length.
    folder.add("b.parquet", 0..10);
    let file = &before.files()[1];
    let source = FileSource::open(file.path()).unwrap();
    let error = before.known_file(file, Arc::new(source)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Replaced);
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
    // The nine files' own footers are compared with `_metadata`.
    let mut footers = bucket.take_footers();
    footers.retain(|path| path != "d/_metadata");
    assert_eq!(footers.len(), 9, "{footers:?}");
}

#[test]
fn files_of_an_opened_metadata_file_are_compared() {
    let bucket = misfit(&[0..1000], 0..2000);
    let dataset = open_metadata(&bucket, DatasetOptions::new()).unwrap();
    let error = dataset.read(ReadOptions::new()).and_then(all).unwrap_err();
    assert!(error.message().contains("1 of its 2 row groups"), "{error}");
    let error = stream_all(&dataset).unwrap_err();
    assert!(error.message().contains("1 of its 2 row groups"), "{error}");
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
    // Here a file is missing.
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
