//! Reads the pages of one column chunk in order.
//!
//! ```text
//! [header | dictionary page]? ([header | data page])*      index pages and unknown pages: skipped
//! ```
//!
//! We read each header on its own first. If it shows that none of the page's rows are selected, the caller skips the
//! body without fetching, checking or decompressing it.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use herringbone_arrow::buffer::Buffer;
use herringbone_format::modular_encryption::ChunkCipher;
use herringbone_format::{
    CompressionCodec, Error, FileMetadata, Limits, PageHeader, PageType, Result,
};

use super::body::{BodyDecoder, PageUse, check_sizes, num_values, verify_crc};
use super::chunk_bytes::ChunkBytes;
use super::decompression_limit::DecompressionLimit;
use super::walker::{PageStart, PageWalker};
use super::{MaxLevels, Page, SharedPage};
use crate::Step;
use crate::budget::{ColumnMemory, MemoryUse};
use crate::created_by::CreatedBy;

/// The minimum size of a request in bytes, so that small pages share a read.
const SMALLEST_WINDOW: u64 = 8 << 10;

/// The usual size of a page header in bytes. In practice, only absurd files exceed it.
const USUAL_HEADER: u64 = 128;

/// The options shared by all column chunks of a read.
#[derive(Debug)]
pub struct PageReaderOptions {
    /// The length of the file.
    pub file_length: u64,
    /// True if we verify page checksums.
    pub verify_crc: bool,
    /// The limits of the read.
    pub limits: Limits,
    /// The writer's known quirks.
    pub created_by: CreatedBy,
    /// The file metadata, kept for counts needed by only a few pages.
    pub metadata: Arc<FileMetadata>,
}

/// A page reader's view of its column chunk.
#[derive(Debug)]
pub struct PageReaderChunk {
    /// The ordinal of the row group in the file.
    pub row_group: usize,
    /// The ordinal of the leaf in the Parquet schema.
    pub leaf: usize,
    /// The chunk's range in the file.
    pub range: Range<u64>,
    /// The number of levels in the whole chunk.
    pub num_values: u64,
    /// The codec of the pages.
    pub codec: CompressionCodec,
    /// True if the metadata claims that the chunk has a dictionary.
    pub has_dictionary: bool,
    /// The cipher of the pages, if they are encrypted.
    pub cipher: Option<ChunkCipher>,
    /// The highest levels of the column.
    pub max_levels: MaxLevels,
    /// The limit on the pages' decompressed size.
    pub decompression_limit: DecompressionLimit,
}

/// The state of a [`PageReader`] before counting levels, kept for returning to it afterwards.
#[derive(Debug)]
pub(crate) struct PageReaderState {
    start: PageStart,
    is_counted: bool,
    largest_page: u64,
    wanted_end: u64,
}

impl PageReaderState {
    /// Returns the start of the page to return to.
    pub(crate) fn start(&self) -> PageStart {
        self.start
    }
}

/// A reader for the pages of one column chunk.
pub struct PageReader {
    options: Arc<PageReaderOptions>,
    row_group: usize,
    leaf: usize,
    /// The chunk's range in the file.
    range: Range<u64>,
    /// The number of levels in the whole chunk.
    num_values: u64,
    bytes: ChunkBytes,
    walker: PageWalker,
    has_dictionary: bool,
    /// True if the reader reads the dictionary once more.
    is_again: bool,
    /// True if all levels so far have been counted. Skipping pages with lists by an index makes this false, because an
    /// index only counts rows.
    is_counted: bool,
    /// The end of the next needed pages, if known. We don't request bytes past it.
    wanted_end: u64,
    /// The size of the largest data page so far in bytes, including its header.
    largest_page: u64,
    decoder: BodyDecoder,
}

