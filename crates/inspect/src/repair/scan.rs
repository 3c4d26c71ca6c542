//! Pages in bytes of which nobody says what they are.

use std::ops::Range;

use bytes::Bytes;
use herringbone_core::page::PageWalker;
use herringbone_core::physical::PageDecoder;
use herringbone_format::thrift::{CompactReader, Wire};
use herringbone_format::{
    BloomFilterAlgorithm, BloomFilterHeader, ColumnIndex, Encoding, Limits, OffsetIndex,
    PageHeader, PageType, Result,
};

use herringbone::source::Source;

/// Bytes that a page header may have here: real ones have less than a few hundred, and in what is
/// no header a large number must not be believed.
const HEADER_BYTES: usize = 64 << 10;
/// Bytes that the metadata of a column chunk have at least.
const COLUMN_METADATA_BYTES: usize = 20;
/// Bytes between pages that are looked through, at most.
const LARGEST_GAP: u64 = 256 << 20;
/// Bytes that are read at a time.
const WINDOW: u64 = 4 << 20;

/// A page that was found.
#[derive(Debug, Clone)]
pub(super) struct FoundPage {
    /// Where its header starts.
    pub(super) offset: u64,
    /// Where its body starts.
    pub(super) body: u64,
    /// Where it ends.
    pub(super) end: u64,
    pub(super) header: PageHeader,
    /// The body is what the header says, as far as its checksum tells.
    pub(super) intact: bool,
    /// What is between it and the page before it.
    pub(super) gap: Gap,
}

/// What is between two pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gap {
    /// Nothing.
    None,
    /// Something that writers put between column chunks.
    Known,
    /// The same, and behind it something that may be destroyed pages.
    KnownAtFirst,
    /// Something that may be destroyed pages.
    Unknown,
}

/// All pages of a part of a file.
#[derive(Debug, Default)]
pub(super) struct FoundPages {
    pub(super) pages: Vec<FoundPage>,
    /// A row group ends with the last one: a footer follows, an index or a bloom filter.
    pub(super) end_is_known: bool,
}

impl FoundPage {
    /// Pages may be destroyed in front of it.
    pub(super) fn is_behind_damage(&self) -> bool {
        matches!(self.gap, Gap::KnownAtFirst | Gap::Unknown)
    }

    pub(super) fn is_dictionary(&self) -> bool {
        self.header.type_ == PageType::DictionaryPage
    }

    /// Levels, or entries of a dictionary.
    pub(super) fn num_values(&self) -> u64 {
        u64::try_from(self.header.num_values().unwrap_or_default()).unwrap_or_default()
    }
}

/// Finds the pages in a part of a file, one behind the other, with gaps where there is something
/// else.
pub(super) struct Scan<'a> {
    source: &'a dyn Source,
    range: Range<u64>,
    footer_follows: bool,
    limits: Limits,
    /// Bytes that were read last, and where they start.
    window: (u64, Bytes),
}

impl<'a> Scan<'a> {
    /// The pages in `range`, behind which there is a footer or not.
    pub(super) fn new(
        source: &'a dyn Source,
        range: Range<u64>,
        footer_follows: bool,
        limits: &Limits,
    ) -> Self {
        let mut limits = limits.clone();
        limits.page_header_bytes = limits.page_header_bytes.min(HEADER_BYTES);
        Self {
            source,
            range,
            footer_follows,
            limits,
            window: (0, Bytes::new()),
        }
    }

    /// All pages.
    ///
    /// # Errors
    /// Io.
    pub(super) fn pages(mut self) -> Result<FoundPages> {
        let mut pages = Vec::new();
        // Where the last page ended.
        let mut behind = self.range.start;
        let mut position = behind;
        while position < self.range.end {
            match self.page(position)? {
                Some(mut page) => {
                    page.gap = self.gap(behind..position)?.0;
                    position = page.end;
                    behind = position;
                    pages.push(page);
                }
                None => position += 1,
            }
        }
        let (gap, starts_with_index) = self.gap(behind..self.range.end)?;
        let reaches_footer = self.footer_follows && matches!(gap, Gap::None | Gap::Known);
        Ok(FoundPages {
            pages,
            end_is_known: reaches_footer || starts_with_index,
        })
    }

    /// What bytes are that are no pages, and whether they start with a bloom filter or an index.
    fn gap(&self, gap: Range<u64>) -> Result<(Gap, bool)> {
        if gap.is_empty() {
            return Ok((Gap::None, false));
        }
        let end = gap.end.min(gap.start.saturating_add(LARGEST_GAP));
        let bytes = self.source.read(gap.start..end)?;
        let mut rest = &bytes[..];
        let mut starts_with_index = false;
        while !rest.is_empty() {
            let is_first = rest.len() == bytes.len();
            match self.known(rest) {
                Some((length, is_index)) => {
                    starts_with_index |= is_first && is_index;
                    rest = rest.get(length..).unwrap_or_default();
                }
                None if is_first => return Ok((Gap::Unknown, false)),
                None => return Ok((Gap::KnownAtFirst, starts_with_index)),
            }
        }
        let gap = if end < gap.end {
            Gap::KnownAtFirst
        } else {
            Gap::Known
        };
        Ok((gap, starts_with_index))
    }

