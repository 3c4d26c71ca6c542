//! Encrypts and decrypts modules with one key in one file.

use std::{fmt, sync::Arc};

use herringbone_format::modular_encryption::PageToEncrypt;
use zeroize::Zeroize;

use super::{
    ModuleId, ModuleKind,
    aad::FileAad,
    framing::{Framing, LENGTH_BYTES},
};
use crate::{
    Error, ErrorKind, Key, Result,
    cipher::{AesCipher, Failed, NONCE_BYTES, Nonce, Tag, first_counter},
    random,
};

/// A file's encryption algorithm (section 4.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Algorithm {
    /// GCM for all modules. It authenticates them.
    #[default]
    AesGcmV1,
    /// CTR for page bodies, and GCM for all other modules. Changes to a page body are not detected.
    AesGcmCtrV1,
}

impl Algorithm {
    /// Returns the algorithm's name in the specification.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::AesGcmV1 => "AES_GCM_V1",
            Self::AesGcmCtrV1 => "AES_GCM_CTR_V1",
        }
    }

    /// Returns the algorithm with this name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::AesGcmV1, Self::AesGcmCtrV1]
            .into_iter()
            .find(|algorithm| algorithm.name() == name)
    }

    pub(crate) fn framing(self, kind: ModuleKind) -> Framing {
        match self {
            Self::AesGcmCtrV1 if kind.is_page_body() => Framing::Ctr,
            _ => Framing::Gcm,
        }
    }
}

impl fmt::Display for Algorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A key for use in one file. Threads can share it, because only the invocation counter changes.
#[derive(Debug, Clone)]
pub struct ModuleKey {
    pub(crate) key: Key,
    algorithm: Algorithm,
    pub(crate) file_aad: Arc<FileAad>,
}

impl ModuleKey {
    /// Creates a key for a file's modules. `file_aad` has the file's prefix and identifier.
    #[must_use]
    pub fn new(key: Key, algorithm: Algorithm, file_aad: Arc<FileAad>) -> Self {
        Self {
            key,
            algorithm,
            file_aad,
        }
    }

    /// Returns the file's algorithm.
    #[must_use]
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Returns a module's overhead on top of its ciphertext, in bytes. The ciphertext is as long as the plaintext.
    #[must_use]
    pub fn overhead(&self, kind: ModuleKind) -> usize {
        self.algorithm.framing(kind).overhead()
    }

    /// Returns the size of the module at the start of `bytes`, including its length field, or `None` if there are fewer
    /// than four bytes.
    ///
    /// # Errors
    /// Fails with [Corrupt](ErrorKind::Corrupt) if the module is too short for a nonce and a tag, or longer than
    /// `limit` bytes. You get `limit` from the file and your own limits.
    pub fn module_bytes(&self, id: &ModuleId, bytes: &[u8], limit: usize) -> Result<Option<usize>> {
        let framing = self.algorithm.framing(id.kind);
        framing.module_bytes(id, bytes, limit.max(LENGTH_BYTES))
    }

    /// Appends the module to `out`. The plaintext is all `parts` joined together.
    ///
    /// # Errors
    /// Fails with [Argument](ErrorKind::Argument) if an ordinal needs more than 16 bits, or if the module would be
    /// longer than 2^31 - 1 bytes. Fails with [Key](ErrorKind::Key) if the key has encrypted too often, and with
    /// [Io](ErrorKind::Io) if random bytes are not available. After an error, `out` is unchanged.
    pub fn encrypt(&self, id: &ModuleId, parts: &[&[u8]], out: &mut Vec<u8>) -> Result<()> {
        let plaintext: usize = parts.iter().map(|part| part.len()).sum();
        let sealing = self.sealing(id, plaintext, random::array()?)?;
        out.reserve(plaintext + sealing.framing.overhead());
        sealing.append(id, parts, out)
    }

    /// Encrypts a data page.
    /// [`ModuleCipher::encrypt_page`](herringbone_format::modular_encryption::ModuleCipher::encrypt_page)
    /// has the details.
    ///
    /// # Errors
    /// Fails for the reasons of [`Self::encrypt`], and returns the header function's errors. If plaintext cannot be
    /// encrypted, it is wiped.
    pub fn encrypt_page(&self, page: PageToEncrypt<'_>, head: &mut Vec<u8>) -> Result<usize> {
        // We get both nonces with one system call, since a call often takes longer than encrypting a header.
        let nonces: [Nonce; 2] = random::pair()?;
        let body = page.body.get_mut(page.start..).unwrap_or_default();
        let sealing = self.sealing(&page.body_id, body.len(), nonces[0])?;
        let tag = sealing.seal(&page.body_id, body)?;
        page.body
            .extend_from_slice(tag.as_ref().map_or(&[], |tag| tag));
        let front = sealing.front();
        let body = page.body.get(page.start..).unwrap_or_default();
        let header = (page.header)([&front, body])?;
        let start = head.len();
        let sealing = self.sealing(&page.header_id, header.len(), nonces[1])?;
        head.reserve(header.len() + sealing.framing.overhead() + front.len());
        sealing.append(&page.header_id, &[&header], head)?;
        let header_bytes = head.len() - start;
        head.extend_from_slice(&front);
        Ok(header_bytes)
    }

