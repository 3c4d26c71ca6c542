//! Searches unknown bytes for pages.

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

/// The maximum page header size for a scan. Real headers have at most a few hundred bytes, and we
/// can't trust sizes in random bytes.
const HEADER_BYTES: usize = 64 << 10;
/// The minimum number of bytes in a column chunk's metadata.
const COLUMN_METADATA_BYTES: usize = 20;
/// The largest gap between two pages to examine, in bytes.
const LARGEST_GAP: u64 = 256 << 20;
/// The read window's size in bytes.
const WINDOW: u64 = 4 << 20;

/// A page that was found.
#[derive(Debug, Clone)]
pub(super) struct FoundPage {
    /// The header's offset in the file.
    pub(super) offset: u64,
    /// The body's offset in the file.
    pub(super) body: u64,
    /// The offset of the page's end in the file.
    pub(super) end: u64,
    pub(super) header: PageHeader,
    /// True if the body matches the header's checksum, or if the header does not have one.
    pub(super) intact: bool,
    /// The kind of bytes between the previous page and this one.
    pub(super) gap: Gap,
    /// The bytes in the gap that might be destroyed pages.
    pub(super) unexplained: Range<u64>,
}

/// The kind of bytes between two pages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Gap {
    /// There are no bytes.
    None,
    /// A known structure between column chunks.
    Known,
    /// A known structure, followed by bytes that might be destroyed pages.
    KnownAtFirst,
    /// Bytes that might be destroyed pages.
    Unknown,
}

/// The bytes between two pages.
#[derive(Debug)]
pub(super) struct Between {
    pub(super) gap: Gap,
    /// The bytes that might be destroyed pages.
    pub(super) unexplained: Range<u64>,
    /// True if the first structure only occurs after a row group.
    ends_row_group: bool,
    /// True if the bytes contain a page index.
    has_page_index: bool,
}

/// A structure that writers put between or after column chunks. A gap that consists of these isn't
/// damage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Structure {
    /// A bloom filter, written after each row group or after the last.
    BloomFilter,
    /// A page index, written after the last row group.
    PageIndex,
    /// Column chunk metadata, written after each column chunk by some old writers.
    ColumnMetadata,
}

/// All pages in a part of a file.
#[derive(Debug, Default)]
pub(super) struct FoundPages {
    pub(super) pages: Vec<FoundPage>,
    /// True if a row group ends with the last page, because a footer, an index or a bloom filter
    /// follows.
    pub(super) end_is_known: bool,
    /// The bytes after the last page that might be destroyed pages.
    pub(super) unexplained: Range<u64>,
}

impl FoundPage {
    /// Returns true if there might be destroyed pages before this page.
    pub(super) fn is_behind_damage(&self) -> bool {
        matches!(self.gap, Gap::KnownAtFirst | Gap::Unknown)
    }

    pub(super) fn is_dictionary(&self) -> bool {
        self.header.type_ == PageType::DictionaryPage
    }

    /// Returns true if the page can continue the column chunk of the previous page.
    pub(super) fn goes_on(&self) -> bool {
        self.gap == Gap::None && !self.is_dictionary()
    }

    /// Returns true if the values are indices into a dictionary.
    pub(super) fn refers_to_dictionary(&self) -> bool {
        let dictionaries = [Encoding::RleDictionary, Encoding::PlainDictionary];
        let encoding = self.header.encoding();
        !self.is_dictionary() && encoding.is_some_and(|encoding| dictionaries.contains(&encoding))
    }

    /// Returns the number of levels, or of dictionary entries.
    pub(super) fn num_values(&self) -> u64 {
        u64::try_from(self.header.num_values().unwrap_or_default()).unwrap_or_default()
    }
}

/// Scans a part of a file for pages, from front to back. Everything between two pages is a gap.
pub(super) struct Scan<'a> {
    source: &'a dyn Source,
    range: Range<u64>,
    footer_follows: bool,
    limits: Limits,
    /// The current read window: its file offset and bytes.
    window: (u64, Bytes),
}

impl<'a> Scan<'a> {
    /// Creates a scan of `range`. `footer_follows` is true if a footer starts at the end of the
    /// range.
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

