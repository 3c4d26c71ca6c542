//! File metadata, retained for reuse.

use std::mem::size_of;
use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use herringbone_core::Step;
use herringbone_core::fetch::row_groups_in;
use herringbone_core::footer::{FooterDecoder, FooterStep};
use herringbone_filter::Predicate;
use herringbone_filter::pruning::{PageIndexCache, PageIndexCell, PageIndexCells};
use herringbone_format::modular_encryption::KeyStep;
use herringbone_format::{ColumnChunk, Error, FileMetadata, Limits, Result, Type};
use herringbone_read::{OpenedFile, ReadOptions, ReadPlan, RowGroupPlan};
use herringbone_schema::{Int96Overflow, ParquetSchema, Projection};

use crate::open_options::OpenOptions;

/// The metadata of a file: its footer, its schema, and the page indexes
/// [loaded](crate::ParquetFile::load_page_index) so far.
///
/// Use a handle to open the same file again without any reads, with
/// [`ParquetFile::with_metadata`](crate::ParquetFile::with_metadata). Handles are cheap to clone,
/// because clones share everything.
///
/// ```
/// use herringbone::source::FileSource;
/// use herringbone::ParquetFile;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
///
/// let path = "testdata/example.parquet";
/// let handle = ParquetFile::open(path)?.metadata_handle();
/// assert!(handle.heap_bytes() > 0);
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
    /// True if the footer's bytes share no memory with other bytes of the file, so that they keep
    /// nothing else alive.
    is_detached: bool,
    page_indexes: Arc<PageIndexCells>,
}

impl MetadataHandle {
    /// Creates a handle from metadata that you supply, for a file of `file_length` bytes.
    ///
    /// # Errors
    /// Fails with [Corrupt](crate::ErrorKind::Corrupt),
    /// [Unsupported](crate::ErrorKind::Unsupported) or [Limit](crate::ErrorKind::Limit) if the
    /// schema in the metadata cannot be used, and with [Argument](crate::ErrorKind::Argument) if
    /// there is a key for a column that the file does not have.
    pub fn new(metadata: FileMetadata, file_length: u64, limits: Limits) -> Result<Self> {
        Self::sharing(metadata.detached(), file_length, limits, true)
    }

    /// Creates a handle that might share memory with other bytes read along with the footer.
    pub(crate) fn sharing(
        mut metadata: FileMetadata,
        file_length: u64,
        limits: Limits,
        is_detached: bool,
    ) -> Result<Self> {
        let schema = ParquetSchema::from_elements(metadata.take_schema(), &limits)?;
        if let Some(decryption) = metadata.decryption() {
            let leaves = 0..schema.leaves().len();
            let parts = |leaf| schema.path(leaf).into_iter().map(str::to_owned);
            decryption.check_columns(&mut leaves.map(|leaf| parts(leaf).collect()))?;
        }
        Ok(Self(Arc::new(Inner {
            metadata: Arc::new(metadata),
            schema: Arc::new(schema),
            limits,
            file_length,
            is_detached,
            page_indexes: Arc::default(),
        })))
    }

    /// Returns a handle that shares no memory with the file's other bytes, so that it retains only
    /// the bytes it counts.
    pub(crate) fn detached(&self) -> Self {
        match self.0.is_detached {
            true => self.clone(),
            false => self.with_page_indexes(self.0.page_indexes.copied()),
        }
    }

    /// Returns a handle with the page indexes loaded so far, never retaining more. Store this form
    /// in caches that account for their entries' sizes, because its size is fixed.
    ///
    /// Files opened with it use its page indexes. Loading further indexes still works, but they are
    /// read again each time.
    #[must_use]
    pub fn frozen(&self) -> Self {
        self.with_page_indexes(self.0.page_indexes.frozen())
    }

    /// Returns a handle sharing the footer and the schema, without any page indexes. It never
    /// retains any, so its size is fixed.
    #[must_use]
    pub fn footer_alone(&self) -> Self {
        self.with_page_indexes(PageIndexCells::default().frozen())
    }

    /// Returns a handle sharing the footer and the schema, but not the page indexes. It retains the
    /// indexes loaded with it, independently of this handle.
    #[must_use]
    pub fn without_page_indexes(&self) -> Self {
        self.with_page_indexes(PageIndexCells::default())
    }

