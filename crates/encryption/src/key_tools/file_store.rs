//! Stores key material in files. This is the only I/O in this crate.

use std::{
    ffi::{OsStr, OsString},
    fs::{self, File},
    io::{self, ErrorKind as IoError, Read as _, Write},
    path::{Path, PathBuf},
};

use super::KeyMaterialStore;
use crate::{Error, Result, random};

/// The maximum size of key material to read, in bytes. One key takes less than a kilobyte.
const MAX_BYTES: u64 = 64 << 20;

/// A store that keeps the Parquet file `NAME`'s key material in `_KEY_MATERIAL_FOR_NAME.json`, in
/// the same folder. If you move or rename one of the two files, you must do the same with the
/// other.
#[derive(Debug, Clone)]
pub struct FileKeyMaterialStore {
    folder: PathBuf,
    name: OsString,
    overwrite: bool,
}

impl FileKeyMaterialStore {
    /// Creates a store for the Parquet file at `parquet_file`. The file need not exist yet.
    ///
    /// # Errors
    /// Fails with [Argument](crate::ErrorKind::Argument) if the path has no file name.
    pub fn new(parquet_file: impl AsRef<Path>) -> Result<Self> {
        let path = parquet_file.as_ref();
        let Some(name) = path.file_name() else {
            return Err(Error::argument(
                "the path of the Parquet file does not have a file name",
            ));
        };
        Ok(Self {
            folder: path.parent().map_or_else(PathBuf::new, Path::to_owned),
            name: name.to_owned(),
            overwrite: false,
        })
    }

    /// Sets whether a new file's material may replace that of the file it overwrites. From then on,
    /// the old file cannot be read, even if the new one is never finished.
    #[must_use]
    pub fn overwrite(mut self, overwrite: bool) -> Self {
        self.overwrite = overwrite;
        self
    }

    /// Returns the key material's path.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.file("_KEY_MATERIAL_FOR_", ".json")
    }

    fn file(&self, prefix: &str, suffix: impl AsRef<OsStr>) -> PathBuf {
        let mut name = OsString::from(prefix);
        name.push(&self.name);
        name.push(suffix);
        self.folder.join(name)
    }

    /// Writes a temporary file, syncs it to disk, then renames it.
    fn write(&self, material: &str) -> Result<()> {
        let unique = u64::from_le_bytes(random::array()?);
        // Folder readers skip names with this prefix. The name isn't longer than the final one.
        let temporary = self.folder.join(format!("_TMP_KEY_MATERIAL.{unique:016x}"));
        let written = File::create_new(&temporary).and_then(|mut file| {
            file.write_all(material.as_bytes())?;
            file.sync_all()?;
            fs::rename(&temporary, self.path())
        });
        if let Err(error) = written {
            // We report the first error, since a failure to remove the file changes nothing.
            drop(fs::remove_file(&temporary));
            return Err(self.error("written", &error));
        }
        self.sync_folder()
            .map_err(|error| self.error("written", &error))
    }

    /// Syncs the new name to disk.
    #[cfg(unix)]
    fn sync_folder(&self) -> io::Result<()> {
        let here = Path::new(".");
        let is_here = self.folder.as_os_str().is_empty();
        File::open(if is_here { here } else { &self.folder })?.sync_all()
    }

    /// Does nothing, because this system cannot open folders.
    #[cfg(not(unix))]
    fn sync_folder(&self) -> io::Result<()> {
        Ok(())
    }

    /// Reads the material from a regular file, rejecting other kinds. Otherwise an attacker with
    /// write access to the folder could make us read an endless device, or wait for a pipe forever.
    fn read_io(&self) -> io::Result<String> {
        let path = self.path();
        let is_file = |metadata: fs::Metadata| match metadata.is_file() {
            true => Ok(()),
            false => Err(io::Error::other("it is not a regular file")),
        };
        // We check before opening it, since opening a pipe would block until there is a writer.
        fs::metadata(&path).and_then(is_file)?;
        let file = File::open(&path)?;
        file.metadata().and_then(is_file)?;
        let mut text = String::new();
        file.take(MAX_BYTES + 1).read_to_string(&mut text)?;
        match text.len() as u64 > MAX_BYTES {
            true => Err(io::Error::other("it is larger than 64 MiB")),
            false => Ok(text),
        }
    }

    #[cold]
    fn error(&self, what: &str, error: &io::Error) -> Error {
        let path = self.path();
        let mut message = format!("key material {} cannot be {what}: {error}", path.display());
        let interrupted = self.file("_TMP_KEY_MATERIAL_FOR_", ".json");
        if error.kind() == IoError::NotFound && interrupted.exists() {
            message += &format!(
                "; another tool was interrupted while it rotated master keys: rename {} to it",
                interrupted.display()
            );
        }
        io::Error::new(error.kind(), message).into()
    }
}

impl KeyMaterialStore for FileKeyMaterialStore {
    fn read(&self) -> Result<String> {
        self.read_io().map_err(|error| self.error("read", &error))
    }

    fn create(&self, material: &str) -> Result<()> {
        if self.overwrite {
            return self.write(material);
        }
        // This empty file reserves the name. Only one of several concurrent writers can create it.
        match File::create_new(self.path()) {
            Ok(_) => self
                .write(material)
                .inspect_err(|_| drop(fs::remove_file(self.path()))),
            Err(error) if error.kind() == IoError::AlreadyExists => Err(Error::argument(format!(
                "key material {} already exists: without it, the Parquet file that it belongs to \
                 cannot be read",
                self.path().display()
            ))),
            Err(error) => Err(self.error("written", &error)),
        }
    }

    fn replace(&self, material: &str) -> Result<()> {
        self.write(material)
    }
}
