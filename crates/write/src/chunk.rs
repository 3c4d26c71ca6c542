//! Column chunks: the metadata collected page by page, and the finished chunk.

use std::sync::Arc;

use herringbone_format::modular_encryption::{ChunkCipher, ModuleKind};
use herringbone_format::{
    ColumnIndex, ColumnMetaData, CompressionCodec, DataPageHeader, DataPageHeaderV2,
    DictionaryPageHeader, Encoding, Error, OffsetIndex, PageEncodingStats, PageHeader, PageType,
    Result, SizeStatistics, Statistics, Type,
};

use super::bounds::Bounds;
use super::choice::CarriedChoice;
use super::chunk_pages::ChunkPages;
use super::chunked_buffer::ChunkedBuffer;
use super::column_statistics::ChunkStatistics;
use super::content_defined::Chunker;
use super::explanation::{ChunkChoice, EncodingEstimate, StoredAs};
use super::heap_bytes;
use super::options::{DataPageVersion, StatisticsLevel};
use super::page::{PageBuffers, PagePlace, PageSink, UnfinishedPage, finish_header};
use super::settings::ColumnSettings;
use herringbone_core::bloom_filter::BloomFilter;
use herringbone_core::compression::Compression;
use herringbone_core::encoding::length;
use herringbone_core::levels::EncodedLevels;
use herringbone_core::statistics::{ColumnIndexBuilder, EncodedBounds, PageSummary};

/// A finished column chunk, ready to be written. Its offsets are relative to the chunk's start, since its place in the
/// file is not known yet.
#[derive(Debug)]
pub struct EncodedColumn {
    /// The dictionary page, or empty if there is none.
    pub(crate) dictionary_page: Vec<u8>,
    pub(crate) data_pages: ChunkedBuffer,
    /// The chunk's metadata. Offsets and paths are filled in once the place in the file is known.
    pub(crate) metadata: ColumnMetaData,
    pub(crate) offset_index: Option<OffsetIndex>,
    pub(crate) column_index: Option<ColumnIndex>,
    /// The bloom filter's header and bits.
    pub(crate) bloom_filter: Option<Vec<u8>>,
    pub(crate) num_rows: u64,
    /// The number of values that get a key when the column is read as dictionaries. That is, the dictionary page's
    /// values, plus all values in pages without indices.
    pub(super) keyed_values: u64,
    /// The chunk's form and the reasons for it.
    pub(super) choice: ChunkChoice,
}

impl EncodedColumn {
    /// Returns the number of rows.
    #[must_use]
    pub fn num_rows(&self) -> u64 {
        self.num_rows
    }

    /// Returns the number of reserved bytes.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        self.dictionary_page.capacity()
            + self.data_pages.heap_bytes()
            + self.bloom_filter.as_ref().map_or(0, Vec::capacity)
            + self.metadata_bytes()
    }

    /// Returns the number of bytes still reserved after the pages have been written.
    pub(super) fn metadata_bytes(&self) -> usize {
        heap_bytes::by_metadata(&self.metadata)
            + heap_bytes::by_indexes(self.column_index.as_ref(), self.offset_index.as_ref())
    }
}

/// A column chunk that only lacks its data pages. Use this to assemble pages that were finished elsewhere, for example
/// on other threads.
#[derive(Debug)]
pub struct EndedColumn {
    /// The chunk without data pages and offset index. Its sizes don't include them.
    column: EncodedColumn,
    num_pages: usize,
    has_offset_index: bool,
    /// The choice made for the chunk. It might be reused for the next row group.
    pub(super) choice: Option<CarriedChoice>,
    /// The hash after the last row, if pages are content-defined.
    pub(super) chunker: Option<Chunker>,
}

