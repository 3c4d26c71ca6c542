//! Executes one row group: pruning it, decoding the tested columns, then decoding the others. This module doesn't read
//! files. It asks a `FileBytes` for bytes, and stops if they haven't arrived yet.
//!
//! ```text
//! RowGroupRead   Planned ─► Pruning ─► Open: stages of columns ─► Over
//! ```

mod columns;
mod explanation;
mod selected_rows;
mod open_column;
mod stages;
mod open;
mod pruner;
mod read;
mod splits;

pub use columns::ColumnTask;
pub(crate) use columns::too_few_rows;
pub use explanation::{Explainer, RowGroupExplanation, StepExplanation};
pub use open::missing_keys;
pub(crate) use pruner::Pruned;
pub(crate) use pruner::RowGroupPruner;
pub use pruner::tests_row_groups;
pub(crate) use read::RowGroupPosition;
pub use read::{RowGroupRead, RowGroupStep};
pub use stages::{Assembly, SharedStep, StageTask};
