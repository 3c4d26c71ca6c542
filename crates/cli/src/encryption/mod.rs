//! Encrypted files: the keys, and what files say of their encryption.

mod keys;
mod summary;

pub(crate) use keys::Keys;
pub(crate) use summary::Summary;
