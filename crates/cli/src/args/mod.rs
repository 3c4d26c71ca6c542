//! The command line: its commands and options, and the values that they take.

mod bounding_box;
mod choice;
mod columns;
mod command;
mod condition;
mod convert;
mod csv;
mod damage;
mod decode;
mod diff;
mod file_format;
mod help;
mod limit;
mod lists;
mod look;
mod memory;
mod merge;
mod named;
mod read;
mod repair;
mod rewrite;
mod operand;
mod row_groups;
mod selection;
mod setting;
mod short_forms;
mod sort;
mod split;
mod synonyms;
mod text_input;
mod topics;
mod variants;
mod wanted;
mod write;

use std::ffi::OsString;
use std::iter;
use std::path::PathBuf;

use clap::{Args, Parser, Subcommand};
use clap_complete::Shell;

use crate::input::folder::Footers;

pub(crate) use choice::{Choice, Part, Sampling};
pub(crate) use columns::Columns;
pub(crate) use command::{command, parse};
#[cfg(feature = "browse")]
pub(crate) use condition::Condition;
pub(crate) use condition::of_text as condition_of_text;
pub(crate) use convert::{Convert, VariantColumn};
pub(crate) use csv::{Csv, CsvInput, CsvShape};
pub(crate) use damage::Damage;
pub(crate) use decode::Decode;
pub(crate) use diff::Diff;
pub(crate) use file_format::FileFormat;
pub(crate) use herringbone_text::size::Size;
pub(crate) use limit::LimitChange;
pub(crate) use lists::{Json, ListFormat, ListFormatChoice, SchemaFormat};
pub(crate) use look::{
    Bloom, BloomCheck, Browse, Chunks, Count, Freq, Level, Report, Stats, StatsBy,
};
pub(crate) use merge::{CopyChunks, Merge};
pub(crate) use operand::type_of;
pub(crate) use read::{Read, RowFormat};
pub(crate) use repair::Repair;
pub(crate) use rewrite::{Concat, Encrypt, Rewrite, Rewriting};
pub(crate) use row_groups::{RowGroups, chosen};
pub(crate) use selection::{Selection, Taken, fields_of};
pub(crate) use setting::Setting;
pub(crate) use short_forms::written_out;
pub(crate) use sort::{Sort, SortKeys};
pub(crate) use split::{Split, SplitBy};
pub(crate) use text_input::{OtherFiles, TextInput};
pub(crate) use topics::TOPICS;
pub(crate) use variants::Variants;
pub(crate) use wanted::Wanted;
pub(crate) use write::{Destination, OutputArgument, OutputOption, Write};

/// Inspect, search, convert, check and repair Apache Parquet files.
#[derive(Debug, Parser)]
#[command(
    name = "herringbone",
    version,
    max_term_width = 100,
    arg_required_else_help = true,
    disable_help_subcommand = true
)]
#[command(after_help = help::COMMAND)]
pub(crate) struct Arguments {
    /// The command
    #[command(subcommand)]
    pub(crate) command: Command,
    /// Hide progress and notes (errors and lost columns are still shown)
    #[arg(short, long, global = true, display_order = 900)]
    pub(crate) quiet: bool,
    /// Raise or lower a limit, e.g. `--max page_bytes=4294967296`; errors name the limit
    #[arg(long, value_name = "LIMIT=N", global = true, display_order = 901)]
    pub(crate) max: Vec<LimitChange>,
    /// Keys of encrypted files, as JSON; `-` is standard input [default: the file that
    /// HERRINGBONE_KEYS names]; see `herringbone help keys`
    #[arg(long, value_name = "FILE", global = true, display_order = 902)]
    pub(crate) keys: Option<PathBuf>,
}

impl Arguments {
    /// Returns the command's list of files, if it has one, and the number of words before the
    /// files.
    pub(super) fn files(&mut self) -> Option<(&mut Vec<PathBuf>, usize)> {
        let files = match &mut self.command {
            Command::Info { files, .. }
            | Command::Meta { files, .. }
            | Command::Verify { files, .. }
            | Command::Pages { files, .. }
            | Command::Schema { files, .. }
            | Command::Head { files, .. }
            | Command::Tail { files, .. }
            | Command::Sample { files, .. }
            | Command::Show { files, .. }
            | Command::Cat { files, .. } => &mut files.files,
            Command::Count(command) => &mut command.files.files,
            Command::Stats(command) => &mut command.files.files,
            Command::Concat(command) => &mut command.files.files,
            Command::Split(command) => &mut command.files.files,
            Command::Freq(command) => return Some(command.words()),
            _ => return None,
        };
        Some((files, 0))
    }

