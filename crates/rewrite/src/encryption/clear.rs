//! The unencrypted parts of a file's encryption.

use herringbone::encryption::crypto_metadata::{EncryptionAlgorithm, FileCryptoMetadata};
use herringbone::format::footer::{FOOTER_TAIL_BYTES, Tail};
use herringbone::source::Source;
use herringbone::{Limits, ParquetFile, Result};

/// A file's encryption, as far as it can be read without keys. Use this to show how a file is
/// encrypted, or to find out which keys it needs.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct InTheClear {
    /// The algorithm and the footer key's metadata.
    pub crypto: FileCryptoMetadata,
    /// True if the footer can be read without a key.
    pub plaintext_footer: bool,
}

impl InTheClear {
    /// Returns an open file's description, or `None` if the file is not encrypted.
    ///
    /// # Errors
    /// Fails with [Io](herringbone::ErrorKind::Io) if the file cannot be read, and with
    /// [Corrupt](herringbone::ErrorKind::Corrupt) if the description cannot be decoded.
    pub fn of(file: &ParquetFile) -> Result<Option<Self>> {
        if let Some(clear) = Self::of_encrypted_footer(&**file.source(), file.limits())? {
            return Ok(Some(clear));
        }
        let metadata = file.metadata();
        let Some(algorithm) = metadata.encryption_algorithm() else {
            return Ok(None);
        };
        let crypto = FileCryptoMetadata {
            encryption_algorithm: EncryptionAlgorithm::decode(algorithm)?,
            key_metadata: metadata.footer_signing_key_metadata().map(<[u8]>::to_vec),
        };
        Ok(Some(Self {
            crypto,
            plaintext_footer: true,
        }))
    }

    /// Returns the description of a file with an encrypted footer, or `None` if the footer is not
    /// encrypted.
    ///
    /// # Errors
    /// Fails for the same reasons as [`Self::of`].
    pub fn of_encrypted_footer(source: &dyn Source, limits: &Limits) -> Result<Option<Self>> {
        let Some(start_of_tail) = source.len().checked_sub(FOOTER_TAIL_BYTES as u64) else {
            return Ok(None);
        };
        let tail = source.read(start_of_tail..source.len())?;
        let tail = tail.first_chunk().map(Tail::decode);
        let Some(Ok(Tail {
            metadata_length,
            encrypted: true,
        })) = tail
        else {
            return Ok(None);
        };
        let length = u64::from(metadata_length).min(limits.footer_bytes);
        let start = start_of_tail.saturating_sub(length);
        let footer = source.read(start..start_of_tail)?;
        let (crypto, _) = FileCryptoMetadata::decode_prefix(&footer)?;
        Ok(Some(Self {
            crypto,
            plaintext_footer: false,
        }))
    }

    /// Returns true if the file uses DuckDB's dialect. We recognise it by the missing identifier,
    /// since only DuckDB's files lack one.
    #[must_use]
    pub fn is_duckdb_dialect(&self) -> bool {
        !self.plaintext_footer && self.crypto.encryption_algorithm.aad_file_unique.is_empty()
    }
}