impl EndedColumn {
    /// Adds the data pages to the chunk.
    ///
    /// # Errors
    /// Fails with [`Argument`](herringbone_format::ErrorKind::Argument) if their number does not match the chunk.
    pub fn with_pages(self, pages: ChunkPages) -> Result<EncodedColumn> {
        if pages.num_pages() != self.num_pages {
            return Err(Error::argument(
                "the number of data pages does not match the column chunk",
            ));
        }
        let mut column = self.column;
        let metadata = &mut column.metadata;
        metadata.total_uncompressed_size += count(pages.uncompressed)?;
        metadata.total_compressed_size += count(pages.bytes() as u64)?;
        let data_offset = metadata.data_page_offset;
        let (data_pages, offset_index) = pages.finish(data_offset);
        column.data_pages = data_pages;
        column.offset_index = self.has_offset_index.then_some(offset_index);
        Ok(column)
    }
}

/// The metadata of a column chunk under construction. It is collected while the chunk's pages pass to a [`PageSink`].
pub(crate) struct ChunkBuilder {
    settings: Arc<ColumnSettings>,
    version: DataPageVersion,
    compression: Compression,
    num_rows: u64,
    num_levels: u64,
    num_nulls: u64,
    /// The number of values in pages without indices.
    num_plain: u64,
    bounds: Bounds,
    byte_array_bytes: i64,
    column_index: ColumnIndexBuilder,
    encodings: Vec<PageEncodingStats>,
    rep_histogram: Vec<u64>,
    def_histogram: Vec<u64>,
    /// The next page's memory.
    buffers: PageBuffers,
    /// The page cipher, if pages are to be encrypted.
    cipher: Option<ChunkCipher>,
    num_data_pages: usize,
}

/// The entries of a dictionary page.
pub(crate) struct DictionaryEntries<'a> {
    /// The entries in PLAIN.
    pub(crate) plain: &'a [u8],
    pub(crate) num_values: usize,
    /// True if the entries are in ascending order.
    pub(crate) is_sorted: bool,
}

/// A data page about to be written.
pub(crate) struct DataPage<'a> {
    pub(crate) levels: &'a EncodedLevels,
    pub(crate) encoding: Encoding,
    /// The bounds of the page's values.
    pub(crate) bounds: &'a Bounds,
    /// The number of bytes in the page's byte arrays.
    pub(crate) byte_array_bytes: usize,
}

impl ChunkBuilder {
    pub(crate) fn new(settings: Arc<ColumnSettings>, cipher: Option<ChunkCipher>) -> Self {
        Self {
            num_rows: 0,
            num_levels: 0,
            num_nulls: 0,
            num_plain: 0,
            bounds: Bounds::new(&settings),
            byte_array_bytes: 0,
            column_index: ColumnIndexBuilder::new(settings.leaf.order, settings.leaf.physical_type),
            encodings: Vec::new(),
            rep_histogram: Vec::new(),
            def_histogram: Vec::new(),
            buffers: PageBuffers::default(),
            cipher,
            num_data_pages: 0,
            version: settings.version,
            compression: settings.compression,
            settings,
        }
    }

    /// Sets the version of all data pages. This must be called before the first page is written.
    pub(crate) fn choose_version(&mut self, version: DataPageVersion) {
        self.version = version;
    }

    /// Sets the page compression, unless a page has already been written.
    pub(crate) fn choose_compression(&mut self, compression: Compression) {
        if self.num_data_pages == 0 {
            self.compression = compression;
        }
    }

