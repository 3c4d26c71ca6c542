//! `repair`: recovers the intact parts of a damaged file.

use std::path::PathBuf;

use clap::Args;

use super::{Decode, Destination, Write};

/// The options of `repair`.
#[derive(Debug, Args)]
pub(crate) struct Repair {
    /// A damaged Parquet file; `-` is standard input, which is read into memory
    #[arg(value_name = "IN")]
    pub(crate) input: PathBuf,
    #[command(flatten)]
    pub(crate) destination: Destination,
    /// Schema, where the footer has lost it: a Parquet or Arrow file that has it, or a text; see below
    #[arg(long, value_name = "FILE")]
    pub(crate) schema: Option<PathBuf>,
    /// Rows of a row group, where pages do not tell; the last one may have fewer
    #[arg(long, value_name = "N")]
    pub(crate) input_row_group_rows: Option<u64>,
    /// Look for pages although there is a footer
    #[arg(long)]
    pub(crate) ignore_footer: bool,
    #[command(flatten)]
    pub(crate) decode: Decode,
    #[command(flatten)]
    pub(crate) write: Write,
}
