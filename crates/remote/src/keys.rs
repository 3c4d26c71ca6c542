//! Fetching keys while a read is waiting.

use std::fmt::Debug;

use herringbone::Result;
use herringbone::modular_encryption::KeyRequest;

use crate::object::BoxFuture;

/// A service that supplies keys for encrypted files, such as a client for a key management system.
///
/// It is only asked for keys that the file's
/// [`Decryption`](herringbone::modular_encryption::Decryption) cannot return immediately. With the
/// feature `encryption` of `herringbone`, this means that the key retriever has answered
/// `KeyAnswer::Wait`.
///
/// ```
/// use herringbone::modular_encryption::KeyRequest;
/// use herringbone::{Error, ErrorKind, Result};
/// use herringbone_remote::{BoxFuture, KeyService};
///
/// /// A service with one key, which files name `salaries`.
/// #[derive(Debug)]
/// struct Keys;
///
/// impl KeyService for Keys {
///     fn key(&self, request: &KeyRequest) -> BoxFuture<Result<Vec<u8>>> {
///         let is_known = request.key_metadata == b"salaries";
///         Box::pin(async move {
///             // A client of a key management system would wait for an answer here.
///             match is_known {
///                 true => Ok(b"0123456789012345".to_vec()),
///                 false => Err(Error::new(ErrorKind::Key, "no such key")),
///             }
///         })
///     }
/// }
///
/// # futures::executor::block_on(async {
/// let request = KeyRequest::new(b"salaries".to_vec(), None, None);
/// assert_eq!(Keys.key(&request).await?.len(), 16);
/// let request = KeyRequest::new(b"other".to_vec(), None, None);
/// assert_eq!(Keys.key(&request).await.unwrap_err().kind(), ErrorKind::Key);
/// # Ok::<(), Error>(())
/// # })?;
/// # Ok::<(), Error>(())
/// ```
pub trait KeyService: Debug + Send + Sync {
    /// Fetches the key for a request. All keys of a row group are requested concurrently.
    fn key(&self, request: &KeyRequest) -> BoxFuture<Result<Vec<u8>>>;
}
