//! Encrypts another file the way an existing file is encrypted.

use herringbone_format::modular_encryption::KeyStep;

use super::FileDecryptor;
use crate::{
    ModuleKey, Result,
    crypto_metadata::{ColumnCryptoMetadata, FileCryptoMetadata},
    properties::{
        ColumnPath, EncryptionKey, FileDecryptionProperties, FileEncryptionProperties, OtherColumns,
    },
};

/// Returns properties that encrypt another file like the one described by `file`, with the same
/// algorithm, kind of footer, AAD prefix, keys and key metadata. `columns` lists the new file's
/// columns. Each has the crypto metadata of one of its chunks, or `None` if it is not encrypted.
/// Key metadata can refer to [external key material](crate::key_tools::FileKeyMaterialStore). In
/// that case, the new file needs this material too.
///
/// # Errors
/// Fails with [Key](crate::ErrorKind::Key) if a key is missing or not available yet, and for the
/// reasons of [`FileDecryptor::new`].
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
            // This dialect's columns don't record that they're encrypted.
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