impl PageReader {
    pub(crate) fn new(options: Arc<PageReaderOptions>, chunk: PageReaderChunk) -> Self {
        Self {
            bytes: ChunkBytes::new(chunk.range.clone()),
            walker: PageWalker::new(chunk.range.clone(), options.file_length)
                .encrypted(chunk.cipher.clone(), chunk.has_dictionary),
            wanted_end: chunk.range.end,
            row_group: chunk.row_group,
            leaf: chunk.leaf,
            range: chunk.range,
            num_values: chunk.num_values,
            has_dictionary: false,
            is_again: false,
            is_counted: true,
            largest_page: 0,
            decoder: BodyDecoder::new(
                chunk.codec,
                chunk.max_levels,
                options.created_by,
                chunk.decompression_limit,
            )
            .encrypted(chunk.cipher),
            options,
        }
    }

    /// Supplies bytes of the file that start at `offset`.
    pub(crate) fn supply(&mut self, offset: u64, bytes: Bytes) {
        self.bytes.supply(offset, bytes);
    }

    /// Returns the end of the column chunk, or the end of the next needed pages if known. This is for drivers that
    /// fetch more than the next page.
    pub(crate) fn end(&self) -> u64 {
        self.bytes.end().min(self.wanted_end)
    }

    /// Returns the known habits of the writer that made the file.
    pub(crate) fn created_by(&self) -> CreatedBy {
        self.options.created_by
    }

    /// Returns true if pages are compressed, so that keeping a decompressed page pays off.
    pub(crate) fn is_compressed(&self) -> bool {
        self.decoder.is_compressed()
    }

    /// Returns the header of the next page that contains values, or `None` after the last page. This keeps returning
    /// the same header until you call [`Self::body`] or [`Self::pass`].
    pub(crate) fn header(
        &mut self,
        memory: &mut ColumnMemory,
    ) -> Result<Step<Option<&PageHeader>>> {
        while self.walker.header().is_none() {
            let is_at_end = !self.is_counted && self.walker.position() >= self.range.end;
            if self.walker.start().num_values_before >= self.num_values || is_at_end {
                return Ok(Step::Ready(None));
            }
            self.reserve_window(memory, USUAL_HEADER)?;
            if !self.decode_header()? {
                // The window at most doubles each time, because we decode the header from its start again.
                let position = self.walker.position();
                let available = self.bytes.available(position).len() as u64;
                let least = (available + 1).next_power_of_two().max(USUAL_HEADER);
                self.reserve_windows(memory, least)?;
                // We're about to replace the window, so we drop the old one first.
                self.bytes.free_if_few(position, u64::MAX);
                return Ok(Step::Need(self.window(position, least, least)));
            }
            // Available bytes count as if they were requested, so that the reserved memory doesn't depend on how the
            // driver supplies bytes.
            let length = self.walker.header_bytes() as u64;
            self.reserve_windows(memory, length)?;
            let Some(header) = self.walker.header() else {
                continue;
            };
            let carries_values = header.type_.carries_values();
            let body = check_sizes(header, &self.options.limits)?;
            // A chunk has just one dictionary, which can be larger than any later page, so we don't count it here.
            if header.type_ != PageType::DictionaryPage {
                self.largest_page = self.largest_page.max(length + body);
            }
            if !carries_values {
                self.walker.pass();
            }
        }
        Ok(Step::Ready(self.walker.header()))
    }

    /// Reserves memory for one request for the chunk's bytes. At least `least` bytes are needed.
    fn reserve_window(&self, memory: &mut ColumnMemory, least: u64) -> Result<()> {
        let chunk = &self.range;
        let window = self.usual_window().max(least).min(chunk.end - chunk.start);
        memory.reserve(MemoryUse::Window, window)
    }

    /// Reserves memory for a header of `length` bytes, as if we had requested it in growing steps.
    fn reserve_windows(&self, memory: &mut ColumnMemory, length: u64) -> Result<()> {
        let mut least = USUAL_HEADER;
        while least < length {
            least *= 2;
            self.reserve_window(memory, least)?;
        }
        Ok(())
    }

    /// Returns the usual size of a request in bytes, if the page does not need more.
    fn usual_window(&self) -> u64 {
        match self.largest_page {
            0 => SMALLEST_WINDOW,
            // We request whole pages, because an incomplete page would be read again together with its rest.
            page => {
                let page = page + USUAL_HEADER;
                page * (SMALLEST_WINDOW / page).max(1)
            }
        }
    }

