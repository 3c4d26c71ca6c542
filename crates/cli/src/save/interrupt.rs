//! Handles interrupts. Files that are not complete are removed, and an upload is aborted.
//!
//! A signal may end the command at any place, even while it waits for standard input or for the
//! reader of a pipe. Only the unfinished output has to be cleaned up, so it is recorded here while
//! it exists.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use crate::save::parts::Leftovers;

/// An output that is not finished.
pub(crate) enum Unfinished {
    /// The path of a temporary file.
    File(PathBuf),
    /// A terminal that the viewer uses, as the call that gives it back.
    #[cfg(feature = "browse")]
    Screen(fn()),
    /// An upload, as the call that aborts it.
    #[cfg(feature = "remote")]
    Upload(Box<dyn FnOnce() + Send>),
}

impl Unfinished {
    /// Removes the output. We ignore errors, because the command ends anyway.
    #[cfg(unix)]
    fn remove(self) {
        match self {
            Self::File(path) => {
                std::fs::remove_file(path).ok();
            }
            #[cfg(feature = "browse")]
            Self::Screen(give_back) => give_back(),
            #[cfg(feature = "remote")]
            Self::Upload(abort) => abort(),
        }
    }
}

/// The outputs that a signal has to clean up.
pub(crate) struct Record {
    /// The output that is being written, if there is one.
    pub(crate) unfinished: Option<Unfinished>,
    /// The complete parts that do not have their names yet, and the folders made for them.
    pub(crate) leftovers: Leftovers,
}

static RECORD: Mutex<Record> = Mutex::new(Record {
    unfinished: None,
    leftovers: Leftovers::new(),
});

/// Runs a step that creates, completes or removes an output. No signal is handled between the step
/// and the update of the record, so that the record is always right.
pub(crate) fn uninterrupted<T>(step: impl FnOnce(&mut Record) -> T) -> T {
    step(&mut RECORD.lock().unwrap_or_else(PoisonError::into_inner))
}

/// The stack size of the signal thread, in bytes. It does not depend on the stack size of other
/// threads.
#[cfg(unix)]
const STACK_BYTES: usize = 256 << 10;

/// Makes SIGINT, SIGTERM and SIGHUP remove the unfinished output before they end the command.
///
/// If a signal was ignored when the command started, it stays ignored, as SIGHUP is under `nohup`
/// and SIGINT in the background of a script. Only the first call has an effect, because one thread
/// and two descriptors are enough for all outputs.
#[cfg(unix)]
pub(crate) fn watch() -> std::io::Result<()> {
    static IS_STARTED: Mutex<bool> = Mutex::new(false);
    let mut is_started = IS_STARTED.lock().unwrap_or_else(PoisonError::into_inner);
    if !*is_started {
        start()?;
        *is_started = true;
    }
    Ok(())
}

#[cfg(unix)]
fn start() -> std::io::Result<()> {
    use crate::base::failure::Failure;
    use crate::input::context::complain;
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
            uninterrupted(|record| {
                if let Some(unfinished) = record.unfinished.take() {
                    unfinished.remove();
                }
                record.leftovers.remove();
                complain("interrupted");
                std::process::exit(i32::from(Failure::INTERRUPTED));
            });
        }
    };
    let builder = std::thread::Builder::new().stack_size(STACK_BYTES);
    match builder.spawn(wait) {
        Ok(_) => told.recv().unwrap_or(Ok(())),
        // If no thread can be created, signals keep their default effect.
        Err(_) => Ok(()),
    }
}

/// Returns the signals that end the command. A signal that was ignored at the start is not among
/// them.
#[cfg(unix)]
fn watched() -> Vec<i32> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

    match ignored() {
        Some(ignored) => [SIGINT, SIGTERM, SIGHUP]
            .into_iter()
            .filter(|signal| ignored >> (signal - 1) & 1 == 0)
            .collect(),
        // We do not know whether we run under `nohup`. If we do, handling SIGHUP would lose more
        // than a temporary file.
        None => vec![SIGINT, SIGTERM],
    }
}

/// Returns the signals that this process ignores, as bits from signal 1 on. `None` if the system
/// does not have the file that lists them.
#[cfg(unix)]
fn ignored() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let mut lines = status.lines();
    let mask = lines.find_map(|line| line.strip_prefix("SigIgn:"))?;
    u64::from_str_radix(mask.trim(), 16).ok()
}

/// Does nothing on other systems. If an interrupt leaves a file there, its name marks it as
/// temporary.
#[cfg(not(unix))]
pub(crate) fn watch() -> std::io::Result<()> {
    Ok(())
}
