//! What a file says about its encryption, in the clear (sections 5.2 to 5.5).
//!
//! In front of an encrypted footer stands a [`FileCryptoMetadata`]. A plaintext footer has an [`EncryptionAlgorithm`] in its
//! field 8, and the metadata of the key that signs it in field 9. Each encrypted column chunk has a [`ColumnCryptoMetadata`]
//! in its field 8.
//!
//! Nothing authenticates a [`FileCryptoMetadata`]: whoever can write the file can change it.

use std::fmt;

use herringbone_format::thrift::{CompactReader, CompactWriter, Field, Wire};

use crate::{Result, module::Algorithm, redacted::redacted};

/// Nesting of thrift values that is passed over where a field is not known.
const MAX_DEPTH: usize = 16;

/// How a file is encrypted: `EncryptionAlgorithm` of the specification.
#[derive(Clone, PartialEq, Eq)]
pub struct EncryptionAlgorithm {
    /// Which of the two algorithms it is.
    pub algorithm: Algorithm,
    /// The prefix of additional authenticated data, if it is stored in the file.
    pub aad_prefix: Option<Vec<u8>>,
    /// The random identifier of the file.
    pub aad_file_unique: Vec<u8>,
    /// Whether the reader has to supply the prefix.
    pub supply_aad_prefix: bool,
}

impl EncryptionAlgorithm {
    /// Decodes field 8 of `FileMetaData`.
    ///
    /// **Errors**: corrupt; unsupported if it is another algorithm than the two.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        Self::read(&mut CompactReader::new(bytes, MAX_DEPTH))
    }

    /// The bytes of field 8 of `FileMetaData`.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = CompactWriter::new();
        self.write(&mut writer);
        writer.finish()
    }

    fn read(reader: &mut CompactReader<'_>) -> Result<Self> {
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
                        "encryption algorithm {id}: AES_GCM_V1 (1) and AES_GCM_CTR_V1 (2) are known"
                    )));
                }
            };
            reader.expect(field.wire, Wire::Struct)?;
            found = Some(Self::read_parameters(reader, algorithm)?);
        }
        found.ok_or_else(|| reader.corrupt("no encryption algorithm"))
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

    fn write(&self, writer: &mut CompactWriter) {
        writer.begin_struct();
        let id = match self.algorithm {
            Algorithm::AesGcmV1 => 1,
            Algorithm::AesGcmCtrV1 => 2,
        };
        writer.field(id, Wire::Struct);
        writer.begin_struct();
        write_binary(writer, 1, self.aad_prefix.as_deref());
        write_binary(writer, 2, Some(&self.aad_file_unique));
        // There are readers that do not take its absence for false.
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

/// What stands in front of an encrypted footer: `FileCryptoMetaData` of the specification.
#[derive(Clone, PartialEq, Eq)]
pub struct FileCryptoMetadata {
    /// How the file is encrypted.
    pub encryption_algorithm: EncryptionAlgorithm,
    /// What finds the key of the footer; `None` where it is empty.
    pub key_metadata: Option<Vec<u8>>,
}

impl FileCryptoMetadata {
    /// Decodes the struct at the start of `bytes`; also returns how many bytes it has. The encrypted footer follows.
    ///
    /// **Errors**: corrupt; unsupported if the algorithm is another one than the two.
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

    /// The bytes in front of an encrypted footer.
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

/// Which key a column chunk is encrypted with: `ColumnCryptoMetaData` of the specification.
#[derive(Clone, PartialEq, Eq)]
pub enum ColumnCryptoMetadata {
    /// That of the footer.
    FooterKey,
    /// One of its own.
    ColumnKey {
        /// The path of the column, as the writer has it.
        path_in_schema: Vec<String>,
        /// What finds the key; `None` where it is empty.
        key_metadata: Option<Vec<u8>>,
    },
}

impl ColumnCryptoMetadata {
    /// Decodes field 8 of `ColumnChunk`.
    ///
    /// **Errors**: corrupt; unsupported if it is neither kind of key.
    pub fn decode(bytes: &[u8]) -> Result<Self> {
        let mut reader = CompactReader::new(bytes, MAX_DEPTH);
        let (mut found, mut last) = (None, 0);
        while let Some(Field { id, wire }) = reader.field(&mut last)? {
            if found.is_some() {
                return Err(reader.corrupt("more than one kind of key for a column"));
            }
            reader.expect(wire, Wire::Struct)?;
            found = Some(match id {
                1 => {
                    reader.skip(wire)?;
                    Self::FooterKey
                }
                2 => Self::read_column_key(&mut reader)?,
                _ => return Err(reader.unsupported(format!("column key of kind {id}"))),
            });
        }
        found.ok_or_else(|| reader.corrupt("no kind of key for an encrypted column"))
    }

    fn read_column_key(reader: &mut CompactReader<'_>) -> Result<Self> {
        let (mut path, mut key_metadata, mut last) = (None, None, 0);
        while let Some(Field { id, wire }) = reader.field(&mut last)? {
            match id {
                1 => {
                    reader.expect(wire, Wire::List)?;
                    let (element, parts) = reader.list()?;
                    let mut read = Vec::new();
                    for _ in 0..parts {
                        reader.expect(element, Wire::Binary)?;
                        read.push(reader.string()?.to_owned());
                    }
                    path = Some(read);
                }
                2 => key_metadata = non_empty(binary(reader, wire)?),
                _ => reader.skip(wire)?,
            }
        }
        let Some(path_in_schema) = path else {
            return Err(reader.corrupt("EncryptionWithColumnKey.path_in_schema is missing"));
        };
        Ok(Self::ColumnKey {
            path_in_schema,
            key_metadata,
        })
    }

    /// The bytes of field 8 of `ColumnChunk`.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut writer = CompactWriter::new();
        writer.begin_struct();
        match self {
            Self::FooterKey => {
                writer.field(1, Wire::Struct);
                writer.begin_struct();
            }
            Self::ColumnKey {
                path_in_schema,
                key_metadata,
            } => {
                writer.field(2, Wire::Struct);
                writer.begin_struct();
                writer.field(1, Wire::List);
                writer.list(Wire::Binary, path_in_schema.len());
                path_in_schema
                    .iter()
                    .for_each(|part| writer.binary(part.as_bytes()));
                write_binary(&mut writer, 2, key_metadata.as_deref());
            }
        }
        writer.end_struct();
        writer.end_struct();
        writer.finish()
    }
}

impl fmt::Debug for ColumnCryptoMetadata {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::FooterKey => f.write_str("FooterKey"),
            Self::ColumnKey {
                path_in_schema,
                key_metadata,
            } => f
                .debug_struct("ColumnKey")
                .field("path_in_schema", path_in_schema)
                .field("key_metadata", &redacted(key_metadata.as_deref()))
                .finish(),
        }
    }
}

