//! Files with their column chunks in other files, such as `_metadata`.
//!
//! We present such a file as a single one that contains all the bytes: first its own, then each
//! other file's. That way, it can be read like any other file. Its footer is re-encoded, with each
//! chunk's offsets moved by the start of its file:
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

use bytes::Bytes;
use herringbone_core::page::byte_range;
use herringbone_format::{ColumnChunk, Error, ErrorKind, FileMetadata, Result, RowGroup};

use crate::file::ParquetFile;
use crate::metadata_handle::MetadataHandle;
use crate::source::{CheckedSource, FetchPolicy, FileSource, Source};

/// The files containing another file's column chunks.
///
/// Paths come from the other file's metadata, which might be hostile, so check them. If the files
/// are in a local directory, use [`LocalChunkFiles`], which does this for you.
pub trait ChunkFiles: Send + Sync {
    /// Opens the file at a path. This is called once to learn the file's length, and again for each
    /// read.
    ///
    /// # Errors
    /// Fails with [Corrupt](crate::ErrorKind::Corrupt) if the path is not permitted, and with
    /// [Io](crate::ErrorKind::Io) if the file does not exist.
    fn open(&self, path: &str) -> Result<Box<dyn Source>>;
}

/// The column chunk files in a local directory.
///
/// Absolute paths, URLs and paths with `..` are errors, unless you [allow](Self::allow_any_path)
/// them.
///
/// ```
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
/// use herringbone::{LocalChunkFiles, ParquetFile, ReadOptions};
///
/// // The row groups of a `_metadata` file are in the files next to it.
/// let folder = "testdata/datasets/with_metadata";
/// let file = ParquetFile::open(format!("{folder}/_metadata"))?;
/// let file = file.with_chunk_files(LocalChunkFiles::new(folder))?;
/// let reader = file.read(ReadOptions::new())?;
/// let rows = reader.map(|batch| Ok(batch?.num_rows())).sum::<herringbone::Result<usize>>()?;
/// assert_eq!(rows as i64, file.metadata().num_rows());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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

    /// Selects whether absolute paths and paths with `..` are permitted. Only allow this if you
    /// trust the metadata. URLs remain errors, because they are not local paths.
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

/// Returns true if a relative path leads to a file below its directory, on any system. Note that
/// Windows has a second separator, and drives with a colon.
#[doc(hidden)] // For datasets and async reads.
#[must_use]
pub fn is_below(path: &str) -> bool {
    let is_drive = cfg!(windows) && path.contains(':');
    let mut names = path.split('/');
    !is_drive && names.all(|name| !matches!(name, "" | "." | "..") && !name.contains('\\'))
}

impl ParquetFile {
    /// Adds the column chunks in other files to this one. Otherwise, reading such a chunk is an
    /// error.
    ///
    /// Each other file is opened for its length now, and again for each read. Page indexes and
    /// bloom filters in other files are not used.
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
    /// Returns the errors of `files`. Fails with [Corrupt](crate::ErrorKind::Corrupt) if a column
    /// chunk is outside its file, or if its metadata cannot be decoded, and with
    /// [Unsupported](crate::ErrorKind::Unsupported) if the file is encrypted.
    pub fn with_chunk_files(&self, files: impl ChunkFiles + 'static) -> Result<Self> {
        let handle = self.metadata_handle();
        let mut places = ChunkPlaces::new(self.source().len(), None, 0);
        for (path, row_group) in chunk_paths(&handle)? {
            let added = files
                .open(&path)
                .and_then(|file| places.add(&path, file.len(), Some(path.clone())));
            added.map_err(|error| error.in_row_group(row_group))?;
        }
        let handle = places.moved(&handle)?;
        let joined = JoinedFiles {
            own: self.source().clone(),
            files: Box::new(files),
            places,
        };
        Self::with_metadata(joined, handle)
    }
}

