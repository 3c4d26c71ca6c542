//! The binary of the command. Everything else is in the library.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    herringbone_cli::main()
}
