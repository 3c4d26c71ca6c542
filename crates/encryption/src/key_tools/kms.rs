//! Key management services, as far as they are known here.

use std::{
    fmt,
    hash::{Hash, Hasher},
    sync::Arc,
};

use zeroize::Zeroizing;

use crate::{Key, Result};

/// What identifies a KMS, or is its address, where nobody said anything.
pub const DEFAULT_KMS: &str = "DEFAULT";

/// Wraps and unwraps keys with master keys that never leave it. Calls may block.
pub trait KmsClient: Send + Sync {
    /// Wraps `key` with the master key of that identifier, in whichever form [`Self::unwrap_key`] takes. If the master key
    /// has versions, with the newest.
    ///
    /// **Errors**: key if there is no such master key or access to it is denied; I/O if the KMS does not answer. Messages
    /// must contain neither keys nor tokens.
    fn wrap_key(&self, key: &Key, master_key_id: &str) -> Result<String>;

    /// Unwraps what [`Self::wrap_key`] returned. If the master key has versions, with the one that wrapped it.
    ///
    /// **Errors**: as [`Self::wrap_key`]; key as well if `wrapped` is no key that was wrapped.
    fn unwrap_key(&self, wrapped: &str, master_key_id: &str) -> Result<Key>;
}

/// Connects to a KMS.
pub trait KmsClientFactory: Send + Sync {
    /// A client for `connection`, in which everything is set.
    ///
    /// **Errors**: whatever keeps it from connecting.
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

/// What a KMS lets somebody in by. It is wiped when it is dropped and never printed.
#[derive(Clone, PartialEq, Eq)]
pub struct AccessToken(Zeroizing<String>);

impl AccessToken {
    /// The token. The caller wipes its own copies.
    #[must_use]
    pub fn new(token: &str) -> Self {
        Self(Zeroizing::new(token.into()))
    }

    /// The token itself, for the KMS.
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

/// Where the KMS is, and what it lets us in by.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct KmsConnection {
    /// Which instance of the KMS it is. Where it is not set, files are written with [`DEFAULT_KMS`], and read with what they
    /// say.
    pub instance_id: Option<String>,
    /// The address of the instance. Where it is not set, files are written with [`DEFAULT_KMS`]. What files say is used only
    /// where it is allowed, as whoever wrote them gets the token otherwise.
    pub instance_url: Option<String>,
    /// What it lets us in by; [`DEFAULT_KMS`] unless it is set.
    pub access_token: AccessToken,
}

impl KmsConnection {
    /// The same, with everything set.
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