    /// Prepares to encrypt one module with this nonce. The nonce must be fresh.
    fn sealing(&self, id: &ModuleId, plaintext: usize, nonce: Nonce) -> Result<Sealing<'_>> {
        let aad = self.file_aad.of(id)?;
        let framing = self.algorithm.framing(id.kind);
        Ok(Sealing {
            length: framing.declared_length(id, plaintext)?,
            cipher: self.key.cipher_for_encryption()?,
            nonce,
            framing,
            aad,
        })
    }

    /// Decrypts a `module`. It includes its length field.
    ///
    /// # Errors
    /// Fails for the reasons of [`Self::decrypt_into`].
    pub fn decrypt(&self, id: &ModuleId, module: &[u8]) -> Result<Vec<u8>> {
        let mut plaintext = Vec::new();
        self.decrypt_into(id, module, &mut plaintext)?;
        Ok(plaintext)
    }

    /// Decrypts a `module` including its length field, replacing the contents of `plaintext`.
    ///
    /// # Errors
    /// Fails with [Corrupt](ErrorKind::Corrupt) if the declared length differs from the length of `module`. Fails with
    /// [Key](ErrorKind::Key) if the module is not authentic, that is, if the key or the prefix is wrong, or if the
    /// bytes were changed or moved. After an error, `plaintext` is empty and any decrypted bytes are wiped. Note that
    /// with AES_GCM_CTR_V1, changes to page bodies are never detected.
    pub fn decrypt_into(
        &self,
        id: &ModuleId,
        module: &[u8],
        plaintext: &mut Vec<u8>,
    ) -> Result<()> {
        self.decrypt_behind(0, id, module, plaintext)
    }

    /// Decrypts a `module`, putting the result after the first `start` bytes of `plaintext`. After an error,
    /// `plaintext` is empty.
    pub(super) fn decrypt_behind(
        &self,
        start: usize,
        id: &ModuleId,
        module: &[u8],
        plaintext: &mut Vec<u8>,
    ) -> Result<()> {
        let decrypted = self.decrypt_module(start, id, module, plaintext);
        decrypted.inspect_err(|_| plaintext.clear())
    }

    fn decrypt_module(
        &self,
        start: usize,
        id: &ModuleId,
        module: &[u8],
        plaintext: &mut Vec<u8>,
    ) -> Result<()> {
        let framing = self.algorithm.framing(id.kind);
        let (nonce, ciphertext, tag) = framing.split(id, module)?;
        let ciphertext = module.get(ciphertext).unwrap_or_default();
        // All of these bytes get overwritten, so existing bytes need not be zeroed first.
        plaintext.resize(start + ciphertext.len(), 0);
        let buffer = plaintext.get_mut(start..).unwrap_or_default();
        let (cipher, counter) = (self.key.cipher(), first_counter(&nonce));
        let decrypted = match framing {
            Framing::Gcm => {
                let aad = self.file_aad.of(id)?;
                cipher.gcm_decrypt(&nonce, &aad, (ciphertext, &tag), buffer)
            }
            Framing::Ctr => cipher.ctr_decrypt(&counter, ciphertext, buffer),
        };
        decrypted.map_err(|Failed| {
            buffer.zeroize();
            not_authentic(id)
        })
    }
}

/// A single encryption with its own nonce.
struct Sealing<'a> {
    length: u32,
    cipher: &'a dyn AesCipher,
    nonce: Nonce,
    framing: Framing,
    aad: Vec<u8>,
}

impl Sealing<'_> {
    /// Returns the bytes in front of the ciphertext.
    fn front(&self) -> [u8; LENGTH_BYTES + NONCE_BYTES] {
        let mut front = [0; LENGTH_BYTES + NONCE_BYTES];
        let (length, nonce) = front.split_at_mut(LENGTH_BYTES);
        length.copy_from_slice(&self.length.to_le_bytes());
        nonce.copy_from_slice(&self.nonce);
        front
    }

    /// Appends the module to `out`. After an error, `out` is unchanged.
    fn append(&self, id: &ModuleId, parts: &[&[u8]], out: &mut Vec<u8>) -> Result<()> {
        let start = out.len();
        out.extend_from_slice(&self.front());
        let from = out.len();
        parts.iter().for_each(|part| out.extend_from_slice(part));
        let buffer = out.get_mut(from..).unwrap_or_default();
        let sealed = self.seal(id, buffer);
        let tag = sealed.inspect_err(|_| out.truncate(start))?;
        out.extend_from_slice(tag.as_ref().map_or(&[], |tag| tag));
        Ok(())
    }

    /// Encrypts in place, returning the tag if there is one. If the buffer cannot be encrypted, it is wiped.
    fn seal(&self, id: &ModuleId, buffer: &mut [u8]) -> Result<Option<Tag>> {
        let sealed = match self.framing {
            Framing::Gcm => self
                .cipher
                .gcm_encrypt(&self.nonce, &self.aad, buffer)
                .map(Some),
            Framing::Ctr => self
                .cipher
                .ctr(&first_counter(&self.nonce), buffer)
                .map(|()| None),
        };
        sealed.map_err(|Failed| {
            buffer.zeroize();
            id.place(Error::argument(format!("the {id} cannot be encrypted")))
        })
    }
}

/// Returns the error for a module that was not written to this place with this key.
#[cold]
pub(crate) fn not_authentic(id: &ModuleId) -> Error {
    id.place(Error::new(
        ErrorKind::Key,
        format!(
            "the {id} is not authentic: the key or the AAD prefix is wrong, or the file was changed"
        ),
    ))
}
