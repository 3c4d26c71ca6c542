//! `split` writes rows to several files.

use std::path::PathBuf;

use clap::{ArgGroup, Args};

use super::{Columns, Destination, Files, Json, Merge, OtherFiles, Rewriting, Size};
use crate::base::failure::{Failure, Result};

/// The options of `split`.
#[derive(Debug, Args)]
#[command(
    override_usage = "herringbone split <FILE>... -o <PATTERN> <--part-rows N|--part-bytes SIZE|--by COLUMNS>"
)]
#[command(group(ArgGroup::new("rule").required(true).args(["part_rows", "part_bytes", "by"])))]
pub(crate) struct Split {
    #[command(flatten)]
    pub(crate) files: Files,
    /// The files to write, with {} in place of the number of each, or {COLUMN} in place of its value in this column
    #[arg(short, long, value_name = "PATTERN")]
    pub(crate) output: PathBuf,
    /// Replace existing files
    #[arg(short, long)]
    pub(crate) force: bool,
    /// Maximum number of rows per file
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    part_rows: Option<u64>,
    /// Approximate size of each file, as long as the values of all of them are alike
    #[arg(long, value_name = "SIZE")]
    part_bytes: Option<Size>,
    /// One file per value of this column, or per combination of values of several, as in `city,year`
    #[arg(long, value_name = "COLUMNS")]
    by: Option<Columns>,
    /// Allow --by to write the values of an encrypted column into the names of files, in plaintext
    #[arg(long, requires = "by")]
    pub(crate) plaintext_names: bool,
    #[command(flatten)]
    pub(crate) json: Json,
    #[command(flatten)]
    pub(crate) merge: Merge,
    #[command(flatten)]
    pub(crate) rewriting: Rewriting,
    #[command(flatten)]
    pub(crate) other_files: OtherFiles,
}

/// The rule by which rows are split into parts.
#[derive(Debug, Clone)]
pub(crate) enum SplitBy {
    /// The maximum number of rows per part.
    Rows(u64),
    /// The approximate size of a part, in bytes.
    Bytes(usize),
    /// The values of columns.
    Columns(Vec<String>),
}

impl Split {
    /// Returns the destination for a part at this path.
    pub(crate) fn destination(&self, path: PathBuf) -> Destination {
        Destination {
            path,
            force: self.force,
        }
    }

    /// Returns the rule that the user asks for.
    ///
    /// # Errors
    /// Usage if a column is named twice, or is inside another one.
    pub(crate) fn by(&self) -> Result<SplitBy> {
        if let Some(rows) = self.part_rows {
            return Ok(SplitBy::Rows(rows));
        }
        if let Some(size) = self.part_bytes {
            return Ok(SplitBy::Bytes(size.0));
        }
        let paths = self.by.as_ref().map_or(&[][..], |columns| &columns.paths);
        let mut names: Vec<String> = Vec::new();
        for path in paths {
            match path.as_slice() {
                [name] if names.contains(name) => {
                    return Err(Failure::Usage(format!(
                        "--by names the column `{name}` twice"
                    )));
                }
                [name] => names.push(name.clone()),
                parts => {
                    return Err(Failure::Usage(format!(
                        "--by: `{0}` is inside a column; give it a name in the output, as in -c '*, name={0}' --by name",
                        parts.join(".")
                    )));
                }
            }
        }
        Ok(SplitBy::Columns(names))
    }
}
