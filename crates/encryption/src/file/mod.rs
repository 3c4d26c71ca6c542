//! Applies encryption properties to one file and its metadata.

mod decryptor;
mod encryptor;
mod hooks;
mod recorded_algorithm;
mod redaction;
mod same_encryption;

#[cfg(test)]
mod tests;

pub use decryptor::FileDecryptor;
pub use encryptor::{ColumnEncryptor, FileEncryptor};
pub use hooks::PerFile;
pub use redaction::redacted_metadata;
pub use same_encryption::encryption_like;
