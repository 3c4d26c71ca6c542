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
use herringbone_format::{
    CompressionCodec, DataPageHeader, DataPageHeaderV2, Error, Limits, PageHeader, PageType, Result,
};

use super::chunk_bytes::{ChunkBytes, Step};
use super::data_page::{split_levels_v1, split_levels_v2};
use super::{DataPage, Page};
use crate::compression::decompress;

/// Old writers left the dictionary page's header out of `total_compressed_size`; a chunk may
/// therefore go on this many bytes behind its declared end (PARQUET-816).
const CHUNK_SLACK: u64 = 100;

/// Bytes asked for when nothing is known yet of the size of the pages.
const FIRST_WINDOW: u64 = 64 << 10;

/// Bytes asked for at least, once pages are under way: small pages share a read.
const SMALLEST_WINDOW: u64 = 256 << 10;

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

/// What a page reader must know of its column chunk.
#[derive(Debug, Clone)]
pub(crate) struct PageReaderOptions {
    /// Where the chunk lies in the file.
    pub(crate) chunk: Range<u64>,
    /// Length of the file.
    pub(crate) file_length: u64,
    /// Levels in the whole chunk.
    pub(crate) num_values: u64,
    pub(crate) codec: CompressionCodec,
    pub(crate) max_rep_level: u8,
    pub(crate) max_def_level: u8,
    pub(crate) verify_crc: bool,
    pub(crate) limits: Arc<Limits>,
}

/// The pages of one column chunk.
pub(crate) struct PageReader {
    options: PageReaderOptions,
    bytes: ChunkBytes,
    /// File offset of the next page header or, with `header` present, of its body.
    position: u64,
    header: Option<PageHeader>,
    /// Ordinal of the page that `header` belongs to or, without one, of the next page.
    ordinal: usize,
    /// Levels in the pages passed so far.
    num_values_seen: u64,
    /// Bytes of the largest page so far, header included.
    largest_page: u64,
    /// Decompressed bodies, newest first; the older one is free for reuse once nobody holds it.
    bodies: [Option<Buffer>; 2],
}

