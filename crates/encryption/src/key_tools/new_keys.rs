//! Wraps a new file's keys in steps, for callers with their own way to wait for a KMS.

use std::{collections::HashMap, fmt};

use base64::{Engine, engine::general_purpose::STANDARD};

use super::{
    EncryptionConfiguration, KmsClient, KmsConnection,
    external::{ExternalMaterial, FOOTER_KEY, column_key},
    material::{KeyMaterial, KeyMetadata, WrappedKek},
    wrapping,
};
use crate::{
    Error, FileEncryptionProperties, Key, KeyLength, Result,
    properties::{ColumnPath, EncryptionKey},
    random,
};

/// The size of a key encryption key's identifier, in bytes.
const KEK_ID_BYTES: usize = 16;

/// A key encryption key, with its stored parts.
#[derive(Clone)]
pub(super) struct Kek {
    key: Key,
    id: [u8; KEK_ID_BYTES],
    wrapped: String,
}

impl Kek {
    fn new(key: Key, wrapped: String) -> Result<Self> {
        let id = random::array()?;
        Ok(Self { key, id, wrapped })
    }

    /// Generates a new key encryption key, wrapped with the master key `master_key_id`.
    pub(super) fn generate(
        client: &dyn KmsClient,
        master_key_id: &str,
        length: KeyLength,
    ) -> Result<Self> {
        let key = Key::generate(length)?;
        let wrapped = client.wrap_key(&key, master_key_id)?;
        Self::new(key, wrapped)
    }

    /// Wraps a data key, returning the wrapped key and the material to unwrap it.
    pub(super) fn wrap(&self, key: &Key) -> Result<(String, WrappedKek)> {
        let wrapped_dek = wrapping::wrap(&self.key, key, &self.id)?;
        let kek = WrappedKek {
            id: STANDARD.encode(self.id),
            wrapped: self.wrapped.clone(),
        };
        Ok((wrapped_dek, kek))
    }
}

/// A state machine that wraps a new file's keys. It never waits. Instead, it requests a wrapping
/// from the KMS, and goes on once you supply the result.
pub struct KeyWrapping {
    /// The connection, with all fields set.
    connection: KmsConnection,
    configuration: EncryptionConfiguration,
    /// True if the key material will be stored next to the file.
    is_external: bool,
    /// The footer's master key, followed by the columns' master keys with their paths.
    wanted: Vec<(String, Option<ColumnPath>)>,
    /// The finished keys. They belong to the first entries of `wanted`.
    done: Vec<(Key, KeyMaterial)>,
    /// The key for the KMS to wrap: the next data key or, with double wrapping, a key encryption
    /// key.
    pending: Option<Key>,
    /// Existing key encryption keys, by master key.
    known_keks: HashMap<String, Kek>,
    /// Key encryption keys generated for this file, by master key.
    new_keks: HashMap<String, Kek>,
}

/// The next step of a wrapping.
pub enum WrapStep<'a> {
    /// Let a KMS wrap a key, and supply the result.
    Wrap(WrapRequest<'a>),
    /// All keys are wrapped, so you can call [`KeyWrapping::finish`].
    Done,
}

/// A request to a KMS to wrap a key.
#[non_exhaustive]
pub struct WrapRequest<'a> {
    /// The key to wrap.
    pub key: &'a Key,
    /// The master key to wrap it with.
    pub master_key_id: &'a str,
}

impl fmt::Debug for WrapRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("WrapRequest(redacted)")
    }
}

impl KeyWrapping {
    /// Starts wrapping the keys for a file with this configuration. `connection` identifies the KMS
    /// and is recorded in the file. `is_external` is true if the key material will be stored next
    /// to the file.
    ///
    /// # Errors
    /// Fails with [Io](crate::ErrorKind::Io) if random bytes are not available.
    pub fn new(
        connection: &KmsConnection,
        configuration: &EncryptionConfiguration,
        is_external: bool,
    ) -> Result<Self> {
        Self::with_keks(connection, configuration, is_external, |_| None)
    }

    /// Starts wrapping with existing key encryption keys.
    pub(super) fn with_keks(
        connection: &KmsConnection,
        configuration: &EncryptionConfiguration,
        is_external: bool,
        known: impl Fn(&str) -> Option<Kek>,
    ) -> Result<Self> {
        let columns = configuration.column_keys.iter();
        let columns = columns.flat_map(|(id, paths)| paths.iter().map(move |path| (id, path)));
        let columns = columns.map(|(id, path)| (id.clone(), Some(path.clone())));
        let footer = (configuration.footer_key.clone(), None);
        let wanted: Vec<_> = std::iter::once(footer).chain(columns).collect();
        let known_keks = match configuration.double_wrapping {
            true => wanted
                .iter()
                .filter_map(|(id, _)| Some((id.clone(), known(id)?)))
                .collect(),
            false => HashMap::new(),
        };
        let mut wrapping = Self {
            connection: connection.or_default(),
            configuration: configuration.clone(),
            is_external,
            wanted,
            done: Vec::new(),
            pending: None,
            known_keks,
            new_keks: HashMap::new(),
        };
        wrapping.advance()?;
        Ok(wrapping)
    }

