//! Encrypts the output the way the input was encrypted.

use std::collections::HashMap;

use herringbone::encryption::crypto_metadata::ColumnCryptoMetadata;
use herringbone::encryption::file::encryption_like;
use herringbone::encryption::key_tools::is_external;
use herringbone::encryption::properties::ColumnPath;
use herringbone::encryption::{FileDecryptionProperties, FileEncryptionProperties};
use herringbone::schema::WriteLeaf;
use herringbone::{Error, ErrorKind, ParquetFile, Remedy, Result};

use super::InTheClear;
use crate::Note;

/// A column's key description, or `None` if the column is not encrypted.
type Crypto = Option<ColumnCryptoMetadata>;

/// The input's encryption, set up for a new file.
pub(crate) struct RetainedEncryption {
    pub(crate) properties: FileEncryptionProperties,
    /// True if the first input's key material is stored outside the file.
    pub(crate) external_key_material: bool,
}

/// An encrypted file's properties, kept to encrypt another file the same way.
#[derive(Debug)]
pub(crate) struct EncryptedFile {
    clear: InTheClear,
    columns: HashMap<ColumnPath, Crypto>,
    decryption: FileDecryptionProperties,
}

impl EncryptedFile {
    /// Returns a file's encryption, or `None` if the file is not encrypted.
    ///
    /// # Errors
    /// Fails with Key if there are no keys, with Unsupported if row groups use different keys for
    /// one column, and with Corrupt if the description cannot be decoded.
    pub(crate) fn of(
        file: &ParquetFile,
        row_groups: &[usize],
        decryption: Option<&FileDecryptionProperties>,
    ) -> Result<Option<Self>> {
        let Some(clear) = InTheClear::of(file)? else {
            return Ok(None);
        };
        Ok(Some(Self {
            clear,
            decryption: decryption.cloned().ok_or_else(without_keys)?,
            columns: columns(file, row_groups)?,
        }))
    }

    /// Returns the encryption for a new file with these leaves.
    fn like(&self, leaves: &[WriteLeaf]) -> Result<FileEncryptionProperties> {
        let columns = leaves
            .iter()
            .map(|leaf| Ok((leaf.path.clone(), of_leaf(&self.columns, &leaf.path)?)));
        let columns: Vec<_> = columns.collect::<Result<_>>()?;
        let crypto = &self.clear.crypto;
        let plaintext_footer = self.clear.plaintext_footer;
        encryption_like(&self.decryption, crypto, plaintext_footer, columns)
    }

    /// Returns true if the key material for the footer or any of the leaves is outside the file.
    fn has_external_key_material(&self, leaves: &[WriteLeaf]) -> bool {
        let of_leaf = |leaf: &WriteLeaf| of_leaf(&self.columns, &leaf.path).ok().flatten();
        let column_crypto = leaves.iter().filter_map(of_leaf).filter_map(|it| match it {
            ColumnCryptoMetadata::ColumnKey { key_metadata, .. } => key_metadata,
            ColumnCryptoMetadata::FooterKey => None,
        });
        let mut key_metadata = column_crypto.chain(self.clear.crypto.key_metadata.clone());
        key_metadata.any(|metadata| is_external(&metadata))
    }
}

/// Returns the input's encryption for a file with these leaves, or `None` if the input is not
/// encrypted.
///
/// # Errors
/// Fails with Key if a key is missing, and with Unsupported if the files are encrypted in different
/// ways.
pub(crate) fn keep(
    files: &[(String, Option<EncryptedFile>)],
    leaves: &[WriteLeaf],
    notes: &mut Vec<Note>,
) -> Result<Option<RetainedEncryption>> {
    let like = |(_, file): &(String, Option<EncryptedFile>)| {
        file.as_ref().map(|file| file.like(leaves)).transpose()
    };
    let Some((first, others)) = files.split_first() else {
        return Ok(None);
    };
    let properties = like(first)?;
    for other in others {
        if properties != like(other)? {
            return Err(encryptions_differ(&first.0, &other.0));
        }
    }
    let (name, Some(file)) = first else {
        return Ok(None);
    };
    if file.clear.is_duckdb_dialect() {
        notes.push(Note::DuckDbDialect { file: name.clone() });
    }
    Ok(properties.map(|properties| RetainedEncryption {
        properties,
        external_key_material: file.has_external_key_material(leaves),
    }))
}

fn encryptions_differ(a: &str, b: &str) -> Error {
    let message = format!(
        "{a} and {b} are encrypted differently, so one file with the rows of both cannot keep \
         their encryption"
    );
    Error::unsupported(message).with_remedy(Remedy::DecryptFirst)
}

/// Returns the error for an encrypted file without keys. The keys are required, because we cannot
/// encrypt another file without them.
#[must_use]
pub fn without_keys() -> Error {
    let message = "the file is encrypted and the new file has to be encrypted too, but no keys \
                   were given";
    Error::new(ErrorKind::Key, message).with_remedy(Remedy::GiveKeys)
}

/// Returns each column's key description, taken from its chunks. All row groups must agree on it.
fn columns(file: &ParquetFile, row_groups: &[usize]) -> Result<HashMap<ColumnPath, Crypto>> {
    let (schema, metadata) = (file.parquet_schema(), file.metadata());
    let mut columns: HashMap<ColumnPath, Crypto> = HashMap::new();
    for &row_group in row_groups {
        for leaf in 0..schema.leaves().len().min(metadata.num_columns(row_group)) {
            let path: ColumnPath = schema.path(leaf).into_iter().map(str::to_owned).collect();
            let chunk = metadata.column_chunk(row_group, leaf)?;
            let crypto = chunk.crypto_metadata;
            let crypto = crypto.map(|bytes| ColumnCryptoMetadata::decode(&bytes.0));
            let crypto = crypto.transpose()?;
            let name = path.join(".");
            if columns.entry(path).or_insert_with(|| crypto.clone()) != &crypto {
                let message = "row groups use different keys for a column, which cannot be kept";
                return Err(Error::unsupported(message)
                    .in_row_group(row_group)
                    .in_column(name));
            }
        }
    }
    Ok(columns)
}

/// Returns the key description for an output leaf. Since a type can be stored in several forms, the
/// leaf might have another name in the input. In that case we protect it like the other leaves of
/// its field.
fn of_leaf(columns: &HashMap<ColumnPath, Crypto>, path: &[String]) -> Result<Crypto> {
    if let Some(crypto) = columns.get(path) {
        return Ok(crypto.clone());
    }
    if columns.is_empty() {
        // Any key will do, since there are no rows to protect.
        return Ok(Some(ColumnCryptoMetadata::FooterKey));
    }
    let field_keys = columns
        .iter()
        .filter(|(other, _)| other.first() == path.first());
    let mut field_keys = field_keys.map(|(_, crypto)| same_key(crypto));
    match field_keys.next() {
        Some(first) if field_keys.all(|other| other == first) => Ok(first),
        _ => {
            let message = "the input does not have this column, so its key is unknown";
            Err(Error::unsupported(message).in_column(path.join(".")))
        }
    }
}

/// Returns a description without its path, since the path differs between columns sharing a key.
fn same_key(crypto: &Crypto) -> Crypto {
    let mut crypto = crypto.clone();
    if let Some(ColumnCryptoMetadata::ColumnKey { path_in_schema, .. }) = &mut crypto {
        path_in_schema.clear();
    }
    crypto
}