    /// Bytes of the structure at the start of `bytes`, and whether it is a bloom filter or an index,
    /// which follow row groups, or the metadata of a column chunk.
    fn known(&self, bytes: &[u8]) -> Option<(usize, bool)> {
        if let Ok(Some((header, length))) = BloomFilterHeader::decode_prefix(bytes, &self.limits)
            && header.algorithm == BloomFilterAlgorithm::Block
        {
            let length = length + usize::try_from(header.num_bytes).ok()?;
            return (length <= bytes.len()).then_some((length, true));
        }
        let mut reader = CompactReader::new(bytes, self.limits.schema_depth);
        reader.skip(Wire::Struct).ok()?;
        let length = reader.position();
        let whole = bytes.get(..length)?;
        match whole {
            // A list is the first field of both indexes.
            [0x19, ..] => {
                let is_index = OffsetIndex::decode(whole, &self.limits).is_ok()
                    || ColumnIndex::decode(whole, &self.limits).is_ok();
                is_index.then_some((length, true))
            }
            // The physical type, then the list of encodings.
            [0x15, _, 0x19, ..] if length >= COLUMN_METADATA_BYTES => Some((length, false)),
            _ => None,
        }
    }

    /// The page at `offset`, if there is one.
    fn page(&mut self, offset: u64) -> Result<Option<FoundPage>> {
        let Some(walker) = self.walker(offset)? else {
            return Ok(None);
        };
        let (Some(header), Ok(body)) = (walker.header().cloned(), walker.body()) else {
            return Ok(None);
        };
        let (body, end) = (body.start, body.end);
        if end > self.range.end || end - body > self.limits.page_bytes as u64 {
            return Ok(None);
        }
        let intact = match header.crc {
            None => true,
            Some(_) => PageDecoder::verify_crc(&header, &self.source.read(body..end)?).is_ok(),
        };
        // A damaged body does not hide the pages behind it, if its header can be believed: there is
        // another one where it ends.
        if !intact && (end == self.range.end || self.walker(end)?.is_none()) {
            return Ok(None);
        }
        Ok(Some(FoundPage {
            offset,
            body,
            end,
            header,
            intact,
            gap: Gap::None,
        }))
    }

    /// A walker that stands at the page at `offset`, if a header is there that can be believed.
    fn walker(&mut self, offset: u64) -> Result<Option<PageWalker>> {
        // Every header starts with the field 1, an i32, whose value is small.
        let bytes = self.bytes(offset)?;
        if !matches!(bytes.get(..2), Some([0x15, 0x00 | 0x04 | 0x06])) {
            return Ok(None);
        }
        let mut walker = PageWalker::new(offset..self.range.end, self.range.end);
        let decode = PageHeader::decode_prefix_without_statistics;
        let is_decoded = walker.decode_header(&bytes, &self.limits, decode);
        let is_page = is_decoded.is_ok() && walker.header().is_some_and(plausible);
        Ok(is_page.then_some(walker))
    }

    /// As many bytes from `offset` on as a header may have.
    fn bytes(&mut self, offset: u64) -> Result<Bytes> {
        let wanted = (offset + HEADER_BYTES as u64)
            .min(self.range.end)
            .max(offset);
        let (start, window) = &self.window;
        if offset < *start || wanted > start + window.len() as u64 {
            let end = offset.saturating_add(WINDOW).min(self.range.end);
            self.window = (offset, self.source.read(offset..end.max(offset))?);
        }
        let (start, window) = &self.window;
        let from = usize::try_from(offset - start).unwrap_or(usize::MAX);
        let to = usize::try_from(wanted - start).unwrap_or(usize::MAX);
        Ok(window.slice(from.min(window.len())..to.min(window.len())))
    }
}

/// Whether a writer may have written such a header.
fn plausible(header: &PageHeader) -> bool {
    let known = |encoding: Encoding| !matches!(encoding, Encoding::Unknown(_));
    let levels = |encoding| matches!(encoding, Encoding::Rle | Encoding::BitPacked);
    let particular = match header.type_ {
        PageType::DictionaryPage => header
            .dictionary_page_header
            .as_ref()
            .is_some_and(|it| matches!(it.encoding, Encoding::Plain | Encoding::PlainDictionary)),
        PageType::DataPage => header.data_page_header.as_ref().is_some_and(|it| {
            known(it.encoding)
                && levels(it.definition_level_encoding)
                && levels(it.repetition_level_encoding)
        }),
        PageType::DataPageV2 => header.data_page_header_v2.as_ref().is_some_and(|it| {
            known(it.encoding)
                && it.num_nulls <= it.num_values
                && it.num_rows <= it.num_values
                && it.definition_levels_byte_length <= header.compressed_page_size
                && it.repetition_levels_byte_length <= header.compressed_page_size
        }),
        _ => false,
    };
    let others = [
        header.data_page_header.is_some(),
        header.dictionary_page_header.is_some(),
        header.data_page_header_v2.is_some(),
        header.index_page_header.is_some(),
    ];
    particular && others.iter().filter(|present| **present).count() == 1
}
