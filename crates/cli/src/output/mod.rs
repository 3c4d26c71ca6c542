//! Standard output, or a file in its place. Writes are buffered, and no error is lost.

mod pager;
pub(crate) mod progress;

use std::borrow::Cow;
use std::env;
use std::io::{self, BufWriter, IsTerminal as _, Write};

use crate::base::failure::{Failure, Result};
use crate::output::pager::Pager;

/// The size of the buffer, in bytes.
const BUFFER: usize = 64 << 10;

/// The name of standard output in errors.
pub(crate) const STDOUT: &str = "standard output";

/// The destination of the command's data.
pub(crate) struct Output<'a> {
    writer: BufWriter<Box<dyn Write + 'a>>,
    name: String,
    width: Option<u16>,
    is_paged: bool,
    has_colors: bool,
}

impl Output<'static> {
    /// Creates the output for standard output. On a terminal, text goes through the program in the
    /// variable PAGER, if set.
    pub(crate) fn stdout() -> Self {
        let stdout = io::stdout();
        let width = stdout
            .is_terminal()
            .then(|| console::Term::stdout().size().1);
        let pager = Pager::chosen().filter(|_| width.is_some());
        let is_paged = pager.is_some();
        let writer: Box<dyn Write> = match pager {
            Some(pager) => Box::new(pager),
            None => Box::new(stdout),
        };
        Self {
            is_paged,
            // A pager might print colour codes instead of colours.
            has_colors: width.is_some() && !is_paged && has_colors(),
            writer: BufWriter::with_capacity(BUFFER, writer),
            name: STDOUT.into(),
            width,
        }
    }
}

impl<'a> Output<'a> {
    /// Wraps a writer that is not a terminal.
    pub(crate) fn new(name: &str, writer: impl Write + 'a) -> Self {
        Self {
            writer: BufWriter::with_capacity(BUFFER, Box::new(writer)),
            name: name.into(),
            width: None,
            is_paged: false,
            has_colors: false,
        }
    }

    /// Returns true if the output is a terminal.
    pub(crate) fn is_terminal(&self) -> bool {
        self.width.is_some()
    }

    /// Returns true if a pager shows the output on the terminal.
    pub(crate) fn is_paged(&self) -> bool {
        self.is_paged
    }

    /// Returns true if tables have colours.
    pub(crate) fn has_colors(&self) -> bool {
        self.has_colors
    }

    /// Returns the output's name for errors.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the terminal's width in columns. `None` if the output is not a terminal.
    pub(crate) fn width(&self) -> Option<u16> {
        self.width
    }

    /// Escapes `text` with `escape` on a terminal, because a file's contents must not control the
    /// terminal. Otherwise, returns `text` unchanged, since programs need the exact bytes.
    pub(crate) fn shown<'t>(&self, text: &'t str, escape: fn(&str) -> String) -> Cow<'t, str> {
        match self.is_terminal() {
            true => escape(text).into(),
            false => text.into(),
        }
    }

    /// Writes bytes.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.writer
            .write_all(bytes)
            .map_err(|error| Failure::output(&self.name, &error))
    }

    /// Writes text and a line feed.
    pub(crate) fn line(&mut self, text: &str) -> Result<()> {
        self.write(text.as_bytes())?;
        self.write(b"\n")
    }

    /// Flushes all bytes to the system. Call this at the end, while there is still a chance to
    /// report an error.
    pub(crate) fn flush(&mut self) -> Result<()> {
        self.writer
            .flush()
            .map_err(|error| Failure::output(&self.name, &error))
    }

    /// Returns the writer itself, for code that needs one. Pass its errors through
    /// [`Failure::output`], so that a closed pipe is recognized.
    pub(crate) fn writer(&mut self) -> &mut (dyn Write + 'a) {
        &mut self.writer
    }
}

/// Returns true unless the user has turned colours off.
pub(crate) fn has_colors() -> bool {
    let is_dumb = env::var_os("TERM").is_some_and(|terminal| terminal == "dumb");
    !is_dumb && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Returns what `write` writes to an output that is not a terminal, as text.
#[cfg(test)]
pub(crate) fn written<T>(write: impl FnOnce(&mut Output<'_>) -> Result<T>) -> String {
    written_to(None, write)
}

/// Returns what `write` writes to a terminal of 80 columns, as text.
#[cfg(test)]
pub(crate) fn written_on_terminal<T>(write: impl FnOnce(&mut Output<'_>) -> Result<T>) -> String {
    written_to(Some(80), write)
}

#[cfg(test)]
pub(crate) fn written_to<T>(
    width: Option<u16>,
    write: impl FnOnce(&mut Output<'_>) -> Result<T>,
) -> String {
    let mut bytes = Vec::new();
    let mut output = Output::new("memory", &mut bytes);
    output.width = width;
    write(&mut output).unwrap();
    output.flush().unwrap();
    drop(output);
    String::from_utf8(bytes).unwrap()
}
