//! `_metadata` files, with the footers of all files in a directory.
//!
//! Each row group has the path of the file with its column chunks (`file_path`), relative to the
//! directory. If the directory is listed, we only compare these paths with the listed files. If
//! `_metadata` itself is opened, we follow the paths, but only to files below the directory.
//!
//! Note that a file can change after `_metadata` was written, without any sign of that in
//! `_metadata`. So `checked.rs` also compares the file's own footer.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use bytes::Bytes;
use herringbone::format::footer::MAGIC;
use herringbone::format::{ColumnChunk, FileMetadata};
use herringbone::pages::byte_range;
use herringbone::{Error, ErrorKind, Limits, MetadataHandle, Remedy, Result, is_below};

/// The name of the file with the footers of a directory's files.
pub(crate) const NAME: &str = "_metadata";

/// The footers of a directory's files.
#[derive(Debug)]
pub(crate) struct MetadataFile {
    /// The directory path, with a trailing slash.
    directory: String,
    metadata: FileMetadata,
    limits: Limits,
    /// Each file's row groups, by the file path below the directory.
    row_groups: HashMap<Box<str>, Vec<usize>>,
}

impl MetadataFile {
    /// Indexes a `_metadata` file's row groups by their paths.
    ///
    /// # Errors
    /// Fails with Corrupt if a row group's metadata cannot be decoded.
    pub(crate) fn new(directory: &str, handle: &MetadataHandle) -> Result<Self> {
        let metadata = handle.metadata().clone();
        let mut row_groups: HashMap<Box<str>, Vec<usize>> = HashMap::new();
        for row_group in 0..metadata.num_row_groups() {
            if metadata.num_columns(row_group) == 0 {
                continue;
            }
            if let Some(path) = metadata.column_chunk(row_group, 0)?.file_path {
                row_groups.entry(path.into()).or_default().push(row_group);
            }
        }
        let slash = match directory {
            "" => "",
            directory if directory.ends_with('/') => "",
            _ => "/",
        };
        Ok(Self {
            directory: format!("{directory}{slash}"),
            metadata,
            limits: handle.limits().clone(),
            row_groups,
        })
    }

    /// Returns the paths of all files below the directory, sorted.
    ///
    /// # Errors
    /// Fails with Corrupt if a path does not lead to a file below the directory, or if a row group
    /// has no path.
    pub(crate) fn paths(&self) -> Result<Vec<String>> {
        let known: usize = self.row_groups.values().map(Vec::len).sum();
        if known < self.metadata.num_row_groups() {
            return Err(Error::corrupt(
                "a row group does not have the path of its file",
            ));
        }
        let mut paths: Vec<String> = self
            .row_groups
            .keys()
            .map(|row_group| row_group.to_string())
            .collect();
        if let Some(path) = paths.iter().find(|path| !is_below(path)) {
            return Err(Error::corrupt(format!(
                "the path `{path}` does not lead to a file below the directory"
            )));
        }
        paths.sort();
        Ok(paths)
    }

    /// Returns the footer of a file of `length` bytes, or `None` if it is not in this `_metadata`
    /// file.
    ///
    /// # Errors
    /// Fails with Corrupt if a column chunk is listed twice, or if a row group's metadata cannot be
    /// decoded. Fails with Replaced if a column chunk lies outside the file, and with Unsupported
    /// if one row group has its column chunks in several files.
    pub(crate) fn footer(&self, path: &str, length: u64) -> Result<Option<MetadataHandle>> {
        let path = path.strip_prefix(self.directory.as_str());
        let found = path.and_then(|path| Some((path, self.row_groups.get(path)?)));
        let Some((path, row_groups)) = found else {
            return Ok(None);
        };
        let (mut file_row_groups, mut starts) =
            (Vec::with_capacity(row_groups.len()), HashSet::new());
        for row_group in row_groups {
            let mut row_group = self.metadata.row_group(*row_group)?;
            for chunk in &mut row_group.columns {
                if chunk.file_path.take().as_deref() != Some(path) {
                    return Err(Error::unsupported(
                        "`_metadata` has a row group with column chunks in several files",
                    )
                    .with_remedy(Remedy::UseOwnFooters));
                }
                let bytes = bytes_of(chunk, length)?;
                if !bytes.is_empty() && !starts.insert(bytes.start) {
                    return Err(Error::corrupt(format!(
                        "`_metadata` lists the column chunk at byte {} twice",
                        bytes.start
                    ))
                    .with_remedy(Remedy::UseOwnFooters));
                }
            }
            row_group.ordinal = None;
            file_row_groups.push(row_group);
        }
        let footer = self
            .metadata
            .encode_with(file_row_groups.into_iter().map(Ok))?;
        let metadata = FileMetadata::decode(footer.into(), 0, &self.limits)?;
        MetadataHandle::new(metadata, length, self.limits.clone()).map(Some)
    }
}