    /// Decodes the next page header from the available bytes. Returns false if it needs more bytes.
    fn decode_header(&mut self) -> Result<bool> {
        let position = self.walker.position();
        let end = match self.options.created_by.omits_dictionary_header {
            true => self.walker.end(),
            // Nothing after the chunk's range belongs to it, because the next pages are another column chunk's.
            false => self.range.end,
        };
        if position >= end {
            return Err(Error::corrupt(format!(
                "column chunk ends after {} of its {} values",
                self.walker.start().num_values_before,
                self.num_values
            )));
        }
        self.walker.decode_header(
            self.bytes.available(position),
            &self.options.limits,
            PageHeader::decode_prefix_without_statistics,
        )
    }

    /// Returns the range to request, starting at `from`. It contains at least `needed` bytes, and at least `least`
    /// bytes unless the needed pages end before that.
    fn window(&self, from: u64, needed: u64, least: u64) -> Range<u64> {
        let end = from
            .saturating_add(self.usual_window().max(least))
            .min(self.range.end.max(from + least))
            .min(self.wanted_end.max(from + needed));
        from..end.min(self.walker.end())
    }

    /// Prepares for counting the declared levels in the chunk's headers. Returns the state that you
    /// [return to](Self::return_to) afterwards.
    pub(crate) fn start_count(&mut self) -> PageReaderState {
        let state = PageReaderState {
            start: self.walker.start(),
            is_counted: self.is_counted,
            largest_page: self.largest_page,
            wanted_end: self.wanted_end,
        };
        // We know the number of preceding levels unless an index skipped some. In that case we count from the first
        // page.
        let from = match self.is_counted {
            true => state.start,
            false => PageStart::first(self.range.start),
        };
        self.is_counted = true;
        self.wanted_end = self.range.end;
        self.jump(from);
        state
    }

    /// Counts the declared levels in the remaining headers, without reading any bodies.
    ///
    /// # Errors
    /// Fails with Corrupt if the headers declare more or fewer levels than the chunk metadata.
    pub(crate) fn count(&mut self, memory: &mut ColumnMemory) -> Result<Step<()>> {
        loop {
            // We only need headers, so this keeps the requests small.
            self.largest_page = 0;
            match self.header(memory)? {
                Step::Need(range) => return Ok(Step::Need(range)),
                Step::Ready(None) => return Ok(Step::Ready(())),
                Step::Ready(Some(_)) => self.pass()?,
            }
        }
    }

    /// Returns to the reader's state before a count.
    pub(crate) fn return_to(&mut self, state: PageReaderState) {
        self.is_counted = state.is_counted;
        self.largest_page = state.largest_page;
        self.wanted_end = state.wanted_end;
        self.jump(state.start);
    }

    /// Returns the number of non-null values in the chunk's only data page, according to the chunk metadata. Returns
    /// `None` if there are other data pages besides this page of `num_levels` levels, or if no metadata counts its
    /// values.
    ///
    /// A histogram of definition levels counts values exactly. A `null_count` is only exact for columns without lists,
    /// because writers disagree about whether it includes empty lists.
    pub(crate) fn num_non_null(&self, num_levels: usize) -> Option<u64> {
        if num_levels as u64 != self.num_values {
            return None;
        }
        let chunk = self
            .options
            .metadata
            .column_chunk(self.row_group, self.leaf);
        let metadata = chunk.ok()?.meta_data?;
        let sizes = metadata.size_statistics.as_ref();
        let histogram = sizes.and_then(|sizes| sizes.definition_level_histogram.as_ref());
        let highest = histogram.and_then(|levels| levels.last().copied());
        let nulls = metadata
            .statistics
            .as_ref()
            .and_then(|statistics| statistics.null_count);
        let nulls = nulls.filter(|_| self.decoder.is_flat());
        let non_null = highest.or(nulls.map(|nulls| metadata.num_values.saturating_sub(nulls)));
        u64::try_from(non_null?).ok()
    }

    /// Skips the body of the page whose header was returned last.
    pub(crate) fn pass(&mut self) -> Result<()> {
        self.check_num_values()?;
        self.walker.pass();
        Ok(())
    }

    /// Jumps to the page at `start`, skipping the page whose header was returned last.
    pub(crate) fn jump(&mut self, start: PageStart) {
        self.walker.jump(start);
    }

