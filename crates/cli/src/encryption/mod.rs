//! Handles encrypted files: their keys, and a summary of their encryption.

mod keys;
mod summary;

pub(crate) use keys::Keys;
pub(crate) use summary::Summary;
pub(crate) use summary::encrypted_leaves;
