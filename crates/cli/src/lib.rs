//! The `herringbone` command, which inspects Parquet files and converts them to other formats.
//!
//! ```text
//! args ─► commands ─► input ─► the library ─► render / describe ─► output
//! ```
//!
//! The command itself is `bin/herringbone.rs`, which only calls [`main`]. The rest is a library, so
//! that hosts in other languages can use it through [`main_of`], [`condition`], [`column_paths`],
//! [`sorting_columns`], [`variant_type`], [`report`] and [`json`].
//!
//! `args` is the command line, and `base` has what all rooms need: failures with their exit codes,
//! file names, and text that is harmless on a terminal. `input` opens the files that the command
//! line names. `rows` chooses and arranges rows, `render` prints them, and `save` writes files.
//! `describe` prints metadata, `profile` summarises columns, and `report` writes HTML pages.
//! `browse` is the viewer in a terminal. Three rules keep errors from getting lost: every write to
//! standard output goes through `output::Output`, every output file is a `save::target::Target`
//! until it is complete, and every early end is a `base::failure::Failure`.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

mod args;
mod base;
#[cfg(feature = "browse")]
mod browse;
mod commands;
mod describe;
mod encryption;
mod input;
pub mod json;
mod output;
mod profile;
#[cfg(feature = "remote")]
mod remote;
mod render;
mod report;
mod rows;
mod save;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::{ContextKind, ContextValue, ErrorKind};
use herringbone::filter::Predicate;
use herringbone::variant::PrimitiveType;
use herringbone::{Limits, ParquetFile, SortingColumnOption};
use herringbone_interchange::shortened;

use args::{Arguments, Columns, Command, SortKeys, condition_of_text, parse, written_out};
use base::failure::Failure;
use encryption::Keys;
use input::context::{Context, complain};
use output::Output;
use report::{Facts, Findings};

/// Runs this process's command line.
pub fn main() -> ExitCode {
    ExitCode::from(main_of(std::env::args_os()))
}

/// Runs a command line, and returns its exit code. The first argument is the program's name.
pub fn main_of(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let words: Vec<OsString> = arguments.into_iter().collect();
    let result = match (words.get(1), words.get(2..)) {
        // Don't parse any options here, since they belong to the other program.
        (Some(first), Some(rest)) if first == "sql" => match commands::sql::run(rest) {
            // If the program is missing, our own help page for `sql` explains how to get it.
            Err(Failure::Usage(_)) if is_help(rest) => parse(
                vec!["herringbone".into(), "help".into(), "sql".into()],
                false,
            )
            .map_err(|error| Failure::Usage(error.to_string()))
            .and_then(|arguments| run(&arguments)),
            other => other,
        },
        _ => match parse(written_out(words), input::is_piped()) {
            Ok(mut arguments) => resolve_urls(&mut arguments).and_then(|()| run(&arguments)),
            Err(error) => return explain(error),
        },
    };
    match result {
        Ok(()) => Failure::SUCCESS,
        Err(failure) => {
            if !matches!(failure, Failure::ClosedPipe | Failure::Told(_)) {
                complain(&failure.to_string());
            }
            failure.code()
        }
    }
}

/// Returns true if the arguments ask for help and nothing else.
fn is_help(arguments: &[OsString]) -> bool {
    matches!(arguments, [only] if only == "-h" || only == "--help")
}

/// Replaces `file` URLs by paths.
///
/// # Errors
/// See [`input::urls::resolve`].
fn resolve_urls(arguments: &mut Arguments) -> base::failure::Result<()> {
    arguments
        .paths()
        .into_iter()
        .try_for_each(input::urls::resolve)
}

/// Returns the predicate for a condition in SQL, in the grammar of `--where`.
///
/// ```
/// let filter = herringbone_cli::condition("a > 5 and b like 'x%'")?;
/// assert_eq!(filter.to_string(), "(a > 5 and b like 'x%')");
/// # Ok::<(), String>(())
/// ```
///
/// # Errors
/// Fails with the command's message if the text is not a condition.
pub fn condition(text: &str) -> Result<Predicate, String> {
    condition_of_text(text)?.predicate(false, None)
}

