//! The keys of encrypted files, which are either written out in a table's options or made by a
//! factory.

use std::fmt::Debug;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use async_trait::async_trait;
use datafusion_common::config::{
    ConfigFileDecryptionProperties, ConfigFileEncryptionProperties, TableParquetOptions,
};
use datafusion_common::{Result, config_datafusion_err};
use herringbone::encryption::properties::EncryptionKey;
use herringbone::encryption::{FileDecryptionProperties, FileEncryptionProperties, Key};
use herringbone::modular_encryption::{Decryption, Encryption};
use object_store::path::Path;

use crate::error::from_library;

/// A source of keys for encrypted files, for tables whose options contain no keys.
///
/// Pass it to
/// [`HerringboneFormatFactory::with_key_factory`](crate::HerringboneFormatFactory::with_key_factory).
#[async_trait]
pub trait KeyFactory: Debug + Send + Sync {
    /// Returns the name by which other machines find their own source of the same keys. Without a
    /// name, tables with these keys stay on this machine.
    fn name(&self) -> Option<&str> {
        None
    }

    /// Returns the keys to read this file, or `None` if it is not encrypted.
    ///
    /// # Errors
    /// May fail with any error, which ends the query.
    async fn decryption(&self, file: &Path) -> Result<Option<Arc<dyn Decryption>>>;

    /// Returns the keys to write a file with this schema, or `None` to write it without encryption.
    ///
    /// # Errors
    /// May fail with any error, which ends the query.
    async fn encryption(
        &self,
        file: &Path,
        schema: &SchemaRef,
    ) -> Result<Option<Arc<dyn Encryption>>>;
}

/// The keys for a table's files.
#[derive(Debug, Clone, Default)]
pub(crate) struct TableKeys {
    decryption: Option<Arc<dyn Decryption>>,
    encryption: Option<Arc<dyn Encryption>>,
    factory: Option<Arc<dyn KeyFactory>>,
}

impl TableKeys {
    /// Takes the keys from a table's options.
    ///
    /// # Errors
    /// Fails with Configuration if a key does not consist of hexadecimal digits, or has the wrong
    /// length.
    pub(crate) fn new(
        options: &TableParquetOptions,
        factory: Option<Arc<dyn KeyFactory>>,
    ) -> Result<Self> {
        let crypto = &options.crypto;
        Ok(Self {
            decryption: crypto
                .file_decryption
                .as_ref()
                .map(decryption)
                .transpose()?,
            encryption: crypto
                .file_encryption
                .as_ref()
                .map(encryption)
                .transpose()?,
            factory,
        })
    }

    /// Returns true if files may be decrypted, so that cached footers cannot be used, because they
    /// may lack the keys.
    pub(crate) fn can_decrypt(&self) -> bool {
        self.decryption.is_some() || self.factory.is_some()
    }

    /// Returns the name of the key factory, or `None` if the table has none.
    ///
    /// # Errors
    /// Fails with Configuration if the factory has no name.
    #[cfg(feature = "proto")]
    pub(crate) fn name(&self) -> Result<Option<String>> {
        self.factory.as_ref().map(name_of).transpose()
    }

    /// Returns the keys to read a file.
    pub(crate) async fn decryption(&self, file: &Path) -> Result<Option<Arc<dyn Decryption>>> {
        match (&self.decryption, &self.factory) {
            (Some(decryption), _) => Ok(Some(decryption.clone())),
            (None, Some(factory)) => factory.decryption(file).await,
            (None, None) => Ok(None),
        }
    }

    /// Returns the keys to write a file.
    pub(crate) async fn encryption(
        &self,
        file: &Path,
        schema: &SchemaRef,
    ) -> Result<Option<Arc<dyn Encryption>>> {
        match (&self.encryption, &self.factory) {
            (Some(encryption), _) => Ok(Some(encryption.clone())),
            (None, Some(factory)) => factory.encryption(file, schema).await,
            (None, None) => Ok(None),
        }
    }
}

/// Returns a key factory's name.
///
/// # Errors
/// Fails with Configuration if it has no name.
#[cfg(feature = "proto")]
pub(crate) fn name_of(factory: &Arc<dyn KeyFactory>) -> Result<String> {
    factory.name().map(str::to_owned).ok_or_else(|| {
        config_datafusion_err!(
            "keys are never sent to other machines, and the key factory {factory:?} has no name by which they find their \
             own: return one from `KeyFactory::name`"
        )
    })
}

fn decryption(options: &ConfigFileDecryptionProperties) -> Result<Arc<dyn Decryption>> {
    if !options.footer_signature_verification {
        return Err(config_datafusion_err!(
            "`footer_signature_verification` cannot be switched off: signed footers are always verified"
        ));
    }
    let mut builder = FileDecryptionProperties::builder();
    if !options.footer_key_as_hex.is_empty() {
        builder = builder.footer_key(key("footer_key_as_hex", &options.footer_key_as_hex)?);
    }
    for (column, properties) in &options.column_decryption_properties {
        let key = key(column, &properties.column_key_as_hex)?;
        builder = builder.column_key(column.split('.'), key);
    }
    if !options.aad_prefix_as_hex.is_empty() {
        builder = builder.aad_prefix(bytes("aad_prefix_as_hex", &options.aad_prefix_as_hex)?);
    }
    Ok(Arc::new(builder.build().map_err(from_library)?))
}

fn encryption(options: &ConfigFileEncryptionProperties) -> Result<Arc<dyn Encryption>> {
    let footer = key("footer_key_as_hex", &options.footer_key_as_hex)?;
    let footer = with_metadata(footer, "footer", &options.footer_key_metadata_as_hex)?;
    let mut builder =
        FileEncryptionProperties::builder(footer).plaintext_footer(!options.encrypt_footer);
    for (column, properties) in &options.column_encryption_properties {
        let key = key(column, &properties.column_key_as_hex)?;
        let metadata = properties
            .column_metadata_as_hex
            .as_deref()
            .unwrap_or_default();
        builder = builder.column_key(column.split('.'), with_metadata(key, column, metadata)?);
    }
    if !options.aad_prefix_as_hex.is_empty() {
        builder = builder
            .aad_prefix(bytes("aad_prefix_as_hex", &options.aad_prefix_as_hex)?)
            .store_aad_prefix(options.store_aad_prefix);
    }
    Ok(Arc::new(builder.build().map_err(from_library)?))
}

fn with_metadata(key: Key, name: &str, metadata: &str) -> Result<EncryptionKey> {
    match metadata.is_empty() {
        true => Ok(key.into()),
        false => Ok(EncryptionKey::with_metadata(key, bytes(name, metadata)?)),
    }
}

/// Decodes a key. If this fails, the error does not contain the key's digits.
fn key(name: &str, hex: &str) -> Result<Key> {
    let bytes = bytes(name, hex)?;
    Key::new(&bytes).map_err(|_| {
        config_datafusion_err!(
            "the key of `{name}` has {} bytes, and keys have 16, 24 or 32",
            bytes.len()
        )
    })
}

fn bytes(name: &str, hex: &str) -> Result<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let pair = |pair: &[u8]| match pair {
        [high, low] => Some((digit(*high)? * 16 + digit(*low)?) as u8),
        _ => None,
    };
    let bytes: Option<Vec<u8>> = hex.as_bytes().chunks(2).map(pair).collect();
    bytes.ok_or_else(|| {
        config_datafusion_err!("the value of `{name}` is not an even number of hexadecimal digits")
    })
}