impl PageReader {
    pub(crate) fn new(options: PageReaderOptions) -> Self {
        Self {
            bytes: ChunkBytes::new(options.chunk.clone()),
            position: options.chunk.start,
            header: None,
            ordinal: 0,
            num_values_seen: 0,
            largest_page: 0,
            bodies: [None, None],
            options,
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

    /// Ordinal and file offset of the page that comes next.
    pub(crate) fn place(&self) -> PagePlace {
        PagePlace {
            ordinal: self.ordinal,
            offset: self.position,
        }
    }

    /// The header of the next page that carries values; `None` behind the last one. Called again
    /// before [`Self::body`] or [`Self::pass`], it returns the same header.
    pub(crate) fn header(&mut self) -> Result<Step<Option<&PageHeader>>> {
        while self.header.is_none() {
            if self.num_values_seen >= self.options.num_values {
                return Ok(Step::Ready(None));
            }
            let (header, length) = match self.parse_header()? {
                Step::Ready(parsed) => parsed,
                Step::Need(range) => return Ok(Step::Need(range)),
            };
            let body = self.check_sizes(&header)?;
            self.position += length as u64;
            self.largest_page = self.largest_page.max(length as u64 + body);
            if carries_values(&header) {
                self.header = Some(header);
            } else {
                self.position += body;
                self.ordinal += 1;
            }
        }
        Ok(Step::Ready(self.header.as_ref()))
    }

    fn parse_header(&self) -> Result<Step<(PageHeader, usize)>> {
        let limit = self.chunk_limit();
        if self.position >= limit {
            return Err(Error::corrupt(format!(
                "column chunk ends after {} of its {} values",
                self.num_values_seen, self.options.num_values
            )));
        }
        let available = self.bytes.available(self.position);
        if available.is_empty() {
            return Ok(Step::Need(self.window(self.position, USUAL_HEADER)));
        }
        // The window may reach into the next chunk, which is none of ours.
        let ours = usize::try_from(limit - self.position).unwrap_or(usize::MAX);
        let available = &available[..available.len().min(ours)];
        if let Some(parsed) = PageHeader::decode_prefix(available, &self.options.limits)? {
            return Ok(Step::Ready(parsed));
        }
        if available.len() == ours {
            return Err(Error::corrupt("column chunk ends inside a page header"));
        }
        if available.len() >= self.options.limits.page_header_bytes {
            let limit = self.options.limits.page_header_bytes as u64;
            return Err(Error::limit(
                "page_header_bytes",
                available.len() as u64,
                limit,
            ));
        }
        let least = available.len() as u64 + 1;
        Ok(Step::Need(
            self.window(self.position, least.max(USUAL_HEADER)),
        ))
    }

    /// The range to ask for so that `least` bytes from `from` on are there.
    fn window(&self, from: u64, least: u64) -> Range<u64> {
        let usual = match self.largest_page {
            0 => FIRST_WINDOW,
            page => (page + USUAL_HEADER).max(SMALLEST_WINDOW),
        };
        let doubled = self.bytes.available(from).len() as u64 * 2;
        let length = if least > usual {
            least
        } else {
            usual.max(doubled.min(usual * 2))
        };
        let end = from
            .saturating_add(length)
            .min(self.options.chunk.end.max(from + least));
        from..end.min(self.chunk_limit())
    }

    /// Where the chunk must have ended.
    fn chunk_limit(&self) -> u64 {
        self.options
            .chunk
            .end
            .saturating_add(CHUNK_SLACK)
            .min(self.options.file_length)
    }

    /// Checks the sizes in a header and returns that of the body, in bytes.
    fn check_sizes(&self, header: &PageHeader) -> Result<u64> {
        let limits = &self.options.limits;
        let negative = || Error::corrupt("page header has a negative size");
        let compressed = usize::try_from(header.compressed_page_size).map_err(|_| negative())?;
        let plain = usize::try_from(header.uncompressed_page_size).map_err(|_| negative())?;
        for size in [compressed, plain] {
            if size > limits.page_bytes {
                return Err(Error::limit(
                    "page_bytes",
                    size as u64,
                    limits.page_bytes as u64,
                ));
            }
        }
        let granted = compressed
            .saturating_mul(limits.decompression_ratio)
            .max(Limits::DECOMPRESSION_FLOOR);
        if plain > granted {
            let ratio = (plain / compressed.max(1)) as u64;
            let limit = limits.decompression_ratio as u64;
            return Err(Error::limit("decompression_ratio", ratio, limit));
        }
        Ok(compressed as u64)
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

    /// The page whose header was returned last.
    pub(crate) fn body(&mut self) -> Result<Step<Page>> {
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
                self.options.chunk.end
            )));
        }
        let Some(body) = self.bytes.get(self.position..end) else {
            return Ok(Step::Need(
                self.window(self.position, length + USUAL_HEADER),
            ));
        };
        let header = header.clone();
        if self.options.verify_crc {
            verify_crc(&header, &body)?;
        }
        let page = self.decode(&header, Buffer::from(body))?;
        self.count_values(&header)?;
        self.header = None;
        self.position = end;
        self.ordinal += 1;
        Ok(Step::Ready(page))
    }

    fn count_values(&mut self, header: &PageHeader) -> Result<()> {
        let num_values = num_values(header)?;
        if header.type_ != PageType::DictionaryPage {
            self.num_values_seen += num_values as u64;
            if self.num_values_seen > self.options.num_values {
                return Err(Error::corrupt(format!(
                    "pages hold more than the {} values of their column chunk",
                    self.options.num_values
                )));
            }
        }
        Ok(())
    }

    fn decode(&mut self, header: &PageHeader, body: Buffer) -> Result<Page> {
        let num_values = num_values(header)?;
        if header.type_ == PageType::DictionaryPage {
            let limit = self.options.limits.dictionary_values;
            if num_values > limit {
                return Err(Error::limit(
                    "dictionary_values",
                    num_values as u64,
                    limit as u64,
                ));
            }
            let plain = header.uncompressed_page_size as usize;
            let values = self.decompress(body, plain, true)?;
            return Ok(Page::Dictionary { values, num_values });
        }
        let limit = self.options.limits.page_values;
        if num_values > limit {
            return Err(Error::limit("page_values", num_values as u64, limit as u64));
        }
        let page = match (&header.data_page_header, &header.data_page_header_v2) {
            (Some(v1), _) if header.type_ == PageType::DataPage => {
                self.data_page_v1(header, v1, body, num_values)?
            }
            (_, Some(v2)) => self.data_page_v2(header, v2, body, num_values)?,
            _ => return Err(Error::corrupt("page header lacks the header of its type")),
        };
        Ok(Page::Data(page))
    }

    fn data_page_v1(
        &mut self,
        header: &PageHeader,
        v1: &DataPageHeader,
        body: Buffer,
        num_values: usize,
    ) -> Result<DataPage> {
        let plain = header.uncompressed_page_size as usize;
        let mut body = self.decompress(body, plain, true)?;
        let (max_rep, max_def) = (self.options.max_rep_level, self.options.max_def_level);
        let repetition =
            split_levels_v1(&mut body, v1.repetition_level_encoding, num_values, max_rep)?;
        let definition =
            split_levels_v1(&mut body, v1.definition_level_encoding, num_values, max_def)?;
        Ok(DataPage {
            num_values,
            repetition,
            definition,
            encoding: v1.encoding,
            values: body,
        })
    }

    fn data_page_v2(
        &mut self,
        header: &PageHeader,
        v2: &DataPageHeaderV2,
        mut body: Buffer,
        num_values: usize,
    ) -> Result<DataPage> {
        let whole = body.len();
        let repetition = split_levels_v2(
            &mut body,
            v2.repetition_levels_byte_length,
            self.options.max_rep_level,
        )?;
        let definition = split_levels_v2(
            &mut body,
            v2.definition_levels_byte_length,
            self.options.max_def_level,
        )?;
        let levels = whole - body.len();
        let plain = (header.uncompressed_page_size as usize)
            .checked_sub(levels)
            .ok_or_else(|| Error::corrupt("the levels of a page are longer than the whole page"))?;
        let values = self.decompress(body, plain, v2.is_compressed)?;
        Ok(DataPage {
            num_values,
            repetition,
            definition,
            encoding: v2.encoding,
            values,
        })
    }

    /// `plain` bytes from a body, or the body itself where nothing was compressed.
    fn decompress(&mut self, body: Buffer, plain: usize, is_compressed: bool) -> Result<Buffer> {
        if self.options.codec == CompressionCodec::Uncompressed || !is_compressed {
            if body.len() != plain {
                return Err(Error::corrupt(format!(
                    "page body has {} bytes, its header says {plain}",
                    body.len()
                )));
            }
            return Ok(body);
        }
        // A page of nulls alone may have no compressed bytes at all, not even an empty stream.
        if plain == 0 {
            return Ok(Buffer::default());
        }
        let mut output = self.spare_body(plain);
        decompress(self.options.codec, &body, &mut output)?;
        let output = Buffer::from_vec(output);
        self.bodies.rotate_right(1);
        self.bodies[0] = Some(output.clone());
        Ok(output)
    }

    /// A buffer of `length` initialised bytes, reused if an earlier page's is free again.
    fn spare_body(&mut self, length: usize) -> Vec<u8> {
        let spare = self.bodies[1]
            .take()
            .and_then(|body| body.into_vec::<u8>().ok());
        match spare {
            Some(mut body) if body.capacity() >= length => {
                body.resize(length, 0);
                body
            }
            _ => vec![0; length],
        }
    }
}

fn carries_values(header: &PageHeader) -> bool {
    matches!(
        header.type_,
        PageType::DictionaryPage | PageType::DataPage | PageType::DataPageV2
    )
}

/// Values that a page declares: entries of a dictionary, or levels.
fn num_values(header: &PageHeader) -> Result<usize> {
    let declared = match header.type_ {
        PageType::DictionaryPage => header.dictionary_page_header.as_ref().map(|h| h.num_values),
        PageType::DataPage => header.data_page_header.as_ref().map(|h| h.num_values),
        _ => header.data_page_header_v2.as_ref().map(|h| h.num_values),
    };
    let declared =
        declared.ok_or_else(|| Error::corrupt("page header lacks the header of its type"))?;
    usize::try_from(declared).map_err(|_| Error::corrupt("page header has a negative value count"))
}

fn verify_crc(header: &PageHeader, body: &[u8]) -> Result<()> {
    match header.crc {
        Some(crc) if crc32fast::hash(body) != crc as u32 => Err(Error::corrupt(format!(
            "page checksum is {:08x}, its bytes have {:08x}; reading without `verify_crc` ignores it",
            crc as u32,
            crc32fast::hash(body)
        ))),
        _ => Ok(()),
    }
}
