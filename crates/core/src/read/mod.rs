//! From a file's metadata to record batches.
//!
//! ```text
//! ReadOptions + FileMetadata → ReadPlan → one ColumnChunkDecoder a leaf and row group → column batches → RecordBatch
//! ```
//!
//! A [`ReadPlan`] says what to decode. Drivers take its [`ColumnChunkDecoder`](crate::column::ColumnChunkDecoder)s one by one,
//! on as many threads as they like, and put their column batches together with a [`BatchAssembler`]; the
//! [`PushDecoder`] does so on the caller's thread, for bytes that arrive in any order.

mod wrappers;
mod wanted_schema;
mod plan;
mod assemble;
mod row_group;
mod filtered_read;
mod given_out;
mod push;

pub use crate::extension::ExtensionColumnOption;
pub use assemble::BatchAssembler;
#[doc(hidden)] // For drivers.
pub use filtered_read::{FilteredRead, FilteredRowGroup};
#[doc(hidden)] // For drivers.
pub use given_out::GivenOut;
pub use plan::{ReadOptions, ReadPlan, RowGroupPlan, RowSelection, VirtualColumn};
#[doc(hidden)] // For drivers.
pub use push::BegunRowGroup;
pub use push::{Needs, Poll, Progress, PushDecoder, too_few_rows};
pub use row_group::{
    ChunkInPlan, OpenRowGroup, RowGroupExplanation, StepExplanation, explain, missing_key,
    tests_row_groups,
};
pub use wanted_schema::{FieldMatching, FieldNames, WantedSchema};
