//! Standard output, or a file in its place: buffered, with every error checked.

mod pager;
pub(crate) mod progress;

use std::borrow::Cow;
use std::env;
use std::io::{self, BufWriter, IsTerminal as _, Write};

use crate::base::failure::{Failure, Result};
use crate::output::pager::Pager;

/// The size of the buffer in bytes.
const BUFFER: usize = 64 << 10;

/// The name of standard output in errors.
pub(crate) const STDOUT: &str = "standard output";

/// The destination of the data.
pub(crate) struct Output<'a> {
    writer: BufWriter<Box<dyn Write + 'a>>,
    name: String,
    width: Option<u16>,
    is_paged: bool,
    has_colors: bool,
}

impl Output<'static> {
    /// Returns standard output. A terminal gets the text through the program that the variable PAGER names.
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
            // A pager may show the codes of colours as they are.
            has_colors: width.is_some() && !is_paged && has_colors(),
            writer: BufWriter::with_capacity(BUFFER, writer),
            name: STDOUT.into(),
            width,
        }
    }
}

impl<'a> Output<'a> {
    /// Wraps any writer other than a terminal.
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

    /// Returns true if another program shows the output on the terminal.
    pub(crate) fn is_paged(&self) -> bool {
        self.is_paged
    }

    /// Returns true if tables have colours.
    pub(crate) fn has_colors(&self) -> bool {
        self.has_colors
    }

    /// Returns the name of the output in errors.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Returns the width of the terminal in columns. `None` if the output is not a terminal.
    pub(crate) fn width(&self) -> Option<u16> {
        self.width
    }

    /// Returns `text` unchanged, or the result of `escape` for a terminal.
    pub(crate) fn shown<'t>(&self, text: &'t str, escape: fn(&str) -> String) -> Cow<'t, str> {
        match self.is_terminal() {
            true => escape(text).into(),
            false => text.into(),
        }
    }

    /// Appends bytes.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.writer
            .write_all(bytes)
            .map_err(|error| Failure::output(&self.name, &error))
    }

    /// Appends text and a line feed.
    pub(crate) fn line(&mut self, text: &str) -> Result<()> {
        self.write(text.as_bytes())?;
        self.write(b"\n")
    }

    /// Flushes all bytes to the system. Call it at the end, while an error can still be reported.
    pub(crate) fn flush(&mut self) -> Result<()> {
        self.writer
            .flush()
            .map_err(|error| Failure::output(&self.name, &error))
    }

    /// Returns the writer itself. Pass its errors through [`Failure::output`].
    pub(crate) fn writer(&mut self) -> &mut (dyn Write + 'a) {
        &mut self.writer
    }
}

/// Returns true unless the user does without colours.
pub(crate) fn has_colors() -> bool {
    let is_dumb = env::var_os("TERM").is_some_and(|terminal| terminal == "dumb");
    !is_dumb && env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Returns the output of `write` as text.
#[cfg(test)]
pub(crate) fn written<T>(write: impl FnOnce(&mut Output<'_>) -> Result<T>) -> String {
    written_to(None, write)
}

/// Returns the output of `write` to a terminal of 80 columns, as text.
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
