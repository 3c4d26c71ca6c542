//! Keeps a file's key material in a store outside the file.
//!
//! ```text
//! {"footerKey":"{\"keyMaterialType\":\"PKMT1\",…}","columnKey0":"{…}"}      each material is JSON within a text
//! ```

use std::collections::BTreeMap;

use super::material::{KeyMaterial, malformed};
use crate::{
    Result,
    json::{ObjectWriter, Value, parse},
};

/// The footer key's name in the material.
pub(crate) const FOOTER_KEY: &str = "footerKey";

/// A store for one Parquet file's key material. Implement this to keep the material somewhere other than next to the
/// file.
pub trait KeyMaterialStore: Send + Sync {
    /// Returns the material written last.
    ///
    /// # Errors
    /// Fails with [Io](crate::ErrorKind::Io) if the material cannot be read.
    fn read(&self) -> Result<String>;

    /// Writes a new file's material.
    ///
    /// # Errors
    /// Fails with [Io](crate::ErrorKind::Io) if the material cannot be written, and with
    /// [Argument](crate::ErrorKind::Argument) if there is material already, because a Parquet file might depend on it.
    fn create(&self, material: &str) -> Result<()>;

    /// Replaces the material atomically. After any failure, either the old or the new material
    /// exists in full.
    ///
    /// # Errors
    /// Fails with [Io](crate::ErrorKind::Io) if the material cannot be written, and then leaves the
    /// old material unchanged.
    fn replace(&self, material: &str) -> Result<()>;
}

/// Returns a column key's name in the material.
pub(crate) fn column_key(number: usize) -> String {
    format!("columnKey{number}")
}

/// The material for all of the file's keys, by name.
#[derive(Default)]
pub(crate) struct ExternalMaterial(pub(crate) BTreeMap<String, KeyMaterial>);

impl ExternalMaterial {
    /// Parses a file's external key material.
    ///
    /// This fails with a key error if the text is not JSON in this format.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let Value::Object(members) = parse(text).map_err(|error| malformed(error.message))?.value
        else {
            return Err(malformed("is not a JSON object"));
        };
        let mut keys = BTreeMap::new();
        for member in members {
            let Value::Text(material) = &member.value.value else {
                return Err(malformed("has a member that is not text"));
            };
            keys.insert(member.name.to_string(), KeyMaterial::parse(material)?);
        }
        Ok(Self(keys))
    }

    pub(crate) fn get(&self, reference: &str) -> Result<&KeyMaterial> {
        let material = self.0.get(reference);
        material.ok_or_else(|| malformed("does not have the key that the Parquet file refers to"))
    }

    pub(crate) fn to_json(&self) -> String {
        let object = self
            .0
            .iter()
            .fold(ObjectWriter::new(), |object, (name, material)| {
                object.text(name, &material.to_json())
            });
        object.finish()
    }
}
