//! The options for reading files other than Parquet.

use std::path::PathBuf;

use clap::Args;

use super::csv::CsvShape;
use super::{CsvInput, FileFormat, Setting};

/// The options for reading files other than Parquet.
#[derive(Debug, Args)]
#[command(next_help_heading = "Files other than Parquet")]
pub(crate) struct TextInput {
    /// Input format [default: by name, or else by the first bytes]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) from: Option<FileFormat>,
    /// Schema of CSV or JSON lines: a Parquet or Arrow file with it, or a text; see `herringbone help types`
    #[arg(long, value_name = "FILE")]
    pub(crate) schema: Option<PathBuf>,
    /// Rows to infer a schema from; 0: all columns of CSV are text [default: 10000]
    #[arg(long, value_name = "N", conflicts_with = "schema")]
    pub(crate) infer_rows: Option<usize>,
    /// Column type in CSV or JSON lines, as in a schema; we infer the others
    #[arg(long = "type", value_name = "COLUMN=TYPE", conflicts_with = "schema")]
    pub(crate) types: Vec<Setting<String>>,
    /// Key under which JSON has its array of rows, e.g. `data` for {"data":[…]}
    #[arg(long, value_name = "KEY")]
    pub(crate) json_path: Option<String>,
    #[command(flatten)]
    pub(crate) csv_input: CsvInput,
}

impl TextInput {
    /// Returns the first given option for CSV and JSON, if any.
    pub(crate) fn given(&self) -> Option<&'static str> {
        let options = [
            (self.schema.is_some(), "--schema"),
            (self.infer_rows.is_some(), "--infer-rows"),
            (!self.types.is_empty(), "--type"),
        ];
        let given = options.into_iter().find(|(is_given, _)| *is_given);
        given.map(|(_, name)| name)
    }
}

/// The options for reading files other than Parquet, in commands that write no CSV.
#[derive(Debug, Args)]
pub(crate) struct OtherFiles {
    #[command(flatten)]
    pub(crate) text: TextInput,
    #[command(flatten)]
    pub(crate) csv: CsvShape,
}

impl OtherFiles {
    /// Returns the path of the schema file.
    pub(super) fn schema(&mut self) -> &mut Option<PathBuf> {
        &mut self.text.schema
    }
}
