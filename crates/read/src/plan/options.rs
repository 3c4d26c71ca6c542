//! Read options.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use herringbone_format::Limits;
use herringbone_format::modular_encryption::Decryption;
use herringbone_format::setters::texts;
use herringbone_pipeline::Spawn;
use herringbone_schema::{Projection, SchemaOptions};

use super::{RowSelection, VirtualColumn};
use crate::WantedSchema;
use herringbone_core::extension::{ExtensionColumnOption, ExtensionType};
use herringbone_core::loss::OnError;
use herringbone_core::memory_pool::MemoryPool;
use herringbone_filter::{Predicate, PruningSteps};

/// Read options: the columns and rows to read, and how to read them. The default reads the whole file.
///
/// ```
/// # use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch};
/// # let ids: ArrayRef = std::sync::Arc::new(Int64Array::from_iter_values(0..100));
/// # let batch = RecordBatch::try_from_iter([("id", ids.clone()), ("price", ids)])?;
/// # let mut bytes = Vec::new();
/// # let options = herringbone::WriteOptions::new().row_group_rows(50);
/// # let mut writer = herringbone::Writer::new(&mut bytes, batch.schema(), options)?;
/// # writer.write(&batch)?;
/// # writer.finish()?;
/// use herringbone::filter::col;
/// use herringbone::{ParquetFile, ReadOptions};
///
/// // 100 rows in two row groups, with the columns `id` and `price`.
/// let file = ParquetFile::from_bytes(bytes)?;
/// let options = ReadOptions::new().columns(["id"]).filter(col("price").ge(20)).limit(10);
/// let batch = file.read(options)?.next_batch()?.ok_or("no rows")?;
/// assert_eq!((batch.num_rows(), batch.num_columns()), (10, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct ReadOptions {
    /// The columns to read.
    pub projection: Projection,
    /// The ordinals of the row groups to read, in output order, or `None` for all of them.
    pub row_groups: Option<Vec<usize>>,
    /// The row ranges to read, counted from the file's first row, or `None` for all rows. Ranges can overlap and be in
    /// any order. Each row is read once, in file order.
    pub row_ranges: Option<Vec<Range<u64>>>,
    /// Row selections. The read is restricted to the rows selected by all of them.
    pub row_selections: Vec<RowSelection>,
    /// The predicate to filter rows by, or `None` to select all rows.
    pub filter: Option<Predicate>,
    /// The steps used to rule out rows before they are decoded.
    pub pruning: PruningSteps,
    /// The number of rows to skip, counted among the rows selected by the options above.
    pub offset: u64,
    /// The maximum number of rows to read, counted after `offset`.
    pub limit: Option<u64>,
    /// The maximum number of rows in a batch. A batch never spans row groups, so the last batch of each row group can
    /// be shorter.
    pub batch_size: usize,
    /// The approximate size of a batch in bytes. If rows are wide, batches have fewer rows than `batch_size`.
    pub batch_bytes: usize,
    /// The number of decoding threads, including the caller's. 0 means one thread per core.
    pub threads: usize,
    /// The program's own threads. If `None`, all readers and writers in the process share one thread pool.
    pub spawn: Option<Arc<dyn Spawn>>,
    /// The memory shared by several reads. Each read still takes at most [`Limits::memory_bytes`] of it.
    pub memory_pool: Option<Arc<dyn MemoryPool>>,
    /// True if the reader is allowed to configure the GNU/Linux C library to keep freed memory for the next batch.
    /// Otherwise, each batch can take a page fault for every 4 KiB. The setting applies to the whole process and is
    /// permanent.
    pub tune_allocator: bool,
    /// True if page checksums are verified, for pages that have one.
    pub verify_crc: bool,
    /// The reaction to damaged pages and row groups, such as failing or skipping them.
    pub on_error: OnError,
    /// The resource limits of the read, or `None` for the limits the file was opened with.
    pub limits: Option<Limits>,
    /// The choice of Arrow types for the file's columns.
    pub schema: SchemaOptions,
    /// The schema of the batches, independent of the file. If `None`, the schema follows from `projection` and
    /// `schema`. Otherwise, a projection selects columns from this schema.
    pub wanted_schema: Option<WantedSchema>,
    /// The file's keys, for calls that open it. A file that is already open has its keys.
    pub decryption: Option<Arc<dyn Decryption>>,
    /// Extension types used to map fields. They take precedence over the library's own.
    pub extensions: Vec<Arc<dyn ExtensionType>>,
    /// Columns created by extension types. They follow the columns of `projection`.
    pub extension_columns: Vec<ExtensionColumnOption>,
    /// Columns with each row's origin. They follow all others.
    pub virtual_columns: Vec<VirtualColumn>,
}

