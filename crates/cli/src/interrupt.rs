//! What happens when somebody loses patience: the file under construction goes away.
//!
//! A signal ends the command wherever it is, even while it waits for standard input or for the reader of
//! a pipe. All that has to be put in order is the temporary file; its name is known here as long as
//! there is one.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// The temporary file, if there is one.
static TEMPORARY: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Does what makes, renames or removes the temporary file; no signal comes between that and the note
/// that is taken of it.
pub(crate) fn uninterrupted<T>(step: impl FnOnce(&mut Option<PathBuf>) -> T) -> T {
    step(&mut TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Bytes of the stack on which signals are waited for, however large those of other threads are.
#[cfg(unix)]
const STACK_BYTES: usize = 256 << 10;

/// From now on SIGINT, SIGTERM and SIGHUP remove the temporary file before they end the command.
///
/// A signal that was ignored when the command started stays so: SIGHUP under `nohup`, SIGINT in the
/// background of a script.
#[cfg(unix)]
pub(crate) fn watch() -> std::io::Result<()> {
    use crate::context::complain;
    use crate::failure::Failure;
    use signal_hook::iterator::Signals;

    let (tell, told) = std::sync::mpsc::sync_channel(1);
    let wait = move || {
        let mut signals = match Signals::new(watched()) {
            Ok(signals) => signals,
            Err(error) => {
                tell.send(Err(error)).ok();
                return;
            }
        };
        tell.send(Ok(())).ok();
        if signals.forever().next().is_some() {
            uninterrupted(|temporary| {
                if let Some(path) = temporary {
                    std::fs::remove_file(path).ok();
                }
                complain("interrupted");
                std::process::exit(i32::from(Failure::INTERRUPTED));
            });
        }
    };
    let builder = std::thread::Builder::new().stack_size(STACK_BYTES);
    match builder.spawn(wait) {
        Ok(_) => told.recv().unwrap_or(Ok(())),
        // Where there are no more threads, signals end the command as they end others.
        Err(_) => Ok(()),
    }
}

/// Returns the signals that end the command, without those that were ignored when it started.
#[cfg(unix)]
fn watched() -> Vec<i32> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

    match ignored() {
        Some(ignored) => [SIGINT, SIGTERM, SIGHUP]
            .into_iter()
            .filter(|signal| ignored >> (signal - 1) & 1 == 0)
            .collect(),
        // A command that ignored `nohup` would lose more than a temporary file.
        None => vec![SIGINT, SIGTERM],
    }
}

/// Returns the signals that this process ignores, as bits from signal 1 on; `None` if the system has no
/// file with them.
#[cfg(unix)]
fn ignored() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let mut lines = status.lines();
    let mask = lines.find_map(|line| line.strip_prefix("SigIgn:"))?;
    u64::from_str_radix(mask.trim(), 16).ok()
}

/// Elsewhere the name of the file must do: it says that it is a temporary one.
#[cfg(not(unix))]
pub(crate) fn watch() -> std::io::Result<()> {
    Ok(())
}
