//! The output formats for everything except rows.

use clap::{Args, ValueEnum};

/// JSON in place of text.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Json {
    /// Print JSON lines in place of text
    #[arg(long, alias = "jsonl")]
    pub(crate) json: bool,
}

impl Json {
    /// Returns JSON if requested, otherwise `format`.
    pub(crate) fn or(self, format: SchemaFormat) -> SchemaFormat {
        match self.json {
            true => SchemaFormat::Json,
            false => format,
        }
    }
}

/// Formats of lists other than rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum ListFormat {
    /// A table for people
    Table,
    /// JSON lines: one object per item
    #[value(alias = "json")]
    Jsonl,
    /// CSV: one line per item, for spreadsheets
    Csv,
}

/// The format of a list, by its name or as an option of its own.
#[derive(Debug, Args)]
pub(crate) struct ListFormatChoice {
    /// Output format [default: table on a terminal, jsonl otherwise]; --json (for jsonl) and --csv are short for it
    #[arg(long, value_enum)]
    format: Option<ListFormat>,
    #[arg(long, hide = true, alias = "jsonl", conflicts_with_all = ["format", "as_csv"])]
    json: bool,
    #[arg(long = "csv", id = "as_csv", hide = true, conflicts_with = "format")]
    csv: bool,
}

impl ListFormatChoice {
    /// Returns the requested format, if any.
    pub(crate) fn get(&self) -> Option<ListFormat> {
        match self {
            Self { json: true, .. } => Some(ListFormat::Jsonl),
            Self { csv: true, .. } => Some(ListFormat::Csv),
            _ => self.format,
        }
    }
}

/// Formats of a schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemaFormat {
    /// The message syntax of the Parquet specification
    Parquet,
    /// The Arrow fields that the columns become
    Arrow,
    /// The Parquet schema as a tree in JSON
    Json,
}
