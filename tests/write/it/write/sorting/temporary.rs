//! Tests a sort's temporary files, both their contents and their removal.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;
use herringbone::encryption::properties::EncryptionKey;
use herringbone::encryption::{FileDecryptionProperties, FileEncryptionProperties, Key};
use herringbone::format::{ColumnChunk, FileMetadataParts};
use herringbone::modular_encryption::{Encryption, FileEncryption, ModuleCipher, ModuleId};
use herringbone::{
    Error, ErrorKind, OpenOptions, ParquetFile, Remedy, WriteOptions, Writer, create_with,
};
use herringbone_arrow::array::types::Int8Type;
use herringbone_arrow::array::{ArrayRef, DictionaryArray, RecordBatch, StringArray};

use super::super::compare::findings;
use super::{by, numbers, order_in, order_of};
use crate::table::without_panic;

/// The text in the rows.
const SECRET: &str = "nobody may read this";

/// A folder for a single test, which is deleted on drop.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let name = format!("herringbone-sorting-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        drop(fs::remove_dir_all(&path));
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.0).unwrap();
        let name = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name();
        entries
            .map(|entry| name(entry).to_string_lossy().into_owned())
            .collect()
    }

    /// Returns the contents of the files in the folder that this process has open, with or without a name.
    #[cfg(target_os = "linux")]
    fn open_files(&self) -> Vec<Vec<u8>> {
        let open = fs::read_dir("/proc/self/fd").unwrap();
        let open = open.map(|entry| entry.unwrap().path());
        let inside = |link: &PathBuf| fs::read_link(link).is_ok_and(|to| to.starts_with(&self.0));
        open.filter(inside)
            .map(|link| fs::read(link).unwrap())
            .collect()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(fs::remove_dir_all(&self.0));
    }
}

const ROWS: usize = 600;

fn batch() -> RecordBatch {
    let texts = (0..ROWS).map(|row| format!("{SECRET} {}", row * 37 % 101));
    let texts: ArrayRef = Arc::new(StringArray::from_iter_values(texts));
    RecordBatch::try_from_iter([("s", texts), ("n", numbers(ROWS))]).unwrap()
}

/// Returns options that lead to several runs in a folder.
fn options(folder: &Path) -> WriteOptions {
    WriteOptions::new()
        .sort_by(vec![by("s", false, false)])
        .sort_memory_bytes(3_000)
        .sort_folder(folder.to_owned())
        .row_group_rows(100)
        .threads(1)
}

fn write_all(writer: &mut Writer<impl Write>) -> Result<(), Error> {
    let batch = batch();
    (0..ROWS)
        .step_by(50)
        .try_for_each(|at| writer.write(&batch.slice(at, 50)))
}

fn is_sorted(order: &[usize]) -> bool {
    let key = |row: &usize| ((row * 37 % 101).to_string(), *row);
    order.len() == ROWS && order.is_sorted_by_key(key)
}

#[test]
fn nothing_stays_of_them() {
    let folder = Folder::new("stays");
    let path = folder.0.join("a.parquet");
    // By default, they are next to the file.
    let mut options = options(&folder.0);
    options.sort_folder = None;
    for finishes in [false, true] {
        let mut writer = create_with(&path, batch().schema(), options.clone()).unwrap();
        write_all(&mut writer).unwrap();
        #[cfg(unix)]
        assert_eq!(folder.names().len(), 1, "{:?}", folder.names());
        #[cfg(target_os = "linux")]
        assert!(folder.open_files().len() > 5);
        match finishes {
            true => assert_eq!(writer.finish().unwrap().num_rows(), ROWS as i64),
            false => drop(writer),
        }
        #[cfg(target_os = "linux")]
        assert!(folder.open_files().is_empty());
        assert_eq!(folder.names(), ["a.parquet"][..usize::from(finishes)]);
    }
    let file = fs::read(&path).unwrap();
    assert!(is_sorted(&order_of(&file)));
    assert_eq!(findings(&file), [""; 0]);
}

