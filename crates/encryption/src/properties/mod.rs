//! The caller's decisions: keys and policies, for reading or writing. One value can serve many
//! files.

mod column_map;
mod decryption;
mod encryption;
mod factory;
mod retriever;

#[cfg(test)]
mod tests;

pub(crate) use column_map::ColumnMap;
pub use decryption::{
    AadPrefixVerifier, FileDecryptionProperties, FileDecryptionPropertiesBuilder,
};
pub(crate) use encryption::ColumnProtection;
pub use encryption::{
    EncryptionKey, FileEncryptionProperties, FileEncryptionPropertiesBuilder, OtherColumns,
};
pub use factory::{DecryptionPropertiesFactory, EncryptionPropertiesFactory};
pub use herringbone_format::modular_encryption::KeyRequest;
pub use retriever::{KeyAnswer, KeyRetriever};

/// The parts of a column path, below the schema's root.
pub type ColumnPath = Vec<String>;

/// Returns a path in the form used by messages.
pub(crate) fn dotted(path: &[String]) -> String {
    path.join(".")
}
