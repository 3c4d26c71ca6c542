//! Keeps the beginning of a text for inspection.

use std::io::{self, BufRead, BufReader, Read};

use super::foreign::foreign;
use super::{Stream, unreadable};
use crate::error::{Error, Result};

/// The maximum byte count of a sample, even if the text is a single long line.
const MAX_SAMPLE_BYTES: usize = 64 << 20;

/// The read buffer's size in bytes.
const BUFFER: usize = 256 << 10;

/// The byte order mark, written before UTF-8 by some programs.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// A text with a sample of its beginning. We inspect the sample first, then parse the whole text
/// from its start.
pub(super) struct Sample {
    pub(super) text: Vec<u8>,
    /// True if the sample is the whole text.
    pub(super) is_whole: bool,
    rest: BufReader<Stream>,
}

impl Sample {
    /// Starts a text, skipping any byte order mark.
    ///
    /// # Errors
    /// Fails with [Data](crate::Error::Data) if the first bytes belong to another format, and with
    /// [System](crate::Error::System) if they cannot be read.
    pub(super) fn start(stream: Stream) -> Result<Self> {
        let mut rest = BufReader::with_capacity(BUFFER, stream);
        let start = rest.fill_buf();
        let start = start.map(|start| (foreign(start), start.starts_with(BYTE_ORDER_MARK)));
        let name = &rest.get_ref().name;
        let (foreign, has_mark) = start.map_err(|error| unreadable(name, &error))?;
        if let Some(foreign) = foreign {
            return Err(Error::Data(foreign.instead_of("text in UTF-8", name)));
        }
        if has_mark {
            rest.consume(BYTE_ORDER_MARK.len());
        }
        Ok(Self {
            text: Vec::new(),
            is_whole: false,
            rest,
        })
    }

    /// Skips lines, returning how many there were. The text can have fewer than `count`. You must
    /// call this before [`read`](Self::read).
    ///
    /// # Errors
    /// Fails with [System](crate::Error::System) if the text cannot be read, and with
    /// [Data](crate::Error::Data) if a compressed text is damaged.
    pub(super) fn skip_lines(&mut self, count: usize) -> Result<usize> {
        for skipped in 0..count {
            let is_there = self.skip_line().map_err(|error| {
                let name = &self.rest.get_ref().name;
                unreadable(name, &error)
            })?;
            if !is_there {
                return Ok(skipped);
            }
        }
        Ok(count)
    }

    /// Skips a line. Returns false at the end of the text.
    fn skip_line(&mut self) -> io::Result<bool> {
        if self.rest.fill_buf()?.is_empty() {
            return Ok(false);
        }
        loop {
            let text = self.rest.fill_buf()?;
            let Some(end) = memchr::memchr2(b'\n', b'\r', text) else {
                let length = text.len();
                self.rest.consume(length);
                match length {
                    0 => return Ok(true),
                    _ => continue,
                }
            };
            let is_return = text.get(end) == Some(&b'\r');
            self.rest.consume(end + 1);
            if is_return && self.rest.fill_buf()?.starts_with(b"\n") {
                self.rest.consume(1);
            }
            return Ok(true);
        }
    }

    /// Reads lines until `enough` returns true. `enough` is called with each line, or with parts of
    /// a long line.
    ///
    /// # Errors
    /// Fails with [Data](crate::Error::Data) if `enough` returns an error, and with
    /// [System](crate::Error::System) if the text cannot be read.
    pub(super) fn read(
        &mut self,
        mut enough: impl FnMut(&[u8]) -> Result<bool, String>,
    ) -> Result<()> {
        let Self {
            text,
            is_whole,
            rest,
        } = self;
        while text.len() < MAX_SAMPLE_BYTES {
            let before = text.len();
            let mut line = rest.by_ref().take(BUFFER as u64);
            let read = line.read_until(b'\n', text);
            let name = &rest.get_ref().name;
            *is_whole = read.map_err(|error| unreadable(name, &error))? == 0;
            let line = text.get(before..).unwrap_or_default();
            let data_failure = |text| Error::Data(format!("{name}: {text}"));
            if *is_whole || enough(line).map_err(data_failure)? {
                break;
            }
        }
        Ok(())
    }

    /// Returns the name of the file.
    pub(super) fn name(&self) -> &str {
        &self.rest.get_ref().name
    }

    /// Returns the text from its beginning.
    pub(super) fn whole(self) -> impl BufRead {
        Whole {
            text: self.text,
            at: 0,
            rest: self.rest,
        }
    }
}

/// A reader for the sample and then the rest of the text. It frees the sample's memory after
/// reading it.
struct Whole {
    text: Vec<u8>,
    at: usize,
    rest: BufReader<Stream>,
}

impl Read for Whole {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for Whole {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        match self.text.get(self.at..) {
            None | Some([]) => self.rest.fill_buf(),
            Some(_) => Ok(self.text.get(self.at..).unwrap_or_default()),
        }
    }

    fn consume(&mut self, count: usize) {
        if self.text.is_empty() {
            self.rest.consume(count);
            return;
        }
        self.at += count;
        if self.at >= self.text.len() {
            self.text = Vec::new();
            self.at = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skipped_lines_end_in_three_ways() {
        for (text, count, skipped, rest) in [
            ("a\nb\nc\n", 2, 2, "c\n"),
            ("a\r\nb\r\nc", 2, 2, "c"),
            ("a\rb\rc", 2, 2, "c"),
            ("a\n\nc", 2, 2, "c"),
            ("\n\r\n\rc", 3, 3, "c"),
            ("a\n\rb", 1, 1, "\rb"),
            ("a\nb", 0, 0, "a\nb"),
            ("a\nb", 3, 2, ""),
            ("a\n", 2, 1, ""),
            ("", 1, 0, ""),
        ] {
            let stream = Stream::of_bytes("text", text.as_bytes().to_vec());
            let mut sample = Sample::start(stream).unwrap();
            assert_eq!(sample.skip_lines(count).unwrap(), skipped, "{text:?}");
            let mut found = String::new();
            sample.whole().read_to_string(&mut found).unwrap();
            assert_eq!(found, rest, "{text:?}");
        }
    }
}
