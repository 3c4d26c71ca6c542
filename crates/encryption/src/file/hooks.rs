//! Implements the reading and writing traits. Properties open files, and files return their
//! columns' ciphers.

use std::fmt;
use std::path::Path;
use std::sync::Arc;

use herringbone_format::modular_encryption::{
    ALGORITHM_KEY, Decryption, Encryption, FileDecryption, FileEncryption, FileToDecrypt,
    FooterEncryption, KeyRequest, KeyStep, ModuleCipher, ModuleId, ModuleKind, PageToEncrypt,
    SiblingField,
};
use herringbone_format::thrift::CompactWriter;
use herringbone_format::{ColumnChunk, FileMetadataParts, KeyValue, RawStruct};

use super::{FileDecryptor, FileEncryptor, redacted_metadata};
use crate::crypto_metadata::{ColumnCryptoMetadata, EncryptionAlgorithm, FileCryptoMetadata};
use crate::module::{Algorithm, FileAad};
use crate::properties::{
    ColumnPath, DecryptionPropertiesFactory, EncryptionPropertiesFactory, FileDecryptionProperties,
    FileEncryptionProperties,
};
use crate::{Error, Key, KeyLength, ModuleKey, Result, random};

/// The cipher for a column's modules.
#[derive(Debug)]
struct ColumnModules {
    key: ModuleKey,
    is_duckdb_dialect: bool,
}

impl ModuleCipher for ColumnModules {
    fn module_bytes(&self, id: &ModuleId, start: &[u8], limit: usize) -> Result<Option<usize>> {
        self.key.module_bytes(id, start, limit)
    }

    fn decrypt(
        &self,
        id: &ModuleId,
        module: &[u8],
        levels: usize,
        plaintext: &mut Vec<u8>,
    ) -> Result<()> {
        match levels {
            0 => self.key.decrypt_into(id, module, plaintext),
            _ => {
                let key = &self.key;
                key.decrypt_data_page_v2_into(id, module, levels, plaintext)
            }
        }
    }

    fn encrypt(&self, id: &ModuleId, plaintext: &[u8], module: &mut Vec<u8>) -> Result<()> {
        self.key.encrypt(id, &[plaintext], module)
    }

    fn encrypt_page(&self, page: PageToEncrypt<'_>, head: &mut Vec<u8>) -> Result<usize> {
        self.key.encrypt_page(page, head)
    }

    fn uncounted_bytes(&self, kind: ModuleKind) -> usize {
        match self.is_duckdb_dialect {
            true => self.key.overhead(kind),
            false => 0,
        }
    }
}

impl Decryption for FileDecryptionProperties {
    fn open(&self, file: &FileToDecrypt<'_>) -> Result<Option<Arc<dyn FileDecryption>>> {
        let (algorithm, key_metadata) = match file.footer {
            FooterEncryption::Encrypted(footer) => {
                let (crypto, _) = FileCryptoMetadata::decode_prefix(footer)?;
                (crypto.encryption_algorithm, crypto.key_metadata)
            }
            FooterEncryption::Plaintext {
                encryption_algorithm: Some(algorithm),
                footer_signing_key_metadata,
            } => {
                let algorithm = EncryptionAlgorithm::decode(algorithm)?;
                (algorithm, footer_signing_key_metadata.map(<[u8]>::to_vec))
            }
            FooterEncryption::Plaintext { .. } => {
                self.check_plaintext_file()?;
                return Ok(None);
            }
        };
        let file = FileDecryptor::new(self, &algorithm, key_metadata.as_deref())?;
        Ok(Some(Arc::new(file)))
    }
}

/// Properties that differ between files. Each file is opened with the properties that the factory
/// returns for its path. Use this if each file of a data set has keys of its own.
#[derive(Clone, Copy)]
pub struct PerFile<F>(pub F);

impl<F> fmt::Debug for PerFile<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PerFile")
    }
}

