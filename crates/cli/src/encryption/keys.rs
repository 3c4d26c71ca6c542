//! Reads the keys from `--keys FILE`, or from the file that HERRINGBONE_KEYS names.

use std::env;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use herringbone::encryption::key_tools::{FileKeyMaterialStore, KeyMaterialStore};
use herringbone::encryption::keys_file::KeysFile;
use herringbone::encryption::{FileDecryptionProperties, FileEncryptionProperties};
use zeroize::Zeroizing;

use crate::base::failure::{Failure, Result};
use crate::base::url::{as_url, name_of};

/// The environment variable that names the keys file if the option is absent.
const VARIABLE: &str = "HERRINGBONE_KEYS";
/// The path that stands for standard input.
const STDIN: &str = "-";
/// The maximum size of a keys file, in bytes. This leaves room for a hundred thousand keys.
const MAX_BYTES: usize = 16 << 20;
/// The read size in bytes.
const READ_BYTES: usize = 16 << 10;

/// The keys for one run of the command.
pub(crate) struct Keys {
    name: String,
    is_stdin: bool,
    is_option: bool,
    file: KeysFile,
}

impl Keys {
    /// Reads the file that the option names. Without the option, reads the file that the variable
    /// names, if it is set.
    ///
    /// # Errors
    /// Fails with [`Failure::System`] if the file cannot be read, and with [`Failure::Usage`] if it
    /// is not a keys file.
    pub(crate) fn load(option: Option<&Path>) -> Result<Option<Self>> {
        let variable = || env::var_os(VARIABLE).filter(|path| !path.is_empty());
        let path = option.map(PathBuf::from);
        let Some(path) = path.or_else(|| variable().map(PathBuf::from)) else {
            return Ok(None);
        };
        if as_url(&path).is_some() {
            let message = "keys are read from local files only";
            return Err(Failure::Usage(format!("{}: {message}", name_of(&path))));
        }
        if is_secret(&path.to_string_lossy()) && !path.exists() {
            return Err(Failure::Usage(
                "--keys and HERRINGBONE_KEYS name a file, but the value is JSON or a key, which other users of the \
                 machine can see; write it to a file, or send it to standard input with --keys -"
                    .into(),
            ));
        }
        let is_stdin = path.as_os_str() == STDIN;
        let name = match is_stdin {
            true => "standard input".into(),
            false => path.display().to_string(),
        };
        let text = match is_stdin {
            true => read(io::stdin().lock()),
            false => File::open(&path).and_then(read),
        };
        let text = text.map_err(|error| Failure::System(format!("{name}: {error}")))?;
        let text = str::from_utf8(&text).map_err(|_| {
            Failure::Usage(format!(
                "{name}: a keys file must be JSON, but this is not text"
            ))
        })?;
        let file = KeysFile::parse(text, &crate::column_paths);
        let file = file.map_err(|error| Failure::Usage(format!("{name}: {}", error.message())))?;
        Ok(Some(Self {
            name,
            is_stdin,
            is_option: option.is_some(),
            file,
        }))
    }

    /// Returns true if the keys were read from standard input, which is then no longer available
    /// for data.
    pub(crate) fn is_stdin(&self) -> bool {
        self.is_stdin
    }

    /// Returns true if the keys are from the command line rather than the variable.
    pub(crate) fn is_option(&self) -> bool {
        self.is_option
    }

    /// Allows unencrypted files to be read too.
    pub(crate) fn allow_plaintext(&mut self) {
        self.file.allow_plaintext = true;
    }

    /// Returns the properties for reading a file. `path` is the file's path, if it has one.
    ///
    /// # Errors
    /// Fails with [`Failure::Usage`] if there are no keys for reading.
    pub(crate) fn decryption(&self, path: Option<&Path>) -> Result<FileDecryptionProperties> {
        let store = path.and_then(|path| FileKeyMaterialStore::new(path).ok());
        let store = store.map(|store| Arc::new(store) as Arc<dyn KeyMaterialStore>);
        let properties = self.file.decryption_properties(store);
        properties.map_err(|error| self.failure(&error))
    }

    /// Returns the properties for encrypting a file.
    ///
    /// # Errors
    /// Fails with [`Failure::Usage`] if there are no keys for encryption.
    pub(crate) fn encryption(&self) -> Result<FileEncryptionProperties> {
        let properties = self.file.encryption_properties();
        properties.map_err(|error| self.failure(&error))
    }

    fn failure(&self, error: &herringbone::Error) -> Failure {
        Failure::Usage(format!("{}: {}", self.name, error.message()))
    }
}

/// Returns true if the text given as a path looks like JSON or like a base64 or hexadecimal key. We
/// refuse such a text, because secrets on a command line are visible to other users of the machine.
fn is_secret(text: &str) -> bool {
    let text = text.trim();
    let is_key = |bytes: usize| [16, 24, 32].contains(&bytes);
    let is_hex = text.bytes().all(|byte| byte.is_ascii_hexdigit()) && is_key(text.len() / 2);
    let decoded = STANDARD.decode(text).ok().map(Zeroizing::new);
    text.starts_with(['{', '[', '"'])
        || is_hex
        || decoded.is_some_and(|decoded| is_key(decoded.len()))
}

/// Reads all bytes into memory that is wiped on drop.
fn read(mut from: impl Read) -> io::Result<Zeroizing<Vec<u8>>> {
    let mut bytes = Zeroizing::new(Vec::new());
    loop {
        // A growing vector wouldn't wipe its old memory on reallocation, so we copy into a new
        // vector instead.
        let mut longer = Zeroizing::new(vec![0; bytes.len() + READ_BYTES.max(bytes.len())]);
        let (old, mut free) = longer.split_at_mut(bytes.len());
        old.copy_from_slice(&bytes);
        let mut filled = old.len();
        while !free.is_empty() {
            match from.read(free) {
                Ok(0) => {
                    longer.truncate(filled);
                    return Ok(longer);
                }
                Ok(count) => {
                    filled += count;
                    free = free.get_mut(count..).unwrap_or_default();
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        if filled > MAX_BYTES {
            return Err(io::Error::other("it is too large for a keys file"));
        }
        bytes = longer;
    }
}