    /// Finds all pages.
    ///
    /// # Errors
    /// Fails with [`ErrorKind::Io`](herringbone::ErrorKind::Io) if the source fails.
    pub(super) fn pages(mut self) -> Result<FoundPages> {
        let mut pages = Vec::new();
        // The end of the last page.
        let mut behind = self.range.start;
        let mut position = behind;
        while position < self.range.end {
            match self.page(position)? {
                Some(mut page) => {
                    let between = self.between(behind..position)?;
                    (page.gap, page.unexplained) = (between.gap, between.unexplained);
                    position = page.end;
                    behind = position;
                    pages.push(page);
                }
                None => position += 1,
            }
        }
        let rest = self.between(behind..self.range.end)?;
        let reaches_footer = self.footer_follows && matches!(rest.gap, Gap::None | Gap::Known);
        let unexplained = match rest.has_page_index {
            // All pages precede the page indexes, so there can't be any destroyed pages after an
            // index.
            true => self.range.end..self.range.end,
            false => rest.unexplained,
        };
        Ok(FoundPages {
            pages,
            end_is_known: reaches_footer || rest.ends_row_group,
            unexplained,
        })
    }

    /// Determines what kind of bytes a gap contains.
    pub(super) fn between(&self, gap: Range<u64>) -> Result<Between> {
        let mut found = Between {
            gap: Gap::None,
            unexplained: gap.end..gap.end,
            ends_row_group: false,
            has_page_index: false,
        };
        if gap.is_empty() {
            return Ok(found);
        }
        let end = gap.end.min(gap.start.saturating_add(LARGEST_GAP));
        let bytes = self.source.read(gap.start..end)?;
        let mut rest = &bytes[..];
        while let Some((length, structure)) = self.known(rest) {
            let is_first = rest.len() == bytes.len();
            found.ends_row_group |= is_first && structure != Structure::ColumnMetadata;
            found.has_page_index |= structure == Structure::PageIndex;
            rest = rest.get(length..).unwrap_or_default();
        }
        found.unexplained.start = end - rest.len() as u64;
        found.gap = match found.unexplained.start {
            start if start == gap.end => Gap::Known,
            start if start == gap.start => Gap::Unknown,
            _ => Gap::KnownAtFirst,
        };
        Ok(found)
    }

    /// Returns the structure at the start of `bytes`, and its length in bytes.
    fn known(&self, bytes: &[u8]) -> Option<(usize, Structure)> {
        if bytes.is_empty() {
            return None;
        }
        if let Ok(Some((header, length))) = BloomFilterHeader::decode_prefix(bytes, &self.limits)
            && header.algorithm == BloomFilterAlgorithm::Block
        {
            let length = length + usize::try_from(header.num_bytes).ok()?;
            return (length <= bytes.len()).then_some((length, Structure::BloomFilter));
        }
        let mut reader = CompactReader::new(bytes, self.limits.schema_depth);
        reader.skip(Wire::Struct).ok()?;
        let length = reader.position();
        let whole = bytes.get(..length)?;
        match whole {
            // Both indexes start with a list field.
            [0x19, ..] => {
                let is_index = OffsetIndex::decode(whole, &self.limits).is_ok()
                    || ColumnIndex::decode(whole, &self.limits).is_ok();
                is_index.then_some((length, Structure::PageIndex))
            }
            // Metadata starts with the physical type, followed by the list of encodings.
            [0x15, _, 0x19, ..] if length >= COLUMN_METADATA_BYTES => {
                Some((length, Structure::ColumnMetadata))
            }
            _ => None,
        }
    }

