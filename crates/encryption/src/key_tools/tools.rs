//! Data keys for new files.

use std::{fmt, sync::Arc, time::Duration};

use super::{
    AccessToken, EncryptionConfiguration, KeyMaterialStore, KeyWrapping, KmsClient,
    KmsClientFactory, KmsConnection, WrapStep,
    cache::{Cache, CacheKey},
    new_keys::Kek,
};
use crate::{FileEncryptionProperties, Key, Result};

/// How long clients and keys are kept unless somebody says otherwise; other libraries do so as well.
const CACHE_LIFETIME: Duration = Duration::from_secs(600);

/// Makes and finds data keys by master keys of a KMS. Threads may share it; keys are kept for a while, apart for each token,
/// instance and address of the KMS, and wiped then.
pub struct KeyTools {
    factory: Arc<dyn KmsClientFactory>,
    clients: Cache<Arc<dyn KmsClient>>,
    /// Key encryption keys for new files, by master key.
    write_keks: Cache<Kek>,
    /// Key encryption keys that were unwrapped, by their identifiers.
    pub(super) read_keks: Cache<Key>,
}

impl KeyTools {
    /// With clients of `factory`. What is kept is kept for ten minutes.
    #[must_use]
    pub fn new(factory: Arc<dyn KmsClientFactory>) -> Self {
        Self::with_cache_lifetime(factory, CACHE_LIFETIME)
    }

    /// What is kept is kept for `lifetime`; nothing if that is zero.
    #[must_use]
    pub fn with_cache_lifetime(factory: Arc<dyn KmsClientFactory>, lifetime: Duration) -> Self {
        Self {
            factory,
            clients: Cache::new(lifetime),
            write_keks: Cache::new(lifetime),
            read_keks: Cache::new(lifetime),
        }
    }

    /// Drops all clients and keys that are kept.
    pub fn clear_caches(&self) {
        self.clients.clear();
        self.write_keks.clear();
        self.read_keks.clear();
    }

    /// Drops the clients and keys of somebody whose access ended.
    pub fn clear_caches_of(&self, token: &AccessToken) {
        self.clients.clear_token(token);
        self.read_keks.clear_token(token);
        self.clear_write_keks_of(token);
    }

    /// New files get new key encryption keys.
    pub(super) fn clear_write_keks_of(&self, token: &AccessToken) {
        self.write_keks.clear_token(token);
    }

    /// New keys for a new file. What unwraps them stands in the file, or in `store`, which has it before this returns.
    ///
    /// **Errors**: those of the KMS; I/O of the store, or if there are no random bytes; argument if a column is there twice,
    /// or the store has material already.
    pub fn encryption_properties(
        &self,
        connection: &KmsConnection,
        configuration: &EncryptionConfiguration,
        store: Option<&dyn KeyMaterialStore>,
    ) -> Result<FileEncryptionProperties> {
        let (client, connection) = (
            self.client(&connection.or_default())?,
            connection.or_default(),
        );
        let cache_key = |master_key_id: &str| CacheKey {
            connection: connection.clone(),
            name: format!("{} {master_key_id}", configuration.kek_length.bytes()),
        };
        let known = |id: &str| self.write_keks.get(&cache_key(id));
        let mut wrapping =
            KeyWrapping::with_keks(&connection, configuration, store.is_some(), known)?;
        while let WrapStep::Wrap(request) = wrapping.step() {
            let wrapped = client.wrap_key(request.key, request.master_key_id)?;
            wrapping.supply_wrapped(wrapped)?;
        }
        for (master_key_id, kek) in wrapping.new_keks() {
            self.write_keks
                .insert(cache_key(master_key_id), kek.clone());
        }
        let (properties, material) = wrapping.finish()?;
        if let (Some(store), Some(material)) = (store, material) {
            store.create(&material)?;
        }
        Ok(properties)
    }

    /// A client for a connection in which everything is set.
    pub(super) fn client(&self, connection: &KmsConnection) -> Result<Arc<dyn KmsClient>> {
        let key = CacheKey {
            connection: connection.clone(),
            name: String::new(),
        };
        if let Some(client) = self.clients.get(&key) {
            return Ok(client);
        }
        let client = self.factory.client(connection)?;
        self.clients.insert(key, client.clone());
        Ok(client)
    }
}

impl fmt::Debug for KeyTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyTools")
    }
}