/// Returns a path as UTF-8 text, since a factory takes text.
fn text(path: Option<&Path>) -> Result<&str> {
    let path = path.and_then(Path::to_str);
    path.ok_or_else(|| Error::argument("per-file properties need a file with a path in UTF-8"))
}

impl<F: DecryptionPropertiesFactory> Decryption for PerFile<F> {
    fn open(&self, file: &FileToDecrypt<'_>) -> Result<Option<Arc<dyn FileDecryption>>> {
        match self.0.decryption_properties(text(file.path)?)? {
            Some(properties) => properties.open(file),
            None => Ok(None),
        }
    }
}

impl FileDecryption for FileDecryptor {
    fn decrypt_footer(&self, footer: &[u8]) -> Result<KeyStep<Vec<u8>>> {
        let (_, length) = FileCryptoMetadata::decode_prefix(footer)?;
        let key = match self.footer_key()? {
            KeyStep::Ready(key) => key,
            KeyStep::NeedKey(request) => return Ok(KeyStep::NeedKey(request)),
        };
        let module = footer.get(length..).unwrap_or_default();
        key.decrypt(&ModuleId::FOOTER, module).map(KeyStep::Ready)
    }

    fn verify_footer(&self, metadata: &[u8], signature: &[u8]) -> Result<KeyStep<()>> {
        if !self.has_footer_key() {
            return Ok(KeyStep::Ready(()));
        }
        match self.footer_key()? {
            KeyStep::Ready(key) => key.verify_footer(metadata, signature).map(KeyStep::Ready),
            KeyStep::NeedKey(request) => Ok(KeyStep::NeedKey(request)),
        }
    }

    fn check_key_values(&self, key_values: &[KeyValue]) -> Result<()> {
        self.check_key_value_metadata(key_values)
    }

    fn check_columns(&self, leaves: &mut dyn Iterator<Item = ColumnPath>) -> Result<()> {
        if !self.properties().has_column_keys() {
            return Ok(());
        }
        let leaves: Vec<ColumnPath> = leaves.collect();
        self.properties()
            .check_columns(leaves.iter().map(Vec::as_slice))
    }

    fn check_plaintext_column(&self, leaf: &[String]) -> Result<()> {
        self.properties().check_plaintext_column(leaf)
    }

    fn column(
        &self,
        crypto_metadata: Option<&[u8]>,
    ) -> Result<KeyStep<Option<Arc<dyn ModuleCipher>>>> {
        let step = match crypto_metadata {
            None if self.is_duckdb_dialect() => self.footer_key()?,
            None => return Ok(KeyStep::Ready(None)),
            Some(bytes) => match ColumnCryptoMetadata::decode(bytes)? {
                ColumnCryptoMetadata::FooterKey => self.footer_key()?,
                column @ ColumnCryptoMetadata::ColumnKey { .. } => {
                    let path = column.path_in_schema().to_vec();
                    self.column_key(&path, &column)?
                }
            },
        };
        Ok(step.map(|key| {
            let modules = ColumnModules {
                key,
                is_duckdb_dialect: self.is_duckdb_dialect(),
            };
            Some(Arc::new(modules) as Arc<dyn ModuleCipher>)
        }))
    }

    fn supply_key(&self, request: &KeyRequest, key: &[u8]) -> Result<()> {
        Self::supply_key(self, request, Key::new(key)?);
        Ok(())
    }
}

impl Encryption for FileEncryptionProperties {
    fn open(
        &self,
        _path: Option<&Path>,
        leaves: &[ColumnPath],
    ) -> Result<Option<Arc<dyn FileEncryption>>> {
        Ok(Some(Arc::new(FileEncryptor::new(self, leaves)?)))
    }

    fn open_siblings(
        &self,
        _path: Option<&Path>,
        leaves: &[ColumnPath],
        siblings: &[SiblingField],
    ) -> Result<Option<Arc<dyn FileEncryption>>> {
        Ok(Some(Arc::new(FileEncryptor::with_siblings(
            self, leaves, siblings,
        )?)))
    }
}

