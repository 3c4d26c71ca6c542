//! The command's binary. Everything else is in the library, so that `herringbone-command` can share
//! it.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    herringbone_cli::main()
}
