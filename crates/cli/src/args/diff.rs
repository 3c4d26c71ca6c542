//! `diff` compares two files, or the schemas of several files.

use std::path::PathBuf;

use clap::Args;

use super::selection::unchanged;
use super::{Columns, ListFormatChoice, Merge, OtherFiles, Selection, Sort, Wanted};

/// The options of `diff`.
#[derive(Debug, Args)]
pub(crate) struct Diff {
    /// Two files, directories or patterns, or more of them to compare their schemas; `-` is standard input
    #[arg(value_name = "FILE", required = true)]
    pub(crate) files: Vec<PathBuf>,
    /// Compare the schemas alone, file by file; the files that share one are printed together
    #[arg(long, conflicts_with_all = ["key", "columns", "condition", "bbox"])]
    pub(crate) schemas: bool,
    /// Columns that identify a row; without them, rows are compared at their positions
    #[arg(long, value_name = "COLUMNS")]
    pub(crate) key: Option<Columns>,
    /// Columns and fields inside them to compare, which include the key, or `!tip` to leave one out
    #[arg(short, long, value_name = "LIST", value_parser = unchanged)]
    pub(crate) columns: Option<Selection>,
    #[command(flatten)]
    pub(crate) wanted: Wanted,
    #[command(flatten)]
    pub(crate) merge: Merge,
    /// Print at most N rows that differ; the numbers are those of all rows
    #[arg(
        short = 'n',
        long,
        alias = "rows",
        value_name = "N",
        default_value_t = 10
    )]
    pub(crate) limit: u64,
    #[command(flatten)]
    pub(crate) memory: SortMemory,
    #[command(flatten)]
    pub(crate) format: ListFormatChoice,
    #[command(flatten)]
    pub(crate) other_files: OtherFiles,
}

/// The memory for sorting rows by the key.
#[derive(Debug, Args)]
pub(crate) struct SortMemory {
    /// Maximum size of the rows sorted by --key in memory; the others are written to temporary files [default: half of
    /// the free memory of the machine, or of the control group]
    #[arg(long, value_name = "SIZE", requires = "key")]
    sort_memory: Option<super::Size>,
    /// Folder of these temporary files [default: that of the system]
    #[arg(long, value_name = "FOLDER", requires = "key")]
    sort_folder: Option<PathBuf>,
}

impl Diff {
    /// Returns the sort order by the key. `diff` needs sorted rows to pair them.
    pub(crate) fn sort(&self, key: &Columns) -> Sort {
        let memory = &self.memory;
        Sort::by_key(key, memory.sort_memory, memory.sort_folder.clone())
    }
}
