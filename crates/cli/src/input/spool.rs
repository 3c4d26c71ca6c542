//! A temporary file for everything imported by a command.

use std::env;
use std::io::{self, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use herringbone::push::FetchPolicy;
use herringbone::source::{FileSource, Source};
use herringbone_sort::UnnamedFile;

/// A temporary file for several parts, written one after another. It is created for the first part
/// and exists until the command ends.
#[derive(Default)]
pub(crate) struct Spool(Mutex<Option<Open>>);

/// The file, and its byte count so far.
struct Open {
    unnamed: UnnamedFile,
    length: u64,
}

fn at(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

impl Spool {
    /// Starts the next part.
    ///
    /// # Errors
    /// Fails if the file cannot be created.
    pub(crate) fn part(&self) -> io::Result<Part<'_>> {
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if file.is_none() {
            let folder = env::temp_dir();
            let unnamed =
                UnnamedFile::create(&folder, "import").map_err(|error| at(&folder, &error))?;
            *file = Some(Open { unnamed, length: 0 });
        }
        let start = file.as_ref().map_or(0, |file| file.length);
        Ok(Part { file, start })
    }
}

/// A part being written. It locks the file, so that parts can't interleave.
pub(crate) struct Part<'s> {
    file: MutexGuard<'s, Option<Open>>,
    start: u64,
}

impl Part<'_> {
    /// Ends the part and returns its bytes.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Io`](herringbone::ErrorKind::Io) if the file cannot be opened for
    /// reading.
    pub(crate) fn finish(self) -> herringbone::Result<Arc<dyn Source>> {
        let Some(file) = self.file.as_ref() else {
            return Ok(Arc::new(Bytes::new()));
        };
        Ok(Arc::new(Section {
            source: FileSource::new(file.unnamed.file().try_clone()?)?,
            range: self.start..file.length,
        }))
    }
}

impl Write for Part<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let Some(file) = self.file.as_mut() else {
            return Err(io::Error::from(io::ErrorKind::NotFound));
        };
        let written = file.unnamed.file().write(bytes)?;
        file.length += written as u64;
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file
            .as_mut()
            .map_or(Ok(()), |file| file.unnamed.file().flush())
    }
}

/// A range of the file's bytes.
#[derive(Debug)]
struct Section {
    source: FileSource,
    range: Range<u64>,
}

impl Source for Section {
    fn len(&self) -> u64 {
        self.range.end - self.range.start
    }

    fn read(&self, range: Range<u64>) -> herringbone::Result<Bytes> {
        if range.end > self.len() {
            let error = io::Error::from(io::ErrorKind::UnexpectedEof);
            return Err(error.into());
        }
        let start = self.range.start;
        self.source.read(start + range.start..start + range.end)
    }

    fn fetch_policy(&self) -> FetchPolicy {
        self.source.fetch_policy()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_follow_each_other() {
        let spool = Spool::default();
        let part = |text: &str| {
            let mut part = spool.part().unwrap();
            part.write_all(text.as_bytes()).unwrap();
            part.finish().unwrap()
        };
        let (first, second, empty) = (part("first"), part("second"), part(""));
        assert_eq!((first.len(), second.len(), empty.len()), (5, 6, 0));
        assert_eq!(second.read(0..6).unwrap(), "second");
        assert_eq!(first.read(1..5).unwrap(), "irst");
        assert!(first.read(0..6).is_err());
    }
}
