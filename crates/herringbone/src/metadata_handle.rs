//! What is known of a file, to be kept and used again.

use std::collections::HashMap;
use std::mem::size_of;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use herringbone_core::Step;
use herringbone_core::footer::{FooterDecoder, FooterStep};
use herringbone_format::modular_encryption::KeyStep;
use herringbone_format::{ColumnIndex, FileMetadata, Limits, OffsetIndex, Result};
use herringbone_schema::ParquetSchema;

use crate::open_options::OpenOptions;

/// What is known of a file without reading it again: its footer, its schema, and the page indexes that were
/// [loaded](crate::ParquetFile::load_page_index).
///
/// Cheap to clone; clones share all of it. Who keeps a handle opens the file again with
/// [`ParquetFile::with_metadata`](crate::ParquetFile::with_metadata), which reads nothing.
///
/// ```
/// use herringbone::source::FileSource;
/// use herringbone::ParquetFile;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
///
/// let path = "testdata/example.parquet";
/// let handle = ParquetFile::open(path)?.metadata_handle();
/// println!("{} bytes to keep", handle.heap_bytes());
/// let file = ParquetFile::with_metadata(FileSource::open(path)?, handle)?;
/// assert_eq!(file.metadata().num_row_groups(), 2);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct MetadataHandle(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    metadata: Arc<FileMetadata>,
    schema: Arc<ParquetSchema>,
    limits: Limits,
    file_length: u64,
    /// Whether the bytes of the footer are its own.
    is_detached: bool,
    cells: Mutex<HashMap<(usize, usize), PageIndexCell>>,
}

/// The page indexes of one column chunk.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct PageIndexCell {
    /// Bounds and nulls of its pages, if it has this index.
    pub columns: Option<Arc<ColumnIndex>>,
    /// Places and first rows of its pages, if it has this index.
    pub offsets: Option<Arc<OffsetIndex>>,
}

impl PageIndexCell {
    /// Bytes of the heap that the indexes take.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        // Each has two counts beside it.
        let counts = 2 * size_of::<usize>();
        let columns = self.columns.as_ref();
        let columns = columns.map_or(0, |it| it.heap_bytes() + size_of::<ColumnIndex>() + counts);
        let offsets = self.offsets.as_ref();
        offsets.map_or(columns, |it| {
            columns + it.heap_bytes() + size_of::<OffsetIndex>() + counts
        })
    }
}

impl MetadataHandle {
    /// A handle of metadata from elsewhere, for a file of `file_length` bytes.
    ///
    /// # Errors
    /// Corrupt, Unsupported or Limit where the schema of the metadata cannot be used.
    pub fn new(metadata: FileMetadata, file_length: u64, limits: Limits) -> Result<Self> {
        Self::sharing(metadata.detached(), file_length, limits, true)
    }

    /// The same, which may share the bytes of the footer with what was read with it.
    pub(crate) fn sharing(
        mut metadata: FileMetadata,
        file_length: u64,
        limits: Limits,
        is_detached: bool,
    ) -> Result<Self> {
        let schema = ParquetSchema::from_elements(metadata.take_schema(), &limits)?;
        Ok(Self(Arc::new(Inner {
            metadata: Arc::new(metadata),
            schema: Arc::new(schema),
            limits,
            file_length,
            is_detached,
            cells: Mutex::default(),
        })))
    }

    /// A handle that keeps nothing alive but what it counts.
    pub(crate) fn detached(&self) -> Self {
        if self.0.is_detached {
            return self.clone();
        }
        Self(Arc::new(Inner {
            metadata: Arc::new(FileMetadata::clone(&self.0.metadata).detached()),
            schema: self.0.schema.clone(),
            limits: self.0.limits.clone(),
            file_length: self.0.file_length,
            is_detached: true,
            cells: Mutex::new(self.cells().clone()),
        }))
    }

    /// Makes a handle from the last bytes of a file of `file_length` bytes. Options may be
    /// [`Limits`] alone.
    ///
    /// If the footer starts before these bytes, the step has the range that is missing, which ends
    /// where they start. Call again with all of them.
    ///
    /// ```
    /// use bytes::Bytes;
    /// use herringbone::{Limits, MetadataHandle, Step};
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
    ///
    /// let file = Bytes::from(std::fs::read("testdata/example.parquet")?);
    /// let length = file.len() as u64;
    /// let mut start = file.len() - 100;
    /// let handle = loop {
    ///     match MetadataHandle::decode(&file.slice(start..), length, Limits::default())? {
    ///         Step::Ready(handle) => break handle,
    ///         Step::Need(range) => start = range.start as usize,
    ///     }
    /// };
    /// assert_eq!(handle.metadata().num_row_groups(), 2);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Argument if there are more bytes than the file has; Corrupt, Unsupported or Limit if the
    /// footer cannot be used; Key if a key is missing or wrong.
    pub fn decode(
        end_of_file: &Bytes,
        file_length: u64,
        options: impl Into<OpenOptions>,
    ) -> Result<Step<Self>> {
        let OpenOptions {
            limits,
            decryption,
            path,
        } = options.into();
        let mut footer =
            FooterDecoder::new(file_length, limits.clone()).decryption(decryption, path);
        footer.supply(end_of_file.clone());
        match footer.poll()? {
            FooterStep::Ready(metadata) => {
                Self::new(*metadata, file_length, limits).map(Step::Ready)
            }
            FooterStep::NeedKey(request) => KeyStep::NeedKey(request).ready(),
            FooterStep::Need(range) => Ok(Step::Need(range)),
        }
    }

    /// What the footer says.
    #[must_use]
    pub fn metadata(&self) -> &FileMetadata {
        &self.0.metadata
    }

    /// The schema in Parquet's terms.
    #[must_use]
    pub fn parquet_schema(&self) -> &ParquetSchema {
        &self.0.schema
    }

    /// The limits that the file is read under.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.0.limits
    }

    /// Bytes of the file.
    #[must_use]
    pub fn file_length(&self) -> u64 {
        self.0.file_length
    }

    /// The page indexes of a column chunk, if they were loaded.
    #[must_use]
    pub fn page_index(&self, row_group: usize, leaf: usize) -> Option<PageIndexCell> {
        self.cells().get(&(row_group, leaf)).cloned()
    }

    /// Forgets the page indexes.
    pub fn drop_page_indexes(&self) {
        *self.cells() = HashMap::new();
    }

    /// Bytes of the heap that the handle takes, with the page indexes so far. What decrypts the file is not
    /// counted.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        let cells = self.cells();
        let cell = size_of::<((usize, usize), PageIndexCell)>() + 1;
        // Of each eight places, one stays free.
        let places = match cells.capacity() {
            0 => 0,
            capacity => (capacity + capacity / 7).next_power_of_two(),
        };
        size_of::<Inner>()
            + size_of::<FileMetadata>()
            + self.0.metadata.heap_bytes()
            + self.0.schema.heap_bytes()
            + places * cell
            + cells.values().map(PageIndexCell::heap_bytes).sum::<usize>()
    }

    pub(crate) fn shared_metadata(&self) -> Arc<FileMetadata> {
        self.0.metadata.clone()
    }

    pub(crate) fn keep(&self, row_group: usize, leaf: usize, cell: PageIndexCell) {
        self.cells().insert((row_group, leaf), cell);
    }

    fn cells(&self) -> std::sync::MutexGuard<'_, HashMap<(usize, usize), PageIndexCell>> {
        // Nobody leaves it half done.
        self.0.cells.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
