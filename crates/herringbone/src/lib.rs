//! Apache Parquet for Rust, decoded straight into Arrow.
//!
//! | to | use |
//! |---|---|
//! | read a file | [`open`], or [`open_with`] and [`ReadOptions`] |
//! | inspect a file before reading it, or read from memory or another [`Source`](source::Source) | [`ParquetFile`] |
//! | write a file | [`create`], or [`create_with`] and [`WriteOptions`] |
//! | write to memory or to any other [`Write`](std::io::Write) | [`Writer`] |
//! | write any other file that appears only when it is complete | [`FileTarget`] |
//! | run the work on your own threads | [`Spawn`] |
//! | share a memory limit among reads, or connect your own memory pool | [`MemoryPool`] |
//! | do the I/O yourself | [`PushDecoder`](push::PushDecoder) |
//! | use the file's statistics, page indexes and bloom filters to skip data | [`pruning`] |
//! | look at pages as they are stored | [`Pages`] and [`physical`] |
//! | create or change metadata | [`format`](mod@format), [`schema`] |
//! | read and write Arrow extension types of your own | [`extension::ExtensionType`] |
//! | read, write and shred VARIANT (feature `variant`) | `variant::extension` |
//! | read and write GEOMETRY and GEOGRAPHY, and GeoParquet (feature `geospatial`) | `geospatial::Geospatial` |
//! | compute your own statistics for column chunks | [`ColumnStatistics`](extension::ColumnStatistics) |
//!
//! ```
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
//! for batch in herringbone::open("testdata/example.parquet")? {
//!     println!("{} rows", batch?.num_rows());
//! }
//! # Ok(())
//! # }
//! ```
//!
//! # Which rows
//!
//! A read returns the rows selected by all of these options. Usually `filter` and `limit` are all
//! you need, because the others are for programs that already know row positions.
//!
//! | you know | use |
//! |---|---|
//! | a condition on values | [`filter`](ReadOptions::filter), which skips row groups and pages, and then tests each row |
//! | the number of rows that you need | [`limit`](ReadOptions::limit) and [`offset`](ReadOptions::offset), which count the rows that all other options select |
//! | positions, such as deleted rows or the hits of an index | [`row_selection`](ReadOptions::row_selection), whose positions count from the first row of the file or of one row group |
//! | ranges of positions in the file | [`row_ranges`](ReadOptions::row_ranges), which is short for [`RowSelection::keep`] |
//! | row groups, because several tasks share a file | [`row_groups`](ReadOptions::row_groups), which also sets their order in the output |
//!
//! # Which columns
//!
//! [`columns`](ReadOptions::columns) takes the names of top-level columns and is enough for most
//! reads. It is short for [`projection`](ReadOptions::projection) with [`Projection::Names`]. The
//! other projections select fields of nested columns by path, by field ID or by ordinal. If you
//! call both methods, the later call counts. Batches have their columns in the file's order. But if
//! you set a [`wanted_schema`](ReadOptions::wanted_schema), the projection selects columns of that
//! schema, in its order.
//!
//! Because a write stores all of a batch's columns, [`WriteOptions::columns`] selects nothing: it
//! sets the options of all columns, and [`WriteOptions::column`] sets the options of the columns
//! below a path.
//!
//! # Which metadata
//!
//! [`ParquetFile::metadata`] returns the footer, and a [`MetadataHandle`] keeps it for later reads.
//! For a table of all metadata types and their uses, see [`format`](mod@format#which-metadata).

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod allocator;
mod chunk_files;
mod source_bytes;
mod column_encoder;
mod encoders;
pub mod extension;
pub mod filter;
mod fetched;
mod file;
mod file_writer;
mod int96_units;
mod metadata_handle;
mod open_options;
#[doc(hidden)] // `herringbone-inspect` walks pages that the footer does not reference.
pub mod pages;
mod page_indexes;
pub mod physical;
pub mod pruning;
pub mod push;
mod reader;
mod row_group_copy;
pub mod schema;
pub mod source;
mod file_target;
mod threads;
mod write_steps;
mod writer;

pub use herringbone_arrow as arrow;
#[cfg(feature = "encryption")]
pub use herringbone_encryption as encryption;
pub use herringbone_format as format;
#[cfg(feature = "geospatial")]
pub use herringbone_geospatial as geospatial;
#[cfg(feature = "variant")]
pub use herringbone_variant as variant;

