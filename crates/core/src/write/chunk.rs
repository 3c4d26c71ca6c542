//! The pages of a column chunk, as they are finished, and what its metadata says about them.

use std::sync::Arc;

use herringbone_format::modular_encryption::{ChunkCipher, ModuleKind};
use herringbone_format::thrift::CompactWriter;
use herringbone_format::{
    ColumnIndex, ColumnMetaData, CompressionCodec, DataPageHeader, DataPageHeaderV2,
    DictionaryPageHeader, Encoding, Error, OffsetIndex, PageEncodingStats, PageHeader,
    PageLocation, PageType, Result, SizeStatistics, Statistics, Type,
};

use super::bounds::Bounds;
use super::choice::{ChunkChoice, EncodingEstimate, StoredAs};
use super::chunked_buffer::{self, ChunkedBuffer};
use super::column_statistics::ChunkStatistics;
use super::heap_bytes;
use super::options::{DataPageVersion, StatisticsLevel};
use super::settings::ColumnSettings;
use crate::bloom_filter::BloomFilter;
use crate::compression::{Compression, compress, compress_cut};
use crate::encoding::byte_stream_split;
use crate::encoding::length;
use crate::levels::EncodedLevels;
use crate::statistics::{ColumnIndexBuilder, EncodedBounds, OffsetIndexBuilder, PageSummary};

/// Bytes of levels, and of values, from which on the codec learns anew what bytes there are: it takes some 100 to say.
const LEAST_SECTION: usize = 2048;

/// A column chunk that is ready for the file. Offsets count from the start of the chunk.
#[derive(Debug)]
pub struct EncodedColumn {
    /// The dictionary page; empty if there is none.
    pub(crate) dictionary_page: Vec<u8>,
    /// The data pages, cut anywhere.
    pub(crate) data_pages: Vec<Vec<u8>>,
    /// Offsets and paths are filled in when the place in the file is known.
    pub(crate) metadata: ColumnMetaData,
    pub(crate) offset_index: Option<OffsetIndex>,
    pub(crate) column_index: Option<ColumnIndex>,
    /// Header and bits of the bloom filter.
    pub(crate) bloom_filter: Option<Vec<u8>>,
    pub(crate) num_rows: u64,
    /// How it is stored, and why.
    pub(super) choice: ChunkChoice,
}

impl EncodedColumn {
    /// Bytes held.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        self.dictionary_page.capacity()
            + chunked_buffer::heap_bytes(&self.data_pages)
            + self.bloom_filter.as_ref().map_or(0, Vec::capacity)
            + self.metadata_bytes()
    }

    /// Bytes held by what stays when the pages are given out.
    pub(super) fn metadata_bytes(&self) -> usize {
        heap_bytes::by_metadata(&self.metadata)
            + heap_bytes::by_indexes(self.column_index.as_ref(), self.offset_index.as_ref())
    }
}

/// Pages of a column chunk under construction.
pub(crate) struct ChunkBuilder {
    settings: Arc<ColumnSettings>,
    version: DataPageVersion,
    compression: Compression,
    data_pages: ChunkedBuffer,
    num_rows: u64,
    num_levels: u64,
    num_nulls: u64,
    /// Bytes of headers and bodies before compression.
    uncompressed: u64,
    bounds: Bounds,
    offset_index: OffsetIndexBuilder,
    byte_array_bytes: i64,
    column_index: ColumnIndexBuilder,
    encodings: Vec<PageEncodingStats>,
    rep_histogram: Vec<u64>,
    def_histogram: Vec<u64>,
    /// Memory for bodies, uncompressed and compressed.
    body: Vec<u8>,
    compressed: Vec<u8>,
    /// What encrypts the pages, if they are to be encrypted, and how many data pages it did.
    cipher: Option<ChunkCipher>,
    num_data_pages: usize,
    /// What comes in front of a body: levels that are neither compressed nor encrypted, or what encryption puts there.
    front: Vec<u8>,
}

/// The entries of a dictionary page.
pub(crate) struct DictionaryEntries<'a> {
    /// In their PLAIN form.
    pub(crate) plain: &'a [u8],
    pub(crate) num_values: usize,
    /// Whether they ascend.
    pub(crate) is_sorted: bool,
}

/// A data page that is about to be written.
pub(crate) struct DataPage<'a> {
    pub(crate) levels: &'a EncodedLevels,
    pub(crate) encoding: Encoding,
    /// Bounds of its values.
    pub(crate) bounds: &'a Bounds,
    /// Bytes of its byte arrays.
    pub(crate) byte_array_bytes: usize,
}

