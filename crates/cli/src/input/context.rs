//! The context in which a command runs.

use std::cell::Cell;
use std::io::{self, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use herringbone::Limits;

use crate::base::failure::{Failure, Result};
use crate::base::printable::printable;
use crate::encryption::Keys;
use crate::input::opened::OpenFiles;

/// A command's global options, and a record of the problems that it has reported.
pub(crate) struct Context {
    /// True if the command writes only errors to standard error.
    pub(crate) quiet: bool,
    /// The limits for reading files.
    pub(crate) limits: Limits,
    /// The command's option for ignoring checksums, if it has one.
    pub(crate) ignores_checksums: Option<&'static str>,
    /// The keys, if the user gives any.
    pub(crate) keys: Option<Keys>,
    /// The open files, and the footers that are kept in memory.
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

    /// Reports a part of a file that is lost. The exit code will show this.
    pub(crate) fn lost(&self, file: &str, what: &str) {
        self.count_lost();
        complain(&format!("{file}: lost: {what}"));
    }

    /// Returns a callback that reports losses. The exit code will show them.
    pub(crate) fn loss(&self) -> Arc<dyn Fn(&str) + Send + Sync> {
        let has_lost = self.has_lost.clone();
        Arc::new(move |text| {
            has_lost.store(true, Ordering::Relaxed);
            complain(&format!("lost: {text}"));
        })
    }

    /// Makes the exit code show a loss that the caller reports.
    pub(crate) fn count_lost(&self) {
        self.has_lost.store(true, Ordering::Relaxed);
    }

    /// Reports damage and returns success, so that the command can go on with the undamaged parts
    /// of its files. The exit code will show the damage.
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

    /// Ends a command that may have gone on after damage.
    ///
    /// # Errors
    /// Fails with the exit code for it if something was damaged or lost.
    pub(crate) fn end(&self) -> Result<()> {
        match (self.has_damage.get(), self.has_lost.load(Ordering::Relaxed)) {
            (true, _) => Err(Failure::Told(Failure::DATA)),
            (false, true) => Err(Failure::Told(Failure::FINDINGS)),
            (false, false) => Ok(()),
        }
    }

    /// Writes a note to standard error even if notes are hidden. It is for values that the output
    /// lacks, because the user must not miss them.
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

/// Writes a line to standard error. We ignore failures, because there is no place left to report
/// them.
pub(crate) fn complain(text: &str) {
    writeln!(io::stderr(), "herringbone: {}", printable(text)).ok();
}
