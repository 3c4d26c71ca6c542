//! Files on disk, read at given offsets.

use super::{FetchPolicy, Source, checked_length};
use bytes::Bytes;
use herringbone_format::{Error, Result};
use std::fs::{self, File, Metadata};
use std::io;
use std::ops::Range;
use std::path::Path;

/// An open file that several threads can read concurrently.
///
/// Each read is one positioned read (`pread`) into a buffer of exactly that size, without zeroing
/// it first. There is no cache here, because the operating system already has one.
///
/// ```
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
/// use herringbone::source::{FileSource, Source};
///
/// let file = FileSource::open("testdata/example.parquet")?;
/// let tail = file.read(file.len() - 4..file.len())?;
/// assert_eq!(tail, "PAR1");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct FileSource {
    file: Handle,
    bytes: u64,
}

impl FileSource {
    /// Opens the file at `path` for reading.
    ///
    /// # Errors
    ///
    /// Fails with [Io](crate::ErrorKind::Io) if the file does not exist, cannot be opened, or is
    /// not a regular file. The error's message has the path.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        // We check this first, because opening a named pipe would block until there's a writer.
        fs::metadata(path)
            .and_then(|metadata| regular(&metadata))
            .and_then(|()| File::open(path))
            .and_then(Self::from_io)
            .map_err(|error| at_path(path, error))
    }

    /// Uses an open file. Its current position does not matter.
    ///
    /// # Errors
    ///
    /// Fails with [Io](crate::ErrorKind::Io) if this is not a regular file but, for example, a
    /// directory or a pipe, or if its size is unknown.
    pub fn new(file: File) -> Result<Self> {
        Self::from_io(file).map_err(Error::from)
    }

    fn from_io(file: File) -> io::Result<Self> {
        let metadata = file.metadata()?;
        regular(&metadata)?;
        Ok(Self {
            bytes: metadata.len(),
            file: Handle::new(file),
        })
    }
}

/// Fails unless the file is a regular file.
fn regular(metadata: &Metadata) -> io::Result<()> {
    if metadata.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    match metadata.is_file() {
        true => Ok(()),
        false => Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "not a regular file, so it cannot be read at positions; read it into memory",
        )),
    }
}

impl Source for FileSource {
    fn len(&self) -> u64 {
        self.bytes
    }

    fn read(&self, range: Range<u64>) -> Result<Bytes> {
        let length = checked_length(&range, self.bytes)?;
        let mut buffer = Vec::new();
        buffer
            .try_reserve_exact(length)
            .map_err(|_| Error::from(io::Error::from(io::ErrorKind::OutOfMemory)))
            .and_then(|()| {
                self.file
                    .fill(&mut buffer, length, range.start)
                    .map_err(Error::from)
            })
            .map_err(|error| error.at_offset(range.start))?;
        Ok(Bytes::from(buffer))
    }

    fn fetch_policy(&self) -> FetchPolicy {
        FetchPolicy::local()
    }
}

/// Returns the error with the path in its message.
fn at_path(path: &Path, error: io::Error) -> Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display())).into()
}

/// Returns the error for a file truncated since it was opened.
fn cut_short() -> io::Error {
    io::Error::new(
        io::ErrorKind::UnexpectedEof,
        "the file has become shorter since it was opened",
    )
}

#[cfg(unix)]
use positioned::Handle;
#[cfg(not(unix))]
use seeking::Handle;

/// Positioned reads. They need no lock, since they don't move the file's own position.
#[cfg(unix)]
mod positioned {
    use super::cut_short;
    use rustix::buffer::spare_capacity;
    use rustix::io::{pread, retry_on_intr};
    use std::fs::File;
    use std::io;

    #[derive(Debug)]
    pub(super) struct Handle(File);

    impl Handle {
        pub(super) fn new(file: File) -> Self {
            Self(file)
        }

        /// Appends `length` bytes of the file from `offset` to `buffer`, which has capacity for
        /// them.
        pub(super) fn fill(
            &self,
            buffer: &mut Vec<u8>,
            length: usize,
            offset: u64,
        ) -> io::Result<()> {
            while buffer.len() < length {
                let position = offset + buffer.len() as u64;
                if retry_on_intr(|| pread(&self.0, spare_capacity(buffer), position))? == 0 {
                    return Err(cut_short());
                }
            }
            // The capacity can be larger than requested, so we might have read too many bytes.
            buffer.truncate(length);
            Ok(())
        }
    }
}

/// Seeks and reads under a lock, for systems without positioned reads.
#[cfg(any(not(unix), test))]
mod seeking {
    use super::cut_short;
    use std::fs::File;
    use std::io::{self, Read, Seek, SeekFrom};
    use std::sync::{Mutex, PoisonError};

