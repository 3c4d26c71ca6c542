//! `_metadata`: a file with the footers of all files of a directory.
//!
//! Its row groups have the paths of the files with their column chunks (`file_path`), relative to the directory. If the
//! directory is listed, these paths are only compared with those of the listed files. If `_metadata` itself is opened, they
//! lead to files, but only to those below the directory.

use std::collections::HashMap;

use bytes::Bytes;
use herringbone::format::footer::MAGIC;
use herringbone::format::{FileMetadata, RowGroup};
use herringbone::{Error, Limits, MetadataHandle, Result, is_below};
use herringbone_remote::Identity;

/// The name of the file with the footers of a directory.
pub(crate) const NAME: &str = "_metadata";

/// The footers of the files of a directory.
#[derive(Debug)]
pub(crate) struct MetadataFile {
    /// The path of the directory, with a slash at its end.
    directory: String,
    identity: Identity,
    metadata: FileMetadata,
    limits: Limits,
    /// The row groups of each file, by its path below the directory.
    row_groups: HashMap<Box<str>, Vec<usize>>,
    /// True if the caller opened this file, not the directory. Its errors are then those of the dataset.
    is_opened: bool,
}

impl MetadataFile {
    /// Indexes the row groups of a `_metadata` file by their paths.
    ///
    /// # Errors
    /// Corrupt if the metadata of a row group cannot be decoded.
    pub(crate) fn new(
        directory: &str,
        identity: Identity,
        handle: &MetadataHandle,
    ) -> Result<Self> {
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
            identity,
            metadata,
            limits: handle.limits().clone(),
            row_groups,
            is_opened: false,
        })
    }

    /// Returns the paths of all files below the directory, sorted. From now on, errors of this file are not ignored.
    ///
    /// # Errors
    /// Corrupt if a path does not lead to a file below the directory, or if a row group does not have a path.
    pub(crate) fn open(&mut self) -> Result<Vec<String>> {
        self.is_opened = true;
        let known: usize = self.row_groups.values().map(Vec::len).sum();
        if known < self.metadata.num_row_groups() {
            return Err(Error::corrupt(
                "a row group does not have the path of its file",
            ));
        }
        let mut paths: Vec<String> = self.row_groups.keys().map(|it| it.to_string()).collect();
        if let Some(path) = paths.iter().find(|path| !is_below(path)) {
            return Err(Error::corrupt(format!(
                "the path `{path}` does not lead to a file below the directory"
            )));
        }
        paths.sort();
        Ok(paths)
    }

    /// Returns true if errors of this file are those of the dataset.
    pub(crate) fn is_opened(&self) -> bool {
        self.is_opened
    }

    /// Returns the footer of a file. Returns `None` if it is not here, or if the file cannot be the one that it was taken
    /// from: if it is newer than this one, or too short for its column chunks.
    ///
    /// # Errors
    /// Corrupt if the metadata of a row group cannot be decoded; Unsupported if the caller opened this file, and the column
    /// chunks of a row group are in several files.
    pub(crate) fn footer(&self, path: &str, file: &Identity) -> Result<Option<MetadataHandle>> {
        let path = path.strip_prefix(self.directory.as_str());
        let found = path.and_then(|path| Some((path, self.row_groups.get(path)?)));
        let is_newer = file.modified > self.identity.modified && self.identity.modified.is_some();
        let Some((path, row_groups)) = found.filter(|_| !is_newer) else {
            return Ok(None);
        };
        let mut of_file = Vec::with_capacity(row_groups.len());
        for row_group in row_groups {
            let mut row_group = self.metadata.row_group(*row_group)?;
            let has_path = row_group
                .columns
                .iter()
                .all(|it| it.file_path.as_deref() == Some(path));
            if !has_path && self.is_opened {
                return Err(Error::unsupported(
                    "a row group with column chunks in several files; open the file with \
                     `ParquetFile::with_chunk_files`",
                ));
            }
            if !has_path || end(&row_group).is_none_or(|end| end > file.length) {
                return Ok(None);
            }
            row_group
                .columns
                .iter_mut()
                .for_each(|it| it.file_path = None);
            row_group.ordinal = None;
            of_file.push(row_group);
        }
        let footer = self.metadata.encode_with(of_file.into_iter().map(Ok))?;
        let metadata = FileMetadata::decode(footer.into(), 0, &self.limits)?;
        MetadataHandle::new(metadata, file.length, self.limits.clone()).map(Some)
    }
}

/// Returns the end of the last column chunk of a row group. `None` means unknown.
fn end(row_group: &RowGroup) -> Option<u64> {
    let ends = row_group.columns.iter().map(|chunk| {
        let chunk = chunk.meta_data.as_ref()?;
        let dictionary = chunk.dictionary_page_offset.filter(|offset| *offset > 0);
        let start = dictionary.map_or(chunk.data_page_offset, |it| it.min(chunk.data_page_offset));
        u64::try_from(start.checked_add(chunk.total_compressed_size)?).ok()
    });
    ends.collect::<Option<Vec<_>>>()?.into_iter().max()
}

/// Returns the bytes of a `_metadata` file: the footers of several files as one. Each file has its path, relative to the
/// directory of the result, and the metadata that its [writer](herringbone::Writer::finish) returned.
///
/// Without row groups, the result is a `_common_metadata` file. The schema and the key-value metadata are those of the
/// first file. Readers use them for all files.
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
/// Argument without files, if the files have different schemas, or if a path is absolute or leads above the directory;
/// Unsupported if a file is encrypted; Corrupt if the metadata of a row group cannot be decoded.
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

/// The largest number of bytes in a footer, whose length has four bytes.
const MAX_FOOTER: u64 = u32::MAX as u64;
