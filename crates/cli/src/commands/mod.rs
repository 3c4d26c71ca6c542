//! The commands, with one file each.

mod bloom;
mod browse;
mod chunk_stats;
mod concat;
mod convert;
mod count;
mod diff;
mod encrypt;
pub(crate) mod freq;
mod head;
mod info;
mod manual;
mod meta;
mod page_bounds;
pub(crate) mod pages;
mod repair;
mod report;
mod rewrite;
mod sample;
mod schema;
mod show;
mod split;
pub(crate) mod sql;
pub(crate) mod stats;
mod tail;
mod verify;

use std::path::Path;
use std::sync::Arc;

use herringbone::ReadOptions;

use crate::args::{
    Arguments, Bloom, Chunks, Columns, Command, Files, OtherFiles, Read, Stats, StatsBy,
};
use crate::base::failure::{Failure, Result};
use crate::input::context::Context;
use crate::input::import::Import;
use crate::input::{self, Input, Opening};
use crate::output::Output;
use crate::rows::{self, Pick, Window};
use head::ROWS;

/// Runs the command that the user has chosen.
pub(crate) fn run(context: &Context, arguments: &Arguments, output: &mut Output<'_>) -> Result<()> {
    let open = |files: &Files| input::all(&files.files, context);
    let tables = |files: &Files| input::each_table(&files.files, &Opening::default(), context);
    match &arguments.command {
        Command::Browse(request) => browse::run(context, request),
        Command::Info { files, json } => info::run(&tables(files)?, json.json, output),
        Command::Schema {
            files,
            format,
            json,
            other_files,
        } => {
            let inputs = schema_files(context, files, other_files)?;
            schema::run(context, &inputs, json.or(*format), output)
        }
        Command::Diff(request) => diff::run(context, request, output),
        Command::Split(request) => split::run(context, request, output),
        Command::Count(request) => count::run(context, request, output),
        Command::Head { files, read }
        | Command::Tail { files, read }
        | Command::Sample { files, read }
        | Command::Show { files, read }
        | Command::Cat { files, read } => print(context, &arguments.command, (files, read), output),
        Command::Freq(request) => freq::run(context, request, output),
        Command::Meta {
            files,
            indexes,
            pretty,
            ..
        } => {
            let options = meta::Options {
                indexes: *indexes,
                pretty: *pretty,
            };
            meta::run(&open(files)?, options, output)
        }
        Command::Pages {
            files,
            chunks,
            bounds,
            format,
        } => {
            let format = format.get();
            let request = pages::Request { chunks, format };
            match bounds {
                true => page_bounds::run(context, &open(files)?, &request, output),
                false => pages::run(context, &open(files)?, &request, output),
            }
        }
        Command::Stats(request) => stats(context, request, output),
        Command::Bloom {
            command: Bloom::Check(request),
        } => bloom::check(context, &one(context, &request.file)?, request, output),
        Command::Verify {
            files,
            json,
            threads,
        } => {
            let options = verify::Options {
                json: *json,
                threads: *threads,
            };
            verify::run(context, &tables(files)?, options, output)
        }
        Command::Concat(request) => concat::run(context, request),
        Command::Convert(request) => convert::run(context, request),
        Command::Encrypt(request) => encrypt::encrypt(context, request),
        Command::Decrypt(request) => encrypt::decrypt(context, request),
        Command::Repair(request) => repair::run(context, request, output),
        Command::Report(request) => report::run(context, request, output),
        Command::Rewrite(request) => rewrite::run(context, request),
        Command::Sql { arguments } => sql::run(arguments),
        Command::Help { words } => manual::help(words, output),
        Command::Man { words } => manual::man(words, output),
        Command::Completions { shell } => manual::completions(*shell, output),
    }
}

