//! Runs SQL over Parquet tables, on this machine or on the executors of a scheduler.

use std::process::ExitCode;

use clap::Parser;
use herringbone_ballista::process::runtime;

mod args;
mod functions;
mod output;
mod prompt;
mod run;

fn main() -> ExitCode {
    let args = args::Args::parse();
    let result = runtime()
        .map_err(run::Error::from)
        .and_then(|runtime| runtime.block_on(run::run(&args)));
    match result {
        Ok(()) => ExitCode::SUCCESS,
        // This is a success, because the output's reader has seen enough.
        Err(run::Error::Output(error)) if error.kind() == std::io::ErrorKind::BrokenPipe => {
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("herringbone-sql: {error}");
            ExitCode::FAILURE
        }
    }
}
