//! The encryption of files and the ways to keep it.

mod clear;
mod keep;
mod material;

pub use clear::InTheClear;
pub use keep::without_keys;
pub(crate) use keep::{EncryptedFile, keep};
pub use material::KeyMaterial;

use herringbone::encryption::FileEncryptionProperties;

/// The choice of encryption for the new file.
#[derive(Debug, Default)]
#[non_exhaustive]
pub enum Protection {
    /// The new file is encrypted like its input.
    #[default]
    Keep,
    /// The new file is not encrypted.
    Decrypt,
    /// The new file is encrypted in another way.
    Encrypt(Box<FileEncryptionProperties>),
}
