//! The writing half of the data path. It encodes Arrow arrays straight into pages.
//!
//! ```text
//! RecordBatch → leaf arrays → levels + values → page → column chunk → row group → footer → bytes
//! ```
//!
//! A [`WritePlan`] holds each column's settings. A [`ColumnWriter`] encodes one column's rows in one row group into an
//! [`EncodedColumn`]. Since columns don't depend on each other, any number of threads can write them. A [`FileEncoder`]
//! then assembles the column chunks into a file. This crate does no I/O.
//!
//! This crate is for the crates of this workspace. Its API changes with any release, except for the items that
//! `herringbone` exports.

#![forbid(unsafe_code)]

mod content_defined;
mod levels;
mod interrupt;
mod options;
mod names;
mod named;
mod selector;
mod settings;
mod plan;
mod bounds;
mod chunked_buffer;
mod page;
mod chunk_pages;
mod heap_bytes;
mod chunk;
mod costs;
mod explanation;
mod choice;
mod observers;
mod dictionary_growth;
mod page_values;
mod column;
mod file;
mod copied_chunk;
mod sort_keys;
mod sorting;
mod storage;
mod column_statistics;

pub use chunk::{EncodedColumn, EndedColumn};
pub use chunk_pages::ChunkPages;
pub use column::{BlockMemory, ColumnWriter};
pub use column_statistics::{
    ChunkStatistics, ColumnStatistics, ColumnStatisticsFactory, ColumnValues, StatisticsColumn,
};
pub use content_defined::ContentDefinedChunking;
pub use copied_chunk::{CopiedChunk, CopySource};
pub use explanation::{ColumnChoice, EncodingEstimate, Explanation, StoredAs};
pub use file::{FileEncoder, FileEnd};
pub use interrupt::Interrupt;
pub use named::{OptionKind, WriteOption};
pub use options::{
    BloomFilterOptions, CREATED_BY, ColumnOptions, Compatibility, DataPageVersion, Prefer,
    SortingColumnOption, StatisticsLevel, UnsortedRows, WriteOptions,
};
pub use page::{FinishedPage, PageBuffers, PageSink, UnfinishedPage};
pub use plan::WritePlan;
pub use selector::ColumnSelector;
pub use sort_keys::{RowKeys, SortKeys};
pub use sorting::SortingCheck;
pub use storage::StorageBatches;
