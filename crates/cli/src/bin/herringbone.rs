//! The command itself: all of it is in the library.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    herringbone_cli::main()
}