/// Returns the paths of the other files with column chunks, each with the first row group ordinal
/// that uses it.
///
/// # Errors
/// Fails for the same reasons as [`ParquetFile::with_chunk_files`].
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

/// The places of several files in a single byte sequence. The file with the footer is first,
/// followed by the files with its column chunks.
#[doc(hidden)] // For async reads.
#[derive(Debug, Clone)]
pub struct ChunkPlaces<T> {
    /// The places in order, each with its file.
    places: Vec<(Range<u64>, T)>,
    /// The places of the other files by path.
    by_path: HashMap<String, Range<u64>>,
    /// The number of bytes between files.
    gap: u64,
}

impl<T> ChunkPlaces<T> {
    /// Creates the place of the file with the footer, `length` bytes long.
    pub fn new(length: u64, own: T, gap: u64) -> Self {
        Self {
            places: vec![(0..length, own)],
            by_path: HashMap::new(),
            gap,
        }
    }

    /// Adds the file at a path after the others.
    ///
    /// # Errors
    /// Fails with [Corrupt](crate::ErrorKind::Corrupt) if its end is beyond the largest offset.
    pub fn add(&mut self, path: &str, length: u64, file: T) -> Result<()> {
        let start = self.length().checked_add(self.gap);
        let end = start.and_then(|start| start.checked_add(length));
        let Some((start, end)) = start.zip(end.filter(|end| i64::try_from(*end).is_ok())) else {
            return Err(Error::corrupt(format!("{path}: a file of {length} bytes")));
        };
        self.by_path.insert(path.to_owned(), start..end);
        self.places.push((start..end, file));
        Ok(())
    }

    /// Returns the total byte count of all files and the gaps between them.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.places.last().map_or(0, |(place, _)| place.end)
    }

    /// Returns true if there are no other files.
    #[must_use]
    pub fn is_one(&self) -> bool {
        self.places.len() == 1
    }

    /// Returns the place and the file containing an offset. An offset in a gap counts towards the
    /// file before it.
    #[must_use]
    pub fn at(&self, offset: u64) -> Option<&(Range<u64>, T)> {
        let next = self
            .places
            .partition_point(|(place, _)| place.start <= offset);
        self.places.get(next.checked_sub(1)?)
    }

    /// Returns metadata with all column chunks in one file, that is, in this byte sequence.
    ///
    /// # Errors
    /// Fails for the same reasons as [`ParquetFile::with_chunk_files`].
    pub fn moved(&self, handle: &MetadataHandle) -> Result<MetadataHandle> {
        let metadata = unencrypted(handle)?;
        let row_groups = (0..metadata.num_row_groups()).map(|ordinal| {
            let mut row_group = metadata.row_group(ordinal)?;
            let moved = move_row_group(&mut row_group, &self.by_path);
            moved.map_err(|error| error.in_row_group(ordinal))?;
            Ok(row_group)
        });
        let footer = metadata.encode_with(row_groups)?;
        let metadata = FileMetadata::decode(footer.into(), 0, handle.limits())?;
        MetadataHandle::new(metadata, self.length(), handle.limits().clone())
    }
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

/// Moves a row group's chunks to their files' places.
fn move_row_group(row_group: &mut RowGroup, by_path: &HashMap<String, Range<u64>>) -> Result<()> {
    for chunk in &mut row_group.columns {
        let Some(path) = chunk.file_path.take() else {
            continue;
        };
        let place = by_path.get(&path);
        let within = place.ok_or_else(|| Error::corrupt(format!("no file for `{path}`")))?;
        move_chunk(chunk, within).map_err(|error| {
            let column = chunk.meta_data.as_ref();
            let column = column.map(|column| column.path_in_schema.join("."));
            Error::corrupt(format!("{path}: {}", error.message()))
                .in_column(column.unwrap_or_default())
        })?;
        row_group.file_offset = None;
        row_group.ordinal = None;
    }
    Ok(())
}