    /// Returns the paths of all files. They are mutable so that we can replace `file` URLs with
    /// paths.
    pub(crate) fn paths(&mut self) -> Vec<&mut PathBuf> {
        let mut paths: Vec<&mut PathBuf> = match &mut self.command {
            Command::Info { files, .. }
            | Command::Meta { files, .. }
            | Command::Verify { files, .. }
            | Command::Pages { files, .. } => files.files.iter_mut().collect(),
            Command::Schema {
                files, other_files, ..
            } => with(&mut files.files, other_files.schema()),
            Command::Head { files, read }
            | Command::Tail { files, read }
            | Command::Sample { files, read }
            | Command::Show { files, read }
            | Command::Cat { files, read } => with(&mut files.files, &mut read.text.schema),
            Command::Count(command) => with(&mut command.files.files, command.other_files.schema()),
            Command::Stats(command) => with(&mut command.files.files, command.other_files.schema()),
            Command::Freq(command) => {
                let (files, schema) = command.paths();
                with(files, schema)
            }
            Command::Browse(command) => {
                let schema = command.other_files.schema();
                iter::once(&mut command.file).chain(schema).collect()
            }
            Command::Help { .. }
            | Command::Completions { .. }
            | Command::Man { .. }
            | Command::Sql { .. } => Vec::new(),
            Command::Bloom {
                command: Bloom::Check(check),
            } => vec![&mut check.file],
            Command::Diff(command) => with(&mut command.files, command.other_files.schema()),
            Command::Report(command) => command.paths().collect(),
            Command::Rewrite(command) => {
                let ends = command.output.paths().chain([&mut command.input]);
                ends.chain(command.other_files.schema()).collect()
            }
            Command::Concat(command) => {
                let mut paths = with(&mut command.files.files, command.other_files.schema());
                paths.push(command.output.path());
                paths
            }
            Command::Split(command) => {
                let mut paths = with(&mut command.files.files, command.other_files.schema());
                paths.push(&mut command.output);
                paths
            }
            Command::Repair(command) => {
                let ends = command.output.paths().chain([&mut command.input]);
                ends.chain(&mut command.schema).collect()
            }
            Command::Encrypt(command) | Command::Decrypt(command) => {
                command.output.paths().chain([&mut command.input]).collect()
            }
            Command::Convert(command) => command.paths().collect(),
        };
        paths.extend(&mut self.keys);
        paths
    }
}

/// Returns the paths of files and of a schema file.
fn with<'a>(files: &'a mut [PathBuf], schema: &'a mut Option<PathBuf>) -> Vec<&'a mut PathBuf> {
    files.iter_mut().chain(schema).collect()
}

/// The files of a command.
#[derive(Debug, Args)]
pub(crate) struct Files {
    /// Files, directories and patterns; `-` is standard input, which a pipe needs no name for
    #[arg(value_name = "FILE")]
    pub(crate) files: Vec<PathBuf>,
}

/// The choice of the footers of a directory's files.
#[derive(Debug, Args)]
pub(crate) struct FooterChoice {
    /// Trust the footers in the `_metadata` file of a directory, and compare them only with those of files whose rows are
    /// read
    #[arg(long)]
    use_metadata_file: bool,
}

