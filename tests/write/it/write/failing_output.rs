//! Tests outputs that fail and writers that are abandoned. There is an error, but no panic, and nothing that looks like
//! a file.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use herringbone::arrow::array::{ArrayRef, Int32Array, RecordBatch, StringArray};
use herringbone::{Error, ErrorKind, ParquetFile, WriteOptions, Writer, create_with};

use crate::table::without_panic;

fn batch() -> RecordBatch {
    let numbers: ArrayRef = Arc::new(Int32Array::from_iter(
        (0..40).map(|i| (i % 3 > 0).then_some(i)),
    ));
    let texts: ArrayRef = Arc::new(StringArray::from_iter_values(
        (0..40).map(|i| format!("text {i}")),
    ));
    RecordBatch::try_from_iter([("a", numbers), ("b", texts)]).unwrap()
}

fn options(threads: usize) -> WriteOptions {
    let columns = WriteOptions::new().columns.page_rows(9);
    WriteOptions::new()
        .columns(columns)
        .row_group_rows(15)
        .threads(threads)
}

/// Writes two batches, and returns the error of any step.
fn write(out: impl Write, threads: usize) -> Result<(), Error> {
    let batch = batch();
    let mut writer = Writer::new(out, batch.schema(), options(threads))?;
    writer.write(&batch)?;
    writer.flush()?;
    writer.write(&batch)?;
    writer.finish().map(|_| ())
}

/// The behaviour of a full output.
#[derive(Debug, Clone, Copy)]
enum Full {
    Fails,
    TakesNothing,
    FailsToFlush,
}

struct Limited<'a> {
    bytes: &'a mut Vec<u8>,
    room: usize,
    then: Full,
    /// True if the previous call was interrupted. The system may interrupt any call, and then the call must be
    /// repeated.
    interrupted: bool,
}

impl Write for Limited<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.interrupted = !self.interrupted;
        if self.interrupted {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let n = bytes.len().min(self.room).min(1000);
        if n == 0 && !bytes.is_empty() && !matches!(self.then, Full::TakesNothing) {
            return Err(io::Error::new(io::ErrorKind::StorageFull, "full"));
        }
        self.bytes.extend_from_slice(&bytes[..n]);
        self.room -= n;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        match self.then {
            Full::FailsToFlush => Err(io::Error::other("flush")),
            _ => Ok(()),
        }
    }
}

fn limited(room: usize, then: Full, threads: usize) -> (Vec<u8>, Result<(), Error>) {
    let mut bytes = Vec::new();
    let interrupted = false;
    let out = Limited {
        bytes: &mut bytes,
        room,
        then,
        interrupted,
    };
    let result = without_panic(|| write(out, threads)).unwrap();
    (bytes, result)
}

#[test]
fn at_every_byte() {
    let mut whole = Vec::new();
    write(&mut whole, 1).unwrap();
    for room in 0..whole.len() {
        let then = [Full::Fails, Full::TakesNothing][room % 2];
        let (bytes, result) = limited(room, then, [1, 3][room % 7 / 6]);
        assert_eq!(result.unwrap_err().kind(), ErrorKind::Io, "{room} bytes");
        assert_eq!(bytes, whole[..room]);
        assert!(
            ParquetFile::from_bytes(bytes).is_err(),
            "{room} bytes look like a file"
        );
    }
    let (bytes, result) = limited(whole.len(), Full::Fails, 1);
    result.unwrap();
    assert_eq!(bytes, whole);
    let (_, result) = limited(usize::MAX, Full::FailsToFlush, 1);
    assert_eq!(result.unwrap_err().kind(), ErrorKind::Io);
}

