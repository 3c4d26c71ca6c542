//! What happens when somebody loses patience: the file under construction goes away.
//!
//! A signal ends the command wherever it is, even while it waits for standard input. All that has to
//! be put in order is the temporary file; its name is known here as long as there is one.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// The temporary file, if there is one.
static TEMPORARY: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Does what makes, renames or removes the temporary file; no signal comes between that and the note
/// that is taken of it.
pub(crate) fn uninterrupted<T>(step: impl FnOnce(&mut Option<PathBuf>) -> T) -> T {
    step(&mut TEMPORARY.lock().unwrap_or_else(PoisonError::into_inner))
}

/// From now on SIGINT and SIGTERM remove the temporary file before they end the command.
#[cfg(unix)]
pub(crate) fn watch() -> std::io::Result<()> {
    use crate::context::complain;
    use crate::failure::Failure;
    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;

    let mut signals = Signals::new([SIGINT, SIGTERM])?;
    let wait = move || {
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
    std::thread::Builder::new().spawn(wait).map(drop)
}

/// Elsewhere the name of the file must do: it says that it is a temporary one.
#[cfg(not(unix))]
pub(crate) fn watch() -> std::io::Result<()> {
    Ok(())
}
