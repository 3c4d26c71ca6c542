//! Unwraps data keys when we read files.

use std::{
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use super::{
    DEFAULT_KMS, KeyMaterialStore, KeyTools, KeyUnwrapping, KmsConnection, UnwrapRequest,
    UnwrapStep, cache::CacheKey, external::ExternalMaterial,
};
use crate::{
    Error, ErrorKind, Key, Result,
    properties::{KeyAnswer, KeyRequest, KeyRetriever},
};

/// The policy for KMS addresses found in files. Without a policy, someone could write a file with
/// their own address in it and receive the token.
#[derive(Clone, Default)]
#[non_exhaustive]
pub enum KmsUrlPolicy {
    /// Addresses in files are never used. A file with an address can only be read if you configure
    /// one.
    #[default]
    Configured,
    /// The address in a file is used if this function returns true for it and you configured none.
    FromFile(Arc<dyn Fn(&str) -> bool + Send + Sync>),
}

impl fmt::Debug for KmsUrlPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Configured => "Configured",
            Self::FromFile(_) => "FromFile",
        })
    }
}

impl KeyTools {
    /// Returns a retriever that uses a KMS to unwrap keys described by files. `store` has one
    /// file's external key material. Without a store, the retriever can only read files with
    /// internal key material, but any number of them.
    #[must_use]
    pub fn key_retriever(
        self: &Arc<Self>,
        connection: KmsConnection,
        url_policy: KmsUrlPolicy,
        store: Option<Arc<dyn KeyMaterialStore>>,
    ) -> Arc<dyn KeyRetriever> {
        Arc::new(Retriever {
            tools: self.clone(),
            connection,
            url_policy,
            store,
            external: Mutex::default(),
        })
    }

    /// Returns the connection to use for a file naming this instance and address. All of its fields
    /// are set.
    pub(super) fn connection_for(
        connection: &KmsConnection,
        url_policy: &KmsUrlPolicy,
        id_of_file: Option<&str>,
        url_of_file: Option<&str>,
    ) -> Result<KmsConnection> {
        let url_of_file = url_of_file.filter(|url| *url != DEFAULT_KMS && !url.is_empty());
        let mut connection = connection.clone();
        if let (None, Some(url)) = (&connection.instance_url, url_of_file) {
            match url_policy {
                KmsUrlPolicy::FromFile(allows) if allows(url) => {
                    connection.instance_url = Some(url.to_owned());
                }
                _ => {
                    return Err(Error::new(
                        ErrorKind::Key,
                        "the file names the address of a KMS, which is not allowed; configure the \
                         address",
                    ));
                }
            }
        }
        if connection.instance_id.is_none() {
            connection.instance_id = id_of_file.map(Into::into);
        }
        Ok(connection.or_default())
    }

    /// Takes all steps of an `unwrapping`.
    pub(super) fn finish(
        &self,
        mut unwrapping: KeyUnwrapping,
        connection: &KmsConnection,
        url_policy: &KmsUrlPolicy,
        external: impl Fn() -> Result<Arc<ExternalMaterial>>,
    ) -> Result<Key> {
        loop {
            let unwrapped = match unwrapping.step() {
                UnwrapStep::Done(key) => return Ok(key),
                UnwrapStep::Unwrap(request) => self.unwrap(connection, url_policy, &request)?,
                UnwrapStep::Material => {
                    unwrapping.supply_parsed(external()?.as_ref())?;
                    continue;
                }
            };
            unwrapping.supply_key(unwrapped)?;
        }
    }

    /// Has the KMS unwrap a key, unless the result is cached.
    fn unwrap(
        &self,
        connection: &KmsConnection,
        url_policy: &KmsUrlPolicy,
        request: &UnwrapRequest<'_>,
    ) -> Result<Key> {
        let (id, url) = (request.kms_instance_id, request.kms_instance_url);
        let connection = Self::connection_for(connection, url_policy, id, url)?;
        let cache_key = request.kek_id.map(|kek_id| CacheKey {
            connection: connection.clone(),
            name: format!("{kek_id} {} {}", request.master_key_id, request.wrapped),
        });
        if let Some(key) = cache_key.as_ref().and_then(|key| self.read_keks.get(key)) {
            return Ok(key);
        }
        let client = self.client(&connection)?;
        let key = client.unwrap_key(request.wrapped, request.master_key_id)?;
        if let Some(cache_key) = cache_key {
            self.read_keks.insert(cache_key, key.clone());
        }
        Ok(key)
    }
}

struct Retriever {
    tools: Arc<KeyTools>,
    connection: KmsConnection,
    url_policy: KmsUrlPolicy,
    store: Option<Arc<dyn KeyMaterialStore>>,
    /// The store's contents, once parsed.
    external: Mutex<Option<Arc<ExternalMaterial>>>,
}

impl Retriever {
    fn external(&self) -> Result<Arc<ExternalMaterial>> {
        let Some(store) = &self.store else {
            return Err(Error::new(
                ErrorKind::Key,
                "the key material is in a file of its own, next to the Parquet file, and was not supplied",
            ));
        };
        let mut external = self.external.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(external) = &*external {
            return Ok(external.clone());
        }
        let read = Arc::new(ExternalMaterial::parse(&store.read()?)?);
        *external = Some(read.clone());
        Ok(read)
    }
}

impl KeyRetriever for Retriever {
    fn retrieve(&self, request: &KeyRequest) -> Result<KeyAnswer> {
        let footer = request.footer_key_metadata.as_deref();
        let unwrapping = KeyUnwrapping::new(&request.key_metadata, footer)?;
        let (connection, url_policy) = (&self.connection, &self.url_policy);
        let key = self
            .tools
            .finish(unwrapping, connection, url_policy, || self.external());
        key.map(KeyAnswer::Key)
    }
}
