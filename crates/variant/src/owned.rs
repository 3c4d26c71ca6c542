//! A value that owns its bytes.

use herringbone_format::Result;

use crate::limits::Limits;
use crate::metadata::Metadata;
use crate::variant::Variant;

/// A value that owns its metadata and its bytes.
#[derive(Debug, Clone)]
pub struct VariantBuf {
    metadata: Vec<u8>,
    value: Vec<u8>,
}

impl VariantBuf {
    /// Takes bytes that are checked as a whole.
    ///
    /// # Errors
    ///
    /// As [`Variant::validated`].
    pub fn validated(metadata: Vec<u8>, value: Vec<u8>, limits: &Limits) -> Result<Self> {
        let variant = Variant::validated(&metadata, &value, limits)?;
        let size = variant.as_bytes().len();
        let mut buf = Self { metadata, value };
        buf.value.truncate(size);
        Ok(buf)
    }

    /// Of bytes that a builder made.
    pub(crate) fn from_parts(metadata: Vec<u8>, value: Vec<u8>) -> Self {
        Self { metadata, value }
    }

    /// A view.
    #[must_use]
    pub fn as_variant(&self) -> Variant<'_> {
        // The metadata was checked, or built; so it is never wrong.
        let metadata = Metadata::new(&self.metadata).unwrap_or(Metadata::EMPTY);
        Variant::from_parts(metadata, &self.value)
    }

    /// The bytes of the metadata.
    #[must_use]
    pub fn metadata_bytes(&self) -> &[u8] {
        &self.metadata
    }

    /// The bytes of the value.
    #[must_use]
    pub fn value_bytes(&self) -> &[u8] {
        &self.value
    }

    /// Metadata and value.
    #[must_use]
    pub fn into_parts(self) -> (Vec<u8>, Vec<u8>) {
        (self.metadata, self.value)
    }
}
