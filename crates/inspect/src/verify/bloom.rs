//! A bloom filter against the values that it must not miss.

use std::ops::Range;

use herringbone_arrow::array::{Array, ArrayRef};
use herringbone_core::Step;
use herringbone_core::bloom_filter::{BloomFilter, hash};
use herringbone_core::pruning::BloomFilterProbe;
use herringbone_format::{
    BloomFilterAlgorithm, BloomFilterCompression, BloomFilterHash, BloomFilterHeader,
    ColumnMetaData, Error, Limits, Result, Type,
};

use super::finding::{FindingKind, Report};
use super::truth::for_each_plain;
use herringbone::source::Source;

/// A bloom filter, and the values that it missed.
#[derive(Debug)]
pub(super) struct Bloom {
    filter: BloomFilter,
    offset: u64,
    missed: u64,
    values: u64,
    /// The page of the first value that it missed.
    first_page: Option<usize>,
}

/// The header of the filter of a column chunk, if it has one, and where its bits lie.
pub(super) fn header(
    source: &dyn Source,
    metadata: &ColumnMetaData,
    limits: &Limits,
) -> Result<Option<(BloomFilterHeader, Range<u64>)>> {
    let Some(mut filter) = BloomFilterProbe::new(metadata, source.len())? else {
        return Ok(None);
    };
    let header = loop {
        match filter.poll_header(limits)? {
            Step::Ready(header) => break header,
            Step::Need(range) => filter.supply(source.read(range)?),
        }
    };
    Ok(filter.blocks().map(|bits| (header, bits)))
}

impl Bloom {
    /// Reads the filter of a column chunk, if it has one that can be checked.
    ///
    /// # Errors
    /// Io.
    pub(super) fn read(
        source: &dyn Source,
        metadata: &ColumnMetaData,
        limits: &Limits,
        report: &mut Report,
    ) -> Result<Option<Self>> {
        let Some(offset) = metadata.bloom_filter_offset else {
            return Ok(None);
        };
        let Ok(offset) = u64::try_from(offset) else {
            return Ok(None);
        };
        report.location.offset = Some(offset);
        let filter = match Self::filter(source, offset, metadata, limits, report) {
            Ok(filter) => filter,
            Err(error) => {
                report.failed(FindingKind::BloomFilter, error)?;
                None
            }
        };
        report.location.offset = None;
        // What the hash of a boolean is, nobody said.
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
        source: &dyn Source,
        offset: u64,
        metadata: &ColumnMetaData,
        limits: &Limits,
        report: &mut Report,
    ) -> Result<Option<BloomFilter>> {
        let Some((header, bits)) = header(source, metadata, limits)? else {
            return Ok(None);
        };
        let BloomFilterHeader {
            num_bytes,
            algorithm,
            hash,
            compression,
            ..
        } = header;
        let length = bits.end.saturating_sub(offset);
        if let Some(claimed) = metadata.bloom_filter_length
            && u64::try_from(claimed) != Ok(length)
        {
            let message =
                format!("bloom_filter_length is {claimed}, header and bits have {length} bytes");
            report.error(FindingKind::BloomFilter, message);
        }
        if algorithm != BloomFilterAlgorithm::Block
            || hash != BloomFilterHash::Xxhash
            || compression != BloomFilterCompression::Uncompressed
        {
            return Err(Error::unsupported(
                "a bloom filter of a kind that is not known",
            ));
        }
        let bits = source.read(bits)?;
        let filter = BloomFilter::from_bits(&bits);
        if filter.is_none() {
            let message = format!("{num_bytes} bytes of bits are no whole blocks of 32");
            report.error(FindingKind::BloomFilter, message);
        }
        Ok(filter)
    }

    /// Looks for values of a page.
    pub(super) fn check(&mut self, values: &ArrayRef, page: usize) {
        self.values += values.len() as u64;
        for_each_plain(values, |value| {
            if !self.filter.check_hash(hash(value)) {
                self.missed += 1;
                self.first_page.get_or_insert(page);
            }
        });
    }

    /// Reports what was missed.
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
        report.leave_page();
    }
}
