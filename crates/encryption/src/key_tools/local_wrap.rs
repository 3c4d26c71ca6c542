//! Wraps keys locally, with master keys handed out by a KMS, like `LocalWrapKmsClient` in
//! parquet-java and C++.
//!
//! ```text
//! {"masterKeyVersion":"NO_VERSION","encryptedKey":"base64(nonce | ciphertext | tag)"}
//! ```

use std::fmt;

use super::{KmsClient, wrapping};
use crate::{
    Error, ErrorKind, Key, Result,
    json::{ObjectWriter, Value, parse},
};

/// The only supported version. It means that master keys cannot be rotated.
const NO_VERSION: &str = "NO_VERSION";

/// A source of master keys.
pub trait MasterKeys: Send + Sync {
    /// Returns the master key with the given identifier.
    ///
    /// # Errors
    /// Fails with [Key](ErrorKind::Key) if there is none or access is denied, and with
    /// [Io](ErrorKind::Io) if the source does not respond.
    fn master_key(&self, master_key_id: &str) -> Result<Key>;
}

impl<F: Fn(&str) -> Result<Key> + Send + Sync> MasterKeys for F {
    fn master_key(&self, master_key_id: &str) -> Result<Key> {
        self(master_key_id)
    }
}

/// A client that wraps keys locally. Use this for a key management service that hands out master
/// keys but does not wrap keys itself. Note that if a master key changes, you can no longer read
/// the keys it has wrapped before.
pub struct LocalWrapKms<M>(M);

impl<M: MasterKeys> LocalWrapKms<M> {
    /// Creates a client that wraps with keys from `master_keys`, asking for them on each call.
    #[must_use]
    pub fn new(master_keys: M) -> Self {
        Self(master_keys)
    }
}

impl<M: MasterKeys> KmsClient for LocalWrapKms<M> {
    fn wrap_key(&self, key: &Key, master_key_id: &str) -> Result<String> {
        let master_key = self.0.master_key(master_key_id)?;
        let wrapped = wrapping::wrap(&master_key, key, master_key_id.as_bytes())?;
        let object = ObjectWriter::new().text("masterKeyVersion", NO_VERSION);
        Ok(object.text("encryptedKey", &wrapped).finish())
    }

    fn unwrap_key(&self, wrapped: &str, master_key_id: &str) -> Result<Key> {
        let wrapped = encrypted_key(wrapped)?;
        let master_key = self.0.master_key(master_key_id)?;
        wrapping::unwrap(
            &master_key,
            &wrapped,
            master_key_id.as_bytes(),
            "a master key",
        )
    }
}

/// Extracts the wrapped key from its JSON.
fn encrypted_key(wrapped: &str) -> Result<String> {
    let refuse = |message| Error::new(ErrorKind::Key, message);
    let malformed = || refuse("a locally wrapped key is not the expected JSON");
    let Value::Object(members) = parse(wrapped).map_err(|_| malformed())?.value else {
        return Err(malformed());
    };
    let text = |name: &str| {
        let member = members.iter().find(|member| member.name.as_str() == name);
        match member.map(|member| &member.value.value) {
            Some(Value::Text(text)) => Ok(text),
            _ => Err(malformed()),
        }
    };
    if text("masterKeyVersion")?.as_str() != NO_VERSION {
        return Err(refuse(
            "a key was wrapped locally with a version of its master key, but only NO_VERSION is \
             supported",
        ));
    }
    text("encryptedKey").map(|text| text.to_string())
}

impl<M> fmt::Debug for LocalWrapKms<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("LocalWrapKms")
    }
}
