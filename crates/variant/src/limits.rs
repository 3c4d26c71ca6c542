//! Limits on values, for readers and writers.

use herringbone_format::{Error, Result};

/// Upper bounds on values. You can raise or lower each of them.
///
/// Views need no limits, because they allocate no memory and take one step per call. Limits only
/// matter for code that walks a whole value: validation, equality, JSON, shredding and builders.
///
/// ```
/// use herringbone::variant::Limits;
///
/// let limits = Limits::new().variant_depth(64);
/// assert_eq!(limits.variant_depth, 64);
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Limits {
    /// The nesting depth of objects and arrays. No walk recurses, so this bounds the memory of a
    /// walk's explicit stack, not the thread's stack.
    pub variant_depth: usize,
    /// The byte count of one value.
    pub variant_bytes: usize,
    /// The byte count of one value's metadata.
    pub variant_metadata_bytes: usize,
    /// The byte count of one value as JSON. This can be far more than the value takes, because JSON
    /// repeats every field name.
    pub variant_json_bytes: usize,
}

impl Limits {
    /// The maximum nesting depth of JSON that Jackson accepts, and therefore Spark.
    pub const DEPTH: usize = 1000;
    /// The maximum byte count of one value that Spark accepts.
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

impl Limits {
    /// Returns the default limits.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

herringbone_format::setters! { Limits {
    /// Limits the nesting depth of objects and arrays.
    variant_depth: usize;
    /// Limits the byte count of one value.
    variant_bytes: usize;
    /// Limits the byte count of one value's metadata.
    variant_metadata_bytes: usize;
    /// Limits the byte count of one value as JSON.
    variant_json_bytes: usize;
}}

#[inline]
fn check(name: &'static str, asked: usize, allowed: usize) -> Result<()> {
    if asked > allowed {
        return Err(Error::limit(name, asked as u64, allowed as u64));
    }
    Ok(())
}
