//! Handles interrupts, removing incomplete files and aborting uploads.
//!
//! A signal can end the command anywhere, even while it's waiting for standard input or for the
//! reader of a pipe. All we have to clean up is unfinished output, so we keep a record of that
//! here.

use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use crate::save::parts::Leftovers;

/// An unfinished output.
pub(crate) enum Unfinished {
    /// The path of a temporary file.
    #[cfg_attr(
        target_family = "wasm",
        allow(dead_code, reason = "nothing interrupts a program there")
    )]
    File(PathBuf),
    /// The viewer's terminal, as the call to restore it.
    #[cfg(feature = "browse")]
    Screen(fn()),
    /// An upload, as the call to abort it.
    #[cfg(feature = "remote")]
    Upload(Box<dyn FnOnce() + Send>),
}

impl Unfinished {
    /// Removes the output. We ignore errors, since the command is ending anyway.
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

/// The outputs to clean up on a signal.
pub(crate) struct Record {
    /// The output being written, if there is one.
    pub(crate) unfinished: Option<Unfinished>,
    /// Complete parts still under temporary names, and the folders created for them.
    pub(crate) leftovers: Leftovers,
}

static RECORD: Mutex<Record> = Mutex::new(Record {
    unfinished: None,
    leftovers: Leftovers::new(),
});

/// Runs a step that creates, completes or removes an output. Signals have to wait until the step
/// has updated the record, so the record is always accurate.
pub(crate) fn uninterrupted<T>(step: impl FnOnce(&mut Record) -> T) -> T {
    step(&mut RECORD.lock().unwrap_or_else(PoisonError::into_inner))
}

/// The stack size of the signal thread, in bytes. This is independent of the stack size of other
/// threads.
#[cfg(unix)]
const STACK_BYTES: usize = 256 << 10;

/// Makes SIGINT, SIGTERM and SIGHUP remove the unfinished output before they end the command.
///
/// A signal stays ignored if it was ignored when the command started, for example SIGHUP under
/// `nohup` or SIGINT in a script's background. Only the first call has an effect, since one thread
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
        // Without a thread, signals keep their default effect.
        Err(_) => Ok(()),
    }
}

/// Returns the signals that end the command. This excludes signals ignored at the start.
#[cfg(unix)]
fn watched() -> Vec<i32> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

    match ignored() {
        Some(ignored) => [SIGINT, SIGTERM, SIGHUP]
            .into_iter()
            .filter(|signal| ignored >> (signal - 1) & 1 == 0)
            .collect(),
        // We can't tell if we're running under `nohup`. If so, handling SIGHUP would lose more than
        // a temporary file.
        None => vec![SIGINT, SIGTERM],
    }
}

/// Returns the signals ignored by this process, as bits starting with signal 1. Returns `None` on
/// systems without the file that lists them.
#[cfg(unix)]
fn ignored() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let mut lines = status.lines();
    let mask = lines.find_map(|line| line.strip_prefix("SigIgn:"))?;
    u64::from_str_radix(mask.trim(), 16).ok()
}

/// Does nothing on other systems. A file left behind by an interrupt can be recognized as temporary
/// by its name.
#[cfg(not(unix))]
pub(crate) fn watch() -> std::io::Result<()> {
    Ok(())
}
