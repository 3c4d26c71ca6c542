//! The execution of one row group: pruning, tested columns, other columns. Nothing here reads.

mod columns;
mod explanation;
mod filtered;
mod found_rows;
mod open;
mod pruner;

pub(in crate::read) use columns::RowGroupCursor;
pub use explanation::{RowGroupExplanation, StepExplanation, explain};
pub(in crate::read) use filtered::{FilterStep, FilteredRows};
pub(in crate::read) use found_rows::FoundRows;
pub use open::{ChunkInPlan, OpenRowGroup, missing_key};
pub use pruner::tests_row_groups;
pub(in crate::read) use pruner::{Pruned, RowGroupPruner};