    /// Jumps to a page by its offset in an index. With lists, we don't know the number of preceding levels.
    pub(crate) fn jump_by_index(&mut self, start: PageStart) {
        self.is_counted &= self.decoder.is_flat();
        self.walker.jump(start);
    }

    /// Returns the column chunk's range in the file.
    pub(crate) fn chunk(&self) -> Range<u64> {
        self.range.clone()
    }

    /// Returns the end of the column chunk.
    pub(crate) fn chunk_end(&self) -> u64 {
        self.bytes.end()
    }

    /// Announces the size of the next page in bytes, including its header.
    pub(crate) fn expect_page(&mut self, bytes: u64) {
        self.largest_page = self.largest_page.max(bytes);
    }

    /// Sets the end of the next needed pages.
    pub(crate) fn set_wanted_end(&mut self, end: u64) {
        self.wanted_end = end;
    }

    /// Returns the start of the next page, if its header is not decoded yet.
    pub(crate) fn next_start(&self) -> Option<PageStart> {
        self.walker.header().is_none().then(|| self.walker.start())
    }

    /// Returns the start of the page whose header was returned last. If there is no such header, this returns the start
    /// of the next page.
    pub(crate) fn start(&self) -> PageStart {
        self.walker.start()
    }

    /// Returns to the dictionary at `place` to read it again.
    pub(crate) fn read_dictionary_again(&mut self, place: PageStart) {
        self.jump(place);
        self.has_dictionary = false;
        self.is_again = true;
    }

    /// Returns the page whose header was returned last. Pass true for `another` if parts of an earlier page are still
    /// in use. If the page's rows extend into another split of the chunk, pass the shared page as `shared`.
    pub(crate) fn body(
        &mut self,
        another: bool,
        shared: Option<&SharedPage>,
        memory: &mut ColumnMemory,
    ) -> Result<Step<Page>> {
        let range = self.walker.body()?;
        let length = range.end - range.start;
        self.reserve_window(memory, length + USUAL_HEADER)?;
        let (Some(body), Some(header)) = (self.bytes.take(range.clone()), self.walker.header())
        else {
            // We're about to replace the window, so we drop the old one first.
            self.bytes.free_if_few(range.start, length);
            let window = self.window(range.start, length, length + USUAL_HEADER);
            return Ok(Step::Need(window));
        };
        if self.options.verify_crc {
            verify_crc(header, &body)?;
        }
        let is_dictionary = header.type_ == PageType::DictionaryPage;
        // The format only allows one dictionary per chunk, and more would cause work that no value justifies.
        if is_dictionary && std::mem::replace(&mut self.has_dictionary, true) {
            return Err(Error::corrupt("the column chunk has a second dictionary"));
        }
        let (body, limits) = (Buffer::from(body), &self.options.limits);
        let page_use = PageUse {
            another,
            shared,
            is_again: is_dictionary && self.is_again,
        };
        let is_copied = self.decoder.copies(header);
        let page = (header, self.walker.start().data_pages_before);
        let page = self.decoder.open(page, body, page_use, limits, memory)?;
        self.check_num_values()?;
        self.walker.pass();
        if is_copied && length + length / 2 > self.usual_window() {
            // Only a few bytes remain, so we request them again together with the next page.
            self.bytes.free_if_few(range.end, length);
            memory.resize(MemoryUse::Window, 0)?;
        } else if is_copied || self.is_compressed() {
            self.bytes.free_before(range.end);
        }
        Ok(Step::Ready(page))
    }

    /// Checks that the pages so far, including the current page, don't exceed the chunk metadata's value count.
    fn check_num_values(&self) -> Result<()> {
        let Some(header) = self.walker.header() else {
            return Ok(());
        };
        let num_values = num_values(header)? as u64;
        let before = self.walker.start().num_values_before;
        if header.type_ != PageType::DictionaryPage
            && before.saturating_add(num_values) > self.num_values
        {
            return Err(Error::corrupt(format!(
                "pages hold more than the {} values of their column chunk",
                self.num_values
            )));
        }
        Ok(())
    }
}
