//! Tests of files with their column chunks in other objects.

use std::sync::Arc;

use bytes::Bytes;
use futures::executor::block_on;
use herringbone::arrow::array::RecordBatch;
use herringbone::filter::col;
use herringbone::{
    ChunkFiles, Error, ErrorKind, Limits, ParquetFile, ReadOptions, Result, WriteOptions,
};
use herringbone_remote::{ChunkObjects, Object, RemoteFile};

use crate::files::{batch, written};
use crate::memory::Memory;

const PATHS: [&str; 2] = ["ids.parquet", "below/noise.parquet"];

/// Three row groups of 1,000 rows. Each column is in a file of its own, and the footer is in a
/// third one.
struct Split {
    footer: Bytes,
    columns: [Bytes; 2],
}

/// Returns a footer as a file without any data.
fn as_file(footer: &[u8]) -> Bytes {
    let length = u32::try_from(footer.len()).unwrap().to_le_bytes();
    [b"PAR1", footer, &length, b"PAR1"].concat().into()
}

fn split(paths: [&str; 2]) -> Split {
    let options = || WriteOptions::new().row_group_rows(1000);
    let rows = batch(2, 3000);
    let columns = [0, 1].map(|column| written(&rows.project(&[column]).unwrap(), options()));
    let files = columns
        .clone()
        .map(|bytes| ParquetFile::from_bytes(bytes).unwrap());
    let whole = ParquetFile::from_bytes(written(&rows, options())).unwrap();
    let row_groups = (0..3).map(|ordinal| {
        let mut row_group = whole.metadata().row_group(ordinal)?;
        for (leaf, chunk) in row_group.columns.iter_mut().enumerate() {
            *chunk = files[leaf].metadata().column_chunk(ordinal, 0)?;
            chunk.file_path = Some(paths[leaf].to_owned());
        }
        Ok(row_group)
    });
    let footer = whole.metadata().encode_with(row_groups).unwrap();
    Split {
        footer: as_file(&footer),
        columns,
    }
}

/// The objects that a split file consists of.
struct Known {
    objects: [Arc<Memory>; 2],
    allows_any_path: bool,
}

impl ChunkObjects for Known {
    fn object(&self, path: &str) -> Result<Arc<dyn Object>> {
        let index = PATHS.iter().position(|it| path.ends_with(*it));
        let index = index.ok_or_else(|| Error::argument(format!("no object `{path}`")))?;
        Ok(self.objects[index].clone())
    }

    fn allows_any_path(&self) -> bool {
        self.allows_any_path
    }
}

fn known(split: &Split, is_listed: bool) -> Known {
    let objects = [0, 1].map(|index| {
        let mut object = Memory::new(split.columns[index].clone());
        object.name = PATHS[index];
        object.listed = is_listed;
        Arc::new(object)
    });
    Known {
        objects,
        allows_any_path: false,
    }
}

fn open(split: &Split, objects: &Known) -> Result<RemoteFile> {
    fn sent<T: Send>(future: T) -> T {
        future
    }
    let object = Arc::new(Memory::new(split.footer.clone()));
    block_on(sent(async {
        let file = RemoteFile::open(object, Limits::default()).await?;
        file.with_chunk_objects(objects).await
    }))
}

fn read(file: &RemoteFile, options: ReadOptions) -> Result<Vec<RecordBatch>> {
    block_on(async {
        let mut stream = file.read(options)?;
        let mut batches = Vec::new();
        while let Some(batch) = stream.next_batch().await? {
            batches.push(batch);
        }
        Ok(batches)
    })
}

