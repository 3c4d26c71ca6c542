//! The two indexes of a column chunk, of which its metadata says where they lie.

use std::ops::Range;

use herringbone_format::{ColumnChunk, ColumnIndex, Error, Limits, OffsetIndex, Result};

/// One of the two indexes of a column chunk (format, "Page Index"): where it lies in the file, and what
/// its bytes say.
///
/// ```text
/// range() → bytes of the file → decode()
/// ```
#[derive(Debug, Clone)]
pub struct IndexDecoder<T> {
    range: Range<u64>,
    decode: fn(&[u8], &Limits) -> Result<T>,
}

impl IndexDecoder<ColumnIndex> {
    /// The column index of a chunk in a file of `file_length` bytes, if it has one.
    ///
    /// # Errors
    /// Corrupt where it lies outside of the file; Limit where it is longer than
    /// [`Limits::page_index_bytes`].
    pub fn of_column(
        chunk: &ColumnChunk,
        file_length: u64,
        limits: &Limits,
    ) -> Result<Option<Self>> {
        let (offset, length) = (chunk.column_index_offset, chunk.column_index_length);
        Self::new(offset, length, file_length, limits, ColumnIndex::decode)
    }
}

impl IndexDecoder<OffsetIndex> {
    /// The offset index of a chunk in a file of `file_length` bytes, if it has one.
    ///
    /// # Errors
    /// As [`IndexDecoder::of_column`].
    pub fn of_offsets(
        chunk: &ColumnChunk,
        file_length: u64,
        limits: &Limits,
    ) -> Result<Option<Self>> {
        let (offset, length) = (chunk.offset_index_offset, chunk.offset_index_length);
        Self::new(offset, length, file_length, limits, OffsetIndex::decode)
    }
}

impl<T> IndexDecoder<T> {
    fn new(
        offset: Option<i64>,
        length: Option<i32>,
        file_length: u64,
        limits: &Limits,
        decode: fn(&[u8], &Limits) -> Result<T>,
    ) -> Result<Option<Self>> {
        let (Some(offset), Some(length)) = (offset, length) else {
            return Ok(None);
        };
        let start = u64::try_from(offset).unwrap_or(u64::MAX);
        let length = u64::try_from(length).unwrap_or(u64::MAX);
        let end = start.saturating_add(length);
        if end > file_length {
            return Err(Error::corrupt("the page index lies outside of the file"));
        }
        let limit = limits.page_index_bytes as u64;
        if length > limit {
            return Err(Error::limit("page_index_bytes", length, limit).at_offset(start));
        }
        Ok(Some(Self {
            range: start..end,
            decode,
        }))
    }

    /// Where it lies in the file.
    #[must_use]
    pub fn range(&self) -> Range<u64> {
        self.range.clone()
    }

    /// What it says: `bytes` are those of its range.
    ///
    /// # Errors
    /// Corrupt or Limit where it cannot be used.
    pub fn decode(&self, bytes: &[u8], limits: &Limits) -> Result<T> {
        (self.decode)(bytes, limits).map_err(|error| error.at_offset(self.range.start))
    }
}
