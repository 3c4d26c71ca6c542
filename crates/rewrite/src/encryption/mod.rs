//! Encryption of files, and how it is kept.

mod clear;
mod keep;
mod material;

pub use clear::InTheClear;
pub use keep::without_keys;
pub(crate) use keep::{EncryptedFile, keep};
pub use material::KeyMaterial;

use herringbone::encryption::FileEncryptionProperties;

/// Choice of what becomes of the encryption of the input.
#[derive(Debug, Default)]
pub enum Protection {
    /// The new file is encrypted as its input is.
    #[default]
    Keep,
    /// The new file is not encrypted.
    Decrypt,
    /// The new file is encrypted in another way.
    Encrypt(Box<FileEncryptionProperties>),
}