    /// Returns the number of reserved bytes.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.buffers.heap_bytes() + self.bounds.heap_bytes() + self.column_index.heap_bytes()
    }

    /// Passes a data page to the sink.
    ///
    /// `append_values` appends the given bytes and the values section to a buffer. It records the offsets where bytes
    /// of another kind begin, and returns the offset of the appended bytes.
    ///
    /// # Errors
    /// Fails with `Limit` if the page is larger than its header can record, and with the sink's errors.
    pub(crate) fn data_page(
        &mut self,
        page: &DataPage<'_>,
        append_values: impl FnOnce(&[u8], &mut Vec<u8>, &mut Vec<usize>) -> usize,
        sink: &mut dyn PageSink,
    ) -> Result<()> {
        let levels = page.levels;
        let mut buffers = std::mem::take(&mut self.buffers);
        buffers.start();
        let PageBuffers {
            front,
            body,
            section_starts,
            start,
            levels_end,
            ..
        } = &mut buffers;
        let header = match self.version {
            DataPageVersion::V1 => levels_v1(page, front, section_starts)?,
            DataPageVersion::V2 => levels_v2(page, front)?,
        };
        match self.levels_are_apart() {
            true => *start = append_values(&[], body, section_starts),
            false => {
                *start = append_values(front, body, section_starts);
                *levels_end = front.len();
                front.clear();
            }
        }
        buffers.end(self.cipher.is_some() && self.compression == Compression::Uncompressed);
        let byte_array_bytes = page.byte_array_bytes as i64;
        self.buffers = sink.page(UnfinishedPage {
            settings: self.settings.clone(),
            compression: self.compression,
            cipher: self.cipher.clone(),
            place: PagePlace {
                ordinal: self.num_data_pages,
                first_row: self.num_rows,
                byte_array_bytes: self.is_byte_array().then_some(byte_array_bytes),
            },
            header,
            buffers,
        })?;
        self.num_data_pages += 1;
        self.byte_array_bytes += byte_array_bytes;
        self.num_rows += levels.num_rows as u64;
        self.num_levels += levels.num_levels as u64;
        self.num_nulls += levels.num_nulls as u64;
        if page.encoding != Encoding::RleDictionary {
            self.num_plain += (levels.num_levels - levels.num_nulls) as u64;
        }
        add(&mut self.rep_histogram, &levels.rep_histogram);
        add(&mut self.def_histogram, &levels.def_histogram);
        self.count(PageType::DataPage, page.encoding);
        if self.settings.statistics >= StatisticsLevel::Chunk {
            self.bounds.merge(page.bounds);
        }
        if self.settings.statistics >= StatisticsLevel::Page && self.settings.page_index {
            self.column_index.push(PageSummary {
                null_page: levels.num_levels == levels.num_nulls,
                bounds: &page.bounds.encode(&self.settings),
                null_count: levels.num_nulls as i64,
                repetition_levels: &levels.rep_histogram,
                definition_levels: &levels.def_histogram,
            });
        }
        Ok(())
    }

    /// Returns the number of values in the chunk so far, including nulls.
    pub(crate) fn num_levels(&self) -> usize {
        usize::try_from(self.num_levels).unwrap_or(usize::MAX)
    }

    /// Returns true if levels and values are neither compressed together nor encrypted together.
    fn levels_are_apart(&self) -> bool {
        let together = match self.version {
            DataPageVersion::V1 => self.compression != Compression::Uncompressed,
            DataPageVersion::V2 => false,
        };
        !together && self.cipher.is_none()
    }

    fn count(&mut self, page_type: PageType, encoding: Encoding) {
        let page_type = match (page_type, self.version) {
            (PageType::DataPage, DataPageVersion::V2) => PageType::DataPageV2,
            (page_type, _) => page_type,
        };
        let known = self
            .encodings
            .iter_mut()
            .find(|known| (known.page_type, known.encoding) == (page_type, encoding));
        match known {
            Some(known) => known.count = known.count.saturating_add(1),
            None => self
                .encodings
                .push(PageEncodingStats::new(page_type, encoding, 1)),
        }
    }

    /// Returns the dictionary page with these entries, and its uncompressed size in bytes.
    fn dictionary_page(&self, entries: DictionaryEntries<'_>) -> Result<(Vec<u8>, usize)> {
        let DictionaryEntries {
            plain,
            num_values,
            is_sorted,
        } = entries;
        let mut compressed = Vec::new();
        let body = if self.compression == Compression::Uncompressed {
            plain
        } else {
            self.settings
                .compress(self.compression, plain, &[], &mut compressed)?;
            &compressed
        };
        let page_header = DictionaryPageHeader::new(length(num_values)?, Encoding::Plain)
            .is_sorted(is_sorted.then_some(true));
        let mut header = PageHeader::new(PageType::DictionaryPage, length(plain.len())?, 0)
            .dictionary_page_header(page_header);
        let module = match &self.cipher {
            Some(cipher) => Some(cipher.encrypt(ModuleKind::DictionaryPage, body)?),
            None => None,
        };
        let body = module.as_deref().unwrap_or(body);
        let header = finish_header(&mut header, [&[], body], self.settings.crc)?;
        let mut page = match &self.cipher {
            Some(cipher) => cipher.encrypt(ModuleKind::DictionaryPageHeader, &header)?,
            None => header,
        };
        let uncompressed = page.len() + plain.len();
        page.extend_from_slice(body);
        Ok((page, uncompressed))
    }

    /// Finishes everything but the data pages.
    ///
    /// `stored_as` and `estimates` report the chunk's form and its alternatives, while `choice` is passed on to the
    /// next row group. `distinct` is the number of distinct values, if known. `statistics` are the additional
    /// statistics from the caller's factories.
    ///
    /// # Errors
    /// Fails with `Limit` if the dictionary page is larger than its header can record, and with the errors of codecs
    /// and of encryption.
    pub(crate) fn finish(
        mut self,
        (stored_as, estimates, choice): (StoredAs, Vec<EncodingEstimate>, Option<CarriedChoice>),
        dictionary: Option<DictionaryEntries<'_>>,
        distinct: Option<u64>,
        statistics: ChunkStatistics,
        bloom_filter: Option<BloomFilter>,
    ) -> Result<EndedColumn> {
        let bloom_filter = bloom_filter
            .map(|filter| self.bloom_filter(&filter))
            .transpose()?;
        let ChunkStatistics {
            geospatial,
            distinct_count,
            key_values,
            without_bounds,
        } = statistics;
        let counted = distinct.filter(|_| self.settings.distinct_counts);
        let num_entries = dictionary.as_ref().map_or(0, |entries| entries.num_values);
        let (dictionary_page, uncompressed) = match dictionary {
            Some(entries) => {
                self.encodings.insert(
                    0,
                    PageEncodingStats::new(PageType::DictionaryPage, Encoding::Plain, 1),
                );
                self.dictionary_page(entries)?
            }
            None => (Vec::new(), 0),
        };
        let leaf = &self.settings.leaf;
        let metadata = ColumnMetaData::new(
            leaf.physical_type,
            self.all_encodings(),
            self.codec(),
            count(self.num_levels)?,
            count(uncompressed as u64)?,
            count(dictionary_page.len() as u64)?,
            dictionary_page.len() as i64,
        )
        .path_in_schema(leaf.path.clone())
        .dictionary_page_offset((!dictionary_page.is_empty()).then_some(0))
        .key_value_metadata((!key_values.is_empty()).then_some(key_values))
        .statistics(self.statistics(distinct_count.or(counted), without_bounds))
        .encoding_stats(self.encodings.clone())
        .size_statistics(
            SizeStatistics::new()
                .unencoded_byte_array_data_bytes(
                    self.is_byte_array().then_some(self.byte_array_bytes),
                )
                .repetition_level_histogram(histogram(&self.rep_histogram))
                .definition_level_histogram(histogram(&self.def_histogram)),
        )
        .geospatial_statistics(geospatial);
        let page_index = self.settings.page_index && self.num_rows > 0;
        let has_page_bounds = self.settings.statistics >= StatisticsLevel::Page && !without_bounds;
        let column_index = match page_index && has_page_bounds {
            true => self.column_index.finish(),
            false => None,
        };
        let column = EncodedColumn {
            dictionary_page,
            data_pages: ChunkedBuffer::default(),
            metadata,
            offset_index: None,
            column_index,
            bloom_filter,
            num_rows: self.num_rows,
            keyed_values: num_entries as u64 + self.num_plain,
            choice: ChunkChoice {
                stored_as,
                compression: self.compression,
                version: self.version,
                estimates,
            },
        };
        Ok(EndedColumn {
            column,
            num_pages: self.num_data_pages,
            has_offset_index: page_index,
            choice,
            chunker: None,
        })
    }

    /// Returns a bloom filter's header and bits.
    fn bloom_filter(&self, filter: &BloomFilter) -> Result<Vec<u8>> {
        let mut bytes = filter.encode_header();
        let Some(cipher) = &self.cipher else {
            filter.encode_bits(&mut bytes);
            return Ok(bytes);
        };
        let mut bits = Vec::new();
        filter.encode_bits(&mut bits);
        let mut modules = cipher.encrypt(ModuleKind::BloomFilterHeader, &bytes)?;
        modules.extend(cipher.encrypt(ModuleKind::BloomFilterBitset, &bits)?);
        Ok(modules)
    }

    fn is_byte_array(&self) -> bool {
        self.settings.leaf.physical_type == Type::ByteArray
    }

    fn codec(&self) -> CompressionCodec {
        self.compression.codec()
    }

    /// Returns each of the chunk's encodings once, including the level encoding.
    fn all_encodings(&self) -> Vec<Encoding> {
        let mut all: Vec<Encoding> = Vec::new();
        let leaf = &self.settings.leaf;
        let levels = (leaf.max_def_level > 0 || leaf.max_rep_level > 0).then_some(Encoding::Rle);
        for encoding in self
            .encodings
            .iter()
            .map(|page| page.encoding)
            .chain(levels)
        {
            if !all.contains(&encoding) {
                all.push(encoding);
            }
        }
        all
    }

    fn statistics(&self, distinct: Option<u64>, without_bounds: bool) -> Option<Statistics> {
        if self.settings.statistics == StatisticsLevel::None {
            return None;
        }
        let bounds = match without_bounds {
            true => EncodedBounds::default(),
            false => self.bounds.encode(&self.settings),
        };
        let statistics = bounds
            .into_statistics(self.num_nulls as i64)
            .distinct_count(distinct.and_then(|count| i64::try_from(count).ok()));
        Some(statistics)
    }
}