impl ReadOptions {
    /// The default number of rows in a batch.
    pub const DEFAULT_BATCH_SIZE: usize = 8192;
    /// The default size of a batch in bytes.
    pub const DEFAULT_BATCH_BYTES: usize = 128 << 20;

    /// Returns the default options, which read the whole file.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            projection: Projection::All,
            row_groups: None,
            row_ranges: None,
            row_selections: Vec::new(),
            filter: None,
            pruning: PruningSteps::all(),
            offset: 0,
            limit: None,
            batch_size: Self::DEFAULT_BATCH_SIZE,
            batch_bytes: Self::DEFAULT_BATCH_BYTES,
            threads: 0,
            spawn: None,
            memory_pool: None,
            tune_allocator: true,
            verify_crc: true,
            on_error: OnError::Fail,
            limits: None,
            schema: SchemaOptions::default(),
            wanted_schema: None,
            decryption: None,
            extensions: Vec::new(),
            extension_columns: Vec::new(),
            virtual_columns: Vec::new(),
        }
    }
}

herringbone_format::setters! { ReadOptions {
    /// Selects columns with any kind of [`Projection`].
    projection: Projection;
    /// Selects row groups by ordinal. They are read in this order.
    row_groups: impl IntoIterator<Item = usize> => |ordinals| Some(Vec::from_iter(ordinals));
    /// Selects row ranges, counted from the file's first row.
    row_ranges: impl IntoIterator<Item = Range<u64>> => |ranges| Some(Vec::from_iter(ranges));
    /// Selects rows by their values.
    filter: Predicate => Some;
    /// Selects the steps used to rule out rows before they are decoded.
    pruning: PruningSteps;
    /// Skips this many of the selected rows.
    offset: u64;
    /// Stops after this many selected rows.
    limit: u64 => Some;
    /// Sets the maximum number of rows in a batch.
    batch_size: usize;
    /// Sets the approximate size of a batch in bytes.
    batch_bytes: usize;
    /// Sets the number of decoding threads. 0 means one thread per core.
    threads: usize;
    /// Decodes on the program's own threads instead of the process's shared pool.
    spawn: Arc<dyn Spawn> => Some;
    /// Takes the read's memory from a pool.
    memory_pool: Arc<dyn MemoryPool> => Some;
    /// Allows or forbids the reader to tune the allocator for the whole process.
    tune_allocator: bool;
    /// Enables or disables the verification of page checksums.
    verify_crc: bool;
    /// Selects the reaction to damaged pages and row groups.
    on_error: OnError;
    /// Sets the read's resource limits, replacing the limits the file was opened with.
    limits: Limits => Some;
    /// Selects the Arrow types for the file's columns.
    schema: SchemaOptions;
    /// Sets the schema of the batches, independent of the file.
    wanted_schema: WantedSchema => Some;
    /// Sets the keys to open the file with.
    decryption: Arc<dyn Decryption> => Some;
}}

impl ReadOptions {
    /// Selects top-level columns by name.
    #[must_use]
    pub fn columns<S: Into<String>>(self, names: impl IntoIterator<Item = S>) -> Self {
        self.projection(Projection::Names(texts(names)))
    }

    /// Returns these options' limits, or the default limits if the options have none.
    #[must_use]
    pub fn limits_or_default(&self) -> Cow<'_, Limits> {
        match &self.limits {
            Some(limits) => Cow::Borrowed(limits),
            None => Cow::Owned(Limits::default()),
        }
    }

    /// Adds an extension type. It takes precedence over the library's own.
    #[must_use]
    pub fn extension(mut self, extension: impl ExtensionType + 'static) -> Self {
        self.extensions.push(Arc::new(extension));
        self
    }

    /// Adds a row selection, so that the read only returns rows kept by all selections.
    #[must_use]
    pub fn row_selection(mut self, selection: RowSelection) -> Self {
        self.row_selections.push(selection);
        self
    }

    /// Adds a column with each row's origin, after all others.
    #[must_use]
    pub fn virtual_column(mut self, column: VirtualColumn) -> Self {
        self.virtual_columns.push(column);
        self
    }

    /// Adds a column that an extension type creates from the field at a path. The field itself need not be read. If it
    /// is, it is still decoded only once.
    #[must_use]
    pub fn extension_column<S: Into<String>>(
        mut self,
        name: impl Into<String>,
        path: impl IntoIterator<Item = S>,
        extension: impl ExtensionType + 'static,
    ) -> Self {
        self.extension_columns.push(ExtensionColumnOption {
            name: name.into(),
            path: texts(path),
            extension: Arc::new(extension),
        });
        self
    }
}