/// Moves a chunk's offsets to the byte range of its file.
fn move_chunk(chunk: &mut ColumnChunk, file: &Range<u64>) -> Result<()> {
    let outside = || {
        let bytes = file.end - file.start;
        Error::corrupt(format!(
            "the column chunk is outside the {bytes} bytes of its file"
        ))
    };
    // The specification doesn't define which of the files these offsets refer to, so we drop them.
    (chunk.offset_index_offset, chunk.offset_index_length) = (None, None);
    (chunk.column_index_offset, chunk.column_index_length) = (None, None);
    chunk.file_offset = 0;
    let metadata = chunk.meta_data.as_mut();
    let metadata = metadata.ok_or_else(|| Error::corrupt("the column chunk has no metadata"))?;
    (metadata.bloom_filter_offset, metadata.bloom_filter_length) = (None, None);
    metadata.index_page_offset = None;
    let range = byte_range(&metadata.layout(), file.end - file.start).map_err(|_| outside())?;
    if u64::try_from(metadata.data_page_offset).is_ok_and(|offset| offset > range.end) {
        return Err(outside());
    }
    let moved = |offset: i64| {
        let start = i64::try_from(file.start).map_err(|_| outside())?;
        start.checked_add(offset).ok_or_else(outside)
    };
    // Some writers use 0 as a sentinel for a missing dictionary page, or a missing data page after
    // a dictionary, so we must not move these zeros.
    let dictionary = metadata.dictionary_page_offset.filter(|offset| *offset > 0);
    if metadata.data_page_offset > 0 || dictionary.is_none() {
        metadata.data_page_offset = moved(metadata.data_page_offset)?;
    }
    metadata.dictionary_page_offset = dictionary.map(moved).transpose()?;
    Ok(())
}

/// A source that joins a file with the files containing its column chunks. Its own bytes are first,
/// followed by the other files' bytes.
struct JoinedFiles {
    own: Arc<dyn Source>,
    files: Box<dyn ChunkFiles>,
    /// The files' places, without gaps, and their paths. The file with the footer has no path.
    places: ChunkPlaces<Option<String>>,
}

impl fmt::Debug for JoinedFiles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("JoinedFiles")
            .field("places", &self.places)
            .finish_non_exhaustive()
    }
}

impl JoinedFiles {
    /// Reads a range of one of the files. Fails if the file's length has changed, because it must
    /// have been replaced.
    fn read_part(
        &self,
        (place, path): &(Range<u64>, Option<String>),
        range: Range<u64>,
    ) -> Result<Bytes> {
        let Some(path) = path else {
            return self.own.read(range);
        };
        let file = CheckedSource::new(self.files.open(path)?.into());
        let expected = place.end - place.start;
        if file.len() != expected {
            let found = file.len();
            return Err(Error::new(
                ErrorKind::Replaced,
                format!(
                    "{path}: the file had {expected} bytes when it was opened, and now has {found}"
                ),
            ));
        }
        file.read(range.start - place.start..range.end - place.start)
    }
}

impl Source for JoinedFiles {
    fn len(&self) -> u64 {
        self.places.length()
    }

    fn read(&self, range: Range<u64>) -> Result<Bytes> {
        let (mut joined, mut start) = (Bytes::new(), range.start);
        // Merged requests can cross a file's end, so a range can have parts in several files.
        while start < range.end
            && let Some(part) = self.places.at(start)
            && start < part.0.end
        {
            let end = range.end.min(part.0.end);
            joined = herringbone_core::fetch::joined(joined, self.read_part(part, start..end)?);
            start = end;
        }
        Ok(joined)
    }

    fn fetch_policy(&self) -> FetchPolicy {
        let own = self.own.fetch_policy();
        // Even if this file is in memory, the others might not be.
        if own.in_memory {
            FetchPolicy::local()
        } else {
            own
        }
    }
}
