//! The two indexes of a column chunk, of which its metadata says where they are.

use herringbone_format::{Error, Limits, Result};

use crate::source::Source;

/// Reads and decodes an index at a place, offset and bytes, if there is one.
///
/// # Errors
/// Corrupt or Limit where it cannot be used, and what the source says.
pub(crate) fn page_index<T>(
    source: &dyn Source,
    place: (Option<i64>, Option<i32>),
    limits: &Limits,
    decode: impl FnOnce(&[u8], &Limits) -> Result<T>,
) -> Result<Option<T>> {
    let (Some(offset), Some(length)) = place else {
        return Ok(None);
    };
    let start = u64::try_from(offset).unwrap_or(u64::MAX);
    let length = u64::try_from(length).unwrap_or(u64::MAX);
    let limit = limits.page_index_bytes as u64;
    let end = start.saturating_add(length);
    if end > source.len() {
        return Err(Error::corrupt("the page index lies outside of the file"));
    }
    if length > limit {
        return Err(Error::limit("page_index_bytes", length, limit).at_offset(start));
    }
    let bytes = source.read(start..end)?;
    decode(&bytes, limits)
        .map(Some)
        .map_err(|error| error.at_offset(start))
}
