//! The binary of the command, with the features `browse` and `remote`.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    herringbone_cli::main()
}
