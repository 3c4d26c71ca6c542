//! The context of a command.

use std::cell::Cell;
use std::io::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use herringbone::Limits;

use crate::base::failure::{Failure, Result};
use crate::base::printable::printable;
use crate::encryption::Keys;
use crate::input::opened::OpenFiles;

/// The global options of a command, and the problems reported so far.
pub(crate) struct Context {
    /// True if only errors are written to standard error.
    pub(crate) quiet: bool,
    /// The limits for reading files.
    pub(crate) limits: Limits,
    /// The command's option for ignoring checksums, if it has one.
    pub(crate) ignores_checksums: Option<&'static str>,
    /// The keys, if any are given.
    pub(crate) keys: Option<Keys>,
    /// The open files and kept footers.
    pub(crate) files: Arc<OpenFiles>,
    has_lost: Arc<AtomicBool>,
    has_damage: Cell<bool>,
}

impl Context {
    pub(crate) fn new(
        quiet: bool,
        limits: Limits,
        ignores_checksums: Option<&'static str>,
        keys: Option<Keys>,
    ) -> Self {
        Self {
            quiet,
            limits,
            ignores_checksums,
            keys,
            files: Arc::default(),
            has_lost: Arc::default(),
            has_damage: Cell::new(false),
        }
    }

    /// Reports a lost part of a file. The exit code reflects it.
    pub(crate) fn lost(&self, file: &str, what: &str) {
        self.count_lost();
        complain(&format!("{file}: lost: {what}"));
    }

    /// Returns the callback that reports losses. The exit code reflects them.
    pub(crate) fn loss(&self) -> Arc<dyn Fn(&str) + Send + Sync> {
        let has_lost = self.has_lost.clone();
        Arc::new(move |text| {
            has_lost.store(true, Ordering::Relaxed);
            complain(&format!("lost: {text}"));
        })
    }

    /// Lets the exit code reflect a loss, which the caller reports.
    pub(crate) fn count_lost(&self) {
        self.has_lost.store(true, Ordering::Relaxed);
    }

    /// Reports damage, and returns success, so that the command continues with undamaged parts of its files. The exit
    /// code reflects the damage.
    ///
    /// # Errors
    /// Returns all other failures unchanged.
    pub(crate) fn after_damage(&self, outcome: Result<()>) -> Result<()> {
        match outcome {
            Err(Failure::Data(message)) => {
                self.has_damage.set(true);
                complain(&message);
                Ok(())
            }
            other => other,
        }
    }

    /// Ends a command that continued after damage.
    ///
    /// # Errors
    /// Fails with the exit code if something was damaged or lost.
    pub(crate) fn end(&self) -> Result<()> {
        match (self.has_damage.get(), self.has_lost.load(Ordering::Relaxed)) {
            (true, _) => Err(Failure::Told(Failure::DATA)),
            (false, true) => Err(Failure::Told(Failure::FINDINGS)),
            (false, false) => Ok(()),
        }
    }

    /// Writes a note about values that the output lacks to standard error, even if notes are hidden.
    pub(crate) fn loud_note(&self, text: &str) {
        complain(&format!("note: {text}"));
    }

    /// Writes a note to standard error.
    pub(crate) fn note(&self, text: &str) {
        note(self.quiet, text);
    }
}

/// Writes a note to standard error, unless notes are hidden.
pub(crate) fn note(quiet: bool, text: &str) {
    if !quiet {
        complain(&format!("note: {text}"));
    }
}

/// Writes a line to standard error. Failures are ignored.
pub(crate) fn complain(text: &str) {
    writeln!(io::stderr(), "herringbone: {}", printable(text)).ok();
}
