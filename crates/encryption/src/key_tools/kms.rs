//! Defines the interface to key management services (KMS).

use std::{
    fmt,
    hash::{Hash, Hasher},
    sync::Arc,
};

use zeroize::Zeroizing;

use crate::{Key, Result};

/// The identifier, address and access token used for an unconfigured KMS.
pub const DEFAULT_KMS: &str = "DEFAULT";

/// A client that wraps and unwraps keys with master keys that never leave the KMS. Implement this for your KMS. Calls
/// may block.
///
/// ```
/// use std::sync::Mutex;
///
/// use herringbone::encryption::Key;
/// use herringbone::encryption::key_tools::KmsClient;
/// use herringbone::{Error, ErrorKind, Result};
///
/// /// A KMS that keeps the keys that it was given. A client of a service would send them to be encrypted.
/// #[derive(Default)]
/// struct Kept(Mutex<Vec<Key>>);
///
/// impl KmsClient for Kept {
///     fn wrap_key(&self, key: &Key, _master_key_id: &str) -> Result<String> {
///         let mut keys = self.0.lock().unwrap();
///         keys.push(key.clone());
///         Ok((keys.len() - 1).to_string())
///     }
///
///     fn unwrap_key(&self, wrapped: &str, _master_key_id: &str) -> Result<Key> {
///         let keys = self.0.lock().unwrap();
///         let key = wrapped.parse().ok().and_then(|place: usize| keys.get(place)).cloned();
///         key.ok_or_else(|| Error::new(ErrorKind::Key, "not a key of this KMS"))
///     }
/// }
///
/// let kms = Kept::default();
/// let key = Key::new(b"0123456789012345")?;
/// let wrapped = kms.wrap_key(&key, "staff")?;
/// assert!(kms.unwrap_key(&wrapped, "staff")? == key);
/// assert_eq!(kms.unwrap_key("7", "staff").err().map(|error| error.kind()), Some(ErrorKind::Key));
/// # Ok::<(), Error>(())
/// ```
pub trait KmsClient: Send + Sync {
    /// Wraps `key` with this master key, in any form accepted by [`Self::unwrap_key`]. If the master key has versions,
    /// this uses the newest.
    ///
    /// # Errors
    /// Fails with [Key](crate::ErrorKind::Key) if the master key does not exist or access is
    /// denied, and with [Io](crate::ErrorKind::Io) if the KMS does not respond. Messages must not
    /// contain keys or tokens.
    fn wrap_key(&self, key: &Key, master_key_id: &str) -> Result<String>;

    /// Unwraps a key returned by [`Self::wrap_key`]. If the master key has versions, this uses the version that wrapped
    /// it.
    ///
    /// # Errors
    /// Fails for the reasons of [`Self::wrap_key`], and with [Key](crate::ErrorKind::Key) if
    /// `wrapped` is not a wrapped key.
    fn unwrap_key(&self, wrapped: &str, master_key_id: &str) -> Result<Key>;
}

/// A factory that connects to a KMS.
pub trait KmsClientFactory: Send + Sync {
    /// Returns a client for `connection`. All of its fields are set.
    ///
    /// # Errors
    /// Returns any error from connecting.
    fn client(&self, connection: &KmsConnection) -> Result<Arc<dyn KmsClient>>;
}

impl<F> KmsClientFactory for F
where
    F: Fn(&KmsConnection) -> Result<Arc<dyn KmsClient>> + Send + Sync,
{
    fn client(&self, connection: &KmsConnection) -> Result<Arc<dyn KmsClient>> {
        self(connection)
    }
}

/// A token granting access to a KMS. It is wiped on drop and never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct AccessToken(Zeroizing<String>);

impl AccessToken {
    /// Copies a token. You have to wipe your own copies.
    #[must_use]
    pub fn new(token: &str) -> Self {
        Self(Zeroizing::new(token.into()))
    }

    /// Returns the token itself, for the KMS.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl Hash for AccessToken {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.as_str().hash(state);
    }
}

impl Default for AccessToken {
    fn default() -> Self {
        Self::new(DEFAULT_KMS)
    }
}

impl fmt::Debug for AccessToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("AccessToken(redacted)")
    }
}

/// A KMS identifier and address, with the token granting access.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct KmsConnection {
    /// The KMS instance identifier. If unset, [`DEFAULT_KMS`] is written to files, and the file's own identifier is
    /// used for reading.
    pub instance_id: Option<String>,
    /// The instance's address. If unset, [`DEFAULT_KMS`] is written to files. For reading, the file's own address is
    /// only used if you allow this. Otherwise, whoever wrote the file would receive the token.
    pub instance_url: Option<String>,
    /// The access token. The default is [`DEFAULT_KMS`].
    pub access_token: AccessToken,
}

impl KmsConnection {
    /// Returns the connection with all fields set, replacing missing fields with [`DEFAULT_KMS`].
    pub(crate) fn or_default(&self) -> Self {
        let or_default =
            |setting: &Option<String>| Some(setting.as_deref().unwrap_or(DEFAULT_KMS).to_owned());
        Self {
            instance_id: or_default(&self.instance_id),
            instance_url: or_default(&self.instance_url),
            access_token: self.access_token.clone(),
        }
    }
}