    /// Returns the next step.
    #[must_use]
    pub fn step(&self) -> WrapStep<'_> {
        match (&self.pending, self.wanted.get(self.done.len())) {
            (Some(key), Some((master_key_id, _))) => {
                WrapStep::Wrap(WrapRequest { key, master_key_id })
            }
            _ => WrapStep::Done,
        }
    }

    /// Supplies the result of the requested wrapping.
    ///
    /// # Errors
    /// Fails with [Argument](crate::ErrorKind::Argument) if no wrapping was requested, and with
    /// [Io](crate::ErrorKind::Io) if random bytes are not available.
    pub fn supply_wrapped(&mut self, wrapped: String) -> Result<()> {
        let wanted = self.wanted.get(self.done.len());
        let (Some(key), Some((master_key_id, _))) = (self.pending.take(), wanted) else {
            return Err(Error::argument("no wrapped key was requested"));
        };
        match self.configuration.double_wrapping {
            true => {
                let kek = Kek::new(key, wrapped)?;
                self.new_keks.insert(master_key_id.clone(), kek);
            }
            false => self.push(key, wrapped, None),
        }
        self.advance()
    }

    /// Returns the file's properties and, if the key material will be stored next to the file, the
    /// material as JSON. Store it first, because the file cannot be read without it.
    ///
    /// # Errors
    /// Fails with [Argument](crate::ErrorKind::Argument) if a key is not wrapped yet, or if a
    /// column occurs twice.
    pub fn finish(self) -> Result<(FileEncryptionProperties, Option<String>)> {
        let mut external = ExternalMaterial::default();
        let mut keys = Vec::new();
        for (number, (key, material)) in self.done.into_iter().enumerate() {
            let metadata = match self.is_external {
                false => KeyMetadata::Internal(material),
                true => {
                    let reference = match number.checked_sub(1) {
                        None => FOOTER_KEY.to_owned(),
                        Some(column) => column_key(column),
                    };
                    external.0.insert(reference.clone(), material);
                    KeyMetadata::External { reference }
                }
            };
            keys.push(EncryptionKey::with_metadata(key, metadata.to_json()));
        }
        let mut wrapped = self.wanted.into_iter().zip(keys);
        let Some((_, footer_key)) = wrapped.next().filter(|_| self.pending.is_none()) else {
            return Err(Error::argument("not all keys of the file are wrapped"));
        };
        let configuration = self.configuration;
        let mut builder = FileEncryptionProperties::builder(footer_key)
            .algorithm(configuration.algorithm)
            .plaintext_footer(configuration.plaintext_footer)
            .other_columns(configuration.other_columns)
            .aad_prefix(configuration.aad_prefix.unwrap_or_default())
            .store_aad_prefix(configuration.store_aad_prefix);
        for ((_, path), key) in wrapped {
            builder = builder.column_key(path.unwrap_or_default(), key);
        }
        let material = self.is_external.then(|| external.to_json());
        Ok((builder.build()?, material))
    }

    /// Returns the key encryption keys generated for this file, by master key.
    pub(super) fn new_keks(&self) -> &HashMap<String, Kek> {
        &self.new_keks
    }

    /// Generates keys until there is one for the KMS to wrap.
    fn advance(&mut self) -> Result<()> {
        let configuration = &self.configuration;
        let (double, length) = (configuration.double_wrapping, configuration.data_key_length);
        let kek_length = configuration.kek_length;
        while let Some((master_key_id, _)) = self.wanted.get(self.done.len()) {
            let keks = [&self.known_keks, &self.new_keks];
            let kek = keks.iter().find_map(|keks| keks.get(master_key_id));
            match kek {
                Some(kek) => {
                    let key = Key::generate(length)?;
                    let (wrapped_dek, kek) = kek.wrap(&key)?;
                    self.push(key, wrapped_dek, Some(kek));
                }
                None => {
                    self.pending = Some(Key::generate(if double { kek_length } else { length })?);
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Records the next key as finished.
    fn push(&mut self, key: Key, wrapped_dek: String, kek: Option<WrappedKek>) {
        let is_footer_key = self.done.is_empty();
        let footer_only = |setting: &Option<String>| setting.clone().filter(|_| is_footer_key);
        let wanted = self.wanted.get(self.done.len());
        let material = KeyMaterial {
            is_footer_key,
            kms_instance_id: footer_only(&self.connection.instance_id),
            kms_instance_url: footer_only(&self.connection.instance_url),
            master_key_id: wanted.map(|(id, _)| id.clone()).unwrap_or_default(),
            wrapped_dek,
            kek,
        };
        self.done.push((key, material));
    }
}

impl fmt::Debug for KeyWrapping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.pending {
            Some(_) => "KeyWrapping(needs the KMS)",
            None => "KeyWrapping(done)",
        })
    }
}
