//! Encryption of one file: properties meet what stands in the file.

mod decryptor;
mod encryptor;
mod hooks;
mod recorded_algorithm;
mod redaction;

#[cfg(test)]
mod tests;

pub use decryptor::FileDecryptor;
pub use encryptor::{ColumnEncryptor, FileEncryptor};
pub use hooks::PerFile;
pub use recorded_algorithm::ALGORITHM_KEY;
pub use redaction::redacted_metadata;
