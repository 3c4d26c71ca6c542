//! Files whose column chunks are in other files, such as `_metadata`.
//!
//! Such a file becomes one with all bytes in it: its own, then those of each other file. Its footer is encoded again, with
//! the offsets of chunks moved by the start of their file:
//!
//! ```text
//! offset      0              1000          1400
//!             │ _metadata    │ a.parquet   │ sub/b.parquet
//! file_path   (none): 4      a.parquet: 4  sub/b.parquet: 70
//! moved to    4              1004          1470
//! ```

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use herringbone_format::{ColumnChunk, Error, ErrorKind, FileMetadata, Result, RowGroup};

use crate::file::ParquetFile;
use crate::metadata_handle::MetadataHandle;
use crate::source::{CheckedSource, FetchPolicy, FileSource, Source};

/// The files that contain the column chunks of another file.
///
/// The paths are those in the metadata of the other file, which may be hostile. See [`LocalChunkFiles`] for files in a
/// directory of this machine.
pub trait ChunkFiles: Send + Sync {
    /// Opens the file at a path. It is opened once for its length, and again for each read.
    ///
    /// # Errors
    /// Corrupt if the path is not permitted; Io if the file does not exist.
    fn open(&self, path: &str) -> Result<Box<dyn Source>>;
}

/// The files in a directory of this machine.
///
/// Absolute paths, URLs and paths with `..` are errors unless [allowed](Self::allow_any_path).
#[derive(Debug, Clone)]
pub struct LocalChunkFiles {
    directory: PathBuf,
    allows_any_path: bool,
}

impl LocalChunkFiles {
    /// Creates the files in a directory.
    #[must_use]
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self {
            directory: directory.into(),
            allows_any_path: false,
        }
    }

    /// Selects whether absolute paths and paths with `..` are permitted. Use this for trusted metadata only. URLs remain
    /// errors, because they are not paths of this machine.
    #[must_use]
    pub fn allow_any_path(self, allows_any_path: bool) -> Self {
        Self {
            allows_any_path,
            ..self
        }
    }
}

impl ChunkFiles for LocalChunkFiles {
    fn open(&self, path: &str) -> Result<Box<dyn Source>> {
        let is_permitted = match self.allows_any_path {
            true => !path.is_empty() && !path.contains("://"),
            false => is_below(path),
        };
        if !is_permitted {
            return Err(Error::corrupt(format!(
                "the path `{path}` of a column chunk does not lead to a file below the directory {}",
                self.directory.display()
            )));
        }
        Ok(Box::new(FileSource::open(self.directory.join(path))?))
    }
}

/// Returns true if a relative path leads to a file below its directory, in any system: Windows has a second separator, and
/// drives with a colon.
#[doc(hidden)] // For datasets and async reads.
#[must_use]
pub fn is_below(path: &str) -> bool {
    let is_drive = cfg!(windows) && path.contains(':');
    let mut names = path.split('/');
    !is_drive && names.all(|name| !matches!(name, "" | "." | "..") && !name.contains('\\'))
}

impl ParquetFile {
    /// Adds the column chunks in other files to this one. By default, reading such a chunk is an error.
    ///
    /// Each other file is opened for its length now, and again for each read. Page indexes and bloom filters of
    /// chunks in other files are not used.
    ///
    /// ```no_run
    /// use herringbone::{LocalChunkFiles, ParquetFile, ReadOptions};
    ///
    /// let file = ParquetFile::open("data/_metadata")?;
    /// let file = file.with_chunk_files(LocalChunkFiles::new("data"))?;
    /// for batch in file.read(ReadOptions::new())? {
    ///     println!("{} rows", batch?.num_rows());
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// Errors of `files`; Corrupt if a column chunk is outside its file, or if its metadata cannot be decoded; Unsupported
    /// if the file is encrypted.
    pub fn with_chunk_files(&self, files: impl ChunkFiles + 'static) -> Result<Self> {
        let mut joined = JoinedFiles::new(self.source().clone(), files);
        let metadata = move_chunks(&self.metadata_handle(), |path| joined.place(path))?;
        let handle = MetadataHandle::new(metadata, joined.len(), self.limits().clone())?;
        Self::with_metadata(joined, handle)
    }
}

