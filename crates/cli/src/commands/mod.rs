//! The commands, one file each.

mod bloom;
mod chunk_stats;
mod concat;
mod convert;
mod count;
mod diff;
mod encrypt;
pub(crate) mod explain;
mod freq;
mod head;
mod index;
mod info;
mod meta;
mod pages;
mod repair;
mod rewrite;
mod sample;
mod schema;
mod schema_compare;
mod show;
mod split;
mod stats;
mod tail;
mod verify;

use std::path::Path;

use crate::args::{Arguments, Bloom, Command, StatsBy};
use crate::context::Context;
use crate::failure::{Failure, Result};
use crate::input;
use crate::output::Output;
use crate::rows::{self, Pick, Window};

/// Runs the command line.
pub(crate) fn run(context: &Context, arguments: &Arguments, output: &mut Output<'_>) -> Result<()> {
    let open = |files: &crate::args::Files| input::all(&files.files, context);
    let one = |file: &Path| {
        let mut inputs = input::all(std::slice::from_ref(&file.to_path_buf()), context)?;
        let none = || Failure::Usage("no file is named".to_owned());
        inputs.pop().ok_or_else(none)
    };
    match &arguments.command {
        Command::Info { files } => info::run(&open(files)?, output),
        Command::Schema {
            files,
            format,
            compare,
        } => match compare {
            true => schema_compare::run(&open(files)?, output),
            false => schema::run(context, &open(files)?, *format, output),
        },
        Command::Diff(request) => diff::run(context, request, output),
        Command::Split(request) => split::run(context, request),
        Command::Count {
            files,
            wanted,
            row_groups,
            explain,
        } => {
            let request = count::Request {
                wanted,
                row_groups: row_groups.as_ref(),
                explain: *explain,
            };
            count::run(context, &open(files)?, &request, output)
        }
        Command::Head { files, read } => head::run(context, &open(files)?, read, output),
        Command::Cat { files, read } => {
            let window = Pick::Window(Window::of(&read.choice));
            rows::print(context, &open(files)?, read, window, output)
        }
        Command::Tail { files, read } => tail::run(context, &open(files)?, read, output),
        Command::Sample { files, read } => sample::run(context, &open(files)?, read, output),
        Command::Show { files, read } => show::run(context, &open(files)?, read, output),
        Command::Freq(request) => {
            let inputs = input::all(&request.files, context)?;
            let request = freq::Request {
                columns: &request.columns,
                wanted: &request.wanted,
                limit: request.limit,
                format: request.format.get(),
            };
            freq::run(context, &inputs, &request, output)
        }
        Command::Meta {
            files,
            indexes,
            pretty,
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
            format,
        } => {
            let request = pages::Request {
                chunks,
                format: format.get(),
            };
            pages::run(context, &open(files)?, &request, output)
        }
        Command::Index(request) => index::run(context, &one(&request.file)?, request, output),
        Command::Stats(request) => {
            let inputs = open(&request.files)?;
            let format = request.format.get();
            match request.by {
                StatsBy::RowGroup => {
                    chunk_stats::run(context, &inputs, &request.chunks, format, output)
                }
                StatsBy::Column => {
                    let request = stats::Request {
                        chunks: &request.chunks,
                        wanted: &request.wanted,
                        is_fast: request.fast,
                        format,
                    };
                    stats::run(context, &inputs, &request, output)
                }
            }
        }
        Command::Bloom {
            command: Bloom::Check(request),
        } => bloom::check(context, &one(&request.file)?, request, output),
        Command::Verify {
            files,
            json,
            threads,
        } => {
            let options = verify::Options {
                json: *json,
                threads: *threads,
            };
            verify::run(context, &open(files)?, options, output)
        }
        Command::Concat(request) => concat::run(context, request),
        Command::Convert(request) => convert::run(context, request),
        Command::Encrypt(request) => encrypt::encrypt(context, request),
        Command::Decrypt(request) => encrypt::decrypt(context, request),
        Command::Repair(request) => repair::run(context, request),
        Command::Rewrite(request) => rewrite::run(context, request),
    }
}
