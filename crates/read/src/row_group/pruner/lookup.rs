//! Looks up a column chunk's bloom filter, dictionary or page indexes, making progress as bytes arrive.

use std::ops::Range;

use herringbone_arrow::array::ArrayRef;
use herringbone_format::{ColumnChunk, Encoding, FileMetadata, Limits, PageType, Result};

use super::page_index::{ChunkIndexes, PageIndex};

use crate::ReadPlan;
use crate::bytes::FileBytes;
use herringbone_core::Step;
use herringbone_core::column::DictionaryValues;
use herringbone_filter::pruning::{BloomFilterProbe, PageIndexCell};

/// The ratio of chunk size to dictionary size at which a dictionary is worth reading separately.
const DICTIONARY_SHARE: u64 = 2;

/// A lookup in progress.
pub(super) struct Lookup {
    leaf: usize,
    what: What,
    /// The ranges the lookup is waiting for.
    needs: Vec<Range<u64>>,
}

enum What {
    BloomFilter {
        test: usize,
        probe: Box<BloomFilterProbe>,
        /// The hashes left to look up.
        hashes: Vec<u64>,
    },
    Dictionary {
        tests: Vec<usize>,
        values: Box<DictionaryValues>,
    },
    PageIndex(Box<PageIndex>),
}

/// The result of a lookup.
pub(super) enum LookupResult {
    Nothing,
    /// The chunk has no value accepted by the test with this index.
    NoValue(usize),
    Dictionary {
        tests: Vec<usize>,
        values: ArrayRef,
    },
    Pages(Box<ChunkIndexes>),
}

impl Lookup {
    /// Creates a lookup of hashes in a chunk's bloom filter, or returns `None` if the chunk has none.
    pub(super) fn bloom_filter(
        metadata: &FileMetadata,
        row_group: usize,
        leaf: usize,
        chunk: &ColumnChunk,
        file_length: u64,
        test: usize,
        hashes: Vec<u64>,
    ) -> Option<Self> {
        let cipher = metadata.cipher_of(row_group, leaf, chunk).ok()?;
        let probe = BloomFilterProbe::new(chunk.meta_data.as_ref()?, file_length).ok()??;
        let probe = probe.encrypted(cipher.ready().ok()?);
        Some(Self::new(
            leaf,
            What::BloomFilter {
                test,
                probe: Box::new(probe),
                hashes,
            },
        ))
    }

    /// Creates a lookup that reads a dictionary for a test.
    pub(super) fn dictionary(leaf: usize, test: usize, values: DictionaryValues) -> Self {
        Self::new(
            leaf,
            What::Dictionary {
                tests: vec![test],
                values: Box::new(values),
            },
        )
    }

    /// Creates a lookup of a chunk's offset index, and of its column index if `with_bounds` is true. Returns `None` if
    /// the chunk lacks a required index.
    pub(super) fn page_index(
        plan: &ReadPlan,
        row_group: usize,
        leaf: usize,
        chunk: &ColumnChunk,
        with_bounds: bool,
    ) -> Option<Self> {
        let index = PageIndex::new(plan, row_group, leaf, chunk, with_bounds)?;
        Some(Self::new(leaf, What::PageIndex(Box::new(index))))
    }

    fn new(leaf: usize, what: What) -> Self {
        Self {
            leaf,
            what,
            needs: Vec::new(),
        }
    }

    /// Returns the ranges that the lookup needs first, without running it any further.
    pub(super) fn into_first_ranges(mut self, limits: &Limits) -> Vec<Range<u64>> {
        // We ignore an error here, since the lookup itself reports it.
        match self.poll(limits) {
            Ok(_) => self.needs,
            Err(_) => Vec::new(),
        }
    }

    /// Returns the chunk's page indexes for later reads, if all of them were found.
    pub(super) fn cell(&self, found: &ChunkIndexes) -> Option<PageIndexCell> {
        match &self.what {
            What::PageIndex(index) => index.cell(found),
            What::BloomFilter { .. } | What::Dictionary { .. } => None,
        }
    }

    pub(super) fn leaf(&self) -> usize {
        self.leaf
    }

    /// Adds a test that needs the result, so that several tests share one lookup.
    pub(super) fn add_test(&mut self, test: usize) {
        if let What::Dictionary { tests, .. } = &mut self.what {
            tests.push(test);
        }
    }

    /// Returns the stored size of the indexes, in bytes.
    pub(super) fn bytes(&self) -> u64 {
        match &self.what {
            What::PageIndex(index) => index.bytes(),
            What::BloomFilter { .. } | What::Dictionary { .. } => 0,
        }
    }

    /// Takes the bytes that the lookup is waiting for, calling `on_read` with the byte count of each read. Returns
    /// false if some bytes are missing.
    ///
    /// # Errors
    /// Returns the errors of `bytes`.
    pub(super) fn fetch(
        &mut self,
        bytes: &mut dyn FileBytes,
        mut on_read: impl FnMut(usize),
    ) -> Result<bool> {
        let mut missing = Vec::new();
        for need in std::mem::take(&mut self.needs) {
            let Some(found) = bytes.get(&need, need.end)? else {
                missing.push(need);
                continue;
            };
            on_read(found.len());
            match &mut self.what {
                What::BloomFilter { probe, .. } => probe.supply(need.start, found),
                What::Dictionary { values, .. } => values.supply(need.start, found),
                What::PageIndex(index) => index.supply(need.start, found),
            }
        }
        self.needs = missing;
        Ok(self.needs.is_empty())
    }

