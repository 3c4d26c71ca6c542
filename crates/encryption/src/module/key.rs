//! One key in one file: encryption and decryption of modules.

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

/// The encryption algorithm of a file (section 4.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Algorithm {
    /// GCM for all modules, which authenticates them.
    #[default]
    AesGcmV1,
    /// CTR for the bodies of pages, and GCM for all other modules. Changes to the body of a page are not detected.
    AesGcmCtrV1,
}

impl Algorithm {
    /// Returns the name in the specification.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::AesGcmV1 => "AES_GCM_V1",
            Self::AesGcmCtrV1 => "AES_GCM_CTR_V1",
        }
    }

    /// Returns the algorithm with the given name.
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

/// A key used in one file. Threads may share it: only the counter of invocations changes.
#[derive(Debug, Clone)]
pub struct ModuleKey {
    pub(crate) key: Key,
    algorithm: Algorithm,
    pub(crate) file_aad: Arc<FileAad>,
}

impl ModuleKey {
    /// Creates a key for the modules of the file whose prefix and identifier are in `file_aad`.
    #[must_use]
    pub fn new(key: Key, algorithm: Algorithm, file_aad: Arc<FileAad>) -> Self {
        Self {
            key,
            algorithm,
            file_aad,
        }
    }

    /// Returns the algorithm of the file.
    #[must_use]
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Returns the number of bytes that a module of this kind takes in addition to its ciphertext. The ciphertext is
    /// as long as the plaintext.
    #[must_use]
    pub fn overhead(&self, kind: ModuleKind) -> usize {
        self.algorithm.framing(kind).overhead()
    }

    /// Returns the size in bytes of the module at the start of `bytes`, including its length field. `None` if there
    /// are fewer than four bytes.
    ///
    /// # Errors
    /// [Corrupt](ErrorKind::Corrupt) if the module is too short for nonce and tag, or longer than `limit` bytes. The
    /// file and the caller's limits determine `limit`.
    pub fn module_bytes(&self, id: &ModuleId, bytes: &[u8], limit: usize) -> Result<Option<usize>> {
        let framing = self.algorithm.framing(id.kind);
        framing.module_bytes(id, bytes, limit.max(LENGTH_BYTES))
    }

    /// Appends the module to `out`. Its plaintext is the concatenation of `parts`.
    ///
    /// # Errors
    /// [Argument](ErrorKind::Argument) if an ordinal needs more than 16 bits, or if the module would be longer than
    /// 2^31 - 1 bytes; [Key](ErrorKind::Key) if it has encrypted too often; [Io](ErrorKind::Io) if random bytes are not
    /// available. On error `out` is unchanged.
    pub fn encrypt(&self, id: &ModuleId, parts: &[&[u8]], out: &mut Vec<u8>) -> Result<()> {
        let plaintext: usize = parts.iter().map(|part| part.len()).sum();
        let sealing = self.sealing(id, plaintext, random::array()?)?;
        out.reserve(plaintext + sealing.framing.overhead());
        sealing.append(id, parts, out)
    }

    /// Encrypts a data page. See
    /// [`ModuleCipher::encrypt_page`](herringbone_format::modular_encryption::ModuleCipher::encrypt_page) for the
    /// details.
    ///
    /// # Errors
    /// See [`Self::encrypt`]; errors of the header. Plaintext that cannot be encrypted is wiped.
    pub fn encrypt_page(&self, page: PageToEncrypt<'_>, head: &mut Vec<u8>) -> Result<usize> {
        // Both nonces take one system call, which is slower than encrypting many a header.
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

    /// Prepares the encryption of one module, with a fresh nonce.
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

    /// Decrypts a `module`, which includes its length field.
    ///
    /// # Errors
    /// See [`Self::decrypt_into`].
    pub fn decrypt(&self, id: &ModuleId, module: &[u8]) -> Result<Vec<u8>> {
        let mut plaintext = Vec::new();
        self.decrypt_into(id, module, &mut plaintext)?;
        Ok(plaintext)
    }

    /// Decrypts a `module`, which includes its length field. Replaces the contents of `plaintext`.
    ///
    /// # Errors
    /// [Corrupt](ErrorKind::Corrupt) if the declared length is not that of `module`; [Key](ErrorKind::Key) if it is not
    /// authentic. In that case the key or the prefix is wrong, or the bytes were changed or moved. On error `plaintext`
    /// is empty, and any decrypted bytes are wiped. Changes to bodies of pages under AES_GCM_CTR_V1 are never detected.
    pub fn decrypt_into(
        &self,
        id: &ModuleId,
        module: &[u8],
        plaintext: &mut Vec<u8>,
    ) -> Result<()> {
        self.decrypt_behind(0, id, module, plaintext)
    }

    /// Decrypts a `module` to the end of the first `start` bytes of `plaintext`. On error `plaintext` is empty.
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
        // Existing bytes are overwritten, and need not be zeroed first.
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

/// A single encryption, with its own nonce.
struct Sealing<'a> {
    length: u32,
    cipher: &'a dyn AesCipher,
    nonce: Nonce,
    framing: Framing,
    aad: Vec<u8>,
}

impl Sealing<'_> {
    /// Returns the bytes before the ciphertext.
    fn front(&self) -> [u8; LENGTH_BYTES + NONCE_BYTES] {
        let mut front = [0; LENGTH_BYTES + NONCE_BYTES];
        let (length, nonce) = front.split_at_mut(LENGTH_BYTES);
        length.copy_from_slice(&self.length.to_le_bytes());
        nonce.copy_from_slice(&self.nonce);
        front
    }

    /// Appends the module to `out`. On error `out` is unchanged.
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

    /// Encrypts in place, and returns the tag, if there is one. Wipes a buffer that cannot be encrypted.
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

/// Returns the error for a module not written to this place with this key.
#[cold]
pub(crate) fn not_authentic(id: &ModuleId) -> Error {
    id.place(Error::new(
        ErrorKind::Key,
        format!(
            "the {id} is not authentic: the key or the AAD prefix is wrong, or the file was changed"
        ),
    ))
}