    #[derive(Debug)]
    pub(super) struct Handle(Mutex<File>);

    impl Handle {
        pub(super) fn new(file: File) -> Self {
            Self(Mutex::new(file))
        }

        /// Appends `length` bytes of the file from `offset` to `buffer`, which has capacity for
        /// them.
        pub(super) fn fill(
            &self,
            buffer: &mut Vec<u8>,
            length: usize,
            offset: u64,
        ) -> io::Result<()> {
            // A poisoned lock is harmless here, because each read seeks first.
            let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            file.seek(SeekFrom::Start(offset))?;
            let read = (&mut *file).take(length as u64).read_to_end(buffer)?;
            if read == length {
                Ok(())
            } else {
                Err(cut_short())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use herringbone_format::ErrorKind;
    use std::path::PathBuf;

    /// A file in the temporary directory, removed at the end of the test.
    struct Temporary(PathBuf);

    impl Temporary {
        fn new(name: &str, contents: &[u8]) -> Self {
            let name = format!("herringbone-source-{}-{name}", std::process::id());
            let path = std::env::temp_dir().join(name);
            std::fs::write(&path, contents).unwrap();
            Self(path)
        }
    }

    impl Drop for Temporary {
        fn drop(&mut self) {
            let _gone = std::fs::remove_file(&self.0);
        }
    }

    fn contents() -> Vec<u8> {
        (0..100_000_u32).flat_map(u32::to_le_bytes).collect()
    }

    #[test]
    fn reads_what_the_file_holds() {
        let contents = contents();
        let path = Temporary::new("read", &contents);
        let file = FileSource::open(&path.0).unwrap();
        assert_eq!(file.len(), contents.len() as u64);
        assert_eq!(file.fetch_policy(), FetchPolicy::local());
        for range in [
            0..0,
            0..1,
            7..70_000,
            399_999..400_000,
            0..400_000,
            400_000..400_000,
        ] {
            let read = file.read(range.clone()).unwrap();
            assert_eq!(
                read,
                contents[range.start as usize..range.end as usize],
                "{range:?}"
            );
        }
        let error = file.read(399_999..400_001).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corrupt);
    }

    #[test]
    fn threads_share_one_file() {
        let contents = contents();
        let path = Temporary::new("threads", &contents);
        let file = FileSource::new(File::open(&path.0).unwrap()).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..4_usize {
                let (file, contents) = (&file, &contents);
                scope.spawn(move || {
                    for start in (thread..contents.len() - 900).step_by(901) {
                        let read = file.read(start as u64..start as u64 + 900).unwrap();
                        assert_eq!(read, contents[start..start + 900]);
                    }
                });
            }
        });
    }

    #[test]
    fn the_fallback_reads_the_same() {
        let contents = contents();
        let path = Temporary::new("seek", &contents);
        let file = seeking::Handle::new(File::open(&path.0).unwrap());
        let mut buffer = Vec::with_capacity(1000);
        file.fill(&mut buffer, 1000, 123).unwrap();
        assert_eq!(buffer, contents[123..1123]);
        let error = file.fill(&mut Vec::new(), 10, 399_995).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn a_file_cut_short_is_an_error() {
        let path = Temporary::new("short", &contents());
        let file = FileSource::open(&path.0).unwrap();
        let writer = File::options().write(true).open(&path.0).unwrap();
        writer.set_len(1000).unwrap();
        let error = file.read(900..1100).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Io);
        assert_eq!(error.location().offset, Some(900));
        assert_eq!(file.read(900..1000).unwrap().len(), 100);
    }

    #[test]
    fn errors_of_opening_name_the_path() {
        let missing = FileSource::open("/no/such/file.parquet").unwrap_err();
        assert_eq!(missing.kind(), ErrorKind::Io);
        assert!(
            missing.message().contains("/no/such/file.parquet"),
            "{missing}"
        );
        let directory = FileSource::open(std::env::temp_dir()).unwrap_err();
        assert_eq!(directory.kind(), ErrorKind::Io);
    }

    #[cfg(unix)]
    #[test]
    fn a_named_pipe_is_an_error_at_once() {
        let path = Temporary::new("pipe", b"");
        std::fs::remove_file(&path.0).unwrap();
        let made = std::process::Command::new("mkfifo").arg(&path.0).status();
        assert!(made.unwrap().success());
        let error = FileSource::open(&path.0).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Io);
        assert!(error.message().contains("not a regular file"), "{error}");
    }
}