    /// Returns the result, or `None` if bytes are missing.
    ///
    /// # Errors
    /// Returns errors in the bytes.
    pub(super) fn poll(&mut self, limits: &Limits) -> Result<Option<LookupResult>> {
        if !self.needs.is_empty() {
            return Ok(None);
        }
        let step = match &mut self.what {
            What::BloomFilter {
                test,
                probe,
                hashes,
            } => ask(*test, probe, hashes, limits)?,
            What::Dictionary { tests, values } => match values.poll()? {
                Step::Need(range) => Step::Need(range),
                Step::Ready(None) => Step::Ready(LookupResult::Nothing),
                Step::Ready(Some(values)) => Step::Ready(LookupResult::Dictionary {
                    tests: std::mem::take(tests),
                    values,
                }),
            },
            What::PageIndex(index) => {
                let found = index.poll(limits, &mut self.needs)?;
                return Ok(found.map(Box::new).map(LookupResult::Pages));
            }
        };
        Ok(match step {
            Step::Need(range) => {
                self.needs.push(range);
                None
            }
            Step::Ready(found) => Some(found),
        })
    }
}

/// Looks up one hash after another in a bloom filter, until one of them might be present.
fn ask(
    test: usize,
    probe: &mut BloomFilterProbe,
    hashes: &mut Vec<u64>,
    limits: &Limits,
) -> Result<Step<LookupResult>> {
    while let Some(hash) = hashes.last() {
        match probe.poll(*hash, limits)? {
            Step::Need(range) => return Ok(Step::Need(range)),
            Step::Ready(true) => return Ok(Step::Ready(LookupResult::Nothing)),
            Step::Ready(false) => {
                hashes.pop();
            }
        }
    }
    Ok(Step::Ready(LookupResult::NoValue(test)))
}

/// Returns the byte range of a chunk's dictionary, if all data pages refer to it and it is a small part of the chunk.
pub(super) fn dictionary_of_all_pages(chunk: &ColumnChunk) -> Option<Range<u64>> {
    let metadata = chunk.meta_data.as_ref()?;
    let start = u64::try_from(metadata.dictionary_page_offset?).ok()?;
    let end = u64::try_from(metadata.data_page_offset).ok()?;
    let size = u64::try_from(metadata.total_compressed_size).ok()?;
    let pages = metadata.encoding_stats.as_ref()?.iter();
    let mut pages = pages
        .filter(|pages| pages.page_type != PageType::DictionaryPage)
        .peekable();
    let is_known = pages.peek().is_some();
    let refer = |encoding| {
        matches!(
            encoding,
            Encoding::RleDictionary | Encoding::PlainDictionary
        )
    };
    let all_refer = is_known && pages.all(|page| page.count > 0 && refer(page.encoding));
    let is_small =
        start > 0 && start < end && (end - start).saturating_mul(DICTIONARY_SHARE) <= size;
    (all_refer && is_small).then_some(start..end)
}

#[cfg(test)]
mod tests {
    use herringbone_format::{ColumnMetaData, CompressionCodec, PageEncodingStats, Type};

    use super::*;

    /// Returns a chunk of `size` bytes, with a dictionary at `start`, and with pages from byte 100 on.
    fn chunk(start: i64, size: i64, pages: &[(PageType, Encoding, i32)]) -> ColumnChunk {
        let stats = pages.iter();
        let stats =
            stats.map(|(page, encoding, count)| PageEncodingStats::new(*page, *encoding, *count));
        let codec = CompressionCodec::Uncompressed;
        let metadata = ColumnMetaData::new(Type::Int32, Vec::new(), codec, 10, size, size, 100)
            .dictionary_page_offset(start)
            .encoding_stats(stats.collect::<Vec<_>>());
        ColumnChunk::default().meta_data(metadata)
    }

    #[test]
    fn a_small_dictionary_to_which_all_pages_refer_is_read() {
        use PageType::{DataPage, DataPageV2, DictionaryPage};
        let own = (DictionaryPage, Encoding::Plain, 1);
        let refers = (DataPage, Encoding::RleDictionary, 3);
        let old = (DataPageV2, Encoding::PlainDictionary, 1);
        let plain = (DataPage, Encoding::Plain, 1);
        let of = |start, size, pages: &[_]| dictionary_of_all_pages(&chunk(start, size, pages));
        // A dictionary of 60 bytes is half of a chunk of 120 bytes.
        assert_eq!(of(40, 120, &[own, refers, old]), Some(40..100));
        assert_eq!(of(40, 119, &[own, refers]), None);
        assert_eq!(of(40, 120, &[refers]), Some(40..100));
        assert_eq!(of(40, 120, &[own, refers, plain]), None);
        assert_eq!(of(40, 120, &[own]), None, "no data page is known");
        assert_eq!(
            of(40, 120, &[own, (DataPage, Encoding::RleDictionary, 0)]),
            None
        );
        // Some writers store 0 for a chunk without a dictionary.
        assert_eq!(of(0, 1_000, &[own, refers]), None);
        assert_eq!(of(100, 1_000, &[own, refers]), None);
        assert_eq!(of(-1, 1_000, &[own, refers]), None);
        assert_eq!(dictionary_of_all_pages(&ColumnChunk::default()), None);
    }
}
