//! Encodes and decodes a file's encryption algorithm.

use std::fmt;

use herringbone_format::thrift::{CompactReader, CompactWriter, Field, Wire};

use super::{MAX_DEPTH, binary, write_binary};
use crate::{Algorithm, Result, redacted::redacted};

/// A file's encryption algorithm and its parameters, called `EncryptionAlgorithm` in the
/// specification.
#[derive(Clone, PartialEq, Eq)]
pub struct EncryptionAlgorithm {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// The prefix of the additional authenticated data, if the file stores it.
    pub aad_prefix: Option<Vec<u8>>,
    /// The file's random identifier.
    pub aad_file_unique: Vec<u8>,
    /// True if the reader has to supply the prefix.
    pub supply_aad_prefix: bool,
}

impl EncryptionAlgorithm {
    /// Decodes field 8 of `FileMetaData`.
    ///
    /// # Errors
    /// Fails with [Corrupt](crate::ErrorKind::Corrupt) if the bytes are malformed, and with
    /// [Unsupported](crate::ErrorKind::Unsupported) if the algorithm is unknown.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        Self::read(&mut CompactReader::new(bytes, MAX_DEPTH))
    }

    /// Encodes field 8 of `FileMetaData`.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = CompactWriter::new();
        self.write(&mut writer);
        writer.finish()
    }

    pub(super) fn read(reader: &mut CompactReader<'_>) -> Result<Self> {
        let (mut found, mut last) = (None, 0);
        while let Some(field) = reader.field(&mut last)? {
            if found.is_some() {
                return Err(reader.corrupt("more than one encryption algorithm"));
            }
            let algorithm = match field.id {
                1 => Algorithm::AesGcmV1,
                2 => Algorithm::AesGcmCtrV1,
                id => {
                    return Err(reader.unsupported(format!(
                        "encryption algorithm {id}; AES_GCM_V1 (1) and AES_GCM_CTR_V1 (2) are \
                         supported"
                    )));
                }
            };
            reader.expect(field.wire, Wire::Struct)?;
            found = Some(Self::read_parameters(reader, algorithm)?);
        }
        found.ok_or_else(|| reader.corrupt("the encryption algorithm is missing"))
    }

    fn read_parameters(reader: &mut CompactReader<'_>, algorithm: Algorithm) -> Result<Self> {
        let mut read = Self {
            algorithm,
            aad_prefix: None,
            aad_file_unique: Vec::new(),
            supply_aad_prefix: false,
        };
        let mut last = 0;
        while let Some(Field { id, wire }) = reader.field(&mut last)? {
            match id {
                1 => read.aad_prefix = binary(reader, wire)?,
                2 => read.aad_file_unique = binary(reader, wire)?.unwrap_or_default(),
                3 => read.supply_aad_prefix = reader.boolean(wire)?,
                _ => reader.skip(wire)?,
            }
        }
        Ok(read)
    }

    pub(super) fn write(&self, writer: &mut CompactWriter) {
        writer.begin_struct();
        let id = match self.algorithm {
            Algorithm::AesGcmV1 => 1,
            Algorithm::AesGcmCtrV1 => 2,
        };
        writer.field(id, Wire::Struct);
        writer.begin_struct();
        write_binary(writer, 1, self.aad_prefix.as_deref());
        write_binary(writer, 2, Some(&self.aad_file_unique));
        // We write the field even if it's false, because some readers don't treat a missing field
        // as false.
        let boolean = if self.supply_aad_prefix {
            Wire::BooleanTrue
        } else {
            Wire::BooleanFalse
        };
        writer.field(3, boolean);
        writer.end_struct();
        writer.end_struct();
    }
}

impl fmt::Debug for EncryptionAlgorithm {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("EncryptionAlgorithm")
            .field("algorithm", &self.algorithm)
            .field("aad_prefix", &redacted(self.aad_prefix.as_deref()))
            .field("supply_aad_prefix", &self.supply_aad_prefix)
            .finish_non_exhaustive()
    }
}