/// Returns the paths of other files with column chunks, each with the ordinal of the first row group that uses it.
///
/// # Errors
/// See [`ParquetFile::with_chunk_files`].
#[doc(hidden)] // For async reads.
pub fn chunk_paths(handle: &MetadataHandle) -> Result<Vec<(String, usize)>> {
    let metadata = unencrypted(handle)?;
    let (mut known, mut paths) = (HashSet::new(), Vec::new());
    for ordinal in 0..metadata.num_row_groups() {
        for chunk in metadata.row_group(ordinal)?.columns {
            let Some(path) = chunk.file_path else {
                continue;
            };
            if !known.contains(&path) {
                known.insert(path.clone());
                paths.push((path, ordinal));
            }
        }
    }
    Ok(paths)
}

/// Returns metadata in which all column chunks are in one file. `place` returns the range of another file in it.
///
/// # Errors
/// See [`ParquetFile::with_chunk_files`].
#[doc(hidden)] // For async reads.
pub fn move_chunks(
    handle: &MetadataHandle,
    mut place: impl FnMut(&str) -> Result<Range<u64>>,
) -> Result<FileMetadata> {
    let metadata = unencrypted(handle)?;
    let row_groups = (0..metadata.num_row_groups()).map(|ordinal| {
        let mut row_group = metadata.row_group(ordinal)?;
        move_row_group(&mut row_group, &mut place).map_err(|error| error.in_row_group(ordinal))?;
        Ok(row_group)
    });
    let footer = metadata.encode_with(row_groups)?;
    FileMetadata::decode(footer.into(), 0, handle.limits())
}

fn unencrypted(handle: &MetadataHandle) -> Result<&FileMetadata> {
    let metadata = handle.metadata();
    match metadata.decryption().is_some() || metadata.encryption_algorithm().is_some() {
        true => Err(Error::unsupported(
            "an encrypted file whose column chunks are in other files",
        )),
        false => Ok(metadata),
    }
}

/// Moves the chunks of a row group to the places of their files.
fn move_row_group(
    row_group: &mut RowGroup,
    place: &mut impl FnMut(&str) -> Result<Range<u64>>,
) -> Result<()> {
    for chunk in &mut row_group.columns {
        let Some(path) = chunk.file_path.take() else {
            continue;
        };
        let within = place(&path)?;
        move_chunk(chunk, &within).map_err(|error| {
            let column = chunk.meta_data.as_ref();
            let column = column.map(|it| it.path_in_schema.join("."));
            Error::corrupt(format!("{path}: {}", error.message()))
                .in_column(column.unwrap_or_default())
        })?;
        row_group.file_offset = None;
        row_group.ordinal = None;
    }
    Ok(())
}

/// Moves the offsets of a chunk to the range of its file.
fn move_chunk(chunk: &mut ColumnChunk, file: &Range<u64>) -> Result<()> {
    let outside = || {
        let bytes = file.end - file.start;
        Error::corrupt(format!(
            "the column chunk is outside the {bytes} bytes of its file"
        ))
    };
    // The specification does not define which file these offsets are for.
    (chunk.offset_index_offset, chunk.offset_index_length) = (None, None);
    (chunk.column_index_offset, chunk.column_index_length) = (None, None);
    chunk.file_offset = 0;
    let metadata = chunk.meta_data.as_mut();
    let metadata = metadata.ok_or_else(|| Error::corrupt("the column chunk has no metadata"))?;
    (metadata.bloom_filter_offset, metadata.bloom_filter_length) = (None, None);
    metadata.index_page_offset = None;
    // Some writers use 0 for a missing dictionary page.
    let dictionary = metadata.dictionary_page_offset.filter(|offset| *offset > 0);
    let first = dictionary.map_or(metadata.data_page_offset, |it| {
        it.min(metadata.data_page_offset)
    });
    let end = first.checked_add(metadata.total_compressed_size);
    let length = i64::try_from(file.end - file.start).map_err(|_| outside())?;
    if first < 0
        || metadata.data_page_offset > length
        || end.is_none_or(|end| end > length || end < first)
    {
        return Err(outside());
    }
    let moved = |offset: i64| {
        let start = i64::try_from(file.start).map_err(|_| outside())?;
        start.checked_add(offset).ok_or_else(outside)
    };
    metadata.data_page_offset = moved(metadata.data_page_offset)?;
    metadata.dictionary_page_offset = dictionary.map(moved).transpose()?;
    Ok(())
}