impl ChunkBuilder {
    pub(crate) fn new(settings: Arc<ColumnSettings>, cipher: Option<ChunkCipher>) -> Self {
        Self {
            data_pages: ChunkedBuffer::default(),
            num_rows: 0,
            num_levels: 0,
            num_nulls: 0,
            uncompressed: 0,
            bounds: Bounds::new(&settings),
            offset_index: OffsetIndexBuilder::new(),
            byte_array_bytes: 0,
            column_index: ColumnIndexBuilder::new(settings.leaf.order, settings.leaf.physical_type),
            encodings: Vec::new(),
            rep_histogram: Vec::new(),
            def_histogram: Vec::new(),
            body: Vec::new(),
            compressed: Vec::new(),
            cipher,
            num_data_pages: 0,
            front: Vec::new(),
            version: settings.version,
            compression: settings.compression,
            settings,
        }
    }

    /// Chooses the version of all data pages, none of which is there yet.
    pub(crate) fn choose_version(&mut self, version: DataPageVersion) {
        self.version = version;
    }

    /// Chooses how pages are compressed; as long as there is none.
    pub(crate) fn choose_compression(&mut self, compression: Compression) {
        if self.num_data_pages == 0 {
            self.compression = compression;
        }
    }

    /// Bytes of the pages so far.
    pub(crate) fn len(&self) -> usize {
        self.data_pages.len()
    }

    /// Bytes held.
    pub(crate) fn heap_bytes(&self) -> usize {
        self.data_pages.heap_bytes()
            + self.body.capacity()
            + self.compressed.capacity()
            + self.front.capacity()
            + self.bounds.heap_bytes()
            + self.offset_index.heap_bytes()
            + self.column_index.heap_bytes()
    }

