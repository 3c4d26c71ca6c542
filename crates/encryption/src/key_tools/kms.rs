//! Defines the interface to key management services (KMS).

use std::{
    fmt,
    hash::{Hash, Hasher},
    sync::Arc,
};

use zeroize::Zeroizing;

use crate::{Key, Result};

/// The identifier, address and access token of a KMS if you configure none.
pub const DEFAULT_KMS: &str = "DEFAULT";

/// A client that wraps and unwraps keys with master keys, which never leave the KMS. Calls may
/// block.
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
    /// Wraps `key` with this master key, in any form that [`Self::unwrap_key`] accepts. If the
    /// master key has versions, this uses the newest one.
    ///
    /// # Errors
    /// Fails with [Key](crate::ErrorKind::Key) if the master key does not exist or access is
    /// denied, and with [Io](crate::ErrorKind::Io) if the KMS does not respond. Messages must not
    /// contain keys or tokens.
    fn wrap_key(&self, key: &Key, master_key_id: &str) -> Result<String>;

    /// Unwraps a key that [`Self::wrap_key`] returned. If the master key has versions, this uses
    /// the one that wrapped it.
    ///
    /// # Errors
    /// Fails for the reasons of [`Self::wrap_key`], and with [Key](crate::ErrorKind::Key) if
    /// `wrapped` is not a wrapped key.
    fn unwrap_key(&self, wrapped: &str, master_key_id: &str) -> Result<Key>;
}

/// A factory that connects to a KMS.
pub trait KmsClientFactory: Send + Sync {
    /// Returns a client for `connection`, in which all fields are set.
    ///
    /// # Errors
    /// Returns any error that occurs while connecting.
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

/// A token that grants access to a KMS. It is wiped when it is dropped, and never printed.
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

/// The identifier and address of a KMS, with the token that grants access to it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct KmsConnection {
    /// The identifier of the KMS instance. If it is not set, we write [`DEFAULT_KMS`] to files, and
    /// use the identifier in the file when we read.
    pub instance_id: Option<String>,
    /// The address of the instance. If it is not set, we write [`DEFAULT_KMS`] to files. When we
    /// read, we use the address in the file only if you allow this, because otherwise whoever wrote
    /// the file would receive the token.
    pub instance_url: Option<String>,
    /// The access token. The default is [`DEFAULT_KMS`].
    pub access_token: AccessToken,
}

impl KmsConnection {
    /// Returns the connection with all fields set. Missing ones become [`DEFAULT_KMS`].
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
