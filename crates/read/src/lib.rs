//! Read plans, and the state machines that decode row group bytes into record batches.
//!
//! ```text
//! ReadOptions + FileMetadata ─► ReadPlan ─► ReadSequence ─► RowGroupRead ─► columns ─► column batches ─► RecordBatch
//! ```
//!
//! A [`ReadPlan`] is plain data that can be inspected before any row is read. A [`RowGroupRead`] is the state machine
//! reading one of its row groups without I/O, and a [`ReadSequence`] runs these machines in output order. Since the
//! machines do no I/O, drivers are thin loops: one thread [advances](ReadSequence::advance) the sequence, several
//! threads take [tasks](StageTask) of its row groups, and a [`PushDecoder`] takes bytes as they arrive.
//!
//! This crate is for the crates of this workspace. Its API changes with any release, except for the items that
//! `herringbone` exports.

#![forbid(unsafe_code)]

mod wrappers;
mod wanted_schema;
mod bytes;
mod plan;
mod assemble;
mod row_group;
mod sequence;
mod push;

pub use bytes::FileBytes;
#[doc(hidden)] // For `MetadataHandle`.
pub use plan::OpenedFile;
pub use plan::{ReadOptions, ReadPlan, RowGroupPlan, RowSelection, VirtualColumn, new_budget};
pub use push::{
    AheadStep, ByteStore, DetachedRowGroup, Needs, Poll, PushDecoder, RowGroupPoll, Soon,
    WaitingBatch, Wanted,
};
pub use row_group::{
    Assembly, ColumnTask, Explainer, RowGroupExplanation, RowGroupRead, RowGroupStep, SharedStep,
    StageTask, StepExplanation, missing_keys, tests_row_groups,
};
pub use sequence::{ReadSequence, ReadStep};
pub use wanted_schema::{FieldMatching, FieldNames, WantedSchema};