#[test]
fn columns_are_read_from_their_objects() {
    let split = split(PATHS);
    let rows = batch(2, 3000);
    for is_listed in [false, true] {
        let objects = known(&split, is_listed);
        let file = open(&split, &objects).unwrap();
        // One request finds the identity of each unlisted object.
        for object in &objects.objects {
            assert_eq!(object.take().len(), usize::from(!is_listed));
        }
        let expected = [0, 1000, 2000].map(|row| rows.slice(row, 1000));
        assert_eq!(read(&file, ReadOptions::new()).unwrap(), expected);
        // A column's chunks are next to each other, so they take one request. Two objects never
        // share one.
        for object in &objects.objects {
            assert_eq!(object.take().len(), 1);
        }
        let filter = ReadOptions::new().filter(col("id").ge(2990));
        assert_eq!(read(&file, filter).unwrap(), [rows.slice(2990, 10)]);
    }
    // A file with all its own chunks needs no objects.
    let object = Arc::new(Memory::new(split.columns[0].clone()));
    let objects = known(&split, false);
    let same = block_on(async {
        let file = RemoteFile::open(object, Limits::default()).await?;
        file.with_chunk_objects(&objects).await
    });
    assert_eq!(read(&same.unwrap(), ReadOptions::new()).unwrap().len(), 3);
    assert!(objects.objects[0].take().is_empty());
}

#[test]
fn paths_stay_below_the_directory_unless_allowed() {
    for path in [
        "/ids.parquet",
        "../x/ids.parquet",
        "below/../ids.parquet",
        "s3://b/ids.parquet",
        "",
        "a\\ids.parquet",
    ] {
        let split = split([path, PATHS[1]]);
        let mut objects = known(&split, false);
        let error = open(&split, &objects).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{path}: {error}");
        assert!(error.message().contains(&format!("`{path}`")), "{error}");
        assert_eq!(error.location().row_group, Some(0));
        objects.allows_any_path = true;
        assert_eq!(open(&split, &objects).is_ok(), !path.is_empty(), "{path}");
    }
}

/// Opens the files of a split file for blocking reads.
struct Blocking([Bytes; 2]);

impl ChunkFiles for Blocking {
    fn open(&self, path: &str) -> Result<Box<dyn herringbone::source::Source>> {
        let index = PATHS.iter().position(|it| path == *it).unwrap();
        Ok(Box::new(self.0[index].clone()))
    }
}

#[test]
fn chunks_outside_their_objects_are_the_error_of_blocking_reads() {
    let mut split = split(PATHS);
    split.columns[1] = split.columns[1].slice(..9000);
    let error = open(&split, &known(&split, false)).unwrap_err();
    let file = ParquetFile::from_bytes(split.footer.clone()).unwrap();
    let expected = file.with_chunk_files(Blocking(split.columns)).unwrap_err();
    assert_eq!(error.to_string(), expected.to_string());
    assert_eq!(error.kind(), ErrorKind::Corrupt);
}

#[test]
fn a_replaced_object_is_an_error_with_its_name() {
    let split = split(PATHS);
    let objects = known(&split, false);
    let file = open(&split, &objects).unwrap();
    *objects.objects[1].e_tag.lock().unwrap() = "\"second\"".to_owned();
    let ids = read(&file, ReadOptions::new().columns(["id"])).unwrap();
    assert_eq!(ids.len(), 3);
    let error = read(&file, ReadOptions::new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Replaced);
    assert!(error.message().starts_with(PATHS[1]), "{error}");
}

#[test]
fn encrypted_files_are_refused() {
    // An encrypted file's footer has no paths.
    let Some(data) = std::env::var_os("PARQUET_TEST_DATA") else {
        println!("skipped: PARQUET_TEST_DATA is not set");
        return;
    };
    let path =
        std::path::Path::new(&data).join("encrypt_columns_plaintext_footer.parquet.encrypted");
    let object = Arc::new(Memory::new(std::fs::read(path).unwrap().into()));
    let objects = known(&split(PATHS), false);
    let error = block_on(async {
        let file = RemoteFile::open(object, Limits::default()).await?;
        file.with_chunk_objects(&objects).await
    });
    assert_eq!(error.unwrap_err().kind(), ErrorKind::Unsupported);
}