/// Returns a column chunk's byte range in its file of `length` bytes.
///
/// # Errors
/// Fails with Replaced if the range is not within the file.
fn bytes_of(chunk: &ColumnChunk, length: u64) -> Result<Range<u64>> {
    let metadata = chunk.meta_data.as_ref();
    let range = metadata.and_then(|metadata| byte_range(&metadata.layout(), length).ok());
    range.ok_or_else(|| {
        let message =
            format!("a column chunk in `_metadata` is outside the file, which has {length} bytes");
        Error::new(ErrorKind::Replaced, message).with_remedy(Remedy::UseOwnFooters)
    })
}

/// Returns the bytes of a `_metadata` file, joining several files' footers. For each file, pass its
/// path, relative to the directory of the result, and the metadata returned by its
/// [writer](herringbone::Writer::finish).
///
/// Without row groups, the result is a `_common_metadata` file. The schema and the key-value
/// metadata are the first file's, because readers use them for all files.
///
/// ```
/// use herringbone::ParquetFile;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
///
/// let file = ParquetFile::open("testdata/example.parquet")?;
/// let bytes = herringbone_dataset::metadata_file([("example.parquet", file.metadata())], true)?;
/// assert_eq!(ParquetFile::from_bytes(bytes)?.metadata().num_row_groups(), 2);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// Fails with [Argument](ErrorKind::Argument) if there are no files, if the files have different
/// schemas, or if a path is absolute or leads above the directory. Fails with
/// [Unsupported](ErrorKind::Unsupported) if a file is encrypted, and with
/// [Corrupt](ErrorKind::Corrupt) if a row group's metadata cannot be decoded.
pub fn metadata_file<'a>(
    files: impl IntoIterator<Item = (&'a str, &'a FileMetadata)>,
    has_row_groups: bool,
) -> Result<Bytes> {
    let files: Vec<_> = files.into_iter().collect();
    let Some((_, first)) = files.first() else {
        return Err(Error::argument("a metadata file of no files"));
    };
    for (path, metadata) in &files {
        let problem = match () {
            () if !is_below(path) => Some("does not lead to a file below the directory"),
            () if metadata.schema() != first.schema() => Some("has another schema"),
            () => None,
        };
        if let Some(problem) = problem {
            return Err(Error::argument(format!("{path} {problem}")));
        }
        if metadata.decryption().is_some() || metadata.encryption_algorithm().is_some() {
            return Err(Error::unsupported(format!("{path} is encrypted")));
        }
    }
    let row_groups = files.iter().flat_map(|(path, metadata)| {
        (0..metadata.num_row_groups()).map(|row_group| {
            let mut row_group = metadata.row_group(row_group)?;
            let chunks = row_group.columns.iter_mut();
            chunks.for_each(|chunk| chunk.file_path = Some((*path).to_owned()));
            row_group.ordinal = None;
            Ok(row_group)
        })
    });
    let footer = match has_row_groups {
        true => first.encode_with(row_groups)?,
        false => first.encode_with([])?,
    };
    let length = u32::try_from(footer.len())
        .map_err(|_| Error::beyond_format("bytes in a footer", footer.len() as u64, MAX_FOOTER))?;
    let parts = [&MAGIC[..], &footer, &length.to_le_bytes(), &MAGIC];
    Ok(parts.concat().into())
}

/// The largest footer in bytes, limited by its 4-byte length field.
const MAX_FOOTER: u64 = u32::MAX as u64;
