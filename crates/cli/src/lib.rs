//! The `herringbone` command, which inspects Parquet files and converts them to other formats.
//!
//! ```text
//! args ─► commands ─► input ─► the library ─► render / describe ─► output
//! ```
//!
//! The command is `bin/herringbone.rs`, which calls [`main`]. [`import`] is for tests and fuzzing.
//!
//! `rows` chooses and arranges rows, `profile` summarises columns, and `report` writes HTML pages.
//! `render` prints values, `describe` prints metadata, `load` reads files of other formats, and `save` writes files.
//! Every write to standard output goes through `output::Output`. Every file is a `target::Target` until it is
//! complete. Every early end is a `failure::Failure` with its exit code.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]

mod advice;
mod args;
mod column_chunks;
mod commands;
mod context;
mod describe;
mod encryption;
mod failure;
#[doc(hidden)]
pub mod import;
mod input;
mod interrupt;
mod table_or_jsonl;
mod load;
mod output;
mod profile;
mod progress;
#[cfg(feature = "remote")]
mod remote;
mod render;
mod report;
mod rows;
mod carry_over;
mod explain_encodings;
mod save;
mod target;
mod url;

use std::process::ExitCode;

use clap::Parser as _;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use herringbone::Limits;

use args::{Arguments, Command, written_out};
use context::{Context, complain};
use encryption::Keys;
use failure::{Failure, shortened};
use output::Output;

/// Runs the command line.
pub fn main() -> ExitCode {
    let result = match Arguments::try_parse_from(written_out(std::env::args_os())) {
        Ok(mut arguments) => resolve_urls(&mut arguments).and_then(|()| run(&arguments)),
        Err(error) => return explain(error),
    };
    match result {
        Ok(()) => ExitCode::from(Failure::SUCCESS),
        Err(failure) => {
            if !matches!(failure, Failure::ClosedPipe | Failure::Told(_)) {
                complain(&failure.to_string());
            }
            ExitCode::from(failure.code())
        }
    }
}

/// Replaces `file` URLs by paths.
///
/// # Errors
/// See [`url::resolve`].
fn resolve_urls(arguments: &mut Arguments) -> failure::Result<()> {
    arguments.paths().into_iter().try_for_each(url::resolve)
}

fn run(arguments: &Arguments) -> failure::Result<()> {
    let mut limits = Limits::default();
    for change in &arguments.max {
        change.apply(&mut limits);
    }
    let mut keys = Keys::load(arguments.keys.as_deref())?;
    if let (Command::Encrypt(_), Some(keys)) = (&arguments.command, &mut keys) {
        // A file to be encrypted need not be encrypted already.
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
    // Rows written before an error are valid rows.
    let flushed = output.flush();
    result.and(flushed).and_then(|()| context.end())
}

/// Prints a message of clap: help on standard output, mistakes on standard error.
fn explain(mut error: clap::Error) -> ExitCode {
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
    ExitCode::from(match (error.kind(), printed) {
        (ErrorKind::DisplayHelp | ErrorKind::DisplayVersion, Ok(())) => Failure::SUCCESS,
        (ErrorKind::DisplayHelp | ErrorKind::DisplayVersion, Err(error)) => {
            Failure::output(output::STDOUT, &error).code()
        }
        _ => Failure::USAGE,
    })
}
