//! Parquet Modular Encryption: keys, the checks made by readers, and the key tools shared by parquet-java and pyarrow.
//!
//! Files are encrypted module by module. The modules are the footer and, for each encrypted column, the metadata, page
//! headers, pages, indexes and bloom filters. Each column can have its own key, so that a reader only needs the keys of
//! the footer and of the columns it reads. Every module is encrypted along with its place in the file, so that a reader
//! notices if one module replaces another.
//!
//! [`FileEncryptionProperties`] are a writer's keys and policies, and [`FileDecryptionProperties`] are a reader's. If
//! you keep your keys in a key management service, use [`key_tools`].
//!
//! ```
//! # use std::sync::Arc;
//! # use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch};
//! # let ids: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
//! # let batch = RecordBatch::try_from_iter([("id", ids.clone()), ("salary", ids)])?;
//! use herringbone::encryption::{FileDecryptionProperties, FileEncryptionProperties, Key, KeyLength};
//! use herringbone::{OpenOptions, ParquetFile, ReadOptions, WriteOptions, Writer};
//!
//! let (footer_key, salary_key) = (Key::generate(KeyLength::Bits256)?, Key::generate(KeyLength::Bits256)?);
//! let properties = FileEncryptionProperties::builder(footer_key.clone())
//!     .column_key(["salary"], salary_key)
//!     .build()?;
//! // `batch` has the columns `id` and `salary`.
//! let options = WriteOptions::new().encryption(Arc::new(properties));
//! let mut file = Vec::new();
//! let mut writer = Writer::new(&mut file, batch.schema(), options)?;
//! writer.write(&batch)?;
//! writer.finish()?;
//!
//! // This reader has the key of the footer, and not that of `salary`.
//! let properties = FileDecryptionProperties::builder().footer_key(footer_key).build()?;
//! let options = OpenOptions::new().decryption(Arc::new(properties));
//! let file = ParquetFile::from_source(bytes::Bytes::from(file), options)?;
//! let mut ids = file.read(ReadOptions::new().columns(["id"]))?;
//! assert_eq!(ids.next_batch()?.ok_or("no rows")?.num_rows(), 3);
//! let mut salaries = file.read(ReadOptions::new().columns(["salary"]))?;
//! assert_eq!(salaries.next_batch().unwrap_err().kind(), herringbone::ErrorKind::Key);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! The lower layer encrypts single modules. A [`ModuleKey`] encrypts and decrypts its file's modules, and a
//! [`ModuleId`] identifies a single module.
//!
//! ```
//! use herringbone::encryption::{
//!     FileDecryptionProperties, FileDecryptor, FileEncryptionProperties, FileEncryptor, Key, KeyLength, ModuleId,
//!     ModuleKind,
//! };
//!
//! # fn main() -> herringbone::encryption::Result<()> {
//! let key = Key::generate(KeyLength::Bits256)?;
//! let properties = FileEncryptionProperties::builder(key.clone()).aad_prefix("employees.part0").build()?;
//! let file = FileEncryptor::new(&properties, &[vec!["salary".into()]])?;
//! let id = ModuleId::of_page(ModuleKind::DataPage, 0, 0, 0);
//! let mut module = Vec::new();
//! if let Some(column) = file.column(0) {
//!     column.key.encrypt(&id, &[b"body of a page"], &mut module)?;
//! }
//!
//! let stored = file.file_crypto_metadata();
//! let properties = FileDecryptionProperties::builder().footer_key(key).build()?;
//! let file = FileDecryptor::new(&properties, &stored.encryption_algorithm, None)?;
//! assert_eq!(file.footer_key()?.ready()?.decrypt(&id, &module)?, b"body of a page");
//! # Ok(())
//! # }
//! ```
//!
//! Only [`key_tools::FileKeyMaterialStore`] performs I/O.
//!
//! Messages and `Debug` output never contain a key, an authentication tag, an access token or key metadata.

#![forbid(unsafe_code)]
#![cfg_attr(not(test), deny(clippy::indexing_slicing))]
#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod crypto_metadata;
pub mod file;
pub mod key_tools;
pub mod keys_file;
pub mod module;
pub mod properties;

mod cipher;
mod json;
mod key;
mod random;
mod redacted;

pub use file::{FileDecryptor, FileEncryptor};
pub use herringbone_format::modular_encryption::{KeyRequest, KeyStep};
pub use key::{Key, KeyLength, MAX_INVOCATIONS};
pub use module::{Algorithm, ModuleId, ModuleKey, ModuleKind};
pub use properties::{FileDecryptionProperties, FileEncryptionProperties};

/// The result type of this crate.
pub use herringbone_format::{Error, ErrorKind, Result};
