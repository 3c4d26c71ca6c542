//! A column chunk's indexes, and the header of its first data page. The header shows if the offset index counts rows
//! the way the pages do.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use herringbone_format::modular_encryption::KeyStep;
use herringbone_format::{
    ColumnChunk, ColumnIndex, Error, Limits, OffsetIndex, PageHeader, Result,
};

use crate::ReadPlan;
use herringbone_core::column::rows_of_page;
use herringbone_core::page::{PageStart, PageWalker, has_dictionary};
use herringbone_filter::pruning::{FirstPage, IndexDecoder, PageIndexCell};

/// The number of bytes to read for a page header. If the header turns out to be longer, we read twice as many.
const USUAL_HEADER: u64 = 128;

/// A lookup of a chunk's indexes that requests all missing ranges at once.
pub(super) struct PageIndex {
    /// The column index, if bounds or histograms are requested.
    bounds: Option<Index<ColumnIndex>>,
    offsets: Index<OffsetIndex>,
    /// The first data page, if an earlier read has already decoded its header.
    first_page: Option<FirstPage>,
    /// A walker positioned at the first data page.
    walker: PageWalker,
    /// True if each level of the column is a row.
    is_flat: bool,
    is_asked: bool,
    /// True if the chunk has a column index that wasn't requested.
    lacks_bounds: bool,
    /// The supplied bytes, keyed by file offset.
    supplied: Vec<(u64, Bytes)>,
}

/// One of a chunk's indexes.
struct Index<T> {
    decoder: IndexDecoder<T>,
    /// The index itself, if already decoded.
    known: Option<Arc<T>>,
}

impl<T> Index<T> {
    /// Returns the range to read, or `None` if the index is already decoded.
    fn missing(&self) -> Option<Range<u64>> {
        self.known.is_none().then(|| self.decoder.range())
    }
}

/// A chunk's indexes.
pub(super) struct ChunkIndexes {
    /// The column index, if it was requested.
    pub(super) bounds: Option<Arc<ColumnIndex>>,
    pub(super) offsets: Arc<OffsetIndex>,
    first_page: FirstPage,
}

impl ChunkIndexes {
    /// Returns true if the first data page can have as many rows as the indexes imply, going by its header. We look at
    /// this page because it is the one that is too long if all rows in an index are off by one.
    pub(super) fn may_start_with(&self, rows: u64) -> bool {
        let page = self.first_page;
        page.levels >= rows && page.rows.is_none_or(|page_rows| page_rows == rows)
    }
}

impl PageIndex {
    /// Creates a lookup of the indexes for the chunk of `leaf`, or returns `None` if the chunk lacks a required index.
    pub(super) fn new(
        plan: &ReadPlan,
        row_group: usize,
        leaf: usize,
        chunk: &ColumnChunk,
        with_bounds: bool,
    ) -> Option<Self> {
        let (limits, file_length) = (plan.limits(), plan.file_length());
        let cipher = plan.metadata().cipher_of(row_group, leaf, chunk);
        let cipher = cipher.and_then(KeyStep::ready).ok()?;
        let offsets = IndexDecoder::of_offsets(chunk, file_length, limits).ok()??;
        let is_flat = plan.leaf(leaf)?.max_rep_level == 0;
        let bounds = IndexDecoder::of_column(chunk, file_length, limits);
        let bounds = bounds.ok().flatten();
        let has_bounds = chunk.column_index_offset.is_some();
        let bounds = match with_bounds {
            true => Some(bounds?),
            // List histograms show row counts that page headers might lack, so we take them if there are any.
            false => bounds.filter(|_| !is_flat),
        };
        let readable = plan.metadata().readable_chunk(row_group, leaf);
        let readable = readable.and_then(KeyStep::ready).ok()?;
        let mut walker = PageWalker::of_chunk(&readable, file_length).ok()?;
        let offset = u64::try_from(readable.layout.data_page_offset).ok()?;
        let mut start = PageStart::first(offset);
        start.ordinal = usize::from(has_dictionary(&readable.layout));
        walker.jump(start);
        let known = plan.page_indexes().get(row_group, leaf).unwrap_or_default();
        Some(Self {
            lacks_bounds: has_bounds && bounds.is_none(),
            bounds: bounds.map(|decoder| Index {
                decoder: decoder.encrypted(cipher.clone()),
                known: known.columns,
            }),
            offsets: Index {
                decoder: offsets.encrypted(cipher),
                known: known.offsets,
            },
            first_page: known.first_page,
            walker,
            is_flat,
            is_asked: false,
            supplied: Vec::new(),
        })
    }

