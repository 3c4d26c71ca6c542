//! Handling of interrupts: the file under construction is removed.
//!
//! A signal ends the command at any place, even while it waits for standard input or for the reader of a pipe. Only
//! the temporary file has to be cleaned up. Its name is recorded here while it exists.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// The path of the temporary file, if there is one.
static TEMPORARY: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Runs a step that creates, renames or removes the temporary file. No signal is handled between that and the update
/// of the recorded path.
pub(crate) fn uninterrupted<T>(step: impl FnOnce(&mut Option<PathBuf>) -> T) -> T {
    step(&mut TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner))
}

/// The stack size of the signal thread in bytes, independent of that of other threads.
#[cfg(unix)]
const STACK_BYTES: usize = 256 << 10;

/// Makes SIGINT, SIGTERM and SIGHUP remove the temporary file before they end the command.
///
/// A signal ignored at the start of the command stays ignored: SIGHUP under `nohup`, SIGINT in the background of a
/// script.
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
        // If no thread can be created, signals have their default effect.
        Err(_) => Ok(()),
    }
}

/// Returns the signals that end the command, except those ignored at its start.
#[cfg(unix)]
fn watched() -> Vec<i32> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

    match ignored() {
        Some(ignored) => [SIGINT, SIGTERM, SIGHUP]
            .into_iter()
            .filter(|signal| ignored >> (signal - 1) & 1 == 0)
            .collect(),
        // Handling SIGHUP under `nohup` would lose more than a temporary file.
        None => vec![SIGINT, SIGTERM],
    }
}

/// Returns the signals ignored by this process, as bits from signal 1 on. `None` if the system does not have a file
/// with them.
#[cfg(unix)]
fn ignored() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let mut lines = status.lines();
    let mask = lines.find_map(|line| line.strip_prefix("SigIgn:"))?;
    u64::from_str_radix(mask.trim(), 16).ok()
}

/// Does nothing on other systems. The name of a leftover file marks it as temporary.
#[cfg(not(unix))]
pub(crate) fn watch() -> std::io::Result<()> {
    Ok(())
}
