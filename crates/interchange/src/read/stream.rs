//! Reads the bytes of files, and counts them.

use std::cell::Cell;
use std::io::{self, Read, Seek};
use std::rc::Rc;

use herringbone::Limits;

use super::Work;
use super::decoded::Decoded;
use super::unpacked::unpacked;
use crate::error::{Error, Result};

/// Bytes with random access.
pub trait ReadSeek: Read + Seek + Send {}

impl<T: Read + Seek + Send> ReadSeek for T {}

/// The bytes of an open file.
pub enum Bytes {
    /// A file with random access, and its byte count.
    File(Box<dyn ReadSeek>, u64),
    /// A pipe or another file without random access.
    Pipe(Box<dyn Read + Send>),
}

impl Bytes {
    /// Returns the byte count, or `None` for pipes.
    pub fn length(&self) -> Option<u64> {
        match self {
            Self::File(_, length) => Some(*length),
            Self::Pipe(_) => None,
        }
    }
}

impl Read for Bytes {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::File(bytes, _) => bytes.read(buffer),
            Self::Pipe(bytes) => bytes.read(buffer),
        }
    }
}

/// A file to read sequentially.
pub struct Stream {
    /// The file's name in errors.
    pub name: String,
    bytes: Box<dyn Read>,
    total: Option<u64>,
    source: Source,
}

/// The state of reading a file's bytes.
#[derive(Clone, Default)]
pub(super) struct Source {
    /// The number of bytes read.
    pub(super) read: Rc<Cell<u64>>,
    /// True if the system failed to read.
    pub(super) has_failed: Rc<Cell<bool>>,
}

/// A reader that updates the state of its source.
struct Counted<R> {
    bytes: R,
    source: Source,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.bytes.read(buffer);
        match &count {
            Ok(count) => {
                let read = &self.source.read;
                read.set(read.get() + *count as u64);
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => self.source.has_failed.set(true),
        }
        count
    }
}

impl Stream {
    /// Creates the stream of a file. `name` is its name in errors.
    pub fn new(name: String, bytes: Bytes) -> Self {
        let length = bytes.length();
        Self::counted(name, bytes, length)
    }

    pub(super) fn counted(name: String, bytes: impl Read + 'static, total: Option<u64>) -> Self {
        let source = Source::default();
        let counted = Counted {
            bytes,
            source: source.clone(),
        };
        Self {
            name,
            bytes: Box::new(counted),
            total,
            source,
        }
    }

    /// Decompresses gzip or Zstandard, leaving other bytes alone. A later read fails if the limits
    /// are exceeded, which protects against decompression bombs.
    ///
    /// # Errors
    /// Fails with [System](crate::Error::System) if the first bytes cannot be read.
    pub fn unpacked(mut self, limits: &Limits) -> Result<Self> {
        let unpacked = unpacked(self.bytes, &self.source, limits);
        self.bytes = unpacked.map_err(|error| unreadable(&self.name, &error))?;
        Ok(self)
    }

    /// Decodes the bytes to UTF-8. A byte order mark takes precedence over `encoding`.
    pub fn decoded(mut self, encoding: &'static encoding_rs::Encoding) -> Self {
        self.bytes = Box::new(Decoded::new(self.bytes, encoding));
        self
    }

    /// Creates a stream from bytes in memory.
    pub fn of_bytes(name: &str, bytes: Vec<u8>) -> Self {
        let total = bytes.len() as u64;
        Self::counted(name.to_owned(), io::Cursor::new(bytes), Some(total))
    }

    /// Returns the amount of work.
    pub(super) fn work(&self) -> Work {
        match self.total {
            Some(total) => Work::Bytes(total, self.source.read.clone()),
            None => Work::Unknown,
        }
    }
}

/// Converts a read error. Invalid data becomes a data error, and everything else a system error.
pub(super) fn unreadable(name: &str, error: &io::Error) -> Error {
    let text = format!("{name}: {error}");
    match error.kind() {
        io::ErrorKind::InvalidData => Error::Data(text),
        _ => Error::System(text),
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.bytes.read(buffer)
    }
}
