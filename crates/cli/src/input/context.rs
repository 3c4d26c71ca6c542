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

/// A command's global options and a record of problems reported so far.
pub(crate) struct Context {
    /// True if the command writes only errors to standard error.
    pub(crate) quiet: bool,
    /// The limits for reading files.
    pub(crate) limits: Limits,
    /// The command's option to ignore checksums, if it has one.
    pub(crate) ignores_checksums: Option<&'static str>,
    /// The keys, if the user gives any.
    pub(crate) keys: Option<Keys>,
    /// Open files and footers kept in memory.
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

    /// Reports that a part of a file is lost. This also makes the exit code nonzero.
    pub(crate) fn lost(&self, file: &str, what: &str) {
        self.count_lost();
        complain(&format!("{file}: lost: {what}"));
    }

    /// Returns a callback for reporting losses. Any loss also makes the exit code nonzero.
    pub(crate) fn loss(&self) -> Arc<dyn Fn(&str) + Send + Sync> {
        let has_lost = self.has_lost.clone();
        Arc::new(move |text| {
            has_lost.store(true, Ordering::Relaxed);
            complain(&format!("lost: {text}"));
        })
    }

    /// Makes the exit code nonzero for a loss reported by the caller.
    pub(crate) fn count_lost(&self) {
        self.has_lost.store(true, Ordering::Relaxed);
    }

    /// Reports damage and returns success, so that the command can carry on with undamaged data.
    /// The exit code still shows the damage in the end.
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

    /// Ends a command that might have carried on after damage.
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

    /// Writes a note to standard error even if notes are hidden. Use this for values missing from
    /// the output, since the user must not overlook that.
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

/// Writes a line to standard error. We ignore failures, since there is no place left to report
/// them.
pub(crate) fn complain(text: &str) {
    writeln!(io::stderr(), "herringbone: {}", printable(text)).ok();
}
