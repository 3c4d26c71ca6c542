//! What holds for every command.

use std::io::{self, Write as _};

use herringbone::Limits;

/// The options that stand before any command.
pub(crate) struct Context {
    /// Nothing but errors on standard error.
    pub(crate) quiet: bool,
    /// What files may ask for.
    pub(crate) limits: Limits,
}

impl Context {
    /// Says something on standard error that is not an error.
    pub(crate) fn note(&self, text: &str) {
        if !self.quiet {
            complain(&format!("note: {text}"));
        }
    }
}

/// Writes a line to standard error; if nobody listens there either, that is that.
pub(crate) fn complain(text: &str) {
    // Text out of a file must not drive the terminal.
    let clean: String = text
        .chars()
        .map(|character| {
            if character.is_control() {
                '\u{fffd}'
            } else {
                character
            }
        })
        .collect();
    writeln!(io::stderr(), "herringbone: {clean}").ok();
}
