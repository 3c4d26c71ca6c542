//! The pages of one column chunk, in order.
//!
//! ```text
//! [header | dictionary page]? ([header | data page])*      index pages and unknown pages: skipped
//! ```
//!
//! A header is read first and alone: who can tell from it that no row of the page is wanted passes
//! over the body, which is then neither fetched, nor checked, nor decompressed.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use herringbone_arrow::buffer::Buffer;
use herringbone_format::modular_encryption::ChunkCipher;
use herringbone_format::{CompressionCodec, Error, Limits, PageHeader, PageType, Result};

use super::body::{BodyDecoder, PageUse, check_sizes, num_values, verify_crc};
use super::chunk_bytes::ChunkBytes;
use super::decompression_limit::DecompressionLimit;
use super::walker::{PageStart, PageWalker};
use super::{MaxLevels, Page, SharedPage};
use crate::Step;
use crate::budget::{ColumnMemory, MemoryUse};
use crate::created_by::CreatedBy;

/// Bytes asked for at least, so that small pages share a read.
const SMALLEST_WINDOW: u64 = 8 << 10;

/// Bytes of a page header, in all but absurd files.
const USUAL_HEADER: u64 = 128;

/// What is the same for all column chunks of a read.
#[derive(Debug)]
pub struct PageReaderOptions {
    /// Length of the file.
    pub file_length: u64,
    /// True if checksums of pages are verified.
    pub verify_crc: bool,
    /// The limits of the read.
    pub limits: Limits,
    /// Who wrote the file.
    pub created_by: CreatedBy,
}

/// What a page reader must know of its column chunk.
#[derive(Debug)]
pub struct PageReaderChunk {
    /// Where the chunk lies in the file.
    pub range: Range<u64>,
    /// Levels in the whole chunk.
    pub num_values: u64,
    /// The codec of the pages.
    pub codec: CompressionCodec,
    /// Whether the chunk is said to have a dictionary.
    pub has_dictionary: bool,
    /// What decrypts the pages, if they are encrypted.
    pub cipher: Option<ChunkCipher>,
    /// The highest levels of the column.
    pub max_levels: MaxLevels,
    /// What the pages may decompress to.
    pub decompression_limit: DecompressionLimit,
}

/// The pages of one column chunk.
pub struct PageReader {
    options: Arc<PageReaderOptions>,
    /// Where the chunk lies in the file.
    range: Range<u64>,
    /// Levels in the whole chunk.
    num_values: u64,
    bytes: ChunkBytes,
    walker: PageWalker,
    has_dictionary: bool,
    /// The dictionary is read once more.
    is_again: bool,
    /// Whether the levels of all pages so far are counted: some were passed over by what an index says of their rows.
    is_counted: bool,
    /// Where the pages end that are wanted next, as far as that is known: what is behind them is not asked for.
    wanted_end: u64,
    /// Bytes of the largest data page so far, header included.
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

    /// Hands in bytes of the file that start at `offset`.
    pub(crate) fn supply(&mut self, offset: u64, bytes: Bytes) {
        self.bytes.supply(offset, bytes);
    }

    /// Where the column chunk ends, or else the pages that are wanted next, for drivers that fetch more than the next
    /// page.
    pub(crate) fn end(&self) -> u64 {
        self.bytes.end().min(self.wanted_end)
    }

    /// Returns the known habits of the writer of the file.
    pub(crate) fn created_by(&self) -> CreatedBy {
        self.options.created_by
    }

    /// Whether pages are decompressed, so that it is worth keeping them.
    pub(crate) fn is_compressed(&self) -> bool {
        self.decoder.is_compressed()
    }

    /// The header of the next page that carries values; `None` behind the last one. Called again
    /// before [`Self::body`] or [`Self::pass`], it returns the same header.
    pub(crate) fn header(
        &mut self,
        memory: &mut ColumnMemory,
    ) -> Result<Step<Option<&PageHeader>>> {
        while self.walker.header().is_none() {
            let is_at_end = !self.is_counted && self.walker.position() >= self.range.end;
            if self.walker.start().num_values_before >= self.num_values || is_at_end {
                return Ok(Step::Ready(None));
            }
            self.hold_window(memory, USUAL_HEADER)?;
            if !self.decode_header()? {
                // Up to twice as much each time: a header is decoded from its start again.
                let position = self.walker.position();
                let available = self.bytes.available(position).len() as u64;
                let least = (available + 1).next_power_of_two().max(USUAL_HEADER);
                self.hold_windows(memory, least)?;
                // It is replaced, so there need not be both.
                self.bytes.let_go(position, u64::MAX);
                return Ok(Step::Need(self.window(position, least, least)));
            }
            // What is there already counts like what is asked for.
            let length = self.walker.header_bytes() as u64;
            self.hold_windows(memory, length)?;
            let Some(header) = self.walker.header() else {
                continue;
            };
            let carries_values = header.type_.carries_values();
            let body = check_sizes(header, &self.options.limits)?;
            // A dictionary comes once, and may be larger than any page behind it.
            if header.type_ != PageType::DictionaryPage {
                self.largest_page = self.largest_page.max(length + body);
            }
            if !carries_values {
                self.walker.pass();
            }
        }
        Ok(Step::Ready(self.walker.header()))
    }

