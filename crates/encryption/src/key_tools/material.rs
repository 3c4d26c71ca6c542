//! Reads and writes key metadata and key material as JSON.
//!
//! ```text
//! key metadata, internal   {"keyMaterialType":"PKMT1","internalStorage":true, and the material}
//! key metadata, external   {"keyMaterialType":"PKMT1","internalStorage":false,"keyReference":"columnKey0"}
//! key material             {"keyMaterialType":"PKMT1","isFooterKey":…,"masterKeyID":…,"wrappedDEK":…,"doubleWrapping":…, …}
//! ```
//!
//! An attacker with write access to the file controls all of this, so we trust nothing in it.

use std::fmt;

use crate::{
    Error, ErrorKind, Result,
    json::{Member, ObjectWriter, Value, parse},
};

/// The format's only version.
const TYPE: &str = "PKMT1";
/// The maximum size of key metadata to parse, in bytes. It is limited because key metadata is not authenticated.
///
/// A key wrapped by a KMS takes some hundred to some thousand bytes.
pub(crate) const MAX_KEY_METADATA_BYTES: usize = 64 << 10;

/// The key metadata in a file.
#[derive(Clone, PartialEq, Eq)]
pub(crate) enum KeyMetadata {
    /// The key material itself.
    Internal(KeyMaterial),
    /// The name of key material stored in a separate file.
    External { reference: String },
}

/// The material needed to unwrap a key.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct KeyMaterial {
    pub(crate) is_footer_key: bool,
    /// The KMS instance. Only set for the footer key.
    pub(crate) kms_instance_id: Option<String>,
    /// The KMS instance's address. Only set for the footer key.
    pub(crate) kms_instance_url: Option<String>,
    pub(crate) master_key_id: String,
    pub(crate) wrapped_dek: String,
    /// The key encryption key, if the data key is wrapped twice.
    pub(crate) kek: Option<WrappedKek>,
}

/// A key that wraps a data key, itself wrapped by a master key.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct WrappedKek {
    /// The key's identifier, 16 random bytes as base64.
    pub(crate) id: String,
    pub(crate) wrapped: String,
}

/// Returns true if this is key metadata referring to external key material. Without that material, the key cannot be
/// recovered.
#[must_use]
pub fn is_external(key_metadata: &[u8]) -> bool {
    matches!(
        KeyMetadata::parse(key_metadata),
        Ok(KeyMetadata::External { .. })
    )
}

impl KeyMetadata {
    /// Parses key metadata from a file.
    ///
    /// This fails with a key error if the metadata is not JSON in this format, or exceeds
    /// [`MAX_KEY_METADATA_BYTES`].
    pub(crate) fn parse(metadata: &[u8]) -> Result<Self> {
        if metadata.len() > MAX_KEY_METADATA_BYTES {
            return Err(malformed(format!(
                "in the file has {} bytes, and at most {MAX_KEY_METADATA_BYTES} are parsed, \
                 because it is not authenticated",
                metadata.len()
            )));
        }
        let text = std::str::from_utf8(metadata).map_err(|_| malformed("is not UTF-8"))?;
        let members = Members::parse(text)?;
        if members.boolean("internalStorage")? {
            KeyMaterial::read(&members).map(Self::Internal)
        } else {
            let reference = members.text("keyReference")?;
            Ok(Self::External { reference })
        }
    }

    /// Returns the key metadata in its stored form.
    pub(crate) fn to_json(&self) -> String {
        let object = ObjectWriter::new().text("keyMaterialType", TYPE);
        match self {
            Self::Internal(material) => material.write(object.boolean("internalStorage", true)),
            Self::External { reference } => object
                .boolean("internalStorage", false)
                .text("keyReference", reference),
        }
        .finish()
    }
}

impl KeyMaterial {
    /// Parses separately stored material.
    ///
    /// This fails with a key error if the text is not JSON in this format.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        Self::read(&Members::parse(text)?)
    }

    /// Returns the JSON to store separately.
    pub(crate) fn to_json(&self) -> String {
        let object = ObjectWriter::new().text("keyMaterialType", TYPE);
        self.write(object).finish()
    }

    fn read(members: &Members) -> Result<Self> {
        let is_footer_key = members.boolean("isFooterKey")?;
        let kek = match members.boolean("doubleWrapping")? {
            true => Some(WrappedKek {
                id: members.text("keyEncryptionKeyID")?,
                wrapped: members.text("wrappedKEK")?,
            }),
            false => None,
        };
        let footer_only = |name| match is_footer_key {
            true => members.optional_text(name),
            false => Ok(None),
        };
        Ok(Self {
            is_footer_key,
            kms_instance_id: footer_only("kmsInstanceID")?,
            kms_instance_url: footer_only("kmsInstanceURL")?,
            master_key_id: members.text("masterKeyID")?,
            wrapped_dek: members.text("wrappedDEK")?,
            kek,
        })
    }

    fn write(&self, object: ObjectWriter) -> ObjectWriter {
        let kek = self.kek.as_ref();
        object
            .boolean("isFooterKey", self.is_footer_key)
            .optional_text("kmsInstanceID", self.kms_instance_id.as_deref())
            .optional_text("kmsInstanceURL", self.kms_instance_url.as_deref())
            .text("masterKeyID", &self.master_key_id)
            .text("wrappedDEK", &self.wrapped_dek)
            .boolean("doubleWrapping", kek.is_some())
            .optional_text("keyEncryptionKeyID", kek.map(|kek| kek.id.as_str()))
            .optional_text("wrappedKEK", kek.map(|kek| kek.wrapped.as_str()))
    }
}

impl fmt::Debug for KeyMetadata {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyMetadata(redacted)")
    }
}

impl fmt::Debug for KeyMaterial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyMaterial(redacted)")
    }
}

/// The members of a JSON object of the type PKMT1. Unknown members are ignored, and null counts as
/// absent.
struct Members(Vec<Member>);

impl Members {
    fn parse(text: &str) -> Result<Self> {
        let Value::Object(members) = parse(text).map_err(|error| malformed(error.message))?.value
        else {
            return Err(malformed("is not a JSON object"));
        };
        let members = Self(members);
        match members.text("keyMaterialType")?.as_str() {
            TYPE => Ok(members),
            _ => Err(Error::unsupported(
                "key material of an unknown type; only PKMT1 is supported",
            )),
        }
    }

    fn get(&self, name: &str) -> &Value {
        let member = self.0.iter().find(|member| member.name.as_str() == name);
        member.map_or(&Value::Null, |member| &member.value.value)
    }

    fn optional_text(&self, name: &'static str) -> Result<Option<String>> {
        match self.get(name) {
            Value::Text(text) => Ok(Some(text.to_string())),
            Value::Null => Ok(None),
            _ => Err(malformed(format!("has a {name} that is not text"))),
        }
    }

    fn text(&self, name: &'static str) -> Result<String> {
        let text = self.optional_text(name)?;
        text.ok_or_else(|| malformed(format!("does not have {name}")))
    }

    fn boolean(&self, name: &'static str) -> Result<bool> {
        match self.get(name) {
            Value::Boolean(value) => Ok(*value),
            _ => Err(malformed(format!("has a {name} that is not true or false"))),
        }
    }
}

/// Returns an error about key material without repeating any of it.
#[cold]
pub(crate) fn malformed(what: impl AsRef<str>) -> Error {
    let what = what.as_ref();
    Error::new(ErrorKind::Key, format!("the key material {what}"))
}
