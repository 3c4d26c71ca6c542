//! What a value may ask of its reader, and a writer of its value.

use herringbone_format::{Error, Result};

/// Upper bounds on values; every one can be raised or lowered.
///
/// Views need no limits: they hold no memory, and do what they are asked one step at a time. Limits
/// are for what walks a whole value: validation, equality, JSON, shredding and builders.
///
/// ```
/// use herringbone_variant::Limits;
///
/// let mut limits = Limits::default();
/// limits.variant_depth = 64;
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// Objects and arrays within each other. No walk recurses, so this bounds the memory of its
    /// stack, not the stack of the thread.
    pub variant_depth: usize,
    /// Bytes of one value.
    pub variant_bytes: usize,
    /// Bytes of the metadata of one value.
    pub variant_metadata_bytes: usize,
    /// Bytes of one value as JSON. Names are written once a field there, so JSON may be larger than
    /// the value by far.
    pub variant_json_bytes: usize,
}

impl Limits {
    /// What Jackson, and so Spark, takes of JSON.
    pub const DEPTH: usize = 1000;
    /// What Spark takes of one value.
    pub const BYTES: usize = 128 << 20;

    pub(crate) fn check_depth(&self, depth: usize) -> Result<()> {
        check("variant_depth", depth, self.variant_depth)
    }

    pub(crate) fn check_bytes(&self, bytes: usize) -> Result<()> {
        check("variant_bytes", bytes, self.variant_bytes)
    }

    pub(crate) fn check_json_bytes(&self, bytes: usize) -> Result<()> {
        check("variant_json_bytes", bytes, self.variant_json_bytes)
    }

    pub(crate) fn check_metadata_bytes(&self, bytes: usize) -> Result<()> {
        check("variant_metadata_bytes", bytes, self.variant_metadata_bytes)
    }
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            variant_depth: Self::DEPTH,
            variant_bytes: Self::BYTES,
            variant_metadata_bytes: Self::BYTES,
            variant_json_bytes: 1 << 30,
        }
    }
}

#[inline]
fn check(name: &'static str, asked: usize, allowed: usize) -> Result<()> {
    if asked > allowed {
        return Err(Error::limit(name, asked as u64, allowed as u64));
    }
    Ok(())
}
