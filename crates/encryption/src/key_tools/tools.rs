//! Creates data keys for new files.

use std::{fmt, sync::Arc, time::Duration};

use super::{
    AccessToken, EncryptionConfiguration, KeyMaterialStore, KeyWrapping, KmsClient,
    KmsClientFactory, KmsConnection, WrapStep,
    cache::{Cache, CacheKey},
    new_keys::Kek,
};
use crate::{FileEncryptionProperties, Key, Result};

/// The default lifetime of cached clients and keys. Other libraries use the same.
const CACHE_LIFETIME: Duration = Duration::from_secs(600);

/// Creates and unwraps data keys with a KMS's master keys. Threads can share this. Keys are cached
/// for a while and then wiped. Each combination of token, instance and address has its own cached
/// keys.
///
/// ```
/// use std::sync::Arc;
/// use herringbone::WriteOptions;
/// use herringbone::encryption::key_tools::{
///     EncryptionConfiguration, InMemoryKms, KeyTools, KmsClient, KmsConnection,
/// };
/// use herringbone::encryption::{Key, KeyLength};
///
/// // Your client calls a KMS. This one has a master key in memory.
/// let master_keys = [("master", Key::generate(KeyLength::Bits128)?)];
/// let kms: Arc<dyn KmsClient> = Arc::new(InMemoryKms::new(master_keys));
/// let tools = KeyTools::new(Arc::new(move |_: &KmsConnection| Ok(kms.clone())));
///
/// // New keys for the next file, which contains them, wrapped by the master key.
/// let configuration = EncryptionConfiguration::new("master");
/// let properties = tools.encryption_properties(&KmsConnection::default(), &configuration, None)?;
/// let options = WriteOptions::new().encryption(Arc::new(properties));
/// assert!(options.encryption.is_some());
/// # Ok::<(), herringbone::Error>(())
/// ```
pub struct KeyTools {
    factory: Arc<dyn KmsClientFactory>,
    clients: Cache<Arc<dyn KmsClient>>,
    /// Key encryption keys for new files, by master key.
    write_keks: Cache<Kek>,
    /// Unwrapped key encryption keys, by identifier.
    pub(super) read_keks: Cache<Key>,
}

impl KeyTools {
    /// Creates key tools that get their clients from `factory` and cache for ten minutes.
    #[must_use]
    pub fn new(factory: Arc<dyn KmsClientFactory>) -> Self {
        Self::with_cache_lifetime(factory, CACHE_LIFETIME)
    }

    /// Creates key tools with this cache lifetime. A zero lifetime disables caching.
    #[must_use]
    pub fn with_cache_lifetime(factory: Arc<dyn KmsClientFactory>, lifetime: Duration) -> Self {
        Self {
            factory,
            clients: Cache::new(lifetime),
            write_keks: Cache::new(lifetime),
            read_keks: Cache::new(lifetime),
        }
    }

    /// Drops all cached clients and keys.
    pub fn clear_caches(&self) {
        self.clients.clear();
        self.write_keks.clear();
        self.read_keks.clear();
    }

    /// Drops one token's cached clients and keys, for example when its access ends.
    pub fn clear_caches_of(&self, token: &AccessToken) {
        self.clients.clear_token(token);
        self.read_keks.clear_token(token);
        self.clear_write_keks_of(token);
    }

    /// Drops the cached key encryption keys for writing, so that new files get new ones.
    pub(super) fn clear_write_keks_of(&self, token: &AccessToken) {
        self.write_keks.clear_token(token);
    }

    /// Creates new keys for a new file. The material for unwrapping them goes into the file. If
    /// there is a `store`, it goes there instead, before this function returns.
    ///
    /// # Errors
    /// Returns KMS errors. Fails with [Io](crate::ErrorKind::Io) if the store fails, or if random
    /// bytes are not available, and with [Argument](crate::ErrorKind::Argument) if a column occurs
    /// twice, or if the store already has material.
    pub fn encryption_properties(
        &self,
        connection: &KmsConnection,
        configuration: &EncryptionConfiguration,
        store: Option<Arc<dyn KeyMaterialStore>>,
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

    /// Returns a client for a connection with all fields set.
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
