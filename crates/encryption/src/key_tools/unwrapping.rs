//! Unwraps a file's keys in steps, for callers with their own way to wait for a KMS.

use std::fmt;

use base64::{Engine, engine::general_purpose::STANDARD};

use super::{
    external::{ExternalMaterial, FOOTER_KEY},
    material::{KeyMaterial, KeyMetadata, malformed},
    wrapping,
};
use crate::{Error, Key, Result};

/// A state machine that unwraps one key. It never waits. Instead, it requests the next input, and
/// goes on once you supply it.
pub struct KeyUnwrapping(State);

enum State {
    /// The material is stored next to the Parquet file.
    Material {
        reference: String,
    },
    /// A KMS has to unwrap a key.
    Unwrap {
        material: KeyMaterial,
        kms: KmsOfFile,
    },
    Done(Key),
}

/// The KMS named by a file.
#[derive(Clone, Default)]
pub(crate) struct KmsOfFile {
    pub(crate) instance_id: Option<String>,
    pub(crate) instance_url: Option<String>,
}

impl KmsOfFile {
    /// Reads the KMS from the footer key's material, since column keys' material lacks it.
    pub(crate) fn of(material: &KeyMaterial) -> Self {
        Self {
            instance_id: material.kms_instance_id.clone(),
            instance_url: material.kms_instance_url.clone(),
        }
    }
}

/// The next step of an unwrapping.
pub enum UnwrapStep<'a> {
    /// Read the key material stored next to the Parquet file, and supply it.
    Material,
    /// Have a KMS unwrap a key, and supply the result.
    Unwrap(UnwrapRequest<'a>),
    /// The unwrapped data key.
    Done(Key),
}

/// A request to a KMS to unwrap a key. All of it comes from a file, so anyone with write access to
/// the file can change it.
#[non_exhaustive]
pub struct UnwrapRequest<'a> {
    /// The wrapped key as returned by the KMS.
    pub wrapped: &'a str,
    /// The master key that wrapped it.
    pub master_key_id: &'a str,
    /// The KMS instance, if the file names one.
    pub kms_instance_id: Option<&'a str>,
    /// The instance's address, if the file names one. Do not send a token to an address that you do
    /// not trust.
    pub kms_instance_url: Option<&'a str>,
    /// The identifier of the key to unwrap, with double wrapping. This key wraps many data keys, so
    /// you may want to cache it.
    pub kek_id: Option<&'a str>,
}

impl fmt::Debug for UnwrapRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("UnwrapRequest(redacted)")
    }
}

impl KeyUnwrapping {
    /// Starts with the key metadata from the file. `footer_key_metadata` belongs to the file's
    /// footer key and names the KMS.
    ///
    /// # Errors
    /// Fails with [Key](crate::ErrorKind::Key) if the metadata is not JSON in this format, and with
    /// [Unsupported](crate::ErrorKind::Unsupported) if its type is not PKMT1.
    pub fn new(key_metadata: &[u8], footer_key_metadata: Option<&[u8]>) -> Result<Self> {
        Ok(Self(match KeyMetadata::parse(key_metadata)? {
            KeyMetadata::External { reference } => State::Material { reference },
            KeyMetadata::Internal(material) => {
                let footer = footer_key_metadata.map(KeyMetadata::parse);
                let kms = match (&material, footer) {
                    (
                        KeyMaterial {
                            is_footer_key: false,
                            ..
                        },
                        Some(Ok(KeyMetadata::Internal(footer))),
                    ) => KmsOfFile::of(&footer),
                    _ => KmsOfFile::of(&material),
                };
                State::Unwrap { material, kms }
            }
        }))
    }

    /// Returns the next step.
    #[must_use]
    pub fn step(&self) -> UnwrapStep<'_> {
        let (material, kms) = match &self.0 {
            State::Material { .. } => return UnwrapStep::Material,
            State::Done(key) => return UnwrapStep::Done(key.clone()),
            State::Unwrap { material, kms } => (material, kms),
        };
        let kek = material.kek.as_ref();
        UnwrapStep::Unwrap(UnwrapRequest {
            wrapped: kek.map_or(&material.wrapped_dek, |kek| &kek.wrapped),
            master_key_id: &material.master_key_id,
            kms_instance_id: kms.instance_id.as_deref(),
            kms_instance_url: kms.instance_url.as_deref(),
            kek_id: kek.map(|kek| kek.id.as_str()),
        })
    }

    /// Supplies the Parquet file's key material. `json` is the complete text of its JSON file.
    ///
    /// # Errors
    /// Fails with [Key](crate::ErrorKind::Key) if the text is not JSON in this format or lacks the
    /// key, and with [Argument](crate::ErrorKind::Argument) if it was not requested.
    pub fn supply_material(&mut self, json: &str) -> Result<()> {
        self.supply_parsed(&ExternalMaterial::parse(json)?)
    }

    pub(crate) fn supply_parsed(&mut self, external: &ExternalMaterial) -> Result<()> {
        let State::Material { reference } = &self.0 else {
            return Err(Error::argument("no key material was requested"));
        };
        let material = external.get(reference)?.clone();
        let footer = external.0.get(FOOTER_KEY).unwrap_or(&material);
        let kms = KmsOfFile::of(footer);
        self.0 = State::Unwrap { material, kms };
        Ok(())
    }

    /// Supplies the key unwrapped by the KMS.
    ///
    /// # Errors
    /// Fails with [Key](crate::ErrorKind::Key) if it does not unwrap the data key, and with
    /// [Argument](crate::ErrorKind::Argument) if it was not requested.
    pub fn supply_key(&mut self, unwrapped: Key) -> Result<()> {
        let State::Unwrap { material, .. } = &self.0 else {
            return Err(Error::argument("no unwrapped key was requested"));
        };
        let key = match &material.kek {
            None => unwrapped,
            Some(kek) => {
                let id = STANDARD.decode(&kek.id);
                let id =
                    id.map_err(|_| malformed("has a keyEncryptionKeyID that is not base64"))?;
                wrapping::unwrap(
                    &unwrapped,
                    &material.wrapped_dek,
                    &id,
                    "a key encryption key",
                )?
            }
        };
        self.0 = State::Done(key);
        Ok(())
    }
}

impl fmt::Debug for KeyUnwrapping {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            State::Material { .. } => "KeyUnwrapping(needs material)",
            State::Unwrap { .. } => "KeyUnwrapping(needs the KMS)",
            State::Done(_) => "KeyUnwrapping(done)",
        })
    }
}
