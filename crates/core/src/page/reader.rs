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
use herringbone_format::{CompressionCodec, Error, Limits, PageHeader, PageType, Result};

use super::body::{BodyDecoder, check_sizes, num_values, verify_crc};
use super::chunk_bytes::ChunkBytes;
use super::decompression_limit::DecompressionLimit;
use super::{Page, SharedPage};
use crate::Step;
use crate::budget::{ColumnMemory, MemoryUse};
use crate::created_by::CreatedBy;

/// Old writers left the dictionary page's header out of `total_compressed_size`; a chunk may
/// therefore go on this many bytes behind its declared end (PARQUET-816).
const CHUNK_SLACK: u64 = 100;

/// Bytes asked for at least, so that small pages share a read.
const SMALLEST_WINDOW: u64 = 8 << 10;

/// Bytes of a page header, in all but absurd files.
const USUAL_HEADER: u64 = 128;

/// Which page, for errors.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PagePlace {
    ordinal: usize,
    offset: u64,
}

impl PagePlace {
    /// Adds the place to an error, unless it has one.
    pub(crate) fn of(self, error: Error) -> Error {
        error.in_page(self.ordinal).at_offset(self.offset)
    }
}

/// Where a data page starts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PageStart {
    /// Which page of the chunk it is, dictionary and unknown pages included.
    pub ordinal: usize,
    /// Where its header starts in the file.
    pub offset: u64,
    /// Levels in the pages before it.
    pub num_values_before: u64,
}

/// What is the same for all column chunks of a read.
#[derive(Debug)]
pub(crate) struct PageReaderOptions {
    /// Length of the file.
    pub(crate) file_length: u64,
    pub(crate) verify_crc: bool,
    pub(crate) limits: Limits,
    /// Who wrote the file.
    pub(crate) created_by: CreatedBy,
}

/// What a page reader must know of its column chunk.
#[derive(Debug)]
pub(crate) struct PageReaderChunk {
    /// Where the chunk lies in the file.
    pub(crate) range: Range<u64>,
    /// Levels in the whole chunk.
    pub(crate) num_values: u64,
    pub(crate) codec: CompressionCodec,
    /// The highest repetition and definition level.
    pub(crate) max_levels: (u8, u8),
    /// What the pages may decompress to.
    pub(crate) decompression_limit: DecompressionLimit,
}

/// The pages of one column chunk.
pub(crate) struct PageReader {
    options: Arc<PageReaderOptions>,
    chunk: PageReaderChunk,
    bytes: ChunkBytes,
    /// File offset of the next page header or, with `header` present, of its body.
    position: u64,
    header: Option<PageHeader>,
    /// File offset of `header`.
    header_start: u64,
    /// Ordinal of the page that `header` belongs to or, without one, of the next page.
    ordinal: usize,
    /// Levels in the pages passed so far.
    num_values_seen: u64,
    has_dictionary: bool,
    /// The dictionary is read once more.
    is_again: bool,
    /// Bytes of the largest data page so far, header included.
    largest_page: u64,
    /// Bytes of the largest page so far, decompressed, and how many of them the decoder keeps.
    largest_body: u64,
    num_bodies: u64,
    decoder: BodyDecoder,
}

impl PageReader {
    pub(crate) fn new(options: Arc<PageReaderOptions>, chunk: PageReaderChunk) -> Self {
        Self {
            bytes: ChunkBytes::new(chunk.range.clone()),
            position: chunk.range.start,
            header: None,
            header_start: 0,
            ordinal: 0,
            num_values_seen: 0,
            has_dictionary: false,
            is_again: false,
            largest_page: 0,
            largest_body: 0,
            num_bodies: 0,
            decoder: BodyDecoder::new(chunk.codec, chunk.max_levels, options.created_by),
            options,
            chunk,
        }
    }

    /// Hands in bytes of the file that start at `offset`.
    pub(crate) fn supply(&mut self, offset: u64, bytes: Bytes) {
        self.bytes.supply(offset, bytes);
    }

