//! Rewraps data keys, for a new version of a master key or a change of double wrapping.

use std::{
    collections::{HashMap, hash_map::Entry},
    sync::Arc,
};

use super::{
    KeyMaterialStore, KeyTools, KmsConnection, KmsUrlPolicy,
    external::{ExternalMaterial, FOOTER_KEY},
    material::{KeyMaterial, KeyMetadata},
    new_keys::Kek,
    unwrapping::{KeyUnwrapping, KmsOfFile},
};
use crate::{Key, KeyLength, Result};

impl KeyTools {
    /// Rewraps a file's data keys with the newest versions of their master keys. The key material
    /// must be in `store`. It is replaced there once all keys are wrapped, so that even after a
    /// failure, the store has either the old or the new material. The Parquet file itself does not
    /// change.
    ///
    /// `double_wrapping` selects the new kind of wrapping. `None` means no change. Key encryption
    /// keys are always generated anew, with `kek_length`.
    ///
    /// # Errors
    /// Returns the errors of the KMS and the store. Fails with [Key](crate::ErrorKind::Key) if the
    /// material is malformed.
    pub fn rotate_master_keys(
        &self,
        connection: &KmsConnection,
        url_policy: &KmsUrlPolicy,
        store: &Arc<dyn KeyMaterialStore>,
        double_wrapping: Option<bool>,
        kek_length: KeyLength,
    ) -> Result<()> {
        // The cached key encryption keys were wrapped with older versions of the master keys.
        self.clear_write_keks_of(&connection.access_token);
        let external = Arc::new(ExternalMaterial::parse(&store.read()?)?);
        let kms = KmsOfFile::of(external.get(FOOTER_KEY)?);
        let (id, url) = (kms.instance_id.as_deref(), kms.instance_url.as_deref());
        let connection = Self::connection_for(connection, url_policy, id, url)?;
        let mut rotation = Rotation {
            tools: self,
            connection,
            double_wrapping,
            kek_length,
            keks: HashMap::new(),
        };
        let mut rotated = ExternalMaterial::default();
        for (reference, material) in &external.0 {
            let key = rotation.unwrap(reference, &external)?;
            rotated
                .0
                .insert(reference.clone(), rotation.wrap(&key, material)?);
        }
        store.replace(&rotated.to_json())
    }
}

struct Rotation<'a> {
    tools: &'a KeyTools,
    /// The connection, with all fields set.
    connection: KmsConnection,
    double_wrapping: Option<bool>,
    kek_length: KeyLength,
    /// The new key encryption keys, one per master key.
    keks: HashMap<String, Kek>,
}

impl Rotation<'_> {
    fn unwrap(&self, reference: &str, external: &Arc<ExternalMaterial>) -> Result<Key> {
        let reference = reference.to_owned();
        let metadata = KeyMetadata::External { reference }.to_json();
        let unwrapping = KeyUnwrapping::new(metadata.as_bytes(), None)?;
        let policy = KmsUrlPolicy::Configured;
        self.tools
            .finish(unwrapping, &self.connection, &policy, || {
                Ok(external.clone())
            })
    }

    fn wrap(&mut self, key: &Key, old: &KeyMaterial) -> Result<KeyMaterial> {
        let client = self.tools.client(&self.connection)?;
        let (wrapped_dek, kek) = if self.double_wrapping.unwrap_or(old.kek.is_some()) {
            let kek = match self.keks.entry(old.master_key_id.clone()) {
                Entry::Occupied(entry) => entry.into_mut(),
                Entry::Vacant(entry) => {
                    let id = &old.master_key_id;
                    entry.insert(Kek::generate(client.as_ref(), id, self.kek_length)?)
                }
            };
            let (wrapped_dek, kek) = kek.wrap(key)?;
            (wrapped_dek, Some(kek))
        } else {
            (client.wrap_key(key, &old.master_key_id)?, None)
        };
        let footer_only = |setting: &Option<String>| setting.clone().filter(|_| old.is_footer_key);
        Ok(KeyMaterial {
            is_footer_key: old.is_footer_key,
            kms_instance_id: footer_only(&self.connection.instance_id),
            kms_instance_url: footer_only(&self.connection.instance_url),
            master_key_id: old.master_key_id.clone(),
            wrapped_dek,
            kek,
        })
    }
}