/// Each batch of one row is a run of its own. Equal rows stay in their order through all merges.
#[cfg(target_os = "linux")]
#[test]
fn few_of_them_are_open_at_a_time() {
    const RUNS: usize = 2_300;
    let folder = Folder::new("few");
    let texts = (0..RUNS).map(|row| format!("{}", row * 37 % 101));
    let texts: ArrayRef = Arc::new(StringArray::from_iter_values(texts));
    let batch = RecordBatch::try_from_iter([("s", texts), ("n", numbers(RUNS))]).unwrap();
    let options = WriteOptions::new()
        .sort_by(vec![by("s", false, false)])
        .sort_memory_bytes(1)
        .sort_folder(folder.0.clone())
        .threads(1);
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, batch.schema(), options).unwrap();
    let mut most = 0;
    for row in 0..RUNS {
        writer.write(&batch.slice(row, 1)).unwrap();
        most = most.max(folder.open_files().len());
    }
    assert_eq!(most, 63);
    writer.finish().unwrap();
    let order = order_of(&file);
    assert_eq!(order.len(), RUNS);
    assert!(order.is_sorted_by_key(|row| ((row * 37 % 101).to_string(), *row)));
}

/// The values of dictionaries stay in memory, even if rows are moved to files.
#[test]
fn dictionaries_count_in_the_memory_of_a_sort() {
    let texts = (0..20).map(|i| format!("{i}{}", "x".repeat(1 << 20)));
    let texts: Vec<String> = texts.collect();
    let dictionary: DictionaryArray<Int8Type> = texts.iter().map(String::as_str).collect();
    let columns: [(&str, ArrayRef); 2] = [("s", Arc::new(dictionary)), ("n", numbers(20))];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let write = |memory| {
        let options = WriteOptions::new()
            .sort_by(vec![by("s", true, false)])
            .sort_memory_bytes(memory);
        let mut writer = Writer::new(Vec::new(), batch.schema(), options).unwrap();
        writer
            .write(&batch)
            .and_then(|()| writer.finish().map(drop))
    };
    let error = write(1 << 20).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    assert_eq!(error.remedy(), Some(Remedy::RaiseSortMemory));
    let message = error.to_string();
    assert!(message.contains("leaves only 16777216 bytes"), "{message}");
    assert!(message.contains("raise `sort_memory_bytes`"), "{message}");
    write(128 << 20).unwrap();
}

/// An output that accepts `room` bytes.
struct Limited<'a> {
    bytes: &'a mut Vec<u8>,
    room: usize,
}

impl Write for Limited<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let n = bytes.len().min(self.room);
        if n == 0 && !bytes.is_empty() {
            return Err(io::Error::new(io::ErrorKind::StorageFull, "full"));
        }
        self.bytes.extend_from_slice(&bytes[..n]);
        self.room -= n;
        Ok(n)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn an_output_that_fails_at_any_byte() {
    let folder = Folder::new("output");
    let file = |room| {
        let mut bytes = Vec::new();
        let out = Limited {
            bytes: &mut bytes,
            room,
        };
        let result = without_panic(|| {
            let mut writer = Writer::new(out, batch().schema(), options(&folder.0))?;
            write_all(&mut writer)?;
            writer.finish()
        });
        (bytes, result.unwrap())
    };
    let (whole, result) = file(usize::MAX);
    result.unwrap();
    assert!(is_sorted(&order_of(&whole)));
    for room in (0..whole.len()).step_by(97) {
        let (bytes, result) = file(room);
        assert_eq!(result.unwrap_err().kind(), ErrorKind::Io, "{room} bytes");
        assert_eq!(bytes, whole[..room]);
        assert!(ParquetFile::from_bytes(bytes).is_err());
        assert_eq!(folder.names(), [""; 0]);
        #[cfg(target_os = "linux")]
        assert!(folder.open_files().is_empty());
    }
}

