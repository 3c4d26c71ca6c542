//! Files without random access, such as standard input.

use std::io::{Cursor, Read};
use std::sync::{Mutex, PoisonError};

use super::BEGINNING;

/// A file without random access. Its bytes can only be taken once.
pub(super) struct Pipe(Mutex<Option<Box<dyn Read + Send>>>);

impl Pipe {
    /// Creates a pipe without reading from it.
    pub(super) fn new(bytes: impl Read + Send + 'static) -> Self {
        Self(Mutex::new(Some(Box::new(bytes))))
    }

    /// Waits for the first bytes and returns them. After an error, these are fewer, and a later
    /// read reports the error.
    pub(super) fn beginning(&self) -> Vec<u8> {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut beginning = Vec::new();
        if let Some(mut bytes) = slot.take() {
            let first = bytes.by_ref().take(BEGINNING).read_to_end(&mut beginning);
            let first = first.map(|_| ()).err().map(|error| FailedRead(Some(error)));
            let read = Cursor::new(beginning.clone());
            *slot = Some(match first {
                Some(failed) => Box::new(read.chain(failed)),
                None => Box::new(read.chain(bytes)),
            });
        }
        beginning
    }

    /// Takes all bytes. Returns `None` after the first call.
    pub(super) fn take(&self) -> Option<Box<dyn Read + Send>> {
        let mut slot = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        slot.take()
    }
}

/// A reader that fails once. It replaces the rest of a pipe after a failed first read.
struct FailedRead(Option<std::io::Error>);

impl Read for FailedRead {
    fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::*;

    fn rest(pipe: &Pipe) -> (String, bool) {
        let mut text = String::new();
        let read = pipe.take().unwrap().read_to_string(&mut text);
        (text, read.is_ok())
    }

    #[test]
    fn a_look_at_the_beginning_consumes_nothing() {
        let pipe = Pipe::new(&b"some bytes"[..]);
        assert_eq!(pipe.beginning(), b"some bytes");
        assert_eq!(pipe.beginning(), b"some bytes");
        assert_eq!(rest(&pipe), ("some bytes".to_owned(), true));
        assert!(pipe.take().is_none() && pipe.beginning().is_empty());
    }

    #[test]
    fn an_error_comes_after_the_bytes_before_it() {
        let failed = FailedRead(Some(io::Error::from(io::ErrorKind::ConnectionReset)));
        let pipe = Pipe::new(b"some".chain(failed));
        assert_eq!(pipe.beginning(), b"some");
        let mut bytes = Vec::new();
        let error = pipe.take().unwrap().read_to_end(&mut bytes).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
        assert_eq!(bytes, b"some");
    }
}
