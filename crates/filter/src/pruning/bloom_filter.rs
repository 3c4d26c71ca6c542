//! Probes bloom filters in place in the file. A probe reads the header first, followed by one block per value, so that
//! large filters don't have to be read.

use std::ops::Range;

use bytes::Bytes;
use herringbone_format::modular_encryption::{ChunkCipher, ModuleKind};
use herringbone_format::{
    BloomFilterAlgorithm, BloomFilterCompression, BloomFilterHash, BloomFilterHeader,
    ColumnMetaData, Error, Limits, Result,
};

use herringbone_core::Step;
use herringbone_core::bloom_filter::{BLOCK_BYTES, BloomFilter, block_of, check_block};
use herringbone_schema::ParquetSchema;

use crate::{Literal, hashes_of_value};

/// The number of bytes to read first. Headers are far smaller, and so is encryption's overhead on the bits.
const USUAL_HEADER: u64 = 64;

/// A probe of a column chunk's bloom filter (format, "Parquet Bloom Filter").
///
/// ```text
/// poll_header → Need(range) → supply → poll_header → Ready(header)
/// hash of a value → poll → Need(32 bytes of the file) → supply → poll → Ready(maybe, or no)
/// ```
///
/// An encrypted filter's bits are a single module, so we read them once and retain them.
///
/// ```
/// # use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch};
/// # let ids: ArrayRef = std::sync::Arc::new(Int64Array::from_iter_values(0..100));
/// # let batch = RecordBatch::try_from_iter([("id", ids.clone()), ("price", ids)])?;
/// # let mut bytes = Vec::new();
/// # let options = herringbone::WriteOptions::new().row_group_rows(50).columns(
/// #     herringbone::ColumnOptions::new().bloom_filter(herringbone::BloomFilterOptions::new(0.001)),
/// # );
/// # let mut writer = herringbone::Writer::new(&mut bytes, batch.schema(), options)?;
/// # writer.write(&batch)?;
/// # writer.finish()?;
/// use herringbone::pruning::bloom_filter_hash;
/// use herringbone::{ParquetFile, Step};
///
/// // 100 rows in two row groups, with the columns `id` and `price`, which have bloom filters.
/// let file = ParquetFile::from_bytes(bytes)?;
/// let mut filter = file.bloom_filter(0, 0)?.ok_or("no bloom filter")?;
/// let mut may_contain = |id: i64| -> herringbone::Result<bool> {
///     let hash = bloom_filter_hash(&id.to_le_bytes());
///     loop {
///         match filter.poll(hash, file.limits())? {
///             Step::Ready(answer) => return Ok(answer),
///             Step::Need(range) => filter.supply(range.start, file.source().read(range)?),
///         }
///     }
/// };
/// assert!(may_contain(7)?);
/// assert!(!may_contain(1_000_000)?);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct BloomFilterProbe {
    start: u64,
    /// The byte count of header plus bits, according to the chunk's metadata.
    length: Option<i32>,
    file_length: u64,
    /// The column's path, for errors.
    column: String,
    /// The bytes supplied last, with their offset in the file.
    bytes: (u64, Bytes),
    /// The header, with the offset of the bits.
    header: Option<(BloomFilterHeader, u64)>,
    cipher: Option<ChunkCipher>,
    /// All bits, decrypted, with the end of their module.
    decrypted: Option<(Bytes, u64)>,
}