/// Prints rows for the commands that share the options of `cat`.
fn print(
    context: &Context,
    command: &Command,
    (files, read): (&Files, &Read),
    output: &mut Output<'_>,
) -> Result<()> {
    let first_rows = |limit| printed(context, files, read, limit);
    let all = || all_rows(context, files, read, None);
    match command {
        Command::Head { .. } => head::run(context, &first_rows(Some(ROWS))?, read, output),
        Command::Show { .. } => show::run(context, &first_rows(Some(ROWS))?, read, output),
        Command::Tail { .. } => tail::run(context, &all()?, read, output),
        Command::Sample { .. } => sample::run(context, &all()?, read, output),
        _ => {
            let window = Pick::Window(Window::of(&read.choice.part));
            rows::print(context, &first_rows(None)?, read, window, output)
        }
    }
}

/// Returns the files for printing schemas.
fn schema_files(context: &Context, files: &Files, others: &OtherFiles) -> Result<Vec<Input>> {
    let opening = Opening {
        import: Some(Import::of(context, others, None)?),
        ..Opening::default()
    };
    input::each_table(&files.files, &opening, context)
}

/// Returns the files for printing their first `limit` rows, unless the user has chosen another
/// number.
fn printed(
    context: &Context,
    files: &Files,
    read: &Read,
    limit: Option<u64>,
) -> Result<Vec<Input>> {
    let choice = &read.choice;
    let limit = choice.part.limit.or(limit);
    let rows = limit.filter(|_| choice.takes_first_rows());
    let rows = rows.map(|limit| limit.saturating_add(choice.part.offset));
    all_rows(context, files, read, rows)
}

/// Returns the files for printing rows. Set `first_rows` if the command only needs that many, which
/// saves importing all of a text file.
fn all_rows(
    context: &Context,
    files: &Files,
    read: &Read,
    first_rows: Option<u64>,
) -> Result<Vec<Input>> {
    let import = Import::new(context, (&read.text, &read.csv.shape), read.options())?;
    let import = import.on_error(context, &read.damage);
    let opening = Opening {
        wanted: Some(&read.choice.wanted),
        footers: read.footers.get(),
        import: Some(Arc::new(import.first_rows(first_rows))),
    };
    input::tables(&files.files, &opening, context)
}

/// Returns a path's single file.
fn one(context: &Context, file: &Path) -> Result<Input> {
    let mut inputs = input::all(std::slice::from_ref(&file.to_path_buf()), context)?;
    let none = || Failure::Usage("no file is named".to_owned());
    inputs.pop().ok_or_else(none)
}

/// Prints statistics by column or by row group.
fn stats(context: &Context, request: &Stats, output: &mut Output<'_>) -> Result<()> {
    let format = request.format.get();
    let files = &request.files.files;
    match request.by {
        StatsBy::RowGroup => {
            if request.leaves_out_rows() {
                let message =
                    "--by row-group reads no rows, so it can only be used with --row-groups";
                return Err(Failure::Usage(message.into()));
            }
            for file in files {
                input::check_no_path_column(Some(&request.wanted), file)?;
            }
            let inputs = input::all(files, context)?;
            chunk_stats::run(context, &inputs, &chunks(&inputs, request)?, format, output)
        }
        StatsBy::Column => {
            let opening = Opening {
                wanted: Some(&request.wanted),
                footers: request.footers.get(),
                import: Some(Import::of(context, &request.other_files, None)?),
            };
            let inputs = input::tables(files, &opening, context)?;
            let chunks = chunks(&inputs, request)?;
            stats::run(context, &inputs, request, &chunks, output)
        }
    }
}

/// Returns the column chunks that `stats` describes.
fn chunks(inputs: &[Input], request: &Stats) -> Result<Chunks> {
    let all = rows::Request::all(ReadOptions::new());
    let paths = request.columns.as_ref();
    let paths = paths.map(|selection| all.paths(inputs, selection));
    Ok(Chunks {
        columns: paths.transpose()?.map(|paths| Columns { paths }),
        row_groups: request.row_groups.clone(),
    })
}
