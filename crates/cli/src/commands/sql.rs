//! `sql`: runs the program `herringbone-sql`.

use std::env;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;
use std::process::Command;

use crate::base::failure::{Failure, Result};

/// Runs the program, which is next to this one or on the path, in place of this one.
///
/// # Errors
/// Usage if the program is missing. System if it cannot be run. Otherwise, the exit code of the program.
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

/// Replaces this process, so that signals and the terminal belong to the program. Returns only if that fails.
#[cfg(unix)]
fn ended(command: &mut Command) -> io::Result<Result<()>> {
    use std::os::unix::process::CommandExt as _;

    Err(command.exec())
}

/// Waits for the end of the program.
#[cfg(not(unix))]
fn ended(command: &mut Command) -> io::Result<Result<()>> {
    let status = command.status()?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(match status.success() {
        true => Ok(()),
        false => Err(Failure::Told(code.unwrap_or(Failure::SYSTEM))),
    })
}