impl BloomFilterProbe {
    /// Creates the probe for a column chunk's filter, if it has one, in a file of `file_length` bytes.
    ///
    /// # Errors
    /// Fails with [`Corrupt`](herringbone_format::ErrorKind::Corrupt) if the filter lies outside the file.
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
            length: metadata.bloom_filter_length,
            file_length,
            column: metadata.path_in_schema.join("."),
            bytes: (start, Bytes::new()),
            header: None,
            cipher: None,
            decrypted: None,
        }))
    }

    /// Sets the filter's cipher, or `None` if the filter is not encrypted.
    #[must_use]
    pub fn encrypted(self, cipher: Option<ChunkCipher>) -> Self {
        Self { cipher, ..self }
    }

    /// Supplies requested bytes of the file, starting at `offset`.
    pub fn supply(&mut self, offset: u64, bytes: Bytes) {
        self.bytes = (offset, bytes);
    }

    /// Returns the available bytes from `offset` on.
    fn available(&self, offset: u64) -> Bytes {
        let (start, bytes) = &self.bytes;
        let from = offset.checked_sub(*start);
        let from = from.and_then(|from| usize::try_from(from).ok());
        match from.filter(|from| *from <= bytes.len()) {
            Some(from) => bytes.slice(from..),
            None => Bytes::new(),
        }
    }

    /// Returns the bytes in a range of the file, if they are available.
    fn get(&self, range: &Range<u64>) -> Option<Bytes> {
        let available = self.available(range.start);
        let length = usize::try_from(range.end.checked_sub(range.start)?).ok()?;
        (length <= available.len()).then(|| available.slice(..length))
    }

    /// Returns the header, or the file range needed to decode it.
    ///
    /// # Errors
    /// Fails with [`Corrupt`](herringbone_format::ErrorKind::Corrupt) if the header is invalid, or if the chunk's
    /// metadata contradicts it. Fails with [`Limit`](herringbone_format::ErrorKind::Limit) if the filter is larger than
    /// [`Limits::bloom_filter_bytes`], and with [`Key`](herringbone_format::ErrorKind::Key) if it is encrypted and not
    /// authentic.
    pub fn poll_header(&mut self, limits: &Limits) -> Result<Step<BloomFilterHeader>> {
        if let Some((header, _)) = &self.header {
            return Ok(Step::Ready(*header));
        }
        let decoded = self
            .decode_header(limits)
            .map_err(|error| self.locate(error, self.start))?;
        let Some((header, length)) = decoded else {
            return self.need_more().map(Step::Need);
        };
        self.check_length(&header, length as u64)
            .map_err(|error| self.locate(error, self.start))?;
        self.header = Some((header, self.start.saturating_add(length as u64)));
        Ok(Step::Ready(header))
    }

    /// Checks the filter's size according to its header of `header_bytes` bytes against the chunk's metadata. If they
    /// differ, one is wrong, and we must not use the filter, since bits from a wrong place would rule out values that
    /// the chunk does have.
    fn check_length(&self, header: &BloomFilterHeader, header_bytes: u64) -> Result<()> {
        let Some(length) = self.length else {
            return Ok(());
        };
        let found = header_bytes.saturating_add(num_bytes(header));
        let is_right = match (u64::try_from(length), &self.cipher) {
            (Ok(length), None) => found == length,
            // With encryption, the length includes its overhead.
            (Ok(length), Some(_)) => found <= length,
            (Err(_), _) => false,
        };
        match is_right {
            true => Ok(()),
            false => Err(Error::corrupt(format!(
                "the bloom filter has {found} bytes in its header, but {length} in the metadata of \
                 its column chunk"
            ))),
        }
    }

    fn decode_header(&self, limits: &Limits) -> Result<Option<(BloomFilterHeader, usize)>> {
        let available = self.available(self.start);
        let Some(cipher) = &self.cipher else {
            return BloomFilterHeader::decode_prefix(&available, limits);
        };
        let kind = ModuleKind::BloomFilterHeader;
        let Some(module) = module(cipher, kind, &available, limits.page_header_bytes)? else {
            return Ok(None);
        };
        let header = cipher.decrypt(kind, &module)?;
        match BloomFilterHeader::decode_prefix(&header, limits)? {
            Some((header, _)) => Ok(Some((header, module.len()))),
            None => Err(Error::corrupt(
                "the header of the bloom filter is not complete",
            )),
        }
    }

    /// Returns the range to read next, if the available bytes do not contain the whole header.
    fn need_more(&self) -> Result<Range<u64>> {
        let available = self.available(self.start).len() as u64;
        let wanted = (available * 2).max(USUAL_HEADER);
        let end = self.start.saturating_add(wanted).min(self.file_length);
        if end - self.start <= available {
            let error = Error::corrupt("the header of the bloom filter is not complete");
            return Err(self.locate(error, self.start));
        }
        Ok(self.start..end)
    }

    /// Returns the filter's end in the file, if known. It's known once the header is decoded or, for an encrypted
    /// filter, [with its bits](Self::poll_bits).
    #[must_use]
    pub fn end(&self) -> Option<u64> {
        match (&self.header, &self.cipher, &self.decrypted) {
            (Some((header, bits)), None, _) => Some(bits.saturating_add(num_bytes(header))),
            (_, _, Some((_, end))) => Some(*end),
            _ => None,
        }
    }

    /// Returns all of the filter's bits, or the file range needed to decode them.
    ///
    /// # Errors
    /// Fails for the same reasons as [`Self::poll_header`]. Also fails with
    /// [`Corrupt`](herringbone_format::ErrorKind::Corrupt) if the bits lie outside the file.
    pub fn poll_bits(&mut self, limits: &Limits) -> Result<Step<Bytes>> {
        if let Some((bits, _)) = &self.decrypted {
            return Ok(Step::Ready(bits.clone()));
        }
        let (start, num_bytes) = match (self.poll_header(limits)?, &self.header) {
            (Step::Need(range), _) => return Ok(Step::Need(range)),
            (Step::Ready(header), Some((_, start))) => (*start, num_bytes(&header)),
            (Step::Ready(_), None) => return Err(self.outside()),
        };
        let Some(cipher) = &self.cipher else {
            let bits = start..start.saturating_add(num_bytes);
            if bits.end > self.file_length {
                return Err(self.outside());
            }
            return Ok(match self.get(&bits) {
                Some(bits) => Step::Ready(bits),
                None => Step::Need(bits),
            });
        };
        let (kind, limit) = (ModuleKind::BloomFilterBitset, limits.bloom_filter_bytes);
        let available = self.available(start);
        let module = module(cipher, kind, &available, limit + USUAL_HEADER as usize);
        let Some(module) = module.map_err(|error| self.locate(error, start))? else {
            let end = start.saturating_add(num_bytes.saturating_add(USUAL_HEADER));
            let end = end.min(self.file_length);
            if end.saturating_sub(start) <= available.len() as u64 {
                return Err(self.outside());
            }
            return Ok(Step::Need(start..end));
        };
        let bits = cipher
            .decrypt(kind, &module)
            .map_err(|error| self.locate(error, start))?;
        if bits.len() as u64 != num_bytes {
            let message = "the bloom filter does not have the number of bytes in its header";
            return Err(self.locate(Error::corrupt(message), start));
        }
        let bits = Bytes::from(bits);
        self.decrypted = Some((bits.clone(), start.saturating_add(module.len() as u64)));
        Ok(Step::Ready(bits))
    }

    #[cold]
    fn outside(&self) -> Error {
        let error = Error::corrupt("the bits of the bloom filter lie outside of the file");
        self.locate(error, self.start)
    }

    #[cold]
    fn locate(&self, error: Error, offset: u64) -> Error {
        let error = match &self.cipher {
            Some(cipher) => cipher.module(ModuleKind::BloomFilterHeader).place(error),
            None => error,
        };
        error.at_offset(offset).in_column(&self.column)
    }

    /// Returns true if the column chunk might contain a value with this [hash](herringbone_core::bloom_filter::hash()),
    /// or the file range needed to decide this. If the answer is false, the chunk certainly doesn't contain the value.
    /// The answer is always true if the format does not define the filter's algorithm, hash or compression.
    ///
    /// # Errors
    /// Fails for the same reasons as [`Self::poll_bits`].
    pub fn poll(&mut self, hash: u64, limits: &Limits) -> Result<Step<bool>> {
        let header = match self.poll_header(limits)? {
            Step::Need(range) => return Ok(Step::Need(range)),
            Step::Ready(header) => header,
        };
        let count = usize::try_from(num_bytes(&header)).unwrap_or(0) / BLOCK_BYTES;
        if !is_known(&header) || count == 0 {
            return Ok(Step::Ready(true));
        }
        let block = (block_of(hash, count) * BLOCK_BYTES) as u64;
        let block = match (&self.cipher, &self.header) {
            (None, Some((_, bits))) => {
                let range =
                    bits.saturating_add(block)..bits.saturating_add(block + BLOCK_BYTES as u64);
                if range.end > self.file_length {
                    return Err(self.outside());
                }
                match self.get(&range) {
                    Some(block) => block,
                    None => return Ok(Step::Need(range)),
                }
            }
            _ => match self.poll_bits(limits)? {
                Step::Need(range) => return Ok(Step::Need(range)),
                Step::Ready(bits) => bits.slice(block as usize..block as usize + BLOCK_BYTES),
            },
        };
        Ok(Step::Ready(
            block
                .first_chunk()
                .is_none_or(|block| check_block(block, hash)),
        ))
    }
}

