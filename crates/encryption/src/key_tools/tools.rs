//! Data keys for new files.

use std::{fmt, sync::Arc, time::Duration};

use base64::{Engine, engine::general_purpose::STANDARD};

use super::{
    AccessToken, EncryptionConfiguration, KeyMaterialStore, KmsClient, KmsClientFactory,
    KmsConnection,
    cache::{Cache, CacheKey},
    external::{ExternalMaterial, FOOTER_KEY, column_key},
    material::{KeyMaterial, KeyMetadata, WrappedKek},
    wrapping,
};
use crate::{FileEncryptionProperties, Key, KeyLength, Result, properties::EncryptionKey, random};

/// How long clients and keys are kept unless somebody says otherwise; other libraries do so as well.
const CACHE_LIFETIME: Duration = Duration::from_secs(600);
/// Bytes that identify a key encryption key.
const KEK_ID_BYTES: usize = 16;

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

/// A key encryption key and what is stored of it.
#[derive(Clone)]
pub(super) struct Kek {
    key: Key,
    id: [u8; KEK_ID_BYTES],
    wrapped: String,
}

impl Kek {
    /// A new one, wrapped by `master_key_id`.
    pub(super) fn generate(
        client: &dyn KmsClient,
        master_key_id: &str,
        length: KeyLength,
    ) -> Result<Self> {
        let key = Key::generate(length)?;
        let wrapped = client.wrap_key(&key, master_key_id)?;
        let id = random::array()?;
        Ok(Self { key, id, wrapped })
    }

    /// Wraps a data key; returns it, and what unwraps it again.
    pub(super) fn wrap(&self, key: &Key) -> Result<(String, WrappedKek)> {
        let wrapped_dek = wrapping::wrap(&self.key, key, &self.id)?;
        let kek = WrappedKek {
            id: STANDARD.encode(self.id),
            wrapped: self.wrapped.clone(),
        };
        Ok((wrapped_dek, kek))
    }
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
        let mut keys = NewKeys {
            tools: self,
            connection: connection.or_default(),
            configuration,
            client: self.client(&connection.or_default())?,
            external: store.map(|_| ExternalMaterial::default()),
        };
        let footer_key = keys.new_key(&configuration.footer_key, FOOTER_KEY.into(), true)?;
        let mut builder = FileEncryptionProperties::builder(footer_key)
            .algorithm(configuration.algorithm)
            .plaintext_footer(configuration.plaintext_footer)
            .other_columns(configuration.other_columns)
            .aad_prefix(configuration.aad_prefix.clone().unwrap_or_default())
            .store_aad_prefix(configuration.store_aad_prefix);
        let columns = configuration.column_keys.iter();
        let columns = columns.flat_map(|(id, paths)| paths.iter().map(move |path| (id, path)));
        for (number, (master_key_id, path)) in columns.enumerate() {
            let key = keys.new_key(master_key_id, column_key(number), false)?;
            builder = builder.column_key(path, key);
        }
        let properties = builder.build()?;
        if let (Some(store), Some(external)) = (store, keys.external) {
            store.create(&external.to_json())?;
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

    fn write_kek(
        &self,
        client: &dyn KmsClient,
        connection: &KmsConnection,
        master_key_id: &str,
        length: KeyLength,
    ) -> Result<Kek> {
        let key = CacheKey {
            connection: connection.clone(),
            name: format!("{} {master_key_id}", length.bytes()),
        };
        if let Some(kek) = self.write_keks.get(&key) {
            return Ok(kek);
        }
        let kek = Kek::generate(client, master_key_id, length)?;
        self.write_keks.insert(key, kek.clone());
        Ok(kek)
    }
}

impl fmt::Debug for KeyTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyTools")
    }
}

/// The keys of one new file.
struct NewKeys<'a> {
    tools: &'a KeyTools,
    /// With everything set.
    connection: KmsConnection,
    configuration: &'a EncryptionConfiguration,
    client: Arc<dyn KmsClient>,
    /// Material that is to be stored beside the file.
    external: Option<ExternalMaterial>,
}

impl NewKeys<'_> {
    fn new_key(
        &mut self,
        master_key_id: &str,
        reference: String,
        is_footer_key: bool,
    ) -> Result<EncryptionKey> {
        let configuration = self.configuration;
        let key = Key::generate(configuration.data_key_length)?;
        let client = self.client.as_ref();
        let (wrapped_dek, kek) = if configuration.double_wrapping {
            let length = configuration.kek_length;
            let kek = self
                .tools
                .write_kek(client, &self.connection, master_key_id, length)?;
            let (wrapped_dek, kek) = kek.wrap(&key)?;
            (wrapped_dek, Some(kek))
        } else {
            (client.wrap_key(&key, master_key_id)?, None)
        };
        let of_footer = |setting: &Option<String>| setting.clone().filter(|_| is_footer_key);
        let material = KeyMaterial {
            is_footer_key,
            kms_instance_id: of_footer(&self.connection.instance_id),
            kms_instance_url: of_footer(&self.connection.instance_url),
            master_key_id: master_key_id.to_owned(),
            wrapped_dek,
            kek,
        };
        let metadata = match &mut self.external {
            None => KeyMetadata::Internal(material),
            Some(external) => {
                external.0.insert(reference.clone(), material);
                KeyMetadata::External { reference }
            }
        };
        Ok(EncryptionKey::with_metadata(key, metadata.to_json()))
    }
}
