//! `sql` runs the program `herringbone-sql`.

use std::env;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::Command;

use crate::base::failure::{Failure, Result};

/// Runs the program in place of this one. We look for it next to this program first, and then on
/// the path.
///
/// # Errors
/// Fails with [`Failure::Usage`] if the program is missing, with [`Failure::System`] if it cannot
/// be run, and otherwise with the program's exit code.
pub(crate) fn run(arguments: &[OsString]) -> Result<()> {
    let name = format!("herringbone-sql{}", env::consts::EXE_SUFFIX);
    let beside = env::current_exe().ok();
    let beside = beside.and_then(|beside| Some(beside.parent()?.join(&name)));
    let program = beside.filter(|beside| beside.is_file());
    let mut command = Command::new(program.unwrap_or_else(|| PathBuf::from(&name)));
    command.args(arguments);
    ended(&mut command).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Failure::Usage(
            "`sql` runs the program `herringbone-sql`, which is not on the path. In a clone of the project, \
             `cargo install --path integrations/ballista` installs it. duckdb reads the files too: duckdb -c \"from 'FILE'\""
                .into(),
        ),
        _ => Failure::System(format!("{name}: {error}")),
    })?
}

/// Replaces this process with the program, which hands over signals and the terminal. Only returns
/// on failure.
#[cfg(unix)]
fn ended(command: &mut Command) -> io::Result<Result<()>> {
    use std::os::unix::process::CommandExt as _;

    Err(command.exec())
}

/// Runs the program and waits for it, since other systems can't replace a process.
#[cfg(not(unix))]
fn ended(command: &mut Command) -> io::Result<Result<()>> {
    let status = command.status()?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(match status.success() {
        true => Ok(()),
        false => Err(Failure::Told(code.unwrap_or(Failure::SYSTEM))),
    })
}
