//! Encodes and decodes the metadata in front of an encrypted footer.

use std::fmt;

use herringbone_format::thrift::{CompactReader, CompactWriter, Field, Wire};

use super::{EncryptionAlgorithm, MAX_DEPTH, binary, non_empty, write_binary};
use crate::{Result, redacted::redacted};

/// The metadata in front of an encrypted footer, called `FileCryptoMetaData` in the specification.
#[derive(Clone, PartialEq, Eq)]
pub struct FileCryptoMetadata {
    /// The file's encryption algorithm.
    pub encryption_algorithm: EncryptionAlgorithm,
    /// The metadata identifying the footer key, or `None` if it is empty.
    pub key_metadata: Option<Vec<u8>>,
}

impl FileCryptoMetadata {
    /// Decodes the struct at the start of `bytes`, also returning its length. The encrypted footer
    /// follows.
    ///
    /// # Errors
    /// Fails with [Corrupt](crate::ErrorKind::Corrupt) if the bytes are malformed, and with
    /// [Unsupported](crate::ErrorKind::Unsupported) if the algorithm is unknown.
    pub fn decode_prefix(bytes: &[u8]) -> Result<(Self, usize)> {
        let mut reader = CompactReader::new(bytes, MAX_DEPTH);
        let (mut algorithm, mut key_metadata, mut last) = (None, None, 0);
        while let Some(Field { id, wire }) = reader.field(&mut last)? {
            match id {
                1 => {
                    reader.expect(wire, Wire::Struct)?;
                    algorithm = Some(EncryptionAlgorithm::read(&mut reader)?);
                }
                2 => key_metadata = non_empty(binary(&mut reader, wire)?),
                _ => reader.skip(wire)?,
            }
        }
        let Some(encryption_algorithm) = algorithm else {
            return Err(reader.corrupt("FileCryptoMetaData.encryption_algorithm is missing"));
        };
        let metadata = Self {
            encryption_algorithm,
            key_metadata,
        };
        Ok((metadata, reader.position()))
    }

    /// Encodes the bytes in front of an encrypted footer.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = CompactWriter::new();
        writer.begin_struct();
        writer.field(1, Wire::Struct);
        self.encryption_algorithm.write(&mut writer);
        write_binary(&mut writer, 2, self.key_metadata.as_deref());
        writer.end_struct();
        writer.finish()
    }
}

impl fmt::Debug for FileCryptoMetadata {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileCryptoMetadata")
            .field("encryption_algorithm", &self.encryption_algorithm)
            .field("key_metadata", &redacted(self.key_metadata.as_deref()))
            .finish()
    }
}