/// A column chunk's bloom filter with all of its bits. You can keep it in a cache to test many values without further
/// reads.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch};
/// use herringbone::{BloomFilterOptions, ColumnOptions, ParquetFile, WriteOptions, Writer};
///
/// let ids: ArrayRef = std::sync::Arc::new(Int64Array::from(vec![1, 2, 3]));
/// let batch = RecordBatch::try_from_iter([("id", ids)])?;
/// let columns = ColumnOptions::new().bloom_filter(BloomFilterOptions::new(0.001));
/// let options = WriteOptions::new().columns(columns);
/// let mut writer = Writer::new(Vec::new(), batch.schema(), options)?;
/// writer.write(&batch)?;
/// let file = ParquetFile::from_bytes(writer.finish_into()?.1)?;
///
/// let filter = file.load_bloom_filter(0, 0)?.expect("the column chunk has a bloom filter");
/// assert!(filter.may_contain(&2.into())?);
/// assert!(!filter.may_contain(&77.into())?);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct ColumnBloomFilter {
    schema: ParquetSchema,
    leaf: usize,
    /// The filter, or `None` if the format does not define its algorithm, hash or compression.
    filter: Option<BloomFilter>,
}

impl ColumnBloomFilter {
    /// Creates a leaf's filter from its header and its bits.
    #[doc(hidden)] // For `ParquetFile`.
    #[must_use]
    pub fn new(
        schema: &ParquetSchema,
        leaf: usize,
        header: &BloomFilterHeader,
        bits: &[u8],
    ) -> Self {
        Self {
            schema: schema.clone(),
            leaf,
            filter: BloomFilter::from_bits(bits).filter(|_| is_known(header)),
        }
    }