/// The own bytes of the file, then those of the files with its column chunks.
struct JoinedFiles {
    own: Arc<dyn Source>,
    files: Box<dyn ChunkFiles>,
    /// The places of the files, without gaps. The first is that of the file itself.
    parts: Vec<Part>,
    /// The ordinals of the parts, by the paths of their files.
    by_path: HashMap<String, usize>,
}

/// The place of a file.
struct Part {
    range: Range<u64>,
    /// `None` for the file itself.
    path: Option<String>,
}

impl fmt::Debug for JoinedFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinedFiles")
            .field("files", &self.parts.len())
            .finish_non_exhaustive()
    }
}

impl JoinedFiles {
    fn new(own: Arc<dyn Source>, files: impl ChunkFiles + 'static) -> Self {
        let itself = Part {
            range: 0..own.len(),
            path: None,
        };
        Self {
            own,
            files: Box::new(files),
            parts: vec![itself],
            by_path: HashMap::new(),
        }
    }

    /// Returns the range of a file. Adds a new file at the end.
    fn place(&mut self, path: &str) -> Result<Range<u64>> {
        if let Some(part) = self.by_path.get(path).and_then(|it| self.parts.get(*it)) {
            return Ok(part.range.clone());
        }
        let (start, length) = (self.len(), self.files.open(path)?.len());
        let end = start.checked_add(length);
        let end = end.ok_or_else(|| Error::corrupt(format!("{path}: a file of {length} bytes")))?;
        self.by_path.insert(path.to_owned(), self.parts.len());
        self.parts.push(Part {
            range: start..end,
            path: Some(path.to_owned()),
        });
        Ok(start..end)
    }

    /// Reads a range of one part, which may have been replaced.
    fn read_part(&self, part: &Part, range: Range<u64>) -> Result<Bytes> {
        let Some(path) = &part.path else {
            return self.own.read(range);
        };
        let file = CheckedSource::new(self.files.open(path)?.into());
        let expected = part.range.end - part.range.start;
        if file.len() != expected {
            let found = file.len();
            return Err(Error::new(
                ErrorKind::Replaced,
                format!(
                    "{path}: the file had {expected} bytes when it was opened, and now has {found}"
                ),
            ));
        }
        file.read(range.start - part.range.start..range.end - part.range.start)
    }
}

impl Source for JoinedFiles {
    fn len(&self) -> u64 {
        self.parts.last().map_or(0, |part| part.range.end)
    }

    fn read(&self, range: Range<u64>) -> Result<Bytes> {
        let first = self
            .parts
            .partition_point(|part| part.range.end <= range.start);
        let parts = self.parts.get(first..).unwrap_or_default();
        if let Some(part) = parts.first().filter(|part| range.end <= part.range.end) {
            return self.read_part(part, range);
        }
        // Requests may be merged over the end of a file.
        let mut bytes = BytesMut::new();
        for part in parts.iter().take_while(|part| part.range.start < range.end) {
            let start = range.start.max(part.range.start);
            bytes.extend_from_slice(&self.read_part(part, start..range.end.min(part.range.end))?);
        }
        Ok(bytes.freeze())
    }

    fn fetch_policy(&self) -> FetchPolicy {
        let own = self.own.fetch_policy();
        // The other files may not be in memory.
        if own.in_memory {
            FetchPolicy::local()
        } else {
            own
        }
    }
}