impl<F: EncryptionPropertiesFactory> Encryption for PerFile<F> {
    fn open(
        &self,
        path: Option<&Path>,
        leaves: &[ColumnPath],
    ) -> Result<Option<Arc<dyn FileEncryption>>> {
        match self.0.encryption_properties(text(path)?)? {
            Some(properties) => properties.open(path, leaves),
            None => Ok(None),
        }
    }

    fn open_siblings(
        &self,
        path: Option<&Path>,
        leaves: &[ColumnPath],
        siblings: &[SiblingField],
    ) -> Result<Option<Arc<dyn FileEncryption>>> {
        match self.0.encryption_properties(text(path)?)? {
            Some(properties) => properties.open_siblings(path, leaves, siblings),
            None => Ok(None),
        }
    }
}

impl FileEncryption for FileEncryptor {
    fn column(&self, leaf: usize) -> Option<Arc<dyn ModuleCipher>> {
        let key = Self::column(self, leaf)?.key.clone();
        Some(Arc::new(ColumnModules {
            key,
            is_duckdb_dialect: false,
        }))
    }

    fn is_hidden(&self, leaf: usize) -> bool {
        let column = Self::column(self, leaf);
        column.is_some_and(|column| match column.crypto_metadata {
            ColumnCryptoMetadata::FooterKey => self.has_plaintext_footer(),
            ColumnCryptoMetadata::ColumnKey { .. } => true,
        })
    }

    fn temporary_cipher(&self) -> Result<Arc<dyn ModuleCipher>> {
        let file_aad = FileAad::new(&[], &random::array::<8>()?);
        let key = ModuleKey::new(
            Key::generate(KeyLength::Bits256)?,
            Algorithm::AesGcmV1,
            Arc::new(file_aad),
        );
        Ok(Arc::new(ColumnModules {
            key,
            is_duckdb_dialect: false,
        }))
    }

    fn seal_chunk(&self, id: &ModuleId, chunk: &mut ColumnChunk) -> Result<()> {
        let Some(column) = Self::column(self, id.column) else {
            return Ok(());
        };
        chunk.crypto_metadata = Some(RawStruct(column.crypto_metadata.encode()));
        if let Some(metadata) = chunk.meta_data.take_if(|_| column.encrypts_metadata) {
            let mut writer = CompactWriter::new();
            metadata.encode(&mut writer);
            let mut module = Vec::new();
            column.key.encrypt(id, &[&writer.finish()], &mut module)?;
            chunk.encrypted_column_metadata = Some(module);
            chunk.meta_data = column
                .has_plain_metadata
                .then(|| redacted_metadata(&metadata));
        }
        Ok(())
    }

    fn encrypts_footer(&self) -> bool {
        !self.has_plaintext_footer()
    }

    fn complete_metadata(&self, metadata: &mut FileMetadataParts) {
        let key_values = metadata.key_value_metadata.get_or_insert_default();
        key_values.retain(|entry| entry.key != ALGORITHM_KEY);
        key_values.push(self.key_value());
        if self.has_plaintext_footer() {
            let crypto = self.file_crypto_metadata();
            let algorithm = crypto.encryption_algorithm.encode();
            metadata.encryption_algorithm = Some(RawStruct(algorithm));
            metadata.footer_signing_key_metadata = crypto.key_metadata;
        }
    }

    fn seal_footer(&self, metadata: Vec<u8>) -> Result<Vec<u8>> {
        let mut footer = metadata;
        if self.has_plaintext_footer() {
            let signature = self.footer_key().sign_footer(&footer)?;
            footer.extend_from_slice(&signature);
            return Ok(footer);
        }
        let mut sealed = self.file_crypto_metadata().encode();
        self.footer_key()
            .encrypt(&ModuleId::FOOTER, &[&footer], &mut sealed)?;
        Ok(sealed)
    }
}
