//! Encryption of another file in the same way as an existing one.

use herringbone_format::modular_encryption::KeyStep;

use super::FileDecryptor;
use crate::{
    ModuleKey, Result,
    crypto_metadata::{ColumnCryptoMetadata, FileCryptoMetadata},
    properties::{
        ColumnPath, EncryptionKey, FileDecryptionProperties, FileEncryptionProperties, OtherColumns,
    },
};

/// Returns properties that encrypt another file like the one described by `file`: with the same algorithm, kind of
/// footer, AAD prefix, keys and key metadata. `columns` are the columns of the new file, with the crypto metadata
/// of a chunk of each. `None` means that the column is not encrypted. Key metadata may refer to [external key
/// material](crate::key_tools::FileKeyMaterialStore), which the new file then needs too.
///
/// # Errors
/// [Key](crate::ErrorKind::Key) if a key is missing or not available yet; see [`FileDecryptor::new`] for others.
pub fn encryption_like(
    properties: &FileDecryptionProperties,
    file: &FileCryptoMetadata,
    plaintext_footer: bool,
    columns: impl IntoIterator<Item = (ColumnPath, Option<ColumnCryptoMetadata>)>,
) -> Result<FileEncryptionProperties> {
    let algorithm = &file.encryption_algorithm;
    let key_metadata = file.key_metadata.as_deref();
    let decryptor = FileDecryptor::new(properties, algorithm, key_metadata)?;
    let footer_key = decryptor.footer_key().and_then(KeyStep::ready)?;
    let prefix = properties.resolve_aad_prefix(algorithm)?;
    let is_supplied = algorithm.supply_aad_prefix && algorithm.aad_prefix.is_none();
    let mut builder = FileEncryptionProperties::builder(encryption_key(&footer_key, key_metadata))
        .algorithm(algorithm.algorithm)
        .plaintext_footer(plaintext_footer)
        .aad_prefix(prefix)
        .store_aad_prefix(!is_supplied)
        .other_columns(OtherColumns::Plaintext);
    for (path, column) in columns {
        builder = match &column {
            // Its columns do not record that they are encrypted.
            None if decryptor.is_duckdb_dialect() => builder.column_with_footer_key(path),
            None => builder,
            Some(ColumnCryptoMetadata::FooterKey) => builder.column_with_footer_key(path),
            Some(column @ ColumnCryptoMetadata::ColumnKey { key_metadata, .. }) => {
                let key = decryptor.column_key(&path, column)?.ready()?;
                builder.column_key(path, encryption_key(&key, key_metadata.as_deref()))
            }
        };
    }
    builder.build()
}

fn encryption_key(key: &ModuleKey, metadata: Option<&[u8]>) -> EncryptionKey {
    EncryptionKey::with_metadata(key.key.clone(), metadata.unwrap_or_default())
}