/// Writes version 1 levels, each section prefixed with its length.
fn levels_v1(
    page: &DataPage<'_>,
    out: &mut Vec<u8>,
    section_starts: &mut Vec<usize>,
) -> Result<PageHeader> {
    let levels = page.levels;
    for section in [&levels.rep, &levels.def] {
        if !section.is_empty() {
            let bytes = length(section.len())?;
            out.extend_from_slice(&bytes.to_le_bytes());
            out.extend_from_slice(section);
            section_starts.push(out.len());
        }
    }
    let num_values = length(levels.num_levels)?;
    let page_header = DataPageHeader::new(num_values, page.encoding, Encoding::Rle, Encoding::Rle);
    Ok(PageHeader::new(PageType::DataPage, 0, 0).data_page_header(page_header))
}

/// Writes version 2 levels. Their lengths are in the header.
fn levels_v2(page: &DataPage<'_>, out: &mut Vec<u8>) -> Result<PageHeader> {
    let levels = page.levels;
    out.extend_from_slice(&levels.rep);
    out.extend_from_slice(&levels.def);
    let page_header = DataPageHeaderV2::new(
        length(levels.num_levels)?,
        length(levels.num_nulls)?,
        length(levels.num_rows)?,
        page.encoding,
        length(levels.def.len())?,
        length(levels.rep.len())?,
    )
    .is_compressed(false);
    Ok(PageHeader::new(PageType::DataPageV2, 0, 0).data_page_header_v2(page_header))
}

/// Converts a size or count to the format's type.
fn count(value: u64) -> Result<i64> {
    i64::try_from(value)
        .map_err(|_| Error::beyond_format("bytes or values", value, i64::MAX as u64))
}

fn histogram(counts: &[u64]) -> Option<Vec<i64>> {
    (!counts.is_empty()).then(|| counts.iter().map(|count| *count as i64).collect())
}

fn add(total: &mut Vec<u64>, more: &[u64]) {
    total.resize(more.len().max(total.len()), 0);
    for (total, more) in total.iter_mut().zip(more) {
        *total += more;
    }
}
