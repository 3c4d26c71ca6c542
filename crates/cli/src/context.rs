//! What holds for every command.

use std::cell::Cell;
use std::io::{self, Write as _};

use herringbone::Limits;

use crate::encryption::Keys;
use crate::failure::{Failure, Result};
use crate::render::printable::printable;

/// The options that stand before any command.
pub(crate) struct Context {
    /// Nothing but errors on standard error.
    pub(crate) quiet: bool,
    /// What files may ask for.
    pub(crate) limits: Limits,
    /// The option of the command with which checksums are ignored.
    pub(crate) ignores_checksums: Option<&'static str>,
    /// Those that are given.
    pub(crate) keys: Option<Keys>,
    has_lost: Cell<bool>,
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
            has_lost: Cell::new(false),
            has_damage: Cell::new(false),
        }
    }

    /// Says what of a file is lost, which the exit code tells as well.
    pub(crate) fn lost(&self, file: &str, what: &str) {
        self.has_lost.set(true);
        complain(&format!("{file}: lost: {what}"));
    }

    /// Reports damage in a part of a file, which the exit code tells as well; the command goes on with the
    /// other parts.
    ///
    /// # Errors
    /// Any other failure.
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

    /// Ends a command that went on after damage.
    ///
    /// # Errors
    /// The exit code, if something was damaged or lost.
    pub(crate) fn end(&self) -> Result<()> {
        match (self.has_damage.get(), self.has_lost.get()) {
            (true, _) => Err(Failure::Told(Failure::DATA)),
            (false, true) => Err(Failure::Told(Failure::FINDINGS)),
            (false, false) => Ok(()),
        }
    }

    /// Says something on standard error that is not an error.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet {
            complain(&format!("note: {text}"));
        }
    }
}

/// Writes a line to standard error; if nobody listens there either, that is that.
pub(crate) fn complain(text: &str) {
    writeln!(io::stderr(), "herringbone: {}", printable(text)).ok();
}
