//! Encrypted files: the keys, what files say of their encryption, and how that is kept.

mod keep;
mod keys;
mod summary;

pub(crate) use keep::{Kept, keep, without_keys};
pub(crate) use keys::Keys;
pub(crate) use summary::Summary;

use herringbone::ParquetFile;
use herringbone::encryption::crypto_metadata::{EncryptionAlgorithm, FileCryptoMetadata};
use herringbone::format::footer::{FOOTER_TAIL_BYTES, Tail};
use herringbone::source::Source;
use herringbone::{Limits, Result};

/// What becomes of the encryption of the input in Parquet that is written.
pub(crate) enum Protection {
    /// It stays.
    Keep,
    /// There is none any more.
    Decrypt,
    /// There is another.
    Encrypt(herringbone::encryption::FileEncryptionProperties),
}

/// What a file says of its encryption where everybody can read it, and whether its footer can be read too.
struct InTheClear {
    crypto: FileCryptoMetadata,
    plaintext_footer: bool,
}

impl InTheClear {
    /// Whether it is as DuckDB writes files, which alone have no identifier.
    fn is_duckdb_dialect(&self) -> bool {
        !self.plaintext_footer && self.crypto.encryption_algorithm.aad_file_unique.is_empty()
    }

    /// That of a file which is open; `None` if it is not encrypted.
    fn of(file: &ParquetFile) -> Result<Option<Self>> {
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

    /// That of a file whose footer is encrypted; `None` if it is not.
    fn of_encrypted_footer(source: &dyn Source, limits: &Limits) -> Result<Option<Self>> {
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
}
