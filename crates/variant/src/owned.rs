//! A value that owns its bytes.

use herringbone_format::Result;

use crate::limits::Limits;
use crate::metadata::Metadata;
use crate::variant::Variant;

/// A value that owns its metadata and bytes. Use this to keep a value after its batch or buffer is
/// gone.
///
/// ```
/// use herringbone::variant::{Limits, Value, VariantBuf};
///
/// let value = VariantBuf::from_json(r#"{"price": 1.50}"#)?;
/// let (metadata, bytes) = value.into_parts();
/// let value = VariantBuf::validated(metadata, bytes, &Limits::default())?;
/// let price = value.as_variant().field("price")?.ok_or("no price")?;
/// assert!(matches!(price.value()?, Value::Decimal4(_)));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct VariantBuf {
    metadata: Vec<u8>,
    value: Vec<u8>,
}

impl VariantBuf {
    /// Creates a value from its bytes after checking all of them.
    ///
    /// # Errors
    ///
    /// Fails for the reasons of [`Variant::validated`].
    pub fn validated(metadata: Vec<u8>, value: Vec<u8>, limits: &Limits) -> Result<Self> {
        let variant = Variant::validated(&metadata, &value, limits)?;
        let size = variant.as_bytes().len();
        let mut buf = Self { metadata, value };
        buf.value.truncate(size);
        Ok(buf)
    }

    /// Creates a value from a builder's output, without checking it again.
    pub(crate) fn from_parts(metadata: Vec<u8>, value: Vec<u8>) -> Self {
        Self { metadata, value }
    }

    /// Returns a view of the value.
    #[must_use]
    pub fn as_variant(&self) -> Variant<'_> {
        // The metadata was checked or built by us, so it's always valid.
        let metadata = Metadata::new(&self.metadata).unwrap_or(Metadata::EMPTY);
        Variant::from_parts(metadata, &self.value)
    }

    /// Returns the metadata's bytes.
    #[must_use]
    pub fn metadata_bytes(&self) -> &[u8] {
        &self.metadata
    }

    /// Returns the value's bytes.
    #[must_use]
    pub fn value_bytes(&self) -> &[u8] {
        &self.value
    }

    /// Returns the metadata bytes and the value bytes.
    #[must_use]
    pub fn into_parts(self) -> (Vec<u8>, Vec<u8>) {
        (self.metadata, self.value)
    }
}
