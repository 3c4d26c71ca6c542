//! One thing that is looked up in the file about a column chunk, step by step as its bytes come.

use std::ops::Range;

use bytes::Bytes;
use herringbone_arrow::array::ArrayRef;
use herringbone_format::modular_encryption::KeyStep;
use herringbone_format::{
    ColumnChunk, ColumnIndex, Encoding, FileMetadata, Limits, OffsetIndex, PageType, Result,
};

use crate::Step;
use crate::column::DictionaryValues;
use crate::pruning::{BloomFilterProbe, IndexDecoder};
use crate::read::ReadPlan;

/// A dictionary is looked at by itself where it is no larger than one part of so many of its chunk.
const DICTIONARY_SHARE: u64 = 2;

/// Something that is looked up.
pub(super) struct Lookup {
    leaf: usize,
    what: What,
    /// The bytes that it waits for.
    need: Option<Range<u64>>,
}

enum What {
    BloomFilter {
        test: usize,
        probe: Box<BloomFilterProbe>,
        /// Values that were not looked up yet.
        hashes: Vec<u64>,
    },
    Dictionary {
        tests: Vec<usize>,
        values: Box<DictionaryValues>,
    },
    PageIndex(Box<PageIndex>),
}

struct PageIndex {
    /// The column index, where bounds are asked for.
    bounds: Option<IndexDecoder<ColumnIndex>>,
    offsets: IndexDecoder<OffsetIndex>,
    found_bounds: Option<ColumnIndex>,
    supplied: Option<(u64, Bytes)>,
}

/// What was found.
pub(super) enum Found {
    Nothing,
    /// The chunk has no value that this test accepts.
    NoValue(usize),
    Dictionary {
        tests: Vec<usize>,
        values: ArrayRef,
    },
    Pages(Box<FoundPages>),
}

/// The indexes of a chunk.
pub(super) struct FoundPages {
    /// The column index, where it was asked for.
    pub(super) bounds: Option<ColumnIndex>,
    pub(super) offsets: OffsetIndex,
}

