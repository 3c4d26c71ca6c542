//! The beginning of a text, to find out what it is about.

use std::io::{BufRead, BufReader, Cursor, Read as _};

use super::Stream;
use crate::failure::{Failure, Result};

/// Bytes of a sample, at most: also of a text that is one long line.
const MOST: u64 = 64 << 20;

/// Bytes that are read at once.
const BUFFER: usize = 256 << 10;

/// The mark that some programs put before UTF-8.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// A text whose beginning is known.
pub(super) struct Sample {
    /// Whole lines, unless the text is longer than a sample may be.
    pub(super) text: Vec<u8>,
    rest: BufReader<Stream>,
}

impl Sample {
    /// Reads so many lines that are not blank; `quotes` may hold line ends that do not count.
    pub(super) fn of(stream: Stream, lines: usize, quotes: bool) -> Result<Self> {
        let name = stream.name.clone();
        let mut rest = BufReader::with_capacity(BUFFER, stream);
        let mut text = Vec::new();
        let (mut count, mut quoted) = (0, false);
        while count < lines && (text.len() as u64) < MOST {
            let start = text.len();
            let mut line = rest.by_ref().take(MOST - start as u64);
            let read = line
                .read_until(b'\n', &mut text)
                .map_err(|error| Failure::System(format!("{name}: {error}")))?;
            if read == 0 {
                break;
            }
            let line = text.get(start..).unwrap_or_default();
            let is_blank = line.iter().all(|byte| matches!(byte, b'\r' | b'\n'));
            quoted ^= quotes && line.iter().filter(|byte| **byte == b'"').count() % 2 == 1;
            count += usize::from(!quoted && !is_blank);
        }
        if text.starts_with(BYTE_ORDER_MARK) {
            text.drain(..BYTE_ORDER_MARK.len());
        }
        Ok(Self { text, rest })
    }

    /// The text from its beginning.
    pub(super) fn whole(self) -> impl BufRead {
        Cursor::new(self.text).chain(self.rest)
    }
}