    /// Returns a handle sharing the footer and the schema, with its page indexes in a cache. Reads
    /// planned with this handle look up indexes in the cache and add any that they decode.
    ///
    /// ```
    /// use std::collections::HashMap;
    /// use std::sync::{Arc, Mutex};
    ///
    /// use herringbone::filter::col;
    /// use herringbone::pruning::PageIndexCache;
    /// use herringbone::{PageIndexCell, ParquetFile, ReadOptions};
    ///
    /// /// A cache that never drops anything.
    /// #[derive(Debug, Default)]
    /// struct Everything(Mutex<HashMap<(usize, usize), PageIndexCell>>);
    ///
    /// impl PageIndexCache for Everything {
    ///     fn get(&self, row_group: usize, leaf: usize) -> Option<PageIndexCell> {
    ///         self.0.lock().unwrap().get(&(row_group, leaf)).cloned()
    ///     }
    ///     fn add(&self, row_group: usize, leaf: usize, cell: PageIndexCell) {
    ///         self.0.lock().unwrap().insert((row_group, leaf), cell);
    ///     }
    /// }
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
    /// let cache = Arc::new(Everything::default());
    /// let bytes = bytes::Bytes::from(std::fs::read("testdata/example.parquet")?);
    /// let handle = ParquetFile::from_bytes(bytes.clone())?.metadata_handle();
    /// let file = ParquetFile::with_metadata(bytes, handle.with_page_index_cache(cache.clone()))?;
    /// file.read(ReadOptions::new().filter(col("id").ge(20)).columns(["id"]))?.count();
    /// // The filter looked at the column `id` of the second row group.
    /// assert!(cache.get(1, 0).is_some());
    /// # Ok(())
    /// # }
    /// ```
    #[must_use]
    pub fn with_page_index_cache(&self, cache: Arc<dyn PageIndexCache>) -> Self {
        self.with_page_indexes(PageIndexCells::of_cache(cache))
    }

    /// Returns a handle of the same file with these page indexes, retaining only the bytes it
    /// counts.
    fn with_page_indexes(&self, page_indexes: PageIndexCells) -> Self {
        let metadata = &self.0.metadata;
        let metadata = match self.0.is_detached {
            true => metadata.clone(),
            false => Arc::new(FileMetadata::clone(metadata).detached()),
        };
        Self(Arc::new(Inner {
            metadata,
            schema: self.0.schema.clone(),
            limits: self.0.limits.clone(),
            file_length: self.0.file_length,
            is_detached: true,
            page_indexes: Arc::new(page_indexes),
        }))
    }

    /// Decodes a handle from the last bytes of a file of `file_length` bytes. You can pass
    /// [`Limits`] alone as the options.
    ///
    /// If the footer starts before these bytes, the result is [`Step::Need`] with the missing
    /// range, ending where the bytes start. Read that range and call this function again with all
    /// bytes from its start.
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
    /// Fails with [Argument](crate::ErrorKind::Argument) if there are more bytes than the file has,
    /// with [Corrupt](crate::ErrorKind::Corrupt), [Unsupported](crate::ErrorKind::Unsupported) or
    /// [Limit](crate::ErrorKind::Limit) if the footer cannot be used, and with
    /// [Key](crate::ErrorKind::Key) if a key is missing or wrong.
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

    /// Returns the metadata in the footer.
    #[must_use]
    pub fn metadata(&self) -> &FileMetadata {
        &self.0.metadata
    }

    /// Returns the Parquet schema.
    #[must_use]
    pub fn parquet_schema(&self) -> &ParquetSchema {
        &self.0.schema
    }