/// Returns the paths of columns, in the grammar of `--columns`.
///
/// ```
/// let paths = herringbone_cli::column_paths(r#"a.b,"c.d""#)?;
/// assert_eq!(paths, [vec!["a", "b"], vec!["c.d"]]);
/// # Ok::<(), String>(())
/// ```
///
/// # Errors
/// Fails with the command's message if a name is empty or a quote stays open.
pub fn column_paths(text: &str) -> Result<Vec<Vec<String>>, String> {
    Ok(text.parse::<Columns>()?.paths)
}

/// Returns the columns to sort by, in the grammar of `--sort-by`.
///
/// ```
/// let columns = herringbone_cli::sorting_columns("a,b.c:desc:nulls-first")?;
/// assert!(columns[1].descending && columns[1].nulls_first);
/// # Ok::<(), String>(())
/// ```
///
/// # Errors
/// Fails with the command's message if a name is empty or a quote stays open.
pub fn sorting_columns(text: &str) -> Result<Vec<SortingColumnOption>, String> {
    Ok(text.parse::<SortKeys>()?.0)
}

/// Returns a type by its name in `variant_get`, as used in `--where`.
///
/// # Errors
/// Fails with the command's message if the type is unknown.
pub fn variant_type(name: &str) -> Result<PrimitiveType, String> {
    args::type_of(name)
}

/// Returns the type of a column's values by its name in SQL.
pub fn column_type(file: &ParquetFile, leaf: usize) -> String {
    report::sql_type(file, leaf)
}

/// Returns the report about a file, which `name` names in its commands. Without `verifies`, it
/// reads metadata and page indexes alone.
///
/// # Errors
/// Fails if the metadata cannot be used, and returns errors of the source.
pub fn report(name: &str, file: &ParquetFile, verifies: bool) -> herringbone::Result<FileReport> {
    let mut facts = Facts::of_metadata(name, file, false)?;
    if verifies {
        facts.verify(file, herringbone_inspect::verify(file).threads(1), |_| {})?;
    }
    let findings = report::findings(&facts);
    Ok(FileReport { facts, findings })
}

/// A report about a file, as the command `report` writes it.
pub struct FileReport {
    facts: Facts,
    findings: Findings,
}

impl FileReport {
    /// Returns the findings of the rules in `herringbone help report`.
    pub fn findings(&self) -> Vec<FileFinding> {
        let findings = self.findings.each.iter();
        let findings = findings.map(|finding| FileFinding {
            kind: finding.rule,
            message: finding.text.clone(),
            command: finding.command.clone(),
        });
        findings.collect()
    }

    /// Returns the report's page in HTML.
    pub fn page(&self) -> String {
        report::page(&self.facts, &self.findings)
    }
}

/// A remark of a report.
#[derive(Debug, Clone)]
pub struct FileFinding {
    /// The name of the rule.
    pub kind: &'static str,
    /// The remark as a sentence.
    pub message: String,
    /// The command that mends it, if there is one.
    pub command: Option<String>,
}

fn run(arguments: &Arguments) -> base::failure::Result<()> {
    let mut limits = Limits::default();
    for change in &arguments.max {
        change.apply(&mut limits);
    }
    let mut keys = Keys::load(arguments.keys.as_deref())?;
    if let (Command::Encrypt(_), Some(keys)) = (&arguments.command, &mut keys) {
        // A file to encrypt usually isn't encrypted yet, so we must not refuse it.
        keys.allow_plaintext();
    }
    let context = Context::new(
        arguments.quiet,
        limits,
        arguments.command.ignores_checksums(),
        keys,
    );
    let mut output = Output::stdout();
    let result = commands::run(&context, arguments, &mut output);
    // Rows written before an error are valid, so we flush them in any case.
    let flushed = output.flush();
    result.and(flushed).and_then(|()| context.end())
}

/// Prints clap's message. Help goes to standard output, and mistakes go to standard error.
fn explain(mut error: clap::Error) -> u8 {
    for kind in [
        ContextKind::InvalidArg,
        ContextKind::InvalidSubcommand,
        ContextKind::InvalidValue,
    ] {
        if let Some(ContextValue::String(text)) = error.get(kind) {
            let text = shortened(text);
            error.insert(kind, ContextValue::String(text));
        }
    }
    let printed = error.print();
    match (error.kind(), printed) {
        (ErrorKind::DisplayHelp | ErrorKind::DisplayVersion, Ok(())) => Failure::SUCCESS,
        (ErrorKind::DisplayHelp | ErrorKind::DisplayVersion, Err(error)) => {
            Failure::output(output::STDOUT, &error).code()
        }
        _ => Failure::USAGE,
    }
}
