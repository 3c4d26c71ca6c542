//! The beginning of a text, to find out what it is about.

use std::io::{self, BufRead, BufReader, Read};

use super::{Stream, unreadable};
use crate::failure::{Failure, Result};

/// Bytes of a sample, at most: also of a text that is one long line.
const MOST: usize = 64 << 20;

/// Bytes that are read at once.
const BUFFER: usize = 256 << 10;

/// The mark that some programs put before UTF-8.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// A text whose beginning is known.
pub(super) struct Sample {
    pub(super) text: Vec<u8>,
    rest: BufReader<Stream>,
}

impl Sample {
    /// Reads lines until `enough` says so, which is given each of them, or a part of a long one.
    ///
    /// # Errors
    /// Data where that is no UTF-8 by its first bytes, or `enough` says so; System.
    pub(super) fn of(
        stream: Stream,
        mut enough: impl FnMut(&[u8]) -> Result<bool, String>,
    ) -> Result<Self> {
        let name = stream.name.clone();
        let mut rest = BufReader::with_capacity(BUFFER, stream);
        let mut text = Vec::new();
        let start = rest.fill_buf().map_err(|error| unreadable(&name, &error))?;
        if start.starts_with(&[0xff, 0xfe]) || start.starts_with(&[0xfe, 0xff]) {
            let text = "the text is UTF-16; what is read is UTF-8";
            return Err(Failure::Data(format!("{name}: {text}")));
        }
        if start.starts_with(BYTE_ORDER_MARK) {
            rest.consume(BYTE_ORDER_MARK.len());
        }
        while text.len() < MOST {
            let before = text.len();
            let mut line = rest.by_ref().take(BUFFER as u64);
            let read = line
                .read_until(b'\n', &mut text)
                .map_err(|error| unreadable(&name, &error))?;
            let line = text.get(before..).unwrap_or_default();
            if read == 0 || enough(line).map_err(|text| Failure::Data(format!("{name}: {text}")))? {
                break;
            }
        }
        Ok(Self { text, rest })
    }

    /// The text from its beginning.
    pub(super) fn whole(self) -> impl BufRead {
        Whole {
            text: self.text,
            at: 0,
            rest: self.rest,
        }
    }
}

/// A sample, which is dropped when it was read, and what follows.
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
