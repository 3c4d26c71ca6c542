//! `convert`: from one format to another.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;

use super::{
    Choice, Csv, CsvInput, Damage, Decode, FileFormat, Merge, OutputArgument, Setting, Write,
};

/// The options of `convert`.
#[derive(Debug, Args)]
pub(crate) struct Convert {
    /// The file to read; `-` is standard input
    #[arg(value_name = "IN")]
    pub(crate) input: PathBuf,
    #[command(flatten)]
    pub(crate) output: OutputArgument,
    /// Format of IN [default: that of its name]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) from: Option<FileFormat>,
    /// Format of OUT [default: that of its name]
    #[arg(long, value_enum, value_name = "FORMAT")]
    pub(crate) to: Option<FileFormat>,
    /// Schema of CSV or JSON lines: a Parquet or Arrow file with it, or a text; see below
    #[arg(long, value_name = "FILE")]
    pub(crate) schema: Option<PathBuf>,
    /// Rows to infer a schema from; 0: all columns of CSV are text [default: 10000]
    #[arg(long, value_name = "N", conflicts_with = "schema")]
    pub(crate) infer_rows: Option<usize>,
    /// Type of a column of CSV or JSON lines, as in a schema; the others are inferred
    #[arg(long = "type", value_name = "COLUMN=TYPE", conflicts_with = "schema")]
    pub(crate) types: Vec<Setting<String>>,
    /// Read a column of JSON lines as VARIANT, and shred it: none, auto, or into a type as in a schema
    /// [default: none]
    #[arg(
        long = "variant",
        value_name = "COLUMN[=none|auto|TYPE]",
        conflicts_with = "schema"
    )]
    pub(crate) variants: Vec<VariantColumn>,
    #[command(flatten)]
    pub(crate) csv: Csv,
    #[command(flatten)]
    pub(crate) csv_input: CsvInput,
    #[command(flatten)]
    pub(crate) damage: Damage,
    #[command(flatten)]
    pub(crate) merge: Merge,
    #[command(flatten)]
    pub(crate) choice: Choice,
    #[command(flatten)]
    pub(crate) decode: Decode,
    #[command(flatten)]
    pub(crate) write: Write,
}

/// A column of variants, with its shredding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct VariantColumn {
    pub(crate) name: String,
    /// The shredding: `none`, `auto` or a type.
    pub(crate) shredding: String,
}

impl FromStr for VariantColumn {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        // No type contains an equals sign, but the name of a column may.
        let (name, shredding) = text.rsplit_once('=').unwrap_or((text, "none"));
        match name.is_empty() || shredding.is_empty() {
            true => Err("expected COLUMN, COLUMN=auto or COLUMN=TYPE".into()),
            false => Ok(Self {
                name: name.to_owned(),
                shredding: shredding.to_owned(),
            }),
        }
    }
}
