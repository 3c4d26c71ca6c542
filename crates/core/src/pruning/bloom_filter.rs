//! A bloom filter in a file, asked in place: its header, and one block a value.

use std::ops::Range;

use bytes::Bytes;
use herringbone_format::{
    BloomFilterAlgorithm, BloomFilterCompression, BloomFilterHash, BloomFilterHeader,
    ColumnMetaData, Error, Limits, Result,
};

use crate::Step;
use crate::bloom_filter::{BLOCK_BYTES, block_of, check_block};

/// Bytes asked for first, far more than headers have.
const USUAL_HEADER: u64 = 64;

/// The bloom filter of a column chunk (format, "Parquet Bloom Filter").
///
/// ```text
/// poll_header → Need(range) → supply → poll_header → Ready(header)
/// hash of a value → block_range → 32 bytes of the file → may_contain
/// ```
#[derive(Debug, Clone)]
pub struct BloomFilterProbe {
    start: u64,
    file_length: u64,
    /// What was supplied last, from `start` on.
    bytes: Bytes,
    /// The header, and where the blocks lie.
    header: Option<(BloomFilterHeader, Range<u64>)>,
}

impl BloomFilterProbe {
    /// The filter of a column chunk in a file of `file_length` bytes, if it has one.
    ///
    /// # Errors
    /// Corrupt where it lies outside of the file.
    pub fn new(metadata: &ColumnMetaData, file_length: u64) -> Result<Option<Self>> {
        let Some(offset) = metadata.bloom_filter_offset else {
            return Ok(None);
        };
        let start = u64::try_from(offset).unwrap_or(u64::MAX);
        if start >= file_length {
            return Err(Error::corrupt("the bloom filter lies outside of the file"));
        }
        Ok(Some(Self {
            start,
            file_length,
            bytes: Bytes::new(),
            header: None,
        }))
    }

    /// Hands in the bytes that the header was [asked for](Self::poll_header) with.
    pub fn supply(&mut self, bytes: Bytes) {
        self.bytes = bytes;
    }

    /// The header, or the range of the file that it takes.
    ///
    /// # Errors
    /// Corrupt where there is no header; Limit where the filter is larger than
    /// [`Limits::bloom_filter_bytes`].
    pub fn poll_header(&mut self, limits: &Limits) -> Result<Step<BloomFilterHeader>> {
        if let Some((header, _)) = &self.header {
            return Ok(Step::Ready(*header));
        }
        let decoded = BloomFilterHeader::decode_prefix(&self.bytes, limits)
            .map_err(|error| error.at_offset(self.start))?;
        let Some((header, length)) = decoded else {
            return self.need_more().map(Step::Need);
        };
        let blocks = self.start.saturating_add(length as u64);
        let num_bytes = u64::try_from(header.num_bytes).unwrap_or(u64::MAX);
        self.header = Some((header, blocks..blocks.saturating_add(num_bytes)));
        Ok(Step::Ready(header))
    }

    /// What to ask for where the header does not end in what is here.
    fn need_more(&self) -> Result<Range<u64>> {
        let available = self.bytes.len() as u64;
        let wanted = (available * 2).max(USUAL_HEADER);
        let end = self.start.saturating_add(wanted).min(self.file_length);
        if end - self.start <= available {
            let error = Error::corrupt("the header of the bloom filter does not end");
            return Err(error.at_offset(self.start));
        }
        Ok(self.start..end)
    }

    /// Where the blocks lie in the file, once the header is known.
    #[must_use]
    pub fn blocks(&self) -> Option<Range<u64>> {
        self.header.as_ref().map(|(_, blocks)| blocks.clone())
    }

    /// Where the one block lies that the [hash](crate::bloom_filter::hash()) of a value chooses; none before
    /// the header is known, where its algorithm, hash or compression is another than the format's, and where the
    /// blocks lie outside of the file.
    #[must_use]
    pub fn block_range(&self, hash: u64) -> Option<Range<u64>> {
        let (header, blocks) = self.header.as_ref()?;
        let is_known = header.algorithm == BloomFilterAlgorithm::Block
            && header.hash == BloomFilterHash::Xxhash
            && header.compression == BloomFilterCompression::Uncompressed;
        let count = usize::try_from((blocks.end - blocks.start) / BLOCK_BYTES as u64).ok()?;
        if !is_known || count == 0 || blocks.end > self.file_length {
            return None;
        }
        let start = blocks.start + (block_of(hash, count) * BLOCK_BYTES) as u64;
        Some(start..start + BLOCK_BYTES as u64)
    }

    /// Whether the column chunk may contain the value with this hash; if not, it does not. `block` has the
    /// bytes of the [range](Self::block_range) that the hash chooses.
    #[must_use]
    pub fn may_contain(block: &[u8], hash: u64) -> bool {
        match block.first_chunk() {
            Some(block) => check_block(block, hash),
            None => true,
        }
    }
}