#[test]
fn nothing_goes_on_behind_an_error() {
    let batch = batch();
    for threads in [1, 3] {
        let mut bytes = Vec::new();
        let (room, then, interrupted) = (100, Full::Fails, false);
        let out = Limited {
            bytes: &mut bytes,
            room,
            then,
            interrupted,
        };
        let mut writer = Writer::new(out, batch.schema(), options(threads)).unwrap();
        let first = (0..20).find_map(|_| writer.write(&batch).err()).unwrap();
        assert_eq!(first.kind(), ErrorKind::Io);
        for again in [
            writer.write(&batch),
            writer.flush(),
            writer.finish().map(|_| ()),
        ] {
            let again = again.unwrap_err();
            assert_eq!(again.kind(), ErrorKind::Argument);
            assert!(again.to_string().contains("failed earlier"), "{again}");
        }
        assert!(ParquetFile::from_bytes(bytes).is_err());
    }
}

#[test]
fn dropped_in_memory() {
    let batch = batch();
    for batches in 0..3 {
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&mut bytes, batch.schema(), options(2)).unwrap();
        for _ in 0..batches {
            writer.write(&batch).unwrap();
            writer.flush().unwrap();
        }
        drop(writer);
        assert!(ParquetFile::from_bytes(bytes).is_err());
    }
}

/// A folder for a single test, which is deleted on drop.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let name = format!("herringbone-write-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        drop(fs::remove_dir_all(&path));
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        let name = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name();
        let mut names: Vec<_> = entries
            .map(|entry| name(entry).to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

#[test]
fn dropped_at_a_path() {
    let (folder, batch) = (Folder::new("drop"), batch());
    let path = folder.0.join("a.parquet");
    for existing in [false, true] {
        if existing {
            fs::write(&path, "what was there").unwrap();
        }
        let mut writer = create_with(&path, batch.schema(), options(2)).unwrap();
        writer.write(&batch).unwrap();
        writer.flush().unwrap();
        drop(writer);
        assert_eq!(folder.names(), ["a.parquet"][..usize::from(existing)]);
    }
    assert_eq!(fs::read(&path).unwrap(), b"what was there");

    // A bad batch fails the writer. If we finish the writer afterwards, this changes nothing.
    let mut writer = create_with(&path, batch.schema(), options(1)).unwrap();
    writer.write(&batch.project(&[0]).unwrap()).unwrap_err();
    writer.finish().unwrap_err();
    assert_eq!(folder.names(), ["a.parquet"]);
    assert_eq!(fs::read(&path).unwrap(), b"what was there");

    let mut writer = create_with(&path, batch.schema(), options(1)).unwrap();
    writer.write(&batch).unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"what was there");
    writer.finish().unwrap();
    assert_eq!(folder.names(), ["a.parquet"]);
    let rows = ParquetFile::open(&path).unwrap().metadata().num_rows();
    assert_eq!(rows, 40);
}

#[test]
fn paths_that_cannot_be_written() {
    let (folder, batch) = (Folder::new("paths"), batch());
    let error = |path: &Path| create_with(path, batch.schema(), options(1)).err().unwrap();
    let missing = folder.0.join("none/a.parquet");
    assert_eq!(error(&missing).kind(), ErrorKind::Io);
    assert!(error(&missing).to_string().contains("a.parquet"));
    assert_eq!(error(&folder.0).kind(), ErrorKind::Io);
    assert_eq!(error(Path::new("")).kind(), ErrorKind::Io);
    assert_eq!(folder.names(), [""; 0]);
}

#[test]
fn a_schema_that_cannot_be_written_leaves_no_file() {
    use herringbone_arrow::schema::{DataType, Field, Schema};
    let folder = Folder::new("schema");
    let field = Field::new("a", DataType::FixedSizeBinary(0), true);
    let schema = Arc::new(Schema::new(vec![field]));
    create_with(folder.0.join("a.parquet"), schema, options(1))
        .err()
        .unwrap();
    assert_eq!(folder.names(), [""; 0]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk() {
    let path = Path::new("/dev/full");
    if !path.exists() {
        return;
    }
    let batch = batch();
    let write = || {
        let mut writer = create_with(path, batch.schema(), options(1))?;
        writer.write(&batch)?;
        writer.finish().map(|_| ())
    };
    let error = write().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert!(error.to_string().contains("No space left"), "{error}");
    assert!(path.exists());
}
