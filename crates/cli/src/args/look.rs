//! The options of commands that look into files without writing Parquet.

use std::path::PathBuf;

use clap::{Args, Subcommand, ValueEnum};
use herringbone::Projection;

use crate::base::failure::{Failure, Result};

use super::selection::unchanged;
use super::{
    Columns, Destination, Files, FooterChoice, Json, ListFormatChoice, Merge, OtherFiles, Part,
    RowGroups, Sampling, Selection, Wanted, help,
};

/// The options of `browse`.
#[derive(Debug, Args)]
pub(crate) struct Browse {
    /// A file of any format, or a directory or pattern
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) other_files: OtherFiles,
}

/// The options of `count`.
#[derive(Debug, Args)]
pub(crate) struct Count {
    #[command(flatten)]
    pub(crate) files: Files,
    #[command(flatten)]
    pub(crate) wanted: Wanted,
    #[command(flatten)]
    pub(crate) footers: FooterChoice,
    #[command(flatten)]
    pub(crate) merge: Merge,
    /// Row groups of each file, counted from 0, e.g. `0,2-4`
    #[arg(long, value_name = "LIST")]
    pub(crate) row_groups: Option<RowGroups>,
    /// Print which rows statistics, bloom filters, dictionaries and page indexes rule out, instead of reading rows
    #[arg(long)]
    pub(crate) explain: bool,
    #[command(flatten)]
    pub(crate) json: Json,
    #[command(flatten)]
    pub(crate) other_files: OtherFiles,
}

/// The level of findings at which `report` ends with an exit code for scripts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Level {
    /// Findings of rules, and warnings and errors of `verify`.
    Warning,
    /// Errors of `verify`.
    Error,
}

/// The options of `report`.
#[derive(Debug, Args)]
pub(crate) struct Report {
    /// A Parquet file, a directory or a pattern; `-` is standard input, which is read into memory
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The page to write; `-` is standard output
    #[arg(value_name = "OUT", required_unless_present_any = ["json", "output", "fail_on"])]
    out: Option<PathBuf>,
    /// Another way to name OUT
    #[arg(short, long, value_name = "OUT", conflicts_with = "out")]
    output: Option<PathBuf>,
    /// Replace OUT if it is there
    #[arg(short, long)]
    force: bool,
    /// Print the findings as JSON lines. Without -o, no page is written
    #[arg(long, alias = "jsonl")]
    pub(crate) json: bool,
    /// End with 1 if a rule or `verify` finds something (`warning`), or if `verify` finds an error (`error`)
    #[arg(long, value_name = "LEVEL")]
    pub(crate) fail_on: Option<Level>,
    /// Leave values of the file out: bounds, and values in the findings of `verify`
    #[arg(long)]
    pub(crate) no_values: bool,
    /// Allow the page to contain values of encrypted columns, in plaintext
    #[arg(long, conflicts_with = "no_values")]
    pub(crate) plaintext_values: bool,
}

impl Report {
    /// Returns the paths of all files. They are mutable so that we can replace `file` URLs with
    /// paths.
    pub(super) fn paths(&mut self) -> impl Iterator<Item = &mut PathBuf> {
        let ends = [&mut self.out, &mut self.output].into_iter().flatten();
        ends.chain([&mut self.file])
    }

    /// Returns the page to write, if the user names one.
    pub(crate) fn destination(&self) -> Option<Destination> {
        let path = self.out.as_ref().or(self.output.as_ref());
        path.map(|path| Destination {
            path: path.clone(),
            force: self.force,
        })
    }
}

/// The options of `stats`.
#[derive(Debug, Args)]
pub(crate) struct Stats {
    #[command(flatten)]
    pub(crate) files: Files,
    /// One line per column, or one per row group and column
    #[arg(long, value_enum, default_value_t = StatsBy::Column)]
    pub(crate) by: StatsBy,
    /// Columns and fields inside them, e.g. `id,address.city`, or `!tip` to leave one out; see below
    #[arg(short, long, value_name = "LIST", value_parser = unchanged)]
    pub(crate) columns: Option<Selection>,
    /// Row groups of each file, counted from 0, e.g. `0,2-4`
    #[arg(long, value_name = "LIST")]
    pub(crate) row_groups: Option<RowGroups>,
    #[command(flatten)]
    pub(crate) wanted: Wanted,
    #[command(flatten)]
    pub(crate) footers: FooterChoice,
    #[command(flatten)]
    pub(crate) merge: Merge,
    #[command(flatten)]
    pub(crate) part: Part,
    #[command(flatten)]
    pub(crate) sampling: Sampling,
    /// Read no values: footers have counts and bounds, but no numbers of different values and no means
    #[arg(long)]
    pub(crate) fast: bool,
    #[command(flatten)]
    pub(crate) format: ListFormatChoice,
    #[command(flatten)]
    pub(crate) other_files: OtherFiles,
}

impl Stats {
    /// Returns true if some rows might be left out for a reason other than `--row-groups`, which
    /// only leaves out whole row groups.
    pub(crate) fn leaves_out_rows(&self) -> bool {
        self.wanted.is_given() || self.part.is_given() || self.sampling.sample.is_some()
    }
}

/// The lines of `stats`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum StatsBy {
    /// A summary of the values of each column
    Column,
    /// Bounds and counts of each column chunk, from the footer alone
    RowGroup,
}

