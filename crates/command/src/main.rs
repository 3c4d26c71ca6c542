//! The `herringbone` command with its viewer (feature `browse`) and with URLs (feature `remote`). It
//! is a crate of its own, because these features add a hundred crates.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    herringbone_cli::main()
}