    /// Where the column chunk ends, for drivers that fetch more than the next page.
    pub(crate) fn end(&self) -> u64 {
        self.bytes.end()
    }

    /// Whether pages are decompressed, so that it is worth keeping them.
    pub(crate) fn is_compressed(&self) -> bool {
        self.chunk.codec != CompressionCodec::Uncompressed
    }

    /// Ordinal and file offset of the page that comes next.
    pub(crate) fn place(&self) -> PagePlace {
        PagePlace {
            ordinal: self.ordinal,
            offset: match self.header {
                Some(_) => self.header_start,
                None => self.position,
            },
        }
    }

    /// The header of the next page that carries values; `None` behind the last one. Called again
    /// before [`Self::body`] or [`Self::pass`], it returns the same header.
    pub(crate) fn header(
        &mut self,
        memory: &mut ColumnMemory,
    ) -> Result<Step<Option<&PageHeader>>> {
        while self.header.is_none() {
            if self.num_values_seen >= self.chunk.num_values {
                return Ok(Step::Ready(None));
            }
            self.hold_window(memory, USUAL_HEADER)?;
            let Some((header, length)) = self.parse_header()? else {
                // Up to twice as much each time: a header is decoded from its start again.
                let available = self.bytes.available(self.position).len() as u64;
                let least = (available + 1).next_power_of_two().max(USUAL_HEADER);
                self.hold_windows(memory, least)?;
                // It is replaced, so there need not be both.
                self.bytes.let_go(self.position, u64::MAX);
                return Ok(Step::Need(self.window(self.position, least)));
            };
            // What is there already counts like what is asked for.
            self.hold_windows(memory, length as u64)?;
            let body = check_sizes(&header, &self.options.limits)?;
            self.header_start = self.position;
            self.position += length as u64;
            // A dictionary comes once, and may be larger than any page behind it.
            if header.type_ != PageType::DictionaryPage {
                self.largest_page = self.largest_page.max(length as u64 + body);
            }
            if header.type_.carries_values() {
                self.header = Some(header);
            } else {
                self.position += body;
                self.ordinal += 1;
            }
        }
        Ok(Step::Ready(self.header.as_ref()))
    }

