//! From a file's metadata to record batches.
//!
//! ```text
//! ReadOptions + FileMetadata → ReadPlan → one ColumnChunkDecoder a leaf and row group → column batches → RecordBatch
//! ```
//!
//! A [`ReadPlan`] says what to decode. Drivers take its [`ColumnChunkDecoder`](crate::column::ColumnChunkDecoder)s one by one,
//! on as many threads as they like, and put their column batches together with a [`BatchAssembler`]; the
//! [`PushDecoder`] does so on the caller's thread, for bytes that arrive in any order.

mod siblings;
mod assemble;
mod cursor;
mod filter_plan;
mod filtered;
mod filtered_read;
mod found_rows;
mod given_out;
mod wrappers;
mod options;
mod plan;
mod pruner;
mod push;
mod row_group;
mod array_node;
mod explanation;
mod extensions;
mod row_selection;
mod wanted_rows;
mod wanted_schema;
mod virtual_columns;

pub use assemble::BatchAssembler;
pub use explanation::{RowGroupExplanation, StepExplanation, explain};
pub use extensions::ExtensionColumnOption;
#[doc(hidden)] // For drivers.
pub use filtered_read::{FilteredRead, FilteredRowGroup};
#[doc(hidden)] // For drivers.
pub use given_out::GivenOut;
pub use options::ReadOptions;
pub use plan::ReadPlan;
#[doc(hidden)] // For drivers.
pub use push::BegunRowGroup;
pub use push::{Needs, Poll, Progress, PushDecoder, too_few_rows};
pub use row_group::{ChunkInPlan, OpenRowGroup};
pub use row_selection::RowSelection;
pub use virtual_columns::VirtualColumn;
pub use wanted_rows::RowGroupPlan;
pub(crate) use wanted_schema::{Cast, LeafSource, ResolvedLeaf};
pub use wanted_schema::{FieldMatching, FieldNames, WantedSchema};