fn binary(reader: &mut CompactReader<'_>, wire: Wire) -> Result<Option<Vec<u8>>> {
    reader.expect(wire, Wire::Binary)?;
    reader.binary().map(|bytes| Some(bytes.to_vec()))
}

/// There are writers that always set the metadata of keys.
fn non_empty(bytes: Option<Vec<u8>>) -> Option<Vec<u8>> {
    bytes.filter(|bytes| !bytes.is_empty())
}

fn write_binary(writer: &mut CompactWriter, id: i16, bytes: Option<&[u8]>) {
    if let Some(bytes) = bytes {
        writer.field(id, Wire::Binary);
        writer.binary(bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn algorithm(algorithm: Algorithm, aad_prefix: Option<&[u8]>) -> EncryptionAlgorithm {
        EncryptionAlgorithm {
            algorithm,
            aad_prefix: aad_prefix.map(<[u8]>::to_vec),
            aad_file_unique: b"12345678".to_vec(),
            supply_aad_prefix: aad_prefix.is_none(),
        }
    }

    /// Section 5.2 by hand, in the compact protocol.
    #[test]
    fn the_bytes_of_an_algorithm() {
        let bytes = b"\x2c\x18\x01p\x18\x0812345678\x12\0\0";
        let expected = algorithm(Algorithm::AesGcmCtrV1, Some(b"p"));
        assert_eq!(expected.encode(), bytes);
        assert_eq!(EncryptionAlgorithm::decode(bytes).unwrap(), expected);
    }

    #[test]
    fn metadata_comes_back() {
        for key_metadata in [None, Some(b"key".to_vec())] {
            let metadata = FileCryptoMetadata {
                encryption_algorithm: algorithm(Algorithm::AesGcmV1, None),
                key_metadata: key_metadata.clone(),
            };
            let mut bytes = metadata.encode();
            let length = bytes.len();
            bytes.extend(b"footer");
            assert_eq!(
                FileCryptoMetadata::decode_prefix(&bytes).unwrap(),
                (metadata, length)
            );
            for end in 0..length {
                assert!(FileCryptoMetadata::decode_prefix(&bytes[..end]).is_err());
            }
            let column = ColumnCryptoMetadata::ColumnKey {
                path_in_schema: vec!["a.b".into(), "c".into()],
                key_metadata,
            };
            assert_eq!(
                ColumnCryptoMetadata::decode(&column.encode()).unwrap(),
                column
            );
        }
        let column = ColumnCryptoMetadata::FooterKey;
        assert_eq!(column.encode(), b"\x1c\0\0");
        assert_eq!(ColumnCryptoMetadata::decode(b"\x1c\0\0").unwrap(), column);
    }

    #[test]
    fn empty_key_metadata_is_none() {
        let metadata = FileCryptoMetadata {
            encryption_algorithm: algorithm(Algorithm::AesGcmV1, None),
            key_metadata: Some(vec![]),
        };
        let (read, _) = FileCryptoMetadata::decode_prefix(&metadata.encode()).unwrap();
        assert_eq!(read.key_metadata, None);
    }

    #[test]
    fn unknown_unions_are_unsupported() {
        let error = EncryptionAlgorithm::decode(b"\x3c\0\0").unwrap_err();
        assert_eq!(error.kind(), crate::ErrorKind::Unsupported);
        let error = ColumnCryptoMetadata::decode(b"\x3c\0\0").unwrap_err();
        assert_eq!(error.kind(), crate::ErrorKind::Unsupported);
        assert!(EncryptionAlgorithm::decode(b"\0").is_err());
        assert!(ColumnCryptoMetadata::decode(b"\0").is_err());
        assert!(EncryptionAlgorithm::decode(b"\x1c\0\x1c\0\0").is_err());
    }

    #[test]
    fn debug_shows_no_key_metadata() {
        let metadata = FileCryptoMetadata {
            encryption_algorithm: algorithm(Algorithm::AesGcmV1, Some(b"tester")),
            key_metadata: Some(b"secret".to_vec()),
        };
        let debug = format!("{metadata:?}");
        assert!(
            !debug.contains("secret") && !debug.contains("115"),
            "{debug}"
        );
    }
}