    /// Holds memory for as many bytes of the chunk as are asked for at once, of which `least` are needed.
    fn hold_window(&self, memory: &mut ColumnMemory, least: u64) -> Result<()> {
        let chunk = &self.chunk.range;
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

    /// The header at the position and its length; `None` where more bytes are needed.
    fn parse_header(&self) -> Result<Option<(PageHeader, usize)>> {
        let limit = self.chunk_limit();
        if self.position >= limit {
            return Err(Error::corrupt(format!(
                "column chunk ends after {} of its {} values",
                self.num_values_seen, self.chunk.num_values
            )));
        }
        let available = self.bytes.available(self.position);
        // The window may reach into the next chunk, which is none of ours.
        let ours = usize::try_from(limit - self.position).unwrap_or(usize::MAX);
        let available = &available[..available.len().min(ours)];
        let parsed = PageHeader::decode_prefix_without_statistics(available, &self.options.limits)?;
        if parsed.is_some() {
            return Ok(parsed);
        }
        if available.len() == ours {
            return Err(Error::corrupt("column chunk ends inside a page header"));
        }
        Ok(None)
    }

    /// The range to ask for so that `least` bytes from `from` on are there.
    fn window(&self, from: u64, least: u64) -> Range<u64> {
        let end = from
            .saturating_add(self.usual_window().max(least))
            .min(self.chunk.range.end.max(from + least));
        from..end.min(self.chunk_limit())
    }

    /// Where the chunk must have ended.
    fn chunk_limit(&self) -> u64 {
        let end = self.chunk.range.end;
        end.saturating_add(CHUNK_SLACK)
            .min(self.options.file_length)
    }

    /// Passes over the body of the page whose header was returned last.
    pub(crate) fn pass(&mut self) -> Result<()> {
        if let Some(header) = self.header.take() {
            self.count_values(&header)?;
            self.position += u64::try_from(header.compressed_page_size).unwrap_or_default();
            self.ordinal += 1;
        }
        Ok(())
    }

    /// Passes over the page whose header was returned last, and over all others before `start`.
    pub(crate) fn jump(&mut self, start: PageStart) {
        self.header = None;
        self.position = start.offset;
        self.ordinal = start.ordinal;
        self.num_values_seen = start.num_values_before;
    }

    /// Where the page is whose header was returned last.
    pub(crate) fn start(&self) -> PageStart {
        PageStart {
            ordinal: self.ordinal,
            offset: self.header_start,
            num_values_before: self.num_values_seen,
        }
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
        let Some(header) = &self.header else {
            return Err(Error::argument(
                "a page body is asked for before its header",
            ));
        };
        let length = u64::try_from(header.compressed_page_size).unwrap_or_default();
        let end = self.position.saturating_add(length);
        if end > self.chunk_limit() {
            return Err(Error::corrupt(format!(
                "page of {length} bytes goes beyond its column chunk, which ends at {:#x}",
                self.chunk.range.end
            )));
        }
        self.hold_window(memory, length + USUAL_HEADER)?;
        let Some(body) = self.bytes.get(self.position..end) else {
            // It is replaced, so there need not be both.
            self.bytes.let_go(self.position, length);
            return Ok(Step::Need(
                self.window(self.position, length + USUAL_HEADER),
            ));
        };
        let header = header.clone();
        if self.options.verify_crc {
            verify_crc(&header, &body)?;
        }
        // The format has one a chunk; more would make work that no value asks for.
        if header.type_ == PageType::DictionaryPage
            && std::mem::replace(&mut self.has_dictionary, true)
        {
            return Err(Error::corrupt("the column chunk has a second dictionary"));
        }
        // Bodies that are not compressed stay in the window.
        if self.is_compressed() {
            let plain = u64::try_from(header.uncompressed_page_size).unwrap_or_default();
            self.largest_body = self.largest_body.max(plain);
            // What is left to another part stays until that has come for it.
            let others = u64::from(another) + u64::from(shared.is_some());
            self.num_bodies = self.num_bodies.max(1 + others);
            let bodies = self.largest_body.saturating_mul(self.num_bodies);
            memory.hold_at_least(MemoryUse::Body, bodies)?;
            if header.type_ != PageType::DictionaryPage || !self.is_again {
                let num_values = num_values(&header)?;
                self.chunk.decompression_limit.spend(&header, num_values)?;
            }
        }
        let (body, limits) = (Buffer::from(body), &self.options.limits);
        let page = self.decoder.decode(&header, body, shared, limits)?;
        self.count_values(&header)?;
        self.header = None;
        self.position = end;
        self.ordinal += 1;
        let is_compressed = self.is_compressed();
        // Levels of pages of version 2 stay in the window.
        let is_copied = is_compressed && header.type_ != PageType::DataPageV2;
        if is_copied && length + length / 2 > self.usual_window() {
            // The little that is left is asked for again, with the next page.
            self.bytes.let_go(end, length);
            memory.hold(MemoryUse::Window, 0)?;
        } else if is_compressed {
            self.bytes.leave(end);
        }
        Ok(Step::Ready(page))
    }

    fn count_values(&mut self, header: &PageHeader) -> Result<()> {
        let num_values = num_values(header)?;
        if header.type_ != PageType::DictionaryPage {
            self.num_values_seen += num_values as u64;
            if self.num_values_seen > self.chunk.num_values {
                return Err(Error::corrupt(format!(
                    "pages hold more than the {} values of their column chunk",
                    self.chunk.num_values
                )));
            }
        }
        Ok(())
    }
}