    /// Returns the limits for reading the file.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.0.limits
    }

    /// Returns the length of the file in bytes.
    #[must_use]
    pub fn file_length(&self) -> u64 {
        self.0.file_length
    }

    /// Plans a read of the file. This does not need the file's bytes.
    ///
    /// ```
    /// use herringbone::push::PushDecoder;
    /// use herringbone::{ParquetFile, ReadOptions};
    /// use std::sync::Arc;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
    ///
    /// let handle = ParquetFile::open("testdata/example.parquet")?.metadata_handle();
    /// let plan = handle.plan(&ReadOptions::new().columns(["id"]))?;
    /// assert_eq!(plan.schema().fields().len(), 1);
    /// let decoder = PushDecoder::new(Arc::new(plan));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Fails with [Argument](crate::ErrorKind::Argument) if the options name columns or row groups
    /// that the file does not have, and with [Corrupt](crate::ErrorKind::Corrupt) if row counts are
    /// inconsistent. Also fails with [Argument](crate::ErrorKind::Argument) if INT96 timestamps are
    /// read with [`Int96Overflow::CoarserUnit`], because the unit then depends on the timestamps'
    /// values. Determine it first, with [`Self::int96_plan`].
    pub fn plan(&self, options: &ReadOptions) -> Result<ReadPlan> {
        let file = OpenedFile {
            metadata: self.0.metadata.clone(),
            page_indexes: self.0.page_indexes.clone(),
            schema: &self.0.schema,
            file_length: self.file_length(),
            limits: self.limits(),
        };
        let plan = ReadPlan::new(&file, options)?;
        if options.schema.int96_overflow == Int96Overflow::CoarserUnit
            && !self.int96_leaves(&plan).is_empty()
        {
            return Err(Error::argument(
                "the unit of INT96 timestamps depends on their values (`int96_overflow`): read \
                 them with `int96_plan`, and set `int96_unit` to the finest unit of `Int96Units`",
            ));
        }
        Ok(plan)
    }

    /// Returns the row groups that might contain matching rows for a predicate, and which of their
    /// rows remain. This does not need the file's bytes.
    ///
    /// Pruning relies on the footer's statistics, and on page indexes in the handle or its cache if
    /// an earlier read has checked their first page. A read usually rules out more rows, because it
    /// can also look at bloom filters, dictionaries and all page indexes.
    /// [`ParquetFile::explain`](crate::ParquetFile::explain) shows how much. To prune the columns
    /// and rows of a particular read, use [`ReadPlan::prune`].
    ///
    /// ```
    /// use herringbone::ParquetFile;
    /// use herringbone::filter::col;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
    ///
    /// // A planner keeps the metadata of many files, and opens those with row groups left.
    /// let handle = ParquetFile::open("testdata/example.parquet")?.metadata_handle();
    /// let left = handle.prune(&col("id").ge(20))?;
    /// assert_eq!(left.len(), 1);
    /// assert_eq!((left[0].ordinal(), left[0].row_ranges()), (1, &[0..8][..]));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Fails with [Argument](crate::ErrorKind::Argument) if the predicate does not fit the file,
    /// and with [Corrupt](crate::ErrorKind::Corrupt) if row counts or statistics are invalid.
    pub fn prune(&self, predicate: &Predicate) -> Result<Vec<RowGroupPlan>> {
        let options = ReadOptions::new()
            .columns([""; 0])
            .filter(predicate.clone());
        self.plan(&options)?.prune()
    }

    /// Plans a read of only the INT96 timestamps among the columns that these options select, or
    /// returns `None` if there are none.
    ///
    /// Pass the batches of that read to [`Int96Units::add`](crate::Int96Units::add). If the file
    /// has a source, [`ParquetFile::int96_units`](crate::ParquetFile::int96_units) does all of
    /// this.
    ///
    /// ```
    /// use herringbone::schema::Int96Overflow;
    /// use herringbone::{Int96Units, MetadataHandle, ReadOptions, ReadPlan, Result};
    /// use herringbone::arrow::array::RecordBatch;
    ///
    /// /// Plans a read in the finest unit. `run` supplies the bytes of a plan.
    /// fn plan(
    ///     handle: &MetadataHandle,
    ///     mut options: ReadOptions,
    ///     run: impl Fn(ReadPlan) -> Result<Vec<RecordBatch>>,
    /// ) -> Result<ReadPlan> {
    ///     let mut units = Int96Units::default();
    ///     if let Some(plan) = handle.int96_plan(&options)? {
    ///         run(plan)?.iter().for_each(|batch| units.add(batch));
    ///     }
    ///     options.schema.int96_unit = units.finest().expect("a unit that holds all values");
    ///     options.schema.int96_overflow = Int96Overflow::Error;
    ///     handle.plan(&options)
    /// }
    /// ```
    ///
    /// # Errors
    /// Fails for the same reasons as [`Self::plan`], except that [`Int96Overflow::CoarserUnit`] is
    /// accepted here.
    pub fn int96_plan(&self, options: &ReadOptions) -> Result<Option<ReadPlan>> {
        let mut options = options.clone();
        options.schema.int96_overflow = Int96Overflow::Error;
        let leaves = self.int96_leaves(&self.plan(&options)?);
        if leaves.is_empty() {
            return Ok(None);
        }
        options.projection = Projection::Leaves(leaves);
        options.schema.use_arrow_schema = false;
        options.schema.int96_as_bytes = true;
        options.extensions.clear();
        options.extension_columns.clear();
        options.virtual_columns.clear();
        options.wanted_schema = None;
        options.filter = None;
        self.plan(&options).map(Some)
    }

    /// Returns a plan's INT96 leaves.
    fn int96_leaves(&self, plan: &ReadPlan) -> Vec<usize> {
        let leaves = self.parquet_schema().leaves();
        let is_int96 = |leaf: &usize| {
            let leaf = leaves.get(*leaf);
            leaf.is_some_and(|leaf| leaf.physical_type == Type::Int96)
        };
        plan.leaves().filter(is_int96).collect()
    }

    /// Fails if the key for any of a read's columns is missing.
    pub(crate) fn check_keys(&self, options: &ReadOptions) -> Result<()> {
        let mut options = options.clone();
        options.schema.int96_overflow = Int96Overflow::Error;
        let plan = self.plan(&options)?;
        for row_group in plan.row_groups().iter().map(RowGroupPlan::ordinal) {
            for leaf in plan.leaves() {
                let chunk = self.metadata().readable_chunk(row_group, leaf);
                chunk
                    .and_then(KeyStep::ready)
                    .map_err(|error| self.locate(error, row_group, leaf))?;
            }
        }
        Ok(())
    }

    /// Returns the ordinals of the row groups belonging to a byte range of the file.
    ///
    /// A row group belongs to the range that contains its first byte. An engine splitting a file
    /// into byte ranges therefore reads each row exactly once, however it chooses them.
    ///
    /// ```
    /// use herringbone::ParquetFile;
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
    ///
    /// let handle = ParquetFile::open("testdata/example.parquet")?.metadata_handle();
    /// let middle = handle.file_length() / 2;
    /// let mut row_groups = handle.row_groups_in(0..middle)?;
    /// row_groups.extend(handle.row_groups_in(middle..handle.file_length())?);
    /// assert_eq!(row_groups, [0, 1]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// Fails with [Corrupt](crate::ErrorKind::Corrupt) or
    /// [Unsupported](crate::ErrorKind::Unsupported) if a row group's first column chunk has
    /// metadata that cannot be decoded, and with [Key](crate::ErrorKind::Key) if that metadata is
    /// not authentic.
    pub fn row_groups_in(&self, bytes: Range<u64>) -> Result<Vec<usize>> {
        row_groups_in(&bytes, self.metadata(), self.file_length())
    }

    /// Returns a column chunk's page indexes, if they were loaded.
    #[must_use]
    pub fn page_index(&self, row_group: usize, leaf: usize) -> Option<PageIndexCell> {
        self.0.page_indexes.get(row_group, leaf)
    }

    /// Adds page indexes decoded elsewhere for a column chunk. A [frozen](Self::frozen) handle does
    /// not retain them.
    ///
    /// The indexes must really belong to this chunk, because reads skip pages based on their
    /// bounds.
    ///
    /// # Errors
    /// Fails with [Argument](crate::ErrorKind::Argument) if there is no such column chunk.
    pub fn insert_page_index(
        &self,
        row_group: usize,
        leaf: usize,
        cell: PageIndexCell,
    ) -> Result<()> {
        self.check_chunk(row_group, leaf)?;
        self.keep(row_group, leaf, cell);
        Ok(())
    }

    /// Drops the page indexes.
    pub fn drop_page_indexes(&self) {
        self.0.page_indexes.clear();
    }

    /// Returns the number of heap bytes that the handle uses, including the page indexes loaded so
    /// far. The decryption object isn't counted.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        size_of::<Inner>()
            + size_of::<FileMetadata>()
            + self.0.metadata.heap_bytes()
            + self.0.schema.heap_bytes()
            + size_of::<PageIndexCells>()
            + self.0.page_indexes.heap_bytes()
    }

    pub(crate) fn keep(&self, row_group: usize, leaf: usize, cell: PageIndexCell) {
        self.0.page_indexes.insert(row_group, leaf, cell);
    }

    /// Decodes a column chunk's metadata.
    ///
    /// # Errors
    /// Fails with Argument if there is no such column chunk, and with Corrupt or Unsupported if it
    /// cannot be decoded.
    pub(crate) fn chunk(&self, row_group: usize, leaf: usize) -> Result<ColumnChunk> {
        self.check_chunk(row_group, leaf)?;
        self.metadata()
            .column_chunk(row_group, leaf)
            .map_err(|error| self.locate(error, row_group, leaf))
    }

    /// Fails with Argument if there is no such column chunk.
    pub(crate) fn check_chunk(&self, row_group: usize, leaf: usize) -> Result<()> {
        let row_groups = self.metadata().num_row_groups();
        let leaves = self.parquet_schema().leaves().len();
        if row_group >= row_groups || leaf >= leaves {
            return Err(Error::argument(format!(
                "there is no column chunk {leaf} in row group {row_group}: the file has \
                 {row_groups} row groups of {leaves} columns"
            )));
        }
        Ok(())
    }

    /// Adds the row group and the column to an error.
    pub(crate) fn locate(&self, error: Error, row_group: usize, leaf: usize) -> Error {
        let error = error.in_row_group(row_group);
        if leaf < self.parquet_schema().leaves().len() {
            error.in_column(self.parquet_schema().column_path(leaf))
        } else {
            error
        }
    }
}