impl FooterChoice {
    /// Returns the source of footers for reading rows.
    pub(crate) fn get(&self) -> Footers {
        match self.use_metadata_file {
            true => Footers::Shared,
            false => Footers::Own,
        }
    }
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Summarise a file: rows, row groups, and size, codec and encodings by column
    #[command(after_help = help::INFO, alias = "inspect")]
    Info {
        #[command(flatten)]
        files: Files,
        #[command(flatten)]
        json: Json,
    },
    /// Print the schema
    #[command(after_help = help::SCHEMA)]
    Schema {
        #[command(flatten)]
        files: Files,
        /// Notation: `parquet` (as stored), `arrow` (as read) or `json`
        #[arg(long, value_enum, default_value_t = SchemaFormat::Parquet)]
        format: SchemaFormat,
        #[command(flatten)]
        json: Json,
        #[command(flatten)]
        other_files: OtherFiles,
    },
    /// Compare the schemas, storage and rows of two files, or the schemas of several
    #[command(after_help = help::DIFF, aliases = ["compare", "cmp"])]
    Diff(Diff),
    /// Print the number of rows
    #[command(after_help = help::COUNT, alias = "rowcount")]
    Count(Count),
    /// Print the first rows: 10 of them, unless -n or `-5` is another number
    #[command(after_help = help::HEAD)]
    Head {
        #[command(flatten)]
        files: Files,
        #[command(flatten)]
        read: Read,
    },
    /// Print the last rows: 10 of them, unless -n or `-5` is another number
    #[command(after_help = help::TAIL)]
    Tail {
        #[command(flatten)]
        files: Files,
        #[command(flatten)]
        read: Read,
    },
    /// Print rows at random: 10 of them, unless -n or `-5` is another number
    #[command(after_help = help::SAMPLE)]
    Sample {
        #[command(flatten)]
        files: Files,
        #[command(flatten)]
        read: Read,
    },
    /// Print a summary and the first rows; `herringbone FILE` is short for it
    #[command(after_help = help::SHOW)]
    Show {
        #[command(flatten)]
        files: Files,
        #[command(flatten)]
        read: Read,
    },
    /// Look at rows, schema, statistics and pages in the terminal
    #[command(after_help = help::BROWSE, alias = "view")]
    Browse(Browse),
    /// Print rows, as a table, CSV, JSON, GeoJSON, Markdown or Arrow
    #[command(after_help = help::CAT)]
    Cat {
        #[command(flatten)]
        files: Files,
        #[command(flatten)]
        read: Read,
    },
    /// Print all metadata as JSON
    #[command(after_help = help::META)]
    Meta {
        #[command(flatten)]
        files: Files,
        /// Add the column index, offset index and bloom filter header of each column chunk
        #[arg(long)]
        indexes: bool,
        /// Indent the output, even if it is not a terminal
        #[arg(long)]
        pretty: bool,
        /// The output is always JSON
        #[arg(long, hide = true)]
        json: bool,
    },
    /// Check all metadata of a file against its data
    #[command(after_help = help::VERIFY, aliases = ["check", "validate", "fsck"])]
    Verify {
        #[command(flatten)]
        files: Files,
        /// Print JSON lines, one object per finding
        #[arg(long)]
        json: bool,
        /// Number of decoding threads; 0 means one per core
        #[arg(long, value_name = "N", default_value_t = 0)]
        threads: usize,
    },
    /// List the pages of each column chunk
    #[command(after_help = help::PAGES)]
    Pages {
        #[command(flatten)]
        files: Files,
        #[command(flatten)]
        chunks: Chunks,
        /// List the rows, bounds and nulls of each page, from the page indexes alone
        #[arg(long)]
        bounds: bool,
        #[command(flatten)]
        format: ListFormatChoice,
    },
    /// Summarise the values of each column: nulls, different values, bounds and means
    #[command(after_help = help::STATS, aliases = ["describe", "summary", "summarize"])]
    Stats(Stats),
    /// Count the most frequent values of columns
    #[command(after_help = help::FREQ)]
    Freq(Freq),
    /// Write an HTML page about a file: findings, sizes, columns and pages
    #[command(after_help = help::REPORT)]
    Report(Report),
    /// Query the bloom filters of a file
    Bloom {
        /// The query
        #[command(subcommand)]
        command: Bloom,
    },
    /// Rewrite a Parquet file with another codec, encodings, rows, columns or order
    #[command(after_help = help::REWRITE)]
    Rewrite(Rewrite),
    /// Write the rows of several Parquet files to one
    #[command(after_help = help::CONCAT, alias = "merge")]
    Concat(Concat),
    /// Write the rows of files to several others, by number, size or value
    #[command(after_help = help::SPLIT)]
    Split(Split),
    /// Recover the readable parts of a damaged file, even without its footer, to a new file
    #[command(after_help = help::REPAIR)]
    Repair(Repair),
    /// Encrypt a Parquet file; the help explains files of keys
    #[command(after_help = help::ENCRYPT)]
    Encrypt(Encrypt),
    /// Decrypt a Parquet file
    #[command(after_help = help::DECRYPT)]
    Decrypt(Encrypt),
    /// Convert CSV, JSON, GeoJSON or Arrow to Parquet, or Parquet to these
    #[command(after_help = help::CONVERT, aliases = ["copy", "cp"])]
    Convert(Convert),
    /// Run an SQL query with the program `herringbone-sql`
    #[command(after_help = help::SQL)]
    Sql {
        /// The arguments of `herringbone-sql`
        #[arg(
            value_name = "ARGUMENT",
            trailing_var_arg = true,
            allow_hyphen_values = true
        )]
        arguments: Vec<OsString>,
    },
    /// Explain a command or a topic
    #[command(after_help = help::HELP)]
    Help {
        /// A command, or where, columns, types, csv, values, keys or exit-codes
        #[arg(value_name = "COMMAND|TOPIC")]
        words: Vec<String>,
    },
    /// Print the completions of a shell
    #[command(after_help = help::COMPLETIONS)]
    Completions {
        /// The shell
        #[arg(value_enum)]
        shell: Shell,
    },
    /// Print the manual page of this program, or of one of its commands
    #[command(after_help = help::MAN)]
    Man {
        /// The command
        #[arg(value_name = "COMMAND")]
        words: Vec<String>,
    },
}

