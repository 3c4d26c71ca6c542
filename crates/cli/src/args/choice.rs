//! The choice of rows and columns, shared by all commands that read rows.

use clap::Args;

use super::{RowGroups, Selection, Sort, Wanted, at_least_one};

/// The options that choose rows and columns.
#[derive(Debug, Args)]
#[command(next_help_heading = "Rows and columns")]
pub(crate) struct Choice {
    /// Columns of the output, in this order, e.g. `id, price=fare, day:date=at, !tip`; see `herringbone help columns`
    #[arg(short, long, alias = "select", value_name = "LIST")]
    pub(crate) columns: Option<Selection>,
    #[command(flatten)]
    pub(crate) wanted: Wanted,
    /// At most N rows in total
    #[arg(short = 'n', long, alias = "rows", value_name = "N")]
    pub(crate) limit: Option<u64>,
    /// Skip the first N rows
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) offset: u64,
    /// N rows at random, in their order
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(crate) sample: Option<usize>,
    /// Number that decides which rows are the sample [default: another one in each run]
    #[arg(long, value_name = "S")]
    pub(crate) seed: Option<u64>,
    /// Row groups of each file, counted from 0, e.g. `0,2-4`
    #[arg(long, value_name = "LIST")]
    pub(crate) row_groups: Option<RowGroups>,
    #[command(flatten)]
    pub(crate) sort: Sort,
}

impl Choice {
    /// Returns true if some rows may be left out, other than those of whole row groups.
    pub(crate) fn leaves_out_rows(&self) -> bool {
        self.wanted.is_given() || self.has_window() || self.sample.is_some()
    }

    /// Returns true if rows are counted.
    pub(crate) fn has_window(&self) -> bool {
        self.limit.is_some() || self.offset > 0
    }
}
