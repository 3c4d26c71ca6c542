//! Locates and decodes a column chunk's two indexes.

use std::ops::Range;

use herringbone_format::modular_encryption::{ChunkCipher, ModuleKind};
use herringbone_format::{ColumnChunk, ColumnIndex, Error, Limits, OffsetIndex, Result};

/// A function that decodes an index from its bytes.
type Decode<T> = fn(&[u8], &Limits) -> Result<T>;

/// A decoder for one of a column chunk's two indexes, with its location in the file (format, "Page Index").
///
/// ```text
/// range() → bytes of the file → decode()
/// ```
///
/// ```
/// # use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch};
/// # let ids: ArrayRef = std::sync::Arc::new(Int64Array::from_iter_values(0..100));
/// # let batch = RecordBatch::try_from_iter([("id", ids.clone()), ("price", ids)])?;
/// # let mut bytes = Vec::new();
/// # let options = herringbone::WriteOptions::new().row_group_rows(50).columns(
/// #     herringbone::ColumnOptions::new().page_rows(20),
/// # );
/// # let mut writer = herringbone::Writer::new(&mut bytes, batch.schema(), options)?;
/// # writer.write(&batch)?;
/// # writer.finish()?;
/// use herringbone::ParquetFile;
/// use herringbone::pruning::IndexDecoder;
///
/// // 100 rows in two row groups, with at most 20 rows per page.
/// let file = ParquetFile::from_bytes(bytes)?;
/// let chunk = file.metadata().column_chunk(0, 0)?;
/// let length = file.source().len();
/// let decoder = IndexDecoder::of_offsets(&chunk, length, file.limits())?.ok_or("no index")?;
/// let bytes = file.source().read(decoder.range())?;
/// let index = decoder.decode(&bytes, file.limits())?;
/// // The first row group has 50 rows.
/// assert!(index.page_locations.len() >= 3);
/// assert_eq!(index.page_locations[0].first_row_index, 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct IndexDecoder<T> {
    range: Range<u64>,
    decode: Decode<T>,
    kind: ModuleKind,
    cipher: Option<ChunkCipher>,
}

impl IndexDecoder<ColumnIndex> {
    /// Returns the decoder for a chunk's column index, if it has one, in a file of `file_length` bytes.
    ///
    /// # Errors
    /// Fails with [`Corrupt`](herringbone_format::ErrorKind::Corrupt) if the index lies outside the file, and with
    /// [`Limit`](herringbone_format::ErrorKind::Limit) if it is longer than [`Limits::page_index_bytes`].
    pub fn of_column(
        chunk: &ColumnChunk,
        file_length: u64,
        limits: &Limits,
    ) -> Result<Option<Self>> {
        let (offset, length) = (chunk.column_index_offset, chunk.column_index_length);
        let kind = ModuleKind::ColumnIndex;
        Self::new(
            (offset, length),
            file_length,
            limits,
            (kind, ColumnIndex::decode),
        )
    }
}

impl IndexDecoder<OffsetIndex> {
    /// Returns the decoder for a chunk's offset index, if it has one, in a file of `file_length` bytes.
    ///
    /// # Errors
    /// Fails for the same reasons as [`IndexDecoder::of_column`].
    pub fn of_offsets(
        chunk: &ColumnChunk,
        file_length: u64,
        limits: &Limits,
    ) -> Result<Option<Self>> {
        let (offset, length) = (chunk.offset_index_offset, chunk.offset_index_length);
        let kind = ModuleKind::OffsetIndex;
        Self::new(
            (offset, length),
            file_length,
            limits,
            (kind, OffsetIndex::decode),
        )
    }
}

impl<T> IndexDecoder<T> {
    fn new(
        (offset, length): (Option<i64>, Option<i32>),
        file_length: u64,
        limits: &Limits,
        (kind, decode): (ModuleKind, Decode<T>),
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
            kind,
            cipher: None,
        }))
    }

    /// Sets the index's cipher, or `None` if the index is not encrypted.
    #[must_use]
    pub fn encrypted(self, cipher: Option<ChunkCipher>) -> Self {
        Self { cipher, ..self }
    }

    /// Returns the index's byte range in the file.
    #[must_use]
    pub fn range(&self) -> Range<u64> {
        self.range.clone()
    }

    /// Decodes the index. `bytes` are the bytes in its range.
    ///
    /// # Errors
    /// Fails with [`Corrupt`](herringbone_format::ErrorKind::Corrupt) or
    /// [`Limit`](herringbone_format::ErrorKind::Limit) if the index cannot be decoded, and with
    /// [`Key`](herringbone_format::ErrorKind::Key) if it is encrypted and not authentic.
    pub fn decode(&self, bytes: &[u8], limits: &Limits) -> Result<T> {
        let decoded = match &self.cipher {
            None => (self.decode)(bytes, limits),
            Some(cipher) => cipher
                .decrypt(self.kind, bytes)
                .and_then(|bytes| (self.decode)(&bytes, limits)),
        };
        decoded.map_err(|error| error.at_offset(self.range.start))
    }
}