#[test]
fn a_folder_that_takes_none() {
    let folder = Folder::new("none");
    let file = folder.0.join("file");
    fs::write(&file, "").unwrap();
    for nowhere in [folder.0.join("missing"), file] {
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&mut bytes, batch().schema(), options(&nowhere)).unwrap();
        let error = write_all(&mut writer).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Io);
        assert_eq!(error.remedy(), Some(Remedy::ChooseSortFolder));
        assert!(
            error.to_string().contains(nowhere.to_str().unwrap()),
            "{error}"
        );
        assert!(error.to_string().contains("sort_folder"), "{error}");
        writer.finish().unwrap_err();
        assert!(ParquetFile::from_bytes(bytes).is_err());
        assert_eq!(folder.names(), ["file"]);
    }
    // If rows fit in memory, they need no folder.
    let options = options(&folder.0.join("missing")).sort_memory_bytes(1 << 20);
    let mut writer = Writer::new(Vec::new(), batch().schema(), options).unwrap();
    write_all(&mut writer).unwrap();
    writer.finish().unwrap();
}

fn key() -> Key {
    Key::new(b"0123456789abcdef").unwrap()
}

fn encryption() -> FileEncryptionProperties {
    FileEncryptionProperties::builder(EncryptionKey::from(key()))
        .build()
        .unwrap()
}

#[cfg(target_os = "linux")]
#[test]
fn they_are_encrypted_where_the_file_is() {
    let folder = Folder::new("encrypted");
    let contains = |bytes: &[u8], part: &str| {
        bytes
            .windows(part.len())
            .any(|window| window == part.as_bytes())
    };
    for encrypts in [false, true] {
        let mut options = options(&folder.0);
        if encrypts {
            options = options.encryption(Arc::new(encryption()));
        }
        let mut file = Vec::new();
        let mut writer = Writer::new(&mut file, batch().schema(), options).unwrap();
        write_all(&mut writer).unwrap();
        let open = folder.open_files();
        assert!(open.len() > 5 && open.iter().all(|bytes| bytes.len() > 200));
        for bytes in open {
            for part in [SECRET, &SECRET[..6]] {
                assert_eq!(contains(&bytes, part), !encrypts, "{part}");
            }
        }
        writer.finish().unwrap();
        if !encrypts {
            assert!(is_sorted(&order_of(&file)));
            continue;
        }
        let keys = FileDecryptionProperties::builder()
            .footer_key(key())
            .build()
            .unwrap();
        let open = OpenOptions::default().decryption(Arc::new(keys));
        let file = ParquetFile::from_source(Bytes::from(file), open).unwrap();
        assert!(is_sorted(&order_in(&file)));
    }
}

/// An encryption that does not support temporary files.
#[derive(Debug)]
struct ForFilesOnly(Arc<dyn FileEncryption>);

impl FileEncryption for ForFilesOnly {
    fn column(&self, leaf: usize) -> Option<Arc<dyn ModuleCipher>> {
        self.0.column(leaf)
    }

    fn seal_chunk(&self, id: &ModuleId, chunk: &mut ColumnChunk) -> Result<(), Error> {
        self.0.seal_chunk(id, chunk)
    }

    fn encrypts_footer(&self) -> bool {
        self.0.encrypts_footer()
    }

    fn complete_metadata(&self, metadata: &mut FileMetadataParts) {
        self.0.complete_metadata(metadata);
    }

    fn seal_footer(&self, metadata: Vec<u8>) -> Result<Vec<u8>, Error> {
        self.0.seal_footer(metadata)
    }
}

#[derive(Debug)]
struct Opens;

impl Encryption for Opens {
    fn open(
        &self,
        path: Option<&Path>,
        leaves: &[Vec<String>],
    ) -> Result<Option<Arc<dyn FileEncryption>>, Error> {
        let file = encryption().open(path, leaves)?;
        Ok(file.map(|file| Arc::new(ForFilesOnly(file)) as Arc<dyn FileEncryption>))
    }
}

#[test]
fn without_a_cipher_there_are_none() {
    let folder = Folder::new("cipher");
    let options = options(&folder.0).encryption(Arc::new(Opens));
    let mut writer = Writer::new(Vec::new(), batch().schema(), options.clone()).unwrap();
    let error = write_all(&mut writer).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains("temporary_cipher"), "{error}");
    assert_eq!(folder.names(), [""; 0]);
    let options = options.sort_memory_bytes(1 << 20);
    let mut writer = Writer::new(Vec::new(), batch().schema(), options).unwrap();
    write_all(&mut writer).unwrap();
    writer.finish().unwrap();
}
