//! `repair` recovers the intact parts of a damaged file.

use std::path::PathBuf;

use clap::Args;

use super::{Decode, Json, OutputArgument, Sort, Write};

/// The options of `repair`.
#[derive(Debug, Args)]
pub(crate) struct Repair {
    /// A damaged Parquet file; `-` is standard input, which is read into memory
    #[arg(value_name = "IN")]
    pub(crate) input: PathBuf,
    #[command(flatten)]
    pub(crate) output: OutputArgument,
    /// Schema, if the footer has lost it: a Parquet or Arrow file with the same schema, or a text; see below
    #[arg(long, value_name = "FILE")]
    pub(crate) schema: Option<PathBuf>,
    /// Rows per row group, if pages do not reveal it; the last one may have fewer
    #[arg(long, value_name = "N")]
    pub(crate) input_row_group_rows: Option<u64>,
    /// Search for pages even if there is a footer
    #[arg(long)]
    pub(crate) ignore_footer: bool,
    #[command(flatten)]
    pub(crate) json: Json,
    #[command(flatten)]
    pub(crate) sort: Sort,
    #[command(flatten)]
    pub(crate) decode: Decode,
    #[command(flatten)]
    pub(crate) write: Write,
}