    /// Writes a data page; `append_values` appends its values section.
    ///
    /// # Errors
    /// Limit where the page is larger than its header can say; Feature where the codec is not
    /// compiled in.
    pub(crate) fn data_page(
        &mut self,
        page: &DataPage<'_>,
        append_values: impl FnOnce(&mut Vec<u8>),
    ) -> Result<()> {
        let levels = page.levels;
        self.front.clear();
        self.body.clear();
        self.compressed.clear();
        let start = self.data_pages.len();
        let header = match self.version {
            DataPageVersion::V1 => self.body_v1(page, append_values)?,
            DataPageVersion::V2 => self.body_v2(page, append_values)?,
        };
        let is_uncompressed = self.compressed.is_empty();
        self.uncompressed += (self.front.len() + self.body.len()) as u64;
        self.push_page(header, is_uncompressed)?;

        let location = PageLocation::new(
            start as i64,
            length(self.data_pages.len() - start)?,
            self.num_rows as i64,
        );
        let byte_array_bytes = page.byte_array_bytes as i64;
        self.offset_index
            .push(location, self.is_byte_array().then_some(byte_array_bytes));
        self.byte_array_bytes += byte_array_bytes;
        self.num_rows += levels.num_rows as u64;
        self.num_levels += levels.num_levels as u64;
        self.num_nulls += levels.num_nulls as u64;
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

    /// Levels and values, compressed together.
    fn body_v1(
        &mut self,
        page: &DataPage<'_>,
        append_values: impl FnOnce(&mut Vec<u8>),
    ) -> Result<PageHeader> {
        let levels = page.levels;
        let are_apart = self.compression == Compression::Uncompressed && self.cipher.is_none();
        let before_values = match are_apart {
            true => &mut self.front,
            false => &mut self.body,
        };
        for section in [&levels.rep, &levels.def] {
            if !section.is_empty() {
                let bytes = length(section.len())?;
                before_values.extend_from_slice(&bytes.to_le_bytes());
                before_values.extend_from_slice(section);
            }
        }
        let levels_end = self.body.len();
        append_values(&mut self.body);
        if self.compression != Compression::Uncompressed {
            let cuts = self.cuts(page.encoding, levels_end);
            compress_cut(self.compression, &self.body, &cuts, &mut self.compressed)?;
        }
        let num_values = length(levels.num_levels)?;
        let of_page = DataPageHeader::new(num_values, page.encoding, Encoding::Rle, Encoding::Rle);
        let bytes = self.front.len() + self.body.len();
        Ok(header(PageType::DataPage, bytes)?.data_page_header(of_page))
    }

    /// Where the body goes on with bytes of another kind, if the codec makes something of that: behind its levels,
    /// and between the streams of BYTE_STREAM_SPLIT.
    fn cuts(&self, encoding: Encoding, levels_end: usize) -> Vec<usize> {
        if !matches!(self.compression, Compression::Zstd(_)) {
            return Vec::new();
        }
        let values = self.body.len() - levels_end;
        let mut cuts = Vec::new();
        if levels_end.min(values) >= LEAST_SECTION {
            cuts.push(levels_end);
        }
        if encoding == Encoding::ByteStreamSplit {
            let leaf = &self.settings.leaf;
            let cuts_of_streams = byte_stream_split::cuts(leaf, values);
            cuts.extend(cuts_of_streams.map(|cut| levels_end + cut));
        }
        cuts
    }

    /// Levels, then values, which alone are compressed, and only if that makes them smaller, or enough smaller.
    fn body_v2(
        &mut self,
        page: &DataPage<'_>,
        append_values: impl FnOnce(&mut Vec<u8>),
    ) -> Result<PageHeader> {
        let levels = page.levels;
        let before_values = match self.cipher {
            None => &mut self.front,
            Some(_) => &mut self.body,
        };
        before_values.extend_from_slice(&levels.rep);
        before_values.extend_from_slice(&levels.def);
        let levels_end = self.body.len();
        append_values(&mut self.body);
        let values = self.body.get(levels_end..).unwrap_or_default();
        if self.compression != Compression::Uncompressed && !values.is_empty() {
            let front = self.body.get(..levels_end).unwrap_or_default();
            self.compressed.extend_from_slice(front);
            let mut cuts = self.cuts(page.encoding, levels_end);
            cuts.retain(|cut| *cut > levels_end);
            cuts.iter_mut().for_each(|cut| *cut -= levels_end);
            compress_cut(self.compression, values, &cuts, &mut self.compressed)?;
            let compressed = self.compressed.len() - levels_end;
            if !self.settings.codec_pays(values.len(), compressed) {
                self.compressed.clear();
            }
        }
        let of_page = DataPageHeaderV2::new(
            length(levels.num_levels)?,
            length(levels.num_nulls)?,
            length(levels.num_rows)?,
            page.encoding,
            length(levels.def.len())?,
            length(levels.rep.len())?,
        )
        .is_compressed(!self.compressed.is_empty());
        let bytes = self.front.len() + self.body.len();
        Ok(header(PageType::DataPageV2, bytes)?.data_page_header_v2(of_page))
    }

    /// Appends header and body: the one that is not compressed, or the compressed one.
    fn push_page(&mut self, header: PageHeader, is_uncompressed: bool) -> Result<()> {
        let body = if is_uncompressed {
            &mut self.body
        } else {
            &mut self.compressed
        };
        if let Some(cipher) = &self.cipher {
            let id = cipher.page(ModuleKind::DataPage, self.num_data_pages);
            let levels = header.data_page_header_v2.as_ref().map_or(0, |v2| {
                (v2.definition_levels_byte_length + v2.repetition_levels_byte_length) as usize
            });
            self.front.clear();
            let modules = cipher.modules();
            modules.encrypt_page(&id, levels, body, &mut self.front)?;
        }
        let header = finish_header(header, [&self.front, body], self.settings.crc)?;
        let kind = ModuleKind::DataPageHeader;
        let header = encrypted_header(self.cipher.as_ref(), (kind, self.num_data_pages), header)?;
        self.num_data_pages += 1;
        self.uncompressed += header.len() as u64;
        self.data_pages.push(&header);
        self.data_pages.push(&self.front);
        self.data_pages.push_or_take(body);
        Ok(())
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

    /// The dictionary page with this body.
    fn dictionary_page(&mut self, entries: DictionaryEntries<'_>) -> Result<Vec<u8>> {
        let DictionaryEntries {
            plain,
            num_values,
            is_sorted,
        } = entries;
        self.compressed.clear();
        let body = if self.compression == Compression::Uncompressed {
            plain
        } else {
            compress(self.compression, plain, &mut self.compressed)?;
            &self.compressed
        };
        let of_page = DictionaryPageHeader::new(length(num_values)?, Encoding::Plain)
            .is_sorted(is_sorted.then_some(true));
        let header = header(PageType::DictionaryPage, plain.len())?.dictionary_page_header(of_page);
        let module = match &self.cipher {
            Some(cipher) => Some(cipher.encrypt(ModuleKind::DictionaryPage, body)?),
            None => None,
        };
        let body = module.as_deref().unwrap_or(body);
        let header = finish_header(header, [&[], body], self.settings.crc)?;
        let kind = ModuleKind::DictionaryPageHeader;
        let mut page = encrypted_header(self.cipher.as_ref(), (kind, 0), header)?;
        self.uncompressed += (page.len() + plain.len()) as u64;
        page.extend_from_slice(body);
        Ok(page)
    }

    /// The whole chunk. `stored_as` and `estimates` say what was chosen from what, `distinct` the number of distinct values, if it is known; `statistics` are those that others made.
    ///
    /// # Errors
    /// As [`Self::data_page`].
    pub(crate) fn finish(
        mut self,
        (stored_as, estimates): (StoredAs, Vec<EncodingEstimate>),
        dictionary: Option<DictionaryEntries<'_>>,
        distinct: Option<u64>,
        statistics: ChunkStatistics,
        bloom_filter: Option<BloomFilter>,
    ) -> Result<EncodedColumn> {
        let bloom_filter = bloom_filter
            .map(|filter| self.bloom_filter(&filter))
            .transpose()?;
        let ChunkStatistics {
            geospatial,
            without_bounds,
        } = statistics;
        let dictionary_page = match dictionary {
            Some(entries) => {
                self.encodings.insert(
                    0,
                    PageEncodingStats::new(PageType::DictionaryPage, Encoding::Plain, 1),
                );
                self.dictionary_page(entries)?
            }
            None => Vec::new(),
        };
        let leaf = &self.settings.leaf;
        let metadata = ColumnMetaData::new(
            leaf.physical_type,
            self.all_encodings(),
            self.codec(),
            count(self.num_levels)?,
            count(self.uncompressed)?,
            count((dictionary_page.len() + self.data_pages.len()) as u64)?,
            dictionary_page.len() as i64,
        )
        .path_in_schema(leaf.path.clone())
        .dictionary_page_offset((!dictionary_page.is_empty()).then_some(0))
        .statistics(self.statistics(distinct, without_bounds))
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
        let data_offset = dictionary_page.len() as i64;
        Ok(EncodedColumn {
            dictionary_page,
            data_pages: self.data_pages.finish(),
            metadata,
            offset_index: page_index.then(|| self.offset_index.finish(data_offset)),
            column_index: if page_index
                && self.settings.statistics >= StatisticsLevel::Page
                && !without_bounds
            {
                self.column_index.finish()
            } else {
                None
            },
            bloom_filter,
            num_rows: self.num_rows,
            choice: ChunkChoice {
                stored_as,
                compression: self.compression,
                version: self.version,
                estimates,
            },
        })
    }

    /// Header and bits of a bloom filter.
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

    /// Every encoding in the chunk, those of levels included, each once.
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

    fn statistics(&self, distinct: Option<u64>, without_bounds: bool) -> Statistics {
        let bounds = match without_bounds {
            true => EncodedBounds::default(),
            false => self.bounds.encode(&self.settings),
        };
        bounds
            .into_statistics(self.num_nulls as i64)
            .distinct_count(distinct.map(|count| count as i64))
    }
}

fn header(type_: PageType, uncompressed: usize) -> Result<PageHeader> {
    Ok(PageHeader::new(type_, length(uncompressed)?, 0))
}

/// The bytes of a header, once the body is known that it stands in front of, in two parts.
fn finish_header(mut header: PageHeader, body: [&[u8]; 2], crc: bool) -> Result<Vec<u8>> {
    header.compressed_page_size = length(body.iter().map(|part| part.len()).sum())?;
    header.crc = crc.then(|| {
        let mut checksum = crc32fast::Hasher::new();
        body.iter().for_each(|part| checksum.update(part));
        checksum.finalize().cast_signed()
    });
    let mut writer = CompactWriter::new();
    header.encode(&mut writer);
    Ok(writer.finish())
}

/// A header as it is in the file: that of the data page at an ordinal, or of a dictionary page.
fn encrypted_header(
    cipher: Option<&ChunkCipher>,
    (kind, ordinal): (ModuleKind, usize),
    header: Vec<u8>,
) -> Result<Vec<u8>> {
    let Some(cipher) = cipher else {
        return Ok(header);
    };
    let mut module = Vec::new();
    let id = cipher.page(kind, ordinal);
    cipher.modules().encrypt(&id, &header, &mut module)?;
    Ok(module)
}

/// A size or number as the format stores it.
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
