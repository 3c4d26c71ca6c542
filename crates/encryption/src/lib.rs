//! Parquet Modular Encryption (specification: *Parquet Modular Encryption*): the encryption of a file's modules, the
//! keys for it, the checks of a reader, and the key tools shared by parquet-java and pyarrow.
//!
//! A file is encrypted module by module. The modules are its footer and, for each encrypted column, the metadata,
//! page headers, pages, indexes and bloom filters. A [`ModuleKey`] encrypts and decrypts modules with one key in one
//! file. A [`ModuleId`] identifies a module, so that no module can replace another.
//!
//! ```
//! use herringbone_encryption::{
//!     FileDecryptionProperties, FileDecryptor, FileEncryptionProperties, FileEncryptor, Key, KeyLength, ModuleId,
//!     ModuleKind,
//! };
//!
//! # fn main() -> herringbone_encryption::Result<()> {
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