    /// Returns false if the column chunk certainly doesn't contain the value. Otherwise the chunk might contain it, or
    /// the filter cannot decide.
    ///
    /// # Errors
    /// Fails with [`Argument`](herringbone_format::ErrorKind::Argument) if the column's values cannot be compared with
    /// the literal.
    pub fn may_contain(&self, value: &Literal) -> Result<bool> {
        let hashes = hashes_of_value(&self.schema, self.leaf, value)?;
        let (Some(hashes), Some(filter)) = (hashes, &self.filter) else {
            return Ok(true);
        };
        Ok(hashes.iter().any(|hash| filter.check_hash(*hash)))
    }

    /// Returns the heap bytes used by the bits. The schema isn't counted, because it's shared with the file.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        self.filter.as_ref().map_or(0, BloomFilter::heap_bytes)
    }
}

/// Returns true if the format defines the filter's algorithm, hash and compression.
fn is_known(header: &BloomFilterHeader) -> bool {
    header.algorithm == BloomFilterAlgorithm::Block
        && header.hash == BloomFilterHash::Xxhash
        && header.compression == BloomFilterCompression::Uncompressed
}

/// Returns the number of bytes in all blocks.
fn num_bytes(header: &BloomFilterHeader) -> u64 {
    u64::try_from(header.num_bytes).unwrap_or_default()
}

/// Returns the module at the start of `available`, if it is complete.
fn module(
    cipher: &ChunkCipher,
    kind: ModuleKind,
    available: &Bytes,
    limit: usize,
) -> Result<Option<Bytes>> {
    let length = cipher
        .modules()
        .module_bytes(&cipher.module(kind), available, limit)?;
    let whole = length.filter(|length| *length <= available.len());
    Ok(whole.map(|length| available.slice(..length)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A filter without any bit has no value, and one with all bits may have each. Other hashes than the format's say
    /// nothing.
    #[test]
    fn values_are_looked_up_by_their_hash() {
        let schema: ParquetSchema = "message m { required int64 a; }".parse().unwrap();
        let known = BloomFilterHeader::new(
            64,
            BloomFilterAlgorithm::Block,
            BloomFilterHash::Xxhash,
            BloomFilterCompression::Uncompressed,
        );
        let mut other = known;
        other.hash = BloomFilterHash::Unknown(2);
        let value = Literal::from(7_i64);
        for (header, bits, expected) in [
            (&known, &[0; 64][..], false),
            (&known, &[0xff; 64], true),
            (&known, &[0; 63], true),
            (&known, &[], true),
            (&other, &[0; 64], true),
        ] {
            let filter = ColumnBloomFilter::new(&schema, 0, header, bits);
            assert_eq!(filter.may_contain(&value).unwrap(), expected, "{bits:?}");
        }
        let filter = ColumnBloomFilter::new(&schema, 0, &known, &[0; 64]);
        assert!(filter.may_contain(&Literal::from("text")).is_err());
    }
}