/// The options of `freq`.
#[derive(Debug, Args)]
pub(crate) struct Freq {
    /// The columns, unless -c names them, and files, directories and patterns; `-` is standard input, which a pipe needs no
    /// name for
    #[arg(value_name = "[COLUMNS] FILE")]
    words: Vec<PathBuf>,
    /// Columns and fields inside them, e.g. `city,address.zip`
    #[arg(short, long, value_name = "LIST")]
    columns: Option<Columns>,
    /// Count the combinations of the columns' values
    #[arg(long)]
    pub(crate) together: bool,
    #[command(flatten)]
    pub(crate) wanted: Wanted,
    #[command(flatten)]
    pub(crate) footers: FooterChoice,
    #[command(flatten)]
    pub(crate) merge: Merge,
    #[command(flatten)]
    pub(crate) sampling: Sampling,
    /// Row groups of each file, counted from 0, e.g. `0,2-4`
    #[arg(long, value_name = "LIST")]
    pub(crate) row_groups: Option<RowGroups>,
    /// The N most frequent values of each column
    #[arg(long, value_name = "N", default_value_t = 20)]
    pub(crate) top: usize,
    #[command(flatten)]
    pub(crate) format: ListFormatChoice,
    #[command(flatten)]
    pub(crate) other_files: OtherFiles,
}

impl Freq {
    /// Returns the words and the index of the first file. The index is one if the first word names
    /// the columns.
    pub(super) fn words(&mut self) -> (&mut Vec<PathBuf>, usize) {
        let others = usize::from(self.columns.is_none());
        (&mut self.words, others)
    }

    /// Returns the paths of the files and of the schema file.
    pub(super) fn paths(&mut self) -> (&mut [PathBuf], &mut Option<PathBuf>) {
        let at = usize::from(self.columns.is_none());
        let files = self.words.get_mut(at..).unwrap_or_default();
        (files, self.other_files.schema())
    }

    /// Returns the columns and the files.
    ///
    /// # Errors
    /// Fails with [`Failure::Usage`] if one of them is missing or wrong.
    pub(crate) fn columns_and_files(&self) -> Result<(Columns, &[PathBuf])> {
        if let Some(columns) = &self.columns {
            return Ok((columns.clone(), &self.words));
        }
        let first = self
            .words
            .first()
            .map_or_else(Default::default, |word| word.to_string_lossy());
        let advice =
            format!("name the columns with -c, as in `herringbone freq -c COLUMNS {first}`");
        let files = self.words.get(1..).unwrap_or_default();
        let is_file = self.words.first().is_some_and(|word| word.is_file());
        if files.is_empty() || (is_file && !files.iter().any(|file| file.exists())) {
            return Err(Failure::Usage(format!(
                "`freq` needs columns and files; {advice}"
            )));
        }
        let columns = first.parse().map_err(|error| {
            Failure::Usage(format!("invalid columns `{first}`: {error}; {advice}"))
        })?;
        Ok((columns, files))
    }
}

/// The subcommands of `bloom`.
#[derive(Debug, Subcommand)]
pub(crate) enum Bloom {
    /// Look up a value in the bloom filters, by row group
    #[command(after_help = help::BLOOM_CHECK)]
    Check(BloomCheck),
}

/// The options of `bloom check`.
#[derive(Debug, Args)]
pub(crate) struct BloomCheck {
    /// A Parquet file; `-` is standard input, which is read into memory
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// The column, unless -c names it
    #[arg(value_name = "COLUMN", allow_hyphen_values = true)]
    column_or_value: String,
    /// The value, as `cat --format csv` prints it
    #[arg(value_name = "VALUE", allow_hyphen_values = true)]
    value: Option<String>,
    /// The column, e.g. `address.city`
    #[arg(short, long, value_name = "COLUMN")]
    columns: Option<Columns>,
    /// Row groups, counted from 0, e.g. `0,2-4`
    #[arg(long, value_name = "LIST")]
    pub(crate) row_groups: Option<RowGroups>,
    #[command(flatten)]
    pub(crate) format: ListFormatChoice,
}

impl BloomCheck {
    /// Returns the column and the value to look up in its bloom filters.
    ///
    /// # Errors
    /// Fails with [`Failure::Usage`] if one of them is missing or wrong.
    pub(crate) fn column_and_value(&self) -> Result<(Columns, &str)> {
        match (&self.columns, &self.value) {
            (Some(columns), None) => Ok((columns.clone(), &self.column_or_value)),
            (None, Some(value)) => {
                let column = &self.column_or_value;
                let columns = column.parse();
                let columns =
                    columns.map_err(|error| Failure::Usage(format!("invalid column `{column}`: {error}")))?;
                Ok((columns, value))
            }
            (Some(_), Some(value)) => Err(Failure::Usage(format!(
                "-c names the column, so one value follows the file, but `{}` and `{value}` do",
                self.column_or_value
            ))),
            (None, None) => Err(Failure::Usage(
                "`bloom check` needs a column and a value, as in `herringbone bloom check -c id FILE 4711`".into(),
            )),
        }
    }
}

/// The selection of column chunks.
#[derive(Debug, Args)]
pub(crate) struct Chunks {
    /// Columns and fields inside them, e.g. `id,address.city`; see below
    #[arg(short, long, value_name = "LIST")]
    pub(crate) columns: Option<Columns>,
    /// Row groups, counted from 0, e.g. `0,2-4`
    #[arg(long, value_name = "LIST")]
    pub(crate) row_groups: Option<RowGroups>,
}

impl Chunks {
    /// Returns the projection to the selected columns.
    pub(crate) fn projection(&self) -> Projection {
        Columns::projection(self.columns.as_ref())
    }
}
