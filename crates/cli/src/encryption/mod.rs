//! Encrypted files: the keys, and the metadata about their encryption.

mod keys;
mod summary;

pub(crate) use keys::Keys;
pub(crate) use summary::Summary;
pub(crate) use summary::encrypted_leaves;