    /// Returns the page at `offset`, if there is one.
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
        // We skip a damaged body if its header is credible, that is, if another header follows at
        // the body's end. Otherwise, a wrong size could hide later pages.
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
            unexplained: offset..offset,
        }))
    }

    /// Returns a walker positioned at `offset`, if there is a credible header.
    fn walker(&mut self, offset: u64) -> Result<Option<PageWalker>> {
        // Each header starts with field 1, a small i32. Checking this first avoids decoding at most
        // offsets.
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

    /// Returns the bytes at `offset`, up to the maximum size of a header.
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

/// Returns true for a header that a writer could plausibly have written.
fn plausible(header: &PageHeader) -> bool {
    let known = |encoding: Encoding| !matches!(encoding, Encoding::Unknown(_));
    let levels = |encoding| matches!(encoding, Encoding::Rle | Encoding::BitPacked);
    let particular = match header.type_ {
        PageType::DictionaryPage => {
            header
                .dictionary_page_header
                .as_ref()
                .is_some_and(|dictionary_page_header| {
                    matches!(
                        dictionary_page_header.encoding,
                        Encoding::Plain | Encoding::PlainDictionary
                    )
                })
        }
        PageType::DataPage => header
            .data_page_header
            .as_ref()
            .is_some_and(|data_page_header| {
                known(data_page_header.encoding)
                    && levels(data_page_header.definition_level_encoding)
                    && levels(data_page_header.repetition_level_encoding)
            }),
        PageType::DataPageV2 => {
            header
                .data_page_header_v2
                .as_ref()
                .is_some_and(|data_page_header_v2| {
                    known(data_page_header_v2.encoding)
                        && data_page_header_v2.num_nulls <= data_page_header_v2.num_values
                        && data_page_header_v2.num_rows <= data_page_header_v2.num_values
                        && data_page_header_v2.definition_levels_byte_length
                            <= header.compressed_page_size
                        && data_page_header_v2.repetition_levels_byte_length
                            <= header.compressed_page_size
                })
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A column chunk's metadata: its type, one encoding, a path of one long name, and the end.
    const CHUNK: &[u8] = b"\x15\x02\x19\x15\x00\x19\x18\x10abcdefghijklmnop\x00";
    /// An offset index with one page: its offset, its size, its first row, and the ends.
    const INDEX: &[u8] = b"\x19\x1c\x16\x08\x15\x0a\x16\x00\x00\x00";
    /// A bloom filter header: 32 bytes, blocks, XXHASH, not compressed.
    const BLOOM: &[u8] = b"\x15\x40\x1c\x1c\x00\x00\x1c\x1c\x00\x00\x1c\x1c\x00\x00\x00";

    /// The parts of a gap, written by hand in the compact protocol. Each case has their kind, true
    /// if a row group ends before them, true if there is a page index, and the number of explained
    /// bytes.
    #[test]
    fn gaps_are_known_by_the_structures_in_them() {
        let block = [0; 32];
        let bloom = [BLOOM, &block].concat();
        let (junk, all): (&[u8], _) = (&[0xff; 30], usize::MAX);
        type Case<'a> = (&'a [&'a [u8]], Gap, bool, bool, usize);
        let table: [Case<'_>; 11] = [
            (&[], Gap::None, false, false, all),
            (&[CHUNK], Gap::Known, false, false, all),
            (&[INDEX], Gap::Known, true, true, all),
            (&[&bloom], Gap::Known, true, false, all),
            // Only the first structure is next to the pages.
            (&[CHUNK, INDEX], Gap::Known, false, true, all),
            (&[INDEX, CHUNK], Gap::Known, true, true, all),
            (&[&bloom, &bloom, INDEX], Gap::Known, true, true, all),
            (&[junk], Gap::Unknown, false, false, 0),
            (&[BLOOM, &block[1..]], Gap::Unknown, false, false, 0),
            (&[&bloom, junk], Gap::KnownAtFirst, true, false, bloom.len()),
            (&[CHUNK, junk], Gap::KnownAtFirst, false, false, CHUNK.len()),
        ];
        for (at, (parts, gap, ends_row_group, has_page_index, explained)) in
            table.into_iter().enumerate()
        {
            let bytes = Bytes::from([b"PAR1", parts.concat().as_slice()].concat());
            let end = bytes.len() as u64;
            let scan = Scan::new(&bytes, 4..end, true, &Limits::default());
            let found = scan.between(4..end).unwrap();
            assert_eq!(found.gap, gap, "case {at}");
            assert_eq!(found.ends_row_group, ends_row_group, "case {at}");
            assert_eq!(found.has_page_index, has_page_index, "case {at}");
            let start = (explained as u64).saturating_add(4).min(end);
            assert_eq!(found.unexplained, start..end, "case {at}");
        }
    }
}
