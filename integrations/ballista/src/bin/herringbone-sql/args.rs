//! The arguments.

use std::path::PathBuf;

use clap::{Parser, ValueEnum};

/// Runs SQL over Parquet tables, on this machine or on the executors of a Ballista scheduler.
///
/// Queries may name files: select count(*) from 'data.parquet'. Tables, COPY and INSERT INTO use Herringbone. Without
/// statements, a prompt reads them.
#[derive(Debug, Default, Parser)]
#[command(name = "herringbone-sql", version)]
pub(crate) struct Args {
    /// Read and write Parquet by DataFusion's own reader and writer instead
    #[arg(long)]
    pub(crate) stock: bool,
    /// Run queries on the executors of this scheduler, for example df://localhost:50050
    #[arg(long, value_name = "URL")]
    pub(crate) scheduler: Option<String>,
    /// Set an option of the session, for example datafusion.execution.target_partitions=4; may be repeated
    #[arg(long, value_name = "KEY=VALUE", value_parser = key_value)]
    pub(crate) set: Vec<(String, String)>,
    /// Run the last statement this many times, and print the seconds of each time on the standard error
    #[arg(long, value_name = "TIMES", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) repeat: Option<u32>,
    /// The format of the rows of queries
    #[arg(long, value_enum, default_value_t)]
    pub(crate) format: Format,
    /// Limit the memory of the session, for example 2G or 500M
    #[arg(short, long, value_name = "SIZE")]
    pub(crate) memory_limit: Option<String>,
    /// Read the statements of this file, or of the standard input if it is `-`
    #[arg(short, long, value_name = "FILE", conflicts_with_all = ["sql", "command"])]
    pub(crate) file: Option<PathBuf>,
    /// Run these statements, as SQL without the flag
    #[arg(short, long, value_name = "SQL", conflicts_with = "sql")]
    pub(crate) command: Option<String>,
    /// The statements, separated by semicolons
    #[arg(value_name = "SQL")]
    pub(crate) sql: Option<String>,
}

/// A format of rows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A table for people
    #[default]
    Table,
    /// CSV with a header
    Csv,
    /// A stream of Arrow IPC
    Arrow,
}

fn key_value(text: &str) -> Result<(String, String), String> {
    let (key, value) = text
        .split_once('=')
        .ok_or("expected KEY=VALUE, for example herringbone.pushdown=false")?;
    Ok((key.to_owned(), value.to_owned()))
}
