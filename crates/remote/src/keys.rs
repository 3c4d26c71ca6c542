//! Keys fetched while a read waits.

use std::fmt::Debug;

use herringbone::Result;
use herringbone::modular_encryption::KeyRequest;

use crate::object::BoxFuture;

/// A service that supplies keys of encrypted files, such as a client of a key management system.
///
/// It is asked for keys that the [`Decryption`](herringbone::modular_encryption::Decryption) of the file cannot return
/// without waiting. With the feature `encryption` of `herringbone`, this is a key retriever that answers
/// `KeyAnswer::Wait`.
pub trait KeyService: Debug + Send + Sync {
    /// Fetches the key for a request. All keys of a row group are requested at the same time.
    fn key(&self, request: &KeyRequest) -> BoxFuture<Result<Vec<u8>>>;
}