    /// Returns the stored size of the indexes, in bytes.
    pub(super) fn bytes(&self) -> u64 {
        let bounds = self.bounds.as_ref().map(|bounds| bounds.decoder.range());
        let offsets = Some(self.offsets.decoder.range());
        let ranges = [bounds, offsets].into_iter().flatten();
        ranges.map(|range| range.end - range.start).sum()
    }

    /// Returns the found indexes for later reads, if these are all of the chunk's indexes.
    pub(super) fn cell(&self, found: &ChunkIndexes) -> Option<PageIndexCell> {
        let cell = || {
            PageIndexCell::new(found.bounds.clone(), Some(found.offsets.clone()))
                .first_page(found.first_page)
        };
        (!self.lacks_bounds).then(cell)
    }

    /// Supplies requested bytes. They start at `offset` in the file.
    pub(super) fn supply(&mut self, offset: u64, bytes: Bytes) {
        self.supplied.retain(|(other, _)| *other != offset);
        self.supplied.push((offset, bytes));
    }

    /// Returns an index, decoding it from the supplied bytes if needed.
    fn index<T>(&self, index: &Index<T>, limits: &Limits) -> Result<Arc<T>> {
        if let Some(known) = &index.known {
            return Ok(known.clone());
        }
        let bytes = self.at(index.decoder.range().start);
        index.decoder.decode(&bytes, limits).map(Arc::new)
    }

    fn at(&self, offset: u64) -> Bytes {
        let found = self.supplied.iter().find(|(start, _)| *start == offset);
        found.map(|(_, bytes)| bytes.clone()).unwrap_or_default()
    }

    /// Returns the indexes. If ranges are missing, adds them to `needs` and returns `None`.
    ///
    /// # Errors
    /// Returns errors in the bytes.
    pub(super) fn poll(
        &mut self,
        limits: &Limits,
        needs: &mut Vec<Range<u64>>,
    ) -> Result<Option<ChunkIndexes>> {
        if !self.is_asked {
            self.is_asked = true;
            needs.extend(self.bounds.as_ref().and_then(Index::missing));
            needs.extend(self.offsets.missing());
            if self.first_page.is_none() {
                needs.push(self.header_range(USUAL_HEADER));
            }
            if !needs.is_empty() {
                return Ok(None);
            }
        }
        let offsets = self.index(&self.offsets, limits)?;
        let first_page = match self.first_page {
            Some(page) => page,
            None => match self.decode_first_page(&offsets, limits, needs)? {
                Some(page) => page,
                None => return Ok(None),
            },
        };
        let bounds = self.bounds.as_ref();
        let bounds = bounds.map(|index| self.index(index, limits));
        Ok(Some(ChunkIndexes {
            bounds: bounds.transpose()?,
            offsets,
            first_page,
        }))
    }

    /// Decodes the first data page's header. If the header is longer than the supplied bytes, adds a longer range to
    /// `needs` and returns `None`.
    fn decode_first_page(
        &mut self,
        offsets: &OffsetIndex,
        limits: &Limits,
        needs: &mut Vec<Range<u64>>,
    ) -> Result<Option<FirstPage>> {
        let first = offsets.page_locations.first();
        let first = first.and_then(|page| u64::try_from(page.offset).ok());
        let first = first.ok_or_else(|| Error::corrupt("an offset index without pages"))?;
        // Some writers don't store the first data page's offset, so we take it from the offset index.
        let mut start = self.walker.start();
        if first != start.offset {
            start.offset = first;
            self.walker.jump(start);
        }
        let header = self.at(first);
        let decode = PageHeader::decode_prefix_without_statistics;
        if !self.walker.decode_header(&header, limits, decode)? {
            let length = USUAL_HEADER.max(2 * header.len() as u64);
            needs.push(self.header_range(length));
            return Ok(None);
        }
        let header = self.walker.header();
        let levels = header.and_then(PageHeader::num_values);
        let rows = header.and_then(|header| rows_of_page(header, self.is_flat));
        let levels = levels.and_then(|levels| u64::try_from(levels).ok());
        let rows = rows.map(|rows| rows as u64);
        Ok(Some(FirstPage::new(levels.unwrap_or(0), rows)))
    }

    /// Returns the first `length` bytes starting at the first data page, truncated at the chunk's end.
    fn header_range(&self, length: u64) -> Range<u64> {
        let start = self.walker.start().offset;
        start
            ..start
                .saturating_add(length)
                .min(self.walker.end())
                .max(start)
    }
}
