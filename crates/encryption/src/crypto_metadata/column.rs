//! Encodes and decodes a column's crypto metadata.

use std::fmt;

use herringbone_format::thrift::{CompactReader, CompactWriter, Field, Wire};

use super::{MAX_DEPTH, binary, non_empty, write_binary};
use crate::{Result, redacted::redacted};

/// The key encrypting a column chunk, called `ColumnCryptoMetaData` in the specification.
#[derive(Clone, PartialEq, Eq)]
pub enum ColumnCryptoMetadata {
    /// The footer key.
    FooterKey,
    /// A separate key for the column.
    ColumnKey {
        /// The column's path, as the writer recorded it.
        path_in_schema: Vec<String>,
        /// The metadata identifying the key, or `None` if it is empty.
        key_metadata: Option<Vec<u8>>,
    },
}

impl ColumnCryptoMetadata {
    /// Decodes field 8 of `ColumnChunk`.
    ///
    /// # Errors
    /// Fails with [Corrupt](crate::ErrorKind::Corrupt) if the bytes are malformed, and with
    /// [Unsupported](crate::ErrorKind::Unsupported) if it is another kind of key.
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
        found.ok_or_else(|| reader.corrupt("the kind of key of an encrypted column is missing"))
    }

    /// Returns the column's path as recorded by the writer. It is empty if the column uses the
    /// footer key.
    #[must_use]
    pub fn path_in_schema(&self) -> &[String] {
        match self {
            Self::FooterKey => &[],
            Self::ColumnKey { path_in_schema, .. } => path_in_schema,
        }
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

    /// Encodes field 8 of `ColumnChunk`.
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