impl Command {
    /// Returns the command's option to skip checksum verification, if it has one.
    pub(crate) fn ignores_checksums(&self) -> Option<&'static str> {
        let ignores = matches!(
            self,
            Self::Head { .. }
                | Self::Tail { .. }
                | Self::Sample { .. }
                | Self::Show { .. }
                | Self::Cat { .. }
                | Self::Rewrite(_)
                | Self::Concat(_)
                | Self::Split(_)
                | Self::Repair(_)
                | Self::Convert(_)
                | Self::Encrypt(_)
                | Self::Decrypt(_)
        );
        ignores.then_some("--ignore-crc")
    }
}

fn at_least_one(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) => Err("must be at least 1".into()),
        Ok(number) => Ok(number),
        Err(_) => Err("expected a whole number of at least 1, such as 10".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        command().debug_assert();
    }

    /// The wrapping width of help pages, the same as `max_term_width` of [`Arguments`].
    const TERMINAL: usize = 100;
    /// The maximum width of lines that we wrap by hand, so that clap does not wrap them again.
    const BY_HAND: usize = 96;

    /// Checks the help page of a command, and the pages of its subcommands.
    fn check_help(command: &mut clap::Command) {
        let name = command.get_name().to_owned();
        let after = command
            .get_after_long_help()
            .or(command.get_after_help())
            .map(ToString::to_string)
            .unwrap_or_default();
        for line in after.lines() {
            assert!(line.chars().count() <= BY_HAND, "{name}: {line}");
        }
        let page = command.render_long_help().to_string();
        for line in page.lines() {
            assert!(line.chars().count() <= TERMINAL, "{name}: {line}");
        }
        // Clap must print the text at the end verbatim.
        assert!(page.trim_end().ends_with(after.trim_end()), "{name}");
        let subcommands = command.get_subcommands_mut();
        for subcommand in subcommands.filter(|subcommand| subcommand.get_name() != "help") {
            check_help(subcommand);
        }
    }

    #[test]
    fn help_pages_are_wrapped_once() {
        let mut command = command().term_width(TERMINAL);
        command.build();
        check_help(&mut command);
        for (name, text) in TOPICS {
            for line in text.lines() {
                assert!(line.chars().count() <= BY_HAND, "{name}: {line}");
            }
        }
    }

    #[test]
    fn wrong_command_lines_are_refused() {
        for line in [
            "cat",
            "cat f --format xml",
            "cat f --batch-size 0",
            "cat f --on-error ignore",
            "repair f g --on-error skip",
            "cat f --limit -1",
            "cat f --row-groups 2-",
            "cat f --columns a..b",
            "count f --max nonsense=1",
            "frobnicate f",
            "rewrite f",
            "encrypt f",
            "decrypt f",
            "rewrite f g --compression lzo",
            "rewrite f g --encoding delta",
            "rewrite f g --dictionary a=maybe",
            "rewrite f g --page-version 3",
            "rewrite f g --row-group-rows 0",
            "rewrite f g --bloom-filter-fpp 1",
            "concat f g",
            "rewrite f g --sort-by a,,b",
            "convert f.csv g.parquet --delimiter ab",
            "convert f.csv g.parquet --from xml",
            "convert f.csv g.parquet --null \"\"",
            "cat f --format csv --null a\"b",
        ] {
            let words = std::iter::once("herringbone").chain(line.split(' '));
            let words = words.map(OsString::from).collect();
            let error = parse(words, false).unwrap_err();
            assert_eq!(error.exit_code(), 2, "{line}");
        }
    }
}
