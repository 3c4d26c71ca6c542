//! Formats of output other than rows.

use clap::{Args, ValueEnum};

/// JSON in place of text.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Json {
    /// Print JSON lines in place of text
    #[arg(long, alias = "jsonl")]
    pub(crate) json: bool,
}

impl Json {
    /// Returns JSON if it was asked for, and `format` otherwise.
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
}

/// The format of a list, by its name or as an option of its own.
#[derive(Debug, Args)]
pub(crate) struct ListFormatChoice {
    /// Output format [default: table on a terminal, jsonl otherwise]; --json is short for jsonl
    #[arg(long, value_enum)]
    format: Option<ListFormat>,
    #[arg(long, hide = true, alias = "jsonl", conflicts_with = "format")]
    json: bool,
}

impl ListFormatChoice {
    /// Returns the requested format.
    pub(crate) fn get(&self) -> Option<ListFormat> {
        match self.json {
            true => Some(ListFormat::Jsonl),
            false => self.format,
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
