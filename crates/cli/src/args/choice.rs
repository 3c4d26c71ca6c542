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
    #[command(flatten)]
    pub(crate) part: Part,
    #[command(flatten)]
    pub(crate) sampling: Sampling,
    /// Row groups of each file, counted from 0, e.g. `0,2-4`
    #[arg(long, value_name = "LIST")]
    pub(crate) row_groups: Option<RowGroups>,
    #[command(flatten)]
    pub(crate) sort: Sort,
}

impl Choice {
    /// Returns true if some rows might be left out for a reason other than `--row-groups`, which
    /// only leaves out whole row groups.
    pub(crate) fn leaves_out_rows(&self) -> bool {
        self.wanted.is_given() || self.has_window() || self.sampling.sample.is_some()
    }

    /// Returns true if rows are taken from the first one on, without a condition, a sample or a
    /// sort order. `--limit` and `--offset` do not matter here.
    pub(crate) fn takes_first_rows(&self) -> bool {
        !self.wanted.is_given() && self.sampling.sample.is_none() && !self.sort.is_given()
    }

    /// Returns true if rows are chosen by number, that is, by `--limit` or `--offset`.
    pub(crate) fn has_window(&self) -> bool {
        self.part.is_given()
    }
}

/// The options that choose rows by their numbers.
#[derive(Debug, Args)]
pub(crate) struct Part {
    /// At most N rows in total
    #[arg(short = 'n', long, alias = "rows", value_name = "N")]
    pub(crate) limit: Option<u64>,
    /// Skip the first N rows
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub(crate) offset: u64,
}

impl Part {
    /// Returns true if some rows may be left out.
    pub(crate) fn is_given(&self) -> bool {
        self.limit.is_some() || self.offset > 0
    }
}

/// The options that choose rows at random.
#[derive(Debug, Args)]
pub(crate) struct Sampling {
    /// N rows at random, in their order
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub(crate) sample: Option<usize>,
    /// Number that decides which rows are the sample [default: another one in each run]
    #[arg(long, value_name = "S")]
    pub(crate) seed: Option<u64>,
}

impl Sampling {
    /// Returns the row count and the seed of the sample, if the user asks for a sample.
    pub(crate) fn get(&self) -> Option<(usize, Option<u64>)> {
        self.sample.map(|rows| (rows, self.seed))
    }
}
