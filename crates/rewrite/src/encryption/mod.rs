//! File encryption, and the ways to keep it.

mod clear;
mod keep;
mod material;

pub use clear::InTheClear;
pub use keep::without_keys;
pub(crate) use keep::{EncryptedFile, keep};
pub use material::KeyMaterial;

use herringbone::encryption::FileEncryptionProperties;

/// The choice of encryption for a new file.
#[derive(Debug, Default)]
#[non_exhaustive]
pub enum Protection {
    /// The new file is encrypted like its input.
    #[default]
    Keep,
    /// The new file is not encrypted.
    Decrypt,
    /// The new file is encrypted with these properties, however its input was encrypted.
    Encrypt(Box<FileEncryptionProperties>),
}
