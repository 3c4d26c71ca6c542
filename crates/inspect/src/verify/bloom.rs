//! Checks a bloom filter against the column chunk's values.

use bytes::Bytes;
use herringbone_arrow::array::{Array, ArrayRef};
use herringbone_core::Step;
use herringbone_core::bloom_filter::{BloomFilter, hash};
use herringbone_filter::pruning::BloomFilterProbe;
use herringbone_format::{
    BloomFilterAlgorithm, BloomFilterCompression, BloomFilterHash, BloomFilterHeader,
    ColumnMetaData, Error, Result, Type,
};

use super::ChunkId;
use super::finding::{FindingKind, Report};
use super::observed::for_each_plain;
use herringbone::ParquetFile;

/// A bloom filter with counts of missing values.
#[derive(Debug)]
pub(super) struct Bloom {
    filter: BloomFilter,
    offset: u64,
    missed: u64,
    values: u64,
    /// The page of the first missing value.
    first_page: Option<usize>,
}

/// Returns the end offset of a column chunk's filter, if there is a readable one.
pub(super) fn end(file: &ParquetFile, chunk: ChunkId) -> Option<u64> {
    let mut filter = file.bloom_filter(chunk.row_group, chunk.leaf).ok()??;
    header(file, &mut filter).ok()?;
    filter.end()
}

fn header(file: &ParquetFile, filter: &mut BloomFilterProbe) -> Result<BloomFilterHeader> {
    loop {
        match filter.poll_header(file.limits())? {
            Step::Ready(header) => return Ok(header),
            Step::Need(range) => filter.supply(range.start, file.source().read(range)?),
        }
    }
}

fn bits(file: &ParquetFile, filter: &mut BloomFilterProbe) -> Result<Bytes> {
    loop {
        match filter.poll_bits(file.limits())? {
            Step::Ready(bits) => return Ok(bits),
            Step::Need(range) => filter.supply(range.start, file.source().read(range)?),
        }
    }
}

impl Bloom {
    /// Reads a column chunk's filter, if there is one to check.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Io`](herringbone::ErrorKind::Io) if the source fails.
    pub(super) fn read(
        file: &ParquetFile,
        chunk: ChunkId,
        metadata: &ColumnMetaData,
        report: &mut Report,
    ) -> Result<Option<Self>> {
        let Some(offset) = metadata.bloom_filter_offset else {
            return Ok(None);
        };
        let Ok(offset) = u64::try_from(offset) else {
            return Ok(None);
        };
        report.location.offset = Some(offset);
        let filter = match Self::filter(file, chunk, offset, metadata, report) {
            Ok(filter) => filter,
            Err(error) => {
                report.failed(FindingKind::BloomFilter, error)?;
                None
            }
        };
        report.location.offset = None;
        // The specification doesn't define a hash for booleans.
        let filter = filter.filter(|_| metadata.type_ != Type::Boolean);
        Ok(filter.map(|filter| Self {
            filter,
            offset,
            missed: 0,
            values: 0,
            first_page: None,
        }))
    }

    fn filter(
        file: &ParquetFile,
        chunk: ChunkId,
        offset: u64,
        metadata: &ColumnMetaData,
        report: &mut Report,
    ) -> Result<Option<BloomFilter>> {
        let Some(mut filter) = file.bloom_filter(chunk.row_group, chunk.leaf)? else {
            return Ok(None);
        };
        let header = header(file, &mut filter)?;
        let BloomFilterHeader {
            num_bytes,
            algorithm,
            hash,
            compression,
            ..
        } = header;
        // We only know where an encrypted filter ends after reading its bits.
        let mut read = None;
        if filter.end().is_none() {
            read = Some(bits(file, &mut filter)?);
        }
        let end = filter.end().unwrap_or(offset);
        let length = end.saturating_sub(offset);
        if let Some(claimed) = metadata.bloom_filter_length
            && u64::try_from(claimed) != Ok(length)
        {
            let message = format!(
                "bloom_filter_length is {claimed}, but header and bits have {length} bytes"
            );
            report.error(FindingKind::BloomFilter, message);
        }
        if algorithm != BloomFilterAlgorithm::Block
            || hash != BloomFilterHash::Xxhash
            || compression != BloomFilterCompression::Uncompressed
        {
            return Err(Error::unsupported("a bloom filter of an unknown kind"));
        }
        let bits = match read {
            Some(bits) => bits,
            None => bits(file, &mut filter)?,
        };
        let filter = BloomFilter::from_bits(&bits);
        if filter.is_none() {
            let message = format!("{num_bytes} bytes of bits are not a multiple of 32");
            report.error(FindingKind::BloomFilter, message);
        }
        Ok(filter)
    }

    /// Tests the values of a page.
    pub(super) fn check(&mut self, values: &ArrayRef, page: usize) {
        self.values += values.len() as u64;
        for_each_plain(values, |value| {
            if !self.filter.check_hash(hash(value)) {
                self.missed += 1;
                self.first_page.get_or_insert(page);
            }
        });
    }

    /// Reports the missing values.
    pub(super) fn finish(self, report: &mut Report) {
        if self.missed == 0 {
            return;
        }
        let Self {
            missed,
            values,
            offset,
            ..
        } = self;
        report.location.page = self.first_page;
        report.location.offset = Some(offset);
        let message =
            format!("{missed} of {values} values are not in the filter, though they occur");
        report.error(FindingKind::BloomFilter, message);
        report.end_page();
    }
}