    /// Holds memory for as many bytes of the chunk as are asked for at once, of which `least` are needed.
    fn hold_window(&self, memory: &mut ColumnMemory, least: u64) -> Result<()> {
        let chunk = &self.range;
        let window = self.usual_window().max(least).min(chunk.end - chunk.start);
        memory.hold_at_least(MemoryUse::Window, window)
    }

    /// The same for a header of `length` bytes, for which more is asked each time.
    fn hold_windows(&self, memory: &mut ColumnMemory, length: u64) -> Result<()> {
        let mut least = USUAL_HEADER;
        while least < length {
            least *= 2;
            self.hold_window(memory, least)?;
        }
        Ok(())
    }

    /// Bytes to ask for where a page needs no more.
    fn usual_window(&self) -> u64 {
        match self.largest_page {
            0 => SMALLEST_WINDOW,
            // Whole pages: what is left of one would be read again with the rest of it.
            page => {
                let page = page + USUAL_HEADER;
                page * (SMALLEST_WINDOW / page).max(1)
            }
        }
    }

    /// Decodes the header of the next page from what is here; false where more bytes are needed.
    fn decode_header(&mut self) -> Result<bool> {
        let position = self.walker.position();
        let end = match self.options.created_by.omits_dictionary_header {
            true => self.walker.end(),
            // The next pages belong to another column chunk.
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

    /// The range to ask for so that `needed` bytes from `from` on are there, and `least` unless others end before.
    fn window(&self, from: u64, needed: u64, least: u64) -> Range<u64> {
        let end = from
            .saturating_add(self.usual_window().max(least))
            .min(self.range.end.max(from + least))
            .min(self.wanted_end.max(from + needed));
        from..end.min(self.walker.end())
    }

    /// Passes over the body of the page whose header was returned last.
    pub(crate) fn pass(&mut self) -> Result<()> {
        self.check_num_values()?;
        self.walker.pass();
        Ok(())
    }

    /// Passes over the page whose header was returned last, and over all others before `start`.
    pub(crate) fn jump(&mut self, start: PageStart) {
        self.walker.jump(start);
    }

    /// Goes to a page of which an index says where it is, and not how many levels come before it if there are lists.
    pub(crate) fn jump_by_index(&mut self, start: PageStart) {
        self.is_counted &= self.decoder.is_flat();
        self.walker.jump(start);
    }

    /// Returns the range of the column chunk in the file.
    pub(crate) fn chunk(&self) -> Range<u64> {
        self.range.clone()
    }

    /// Where the column chunk ends.
    pub(crate) fn chunk_end(&self) -> u64 {
        self.bytes.end()
    }

    /// The next page has so many bytes, header included.
    pub(crate) fn expect_page(&mut self, bytes: u64) {
        self.largest_page = self.largest_page.max(bytes);
    }

    /// The pages that are wanted next end here.
    pub(crate) fn set_wanted_end(&mut self, end: u64) {
        self.wanted_end = end;
    }

    /// Whether the header of the next page is still to be read, and where that page starts.
    pub(crate) fn next_start(&self) -> Option<PageStart> {
        self.walker.header().is_none().then(|| self.walker.start())
    }

    /// Returns the start of the page whose header was returned last, or of the next one.
    pub(crate) fn start(&self) -> PageStart {
        self.walker.start()
    }

    /// Goes back to the dictionary at `place`.
    pub(crate) fn read_dictionary_again(&mut self, place: PageStart) {
        self.jump(place);
        self.has_dictionary = false;
        self.is_again = true;
    }

    /// The page whose header was returned last. With `another`, parts of a page before it are still in
    /// use; it is `shared` where another part of the chunk has rows of it too.
    pub(crate) fn body(
        &mut self,
        another: bool,
        shared: Option<&SharedPage>,
        memory: &mut ColumnMemory,
    ) -> Result<Step<Page>> {
        let range = self.walker.body()?;
        let length = range.end - range.start;
        self.hold_window(memory, length + USUAL_HEADER)?;
        let (Some(body), Some(header)) = (self.bytes.take(range.clone()), self.walker.header())
        else {
            // It is replaced, so there need not be both.
            self.bytes.let_go(range.start, length);
            let window = self.window(range.start, length, length + USUAL_HEADER);
            return Ok(Step::Need(window));
        };
        if self.options.verify_crc {
            verify_crc(header, &body)?;
        }
        let is_dictionary = header.type_ == PageType::DictionaryPage;
        // The format has one a chunk; more would make work that no value asks for.
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
            // The little that is left is asked for again, with the next page.
            self.bytes.let_go(range.end, length);
            memory.hold(MemoryUse::Window, 0)?;
        } else if is_copied || self.is_compressed() {
            self.bytes.leave(range.end);
        }
        Ok(Step::Ready(page))
    }

    /// Checks that the chunk has as many values as it has with the page at hand.
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