pub use chunk_files::{ChunkFiles, LocalChunkFiles};
#[doc(hidden)] // For datasets and async reads.
pub use chunk_files::{ChunkPlaces, chunk_paths, is_below};
pub use column_encoder::{ColumnEncoder, EncodedChunk};
pub use file::ParquetFile;
pub use file_target::FileTarget;
pub use herringbone_core::Step;
pub use herringbone_core::compression::{BrotliLevel, Compression, GzipLevel, ZstdLevel};
pub use herringbone_core::loss::{Loss, Losses, Lost, OnError};
pub use herringbone_core::memory_pool::{MemoryPool, SharedMemory};
pub use herringbone_filter::pruning::{FirstPage, PageIndexCell};
pub use herringbone_format::modular_encryption;
pub use herringbone_format::{Error, ErrorKind, Limits, Location, Remedy, Result};
pub use herringbone_pipeline::Spawn;
pub use herringbone_read::{
    FieldMatching, FieldNames, ReadOptions, ReadPlan, RowGroupPlan, RowSelection, VirtualColumn,
    WantedSchema,
};
pub use herringbone_schema::{Int96Overflow, Projection, SchemaOptions};
pub use herringbone_write::{
    BloomFilterOptions, CREATED_BY, ColumnChoice, ColumnOptions, ColumnSelector, Compatibility,
    ContentDefinedChunking, DataPageVersion, EncodingEstimate, Explanation, Interrupt, OptionKind,
    Prefer, SortingColumnOption, StatisticsLevel, StoredAs, UnsortedRows, WriteOption,
    WriteOptions,
};
pub use int96_units::Int96Units;
pub use metadata_handle::MetadataHandle;
pub use open_options::OpenOptions;
pub use pages::{PageInfo, PageStart, Pages};
pub use reader::{ArrowReader, Reader};
pub use writer::Writer;

use std::path::Path;

use herringbone_arrow::schema::SchemaRef;

/// Opens a file and returns an iterator over its record batches, decoded on all cores.
///
/// ```
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
/// let mut rows = 0;
/// for batch in herringbone::open("testdata/example.parquet")? {
///     rows += batch?.num_rows();
/// }
/// assert_eq!(rows, 24);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Fails with [Io](ErrorKind::Io) if the file cannot be read, and with
/// [Corrupt](ErrorKind::Corrupt), [Unsupported](ErrorKind::Unsupported) or
/// [Limit](ErrorKind::Limit) if its footer cannot be used.
pub fn open(path: impl AsRef<Path>) -> Result<Reader> {
    open_with(path, ReadOptions::default())
}

/// Reads the parts of a file selected by `options`. By default, that is the whole file.
///
/// ```
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
/// use herringbone::ReadOptions;
///
/// let options = ReadOptions::new().columns(["id"]).limit(3);
/// let mut reader = herringbone::open_with("testdata/example.parquet", options)?;
/// assert_eq!(reader.next_batch()?.ok_or("no rows")?.num_rows(), 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Fails for the same reasons as [`open`], and with [Argument](ErrorKind::Argument) if the options
/// name something that the file does not have.
pub fn open_with(path: impl AsRef<Path>, options: ReadOptions) -> Result<Reader> {
    let mut open = OpenOptions::from(options.limits_or_default().into_owned());
    open.decryption = options.decryption.clone();
    ParquetFile::open_with(path, open)?.read(options)
}

/// Starts a file for batches of this schema. The file appears under its name only when you
/// [finish](Writer::finish) the writer, so that a failed write leaves no partial file there.
///
/// ```
/// use std::sync::Arc;
/// use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch};
///
/// let ids: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
/// let batch = RecordBatch::try_from_iter([("id", ids)])?;
/// # let path = std::env::temp_dir().join(format!("herringbone-create-{}.parquet", std::process::id()));
/// let mut writer = herringbone::create(&path, batch.schema())?;
/// writer.write(&batch)?;
/// writer.finish()?;
/// assert_eq!(herringbone::open(&path)?.next_batch()?, Some(batch));
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Fails with [Io](ErrorKind::Io) if the file cannot be created, and with
/// [Unsupported](ErrorKind::Unsupported) if Parquet cannot represent one of the schema's types.
pub fn create(path: impl AsRef<Path>, schema: SchemaRef) -> Result<Writer<FileTarget>> {
    create_with(path, schema, WriteOptions::default())
}

/// Starts a file with these options.
///
/// ```
/// use std::sync::Arc;
/// use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch};
/// use herringbone::{Compression, WriteOptions};
///
/// let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..100));
/// let batch = RecordBatch::try_from_iter([("id", ids)])?;
/// # let path = std::env::temp_dir().join(format!("herringbone-with-{}.parquet", std::process::id()));
/// let options = WriteOptions::new().compression(Compression::Snappy).row_group_rows(50);
/// let mut writer = herringbone::create_with(&path, batch.schema(), options)?;
/// writer.write(&batch)?;
/// assert_eq!(writer.finish()?.num_row_groups(), 2);
/// # std::fs::remove_file(&path)?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// Fails for the same reasons as [`create`], and with [Argument](ErrorKind::Argument) if the
/// options are invalid or contradict each other.
pub fn create_with(
    path: impl AsRef<Path>,
    schema: SchemaRef,
    options: WriteOptions,
) -> Result<Writer<FileTarget>> {
    writer::create(path.as_ref(), schema, &options)
}