impl Lookup {
    /// Asks the bloom filter of a chunk, if it has one, for values that are hashed so.
    pub(super) fn bloom_filter(
        metadata: &FileMetadata,
        (row_group, leaf): (usize, usize),
        chunk: &ColumnChunk,
        file_length: u64,
        (test, hashes): (usize, Vec<u64>),
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

    /// Reads a dictionary for a test.
    pub(super) fn dictionary(leaf: usize, test: usize, values: DictionaryValues) -> Self {
        Self::new(
            leaf,
            What::Dictionary {
                tests: vec![test],
                values: Box::new(values),
            },
        )
    }

    /// Reads the offset index of a chunk, and the column index where that is asked for; none where it has not got both.
    pub(super) fn page_index(
        plan: &ReadPlan,
        (row_group, leaf): (usize, usize),
        chunk: &ColumnChunk,
        with_bounds: bool,
    ) -> Option<Self> {
        let (limits, file_length) = (&plan.options().limits, plan.file_length());
        let cipher = plan.metadata().cipher_of(row_group, leaf, chunk);
        let cipher = cipher.and_then(KeyStep::ready).ok()?;
        let offsets = IndexDecoder::of_offsets(chunk, file_length, limits).ok()??;
        let bounds = match with_bounds {
            true => Some(IndexDecoder::of_column(chunk, file_length, limits).ok()??),
            false => None,
        };
        let index = PageIndex {
            bounds: bounds.map(|it| it.encrypted(cipher.clone())),
            offsets: offsets.encrypted(cipher),
            found_bounds: None,
            supplied: None,
        };
        Some(Self::new(leaf, What::PageIndex(Box::new(index))))
    }

    fn new(leaf: usize, what: What) -> Self {
        Self {
            leaf,
            what,
            need: None,
        }
    }

    pub(super) fn leaf(&self) -> usize {
        self.leaf
    }

    /// Looks it up for another test too.
    pub(super) fn add_test(&mut self, test: usize) {
        if let What::Dictionary { tests, .. } = &mut self.what {
            tests.push(test);
        }
    }

    /// Bytes of the file that an index takes.
    pub(super) fn bytes(&self) -> u64 {
        let What::PageIndex(index) = &self.what else {
            return 0;
        };
        let bounds = index.bounds.as_ref().map(IndexDecoder::range);
        let ranges = [bounds, Some(index.offsets.range())].into_iter().flatten();
        ranges.map(|range| range.end - range.start).sum()
    }

    /// Hands in bytes of the file that start at `offset`, if they are those that are waited for; how many of them were.
    pub(super) fn supply(&mut self, offset: u64, bytes: &Bytes) -> Option<usize> {
        let end = offset.saturating_add(bytes.len() as u64);
        let need = self
            .need
            .take_if(|need| offset <= need.start && need.end <= end)?;
        // No more than was asked for, so that nothing larger is kept.
        let from = (need.start - offset) as usize;
        let bytes = bytes.slice(from..from + (need.end - need.start) as usize);
        let supplied = bytes.len();
        match &mut self.what {
            What::BloomFilter { probe, .. } => probe.supply(need.start, bytes),
            What::Dictionary { values, .. } => values.supply(need.start, bytes),
            What::PageIndex(index) => index.supplied = Some((need.start, bytes)),
        }
        Some(supplied)
    }

    /// Goes on as far as the bytes at hand allow.
    ///
    /// # Errors
    /// Whatever is wrong with the bytes.
    pub(super) fn poll(&mut self, limits: &Limits) -> Result<Step<Found>> {
        if let Some(need) = &self.need {
            return Ok(Step::Need(need.clone()));
        }
        let step = match &mut self.what {
            What::BloomFilter {
                test,
                probe,
                hashes,
            } => ask(*test, probe, hashes, limits)?,
            What::Dictionary { tests, values } => match values.poll()? {
                Step::Need(range) => Step::Need(range),
                Step::Ready(None) => Step::Ready(Found::Nothing),
                Step::Ready(Some(values)) => Step::Ready(Found::Dictionary {
                    tests: std::mem::take(tests),
                    values,
                }),
            },
            What::PageIndex(index) => index.poll(limits)?,
        };
        if let Step::Need(range) = &step {
            self.need = Some(range.clone());
        }
        Ok(step)
    }
}

/// Asks a bloom filter for one value after the other, until it may have one.
fn ask(
    test: usize,
    probe: &mut BloomFilterProbe,
    hashes: &mut Vec<u64>,
    limits: &Limits,
) -> Result<Step<Found>> {
    while let Some(hash) = hashes.last() {
        match probe.poll(*hash, limits)? {
            Step::Need(range) => return Ok(Step::Need(range)),
            Step::Ready(true) => return Ok(Step::Ready(Found::Nothing)),
            Step::Ready(false) => {
                hashes.pop();
            }
        }
    }
    Ok(Step::Ready(Found::NoValue(test)))
}

impl PageIndex {
    fn poll(&mut self, limits: &Limits) -> Result<Step<Found>> {
        if let Some(bounds) = &self.bounds {
            let Some((_, bytes)) = self.supplied.take() else {
                return Ok(Step::Need(bounds.range()));
            };
            self.found_bounds = Some(bounds.decode(&bytes, limits)?);
            self.bounds = None;
        }
        let Some((_, bytes)) = self.supplied.take() else {
            return Ok(Step::Need(self.offsets.range()));
        };
        Ok(Step::Ready(Found::Pages(Box::new(FoundPages {
            bounds: self.found_bounds.take(),
            offsets: self.offsets.decode(&bytes, limits)?,
        }))))
    }
}

/// Where the dictionary of a chunk lies, if all its data pages refer to it and it is a small part of the chunk.
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
    let all_refer = is_known && pages.all(|pages| pages.count > 0 && refer(pages.encoding));
    let is_small =
        start > 0 && start < end && (end - start).saturating_mul(DICTIONARY_SHARE) <= size;
    (all_refer && is_small).then_some(start..end)
}
