//! Checks a column chunk by walking its pages in order, then comparing the totals with the footer.

use std::collections::{BTreeMap, HashSet};

use herringbone_core::bloom_filter::hash;
use herringbone_core::budget::Budget;
use herringbone_core::page::PageWalker;
use herringbone_core::physical::{Block, PageDecoder};
use herringbone_filter::pruning::IndexDecoder;
use herringbone_format::modular_encryption::ChunkCipher;
use herringbone_format::{
    ColumnChunk, ColumnMetaData, Encoding, ErrorKind, Limits, PageHeader, PageType, Result,
};

use super::bloom::Bloom;
use super::column::Column;
use super::finding::{FindingKind, Report, Severity};
use super::geospatial::{self, Geometries};
use super::index::{FoundPage, Indexes};
use super::nesting::Nesting;
use super::observed::{Observed, for_each_plain};
use super::page::PageCheck;
use super::{ChunkId, byte_ranges, encodings, statistics};
use herringbone::ParquetFile;
use herringbone::pages::read_header;
use herringbone::source::Source;

/// The number of levels to decode even if the chunk declares fewer.
const CHECKED_ANYWAY: u64 = 1 << 20;
/// The maximum number of distinct values to count. This bounds the memory.
const MAX_DISTINCT: usize = 1 << 20;

/// A column chunk's total page size in bytes, including headers.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Sizes {
    pub(super) compressed: u64,
    pub(super) uncompressed: u64,
}

/// The results for a column chunk, used later to check the whole row group.
#[derive(Debug, Default)]
pub(super) struct Checked {
    /// The sizes, or `None` if a page was not found.
    pub(super) sizes: Option<Sizes>,
    /// The nesting, or `None` if a page could not be decoded.
    pub(super) nesting: Option<Nesting>,
    pub(super) pages: PageCounts,
}

/// Page counts.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PageCounts {
    pub(super) all: u64,
    /// The number of pages without a checksum. Encrypted pages don't count, because authenticated
    /// encryption takes the place of a checksum.
    pub(super) without_checksum: u64,
}

/// Checks a column chunk in a row group of `num_rows` rows.
///
/// # Errors
/// Fails with [`ErrorKind::Io`] if the source fails.
pub(super) fn check(
    file: &ParquetFile,
    id: ChunkId,
    chunk: &ColumnChunk,
    num_rows: u64,
    column: &Column,
    report: &mut Report,
) -> Result<Checked> {
    let Some((metadata, cipher)) = byte_ranges::readable(file, id, chunk, report) else {
        return Ok(Checked::default());
    };
    if metadata.type_ != column.leaf.physical_type {
        let (found, said) = (metadata.type_, column.leaf.physical_type);
        let message = format!("the column chunk holds {found}, but the schema declares {said}");
        report.error(FindingKind::ColumnMetadata, message);
        return Ok(Checked::default());
    }
    if !metadata.path_in_schema.is_empty() && metadata.path_in_schema != column.path {
        let found = metadata.path_in_schema.join(".");
        let message = format!("path_in_schema is `{found}`, which is not the path of this column");
        report.error(FindingKind::ColumnMetadata, message);
    }
    let Some(range) = byte_ranges::chunk_range(metadata, file.source().len()) else {
        return Ok(Checked::default());
    };
    let (limits, budget) = (file.limits().clone(), Budget::new(file.limits()));
    let created_by = file.metadata().created_by();
    let decoder =
        PageDecoder::with_budget(&column.leaf, metadata.codec, created_by, limits, &budget);
    let decoder = match decoder {
        Ok(decoder) => Some(decoder.encrypted(cipher.clone())),
        Err(error) => {
            report.failed(FindingKind::Page, error)?;
            None
        }
    };
    let old_bounds = statistics::has_old_bounds(metadata.statistics.as_ref(), column);
    let distinct = metadata
        .statistics
        .as_ref()
        .and_then(|statistics| statistics.distinct_count);
    let claimed = metadata.geospatial_statistics.as_ref();
    let element = file.parquet_schema().element(column.ordinal);
    let geometries = Geometries::new(element, claimed);
    if claimed.is_some() && !geospatial::may_have(element) {
        geospatial::none_expected(report);
    }
    let has_dictionary = metadata
        .dictionary_page_offset
        .is_some_and(|dictionary_page_offset| dictionary_page_offset > 0);
    let mut walk = Walk {
        source: &**file.source(),
        limits: file.limits(),
        column,
        metadata,
        walker: PageWalker::new(range, file.source().len())
            .encrypted(cipher.clone(), has_dictionary),
        decoder,
        observed: Some(Observed::new(column, old_bounds)),
        old_bounds,
        distinct: distinct.map(|_| HashSet::new()),
        indexes: indexes(file, chunk, cipher.as_ref(), report)?,
        nesting: Nesting::new(file.parquet_schema(), column.ordinal),
        geometries,
        bloom: Bloom::read(file, id, metadata, report)?,
        encodings: BTreeMap::new(),
        num_values: 0,
        dictionary_page: None,
        dictionary_lost: false,
        first_data_page: None,
        sizes: Sizes::default(),
        page_counts: PageCounts::default(),
        is_encrypted: cipher.is_some(),
    };
    let complete = walk.pages(report)?;
    report.end_page();
    walk.finish(complete, num_rows, report);
    Ok(Checked {
        sizes: complete.then_some(walk.sizes),
        nesting: (complete && walk.observed.is_some()).then_some(walk.nesting),
        pages: walk.page_counts,
    })
}

/// Returns a column chunk's page indexes, as far as they can be decoded.
fn indexes(
    file: &ParquetFile,
    chunk: &ColumnChunk,
    cipher: Option<&ChunkCipher>,
    report: &mut Report,
) -> Result<Indexes> {
    let mut indexes = Indexes::default();
    let (length, limits) = (file.source().len(), file.limits());
    indexes.column_index = index(
        file,
        IndexDecoder::of_column(chunk, length, limits),
        cipher,
        FindingKind::ColumnIndex,
        report,
    )?;
    indexes.offset_index = index(
        file,
        IndexDecoder::of_offsets(chunk, length, limits),
        cipher,
        FindingKind::OffsetIndex,
        report,
    )?;
    Ok(indexes)
}

/// Returns an index if it can be decoded. We don't report an index outside of the file here,
/// because the byte range check does.
fn index<T>(
    file: &ParquetFile,
    decoder: Result<Option<IndexDecoder<T>>>,
    cipher: Option<&ChunkCipher>,
    kind: FindingKind,
    report: &mut Report,
) -> Result<Option<T>> {
    let decoder = match decoder {
        Ok(decoder) => decoder,
        Err(error) if error.kind() == ErrorKind::Corrupt => None,
        Err(error) => {
            report.failed(kind, error)?;
            None
        }
    };
    let Some(decoder) = decoder.map(|decoder| decoder.encrypted(cipher.cloned())) else {
        return Ok(None);
    };
    report.location.offset = Some(decoder.range().start);
    let bytes = file.source().read(decoder.range());
    let decoded = bytes.and_then(|bytes| decoder.decode(&bytes, file.limits()));
    let index = match decoded {
        Ok(index) => Some(index),
        Err(error) => {
            report.failed(kind, error)?;
            None
        }
    };
    report.location.offset = None;
    Ok(index)
}

/// A pass over the pages of a column chunk.
struct Walk<'a> {
    source: &'a dyn Source,
    limits: &'a Limits,
    column: &'a Column,
    metadata: &'a ColumnMetaData,
    walker: PageWalker,
    /// The decoder, or `None` if there is no way to decode values of the type.
    decoder: Option<PageDecoder>,
    /// The actual contents of the pages so far, or `None` after an undecodable page, because all
    /// later counts would be wrong.
    observed: Option<Observed>,
    old_bounds: bool,
    /// The hashes of the distinct values, or `None` if we aren't counting them.
    distinct: Option<HashSet<u64>>,
    indexes: Indexes,
    bloom: Option<Bloom>,
    nesting: Nesting,
    geometries: Option<Geometries<'a>>,
    encodings: BTreeMap<(i32, i32), usize>,
    /// The number of levels that the data page headers declare.
    num_values: u64,
    dictionary_page: Option<u64>,
    /// True if the dictionary page could not be decoded, so that pages using it can't be decoded
    /// either.
    dictionary_lost: bool,
    first_data_page: Option<u64>,
    sizes: Sizes,
    page_counts: PageCounts,
    is_encrypted: bool,
}

impl Walk<'_> {
    /// Visits all pages. Returns false if we had to stop early, because a page can't be skipped and
    /// we don't know where the next page starts.
    fn pages(&mut self, report: &mut Report) -> Result<bool> {
        let end = self.walker.chunk().end;
        while self.walker.position() < end {
            let start = self.walker.start();
            report.begin_page(start.ordinal, start.offset);
            let header = match read_header(self.source, &mut self.walker, self.limits) {
                Ok(header) => header,
                Err(error) => {
                    if self.num_values >= self.declared() {
                        let rest = end - start.offset;
                        let message =
                            format!("{rest} bytes after the last page do not form a page");
                        report.warning(FindingKind::ColumnMetadata, message);
                        return Ok(true);
                    }
                    report.failed(FindingKind::PageHeader, error)?;
                    return Ok(false);
                }
            };
            let body = match self.walker.body() {
                Ok(body) => body,
                Err(error) => {
                    report.failed(FindingKind::PageHeader, error)?;
                    return Ok(false);
                }
            };
            let is_unchecked = header.crc.is_none() && !self.is_encrypted;
            self.page_counts.all += 1;
            self.page_counts.without_checksum += u64::from(is_unchecked);
            self.sizes.compressed += body.end - start.offset;
            self.sizes.uncompressed += self.walker.header_bytes() as u64
                + u64::try_from(header.uncompressed_page_size).unwrap_or_default();
            self.page(&header, body, report)?;
            self.walker.pass();
        }
        Ok(true)
    }

    /// Returns the number of values that the footer declares.
    fn declared(&self) -> u64 {
        u64::try_from(self.metadata.num_values).unwrap_or_default()
    }

    fn page(
        &mut self,
        header: &PageHeader,
        body: std::ops::Range<u64>,
        report: &mut Report,
    ) -> Result<()> {
        let start = self.walker.start();
        let (ordinal, offset) = (start.ordinal, start.offset);
        let is_data = matches!(header.type_, PageType::DataPage | PageType::DataPageV2);
        let Some(mut check) =
            PageCheck::new(header, self.limits, self.column, self.old_bounds, report)
        else {
            if is_data {
                self.observed = None;
            }
            return Ok(());
        };
        *self
            .encodings
            .entry((
                encodings::counted_as(header.type_).id(),
                check.encoding.id(),
            ))
            .or_default() += 1;
        if is_data {
            self.first_data_page.get_or_insert(offset);
            self.num_values += check.num_values;
        } else if !self.dictionary_page_at(offset, report) {
            return Ok(());
        }
        let refers = matches!(
            check.encoding,
            Encoding::RleDictionary | Encoding::PlainDictionary
        );
        // Readers ignore everything after the last value. It could be huge, so we don't decode it.
        let too_many = self.num_values > self.declared().max(CHECKED_ANYWAY);
        let decoded = match &mut self.decoder {
            None => false,
            Some(_) if is_data && refers && self.dictionary_lost => {
                let message = "the values are in a dictionary page that cannot be decoded";
                report.warning(FindingKind::NotChecked, message);
                false
            }
            Some(_) if is_data && too_many => false,
            Some(decoder) => {
                let sink = |block: &Block<'_>| {
                    if !is_data {
                        return;
                    }
                    let values = &block.values;
                    self.nesting.add(block);
                    if let Some(geometries) = &mut self.geometries {
                        geometries.add(values);
                    }
                    if let Some(bloom) = &mut self.bloom {
                        bloom.check(values, ordinal);
                    }
                    if let Some(distinct) = &mut self.distinct {
                        for_each_plain(values, |value| {
                            distinct.insert(hash(value));
                        });
                        if distinct.len() > MAX_DISTINCT {
                            self.distinct = None;
                        }
                    }
                };
                check.decode(self.source, (&start, body.clone()), decoder, sink, report)?
            }
        };
        if is_data {
            self.data_page(ordinal, body.end, &check, decoded, report);
        } else {
            self.dictionary_lost = !decoded;
        }
        Ok(())
    }

    /// Checks a data page ending at `end` against the metadata.
    fn data_page(
        &mut self,
        ordinal: usize,
        end: u64,
        check: &PageCheck<'_>,
        decoded: bool,
        report: &mut Report,
    ) {
        let found = FoundPage {
            offset: self.walker.start().offset,
            size: end - self.walker.start().offset,
            first_row: self.observed.as_ref().map(Observed::rows),
            starts_row: check.starts_row,
            observed: decoded.then_some(&check.observed),
        };
        let is_first = ordinal == usize::from(self.dictionary_page.is_some());
        if is_first && decoded && !check.starts_row {
            report.error(
                FindingKind::Page,
                "the first level of the column chunk does not start a row",
            );
        }
        let impossible = self.nesting.impossible();
        if impossible > 0 {
            let message = format!("{impossible} levels continue lists without elements");
            report.error(FindingKind::Nesting, message);
        }
        self.indexes.page(found, self.column, report);
        match &mut self.observed {
            Some(observed) if decoded => observed.merge(&check.observed),
            observed => *observed = None,
        }
    }

    /// Records a dictionary page. Returns false if it is not the first one.
    fn dictionary_page_at(&mut self, offset: u64, report: &mut Report) -> bool {
        let kind = FindingKind::PageHeader;
        if self.dictionary_page.is_some() {
            report.error(kind, "a second dictionary page");
            return false;
        }
        if self.first_data_page.is_some() {
            report.error(kind, "a dictionary page after a data page");
        }
        self.dictionary_page = Some(offset);
        true
    }

    /// Compares the pages with the metadata in the footer.
    fn finish(&mut self, complete: bool, num_rows: u64, report: &mut Report) {
        if complete {
            self.layout(report);
            encodings::check(self.metadata, &self.encodings, report);
        }
        self.indexes.finish(complete, self.column, report);
        if let Some(bloom) = self.bloom.take() {
            bloom.finish(report);
        }
        if let Some(geometries) = &self.geometries {
            geometries.finish(report);
        }
        let Some(observed) = self.observed.as_ref().filter(|_| complete) else {
            return;
        };
        if observed.rows() != num_rows {
            let rows = observed.rows();
            let message =
                format!("the column chunk has {rows} rows, but its row group has {num_rows}");
            report.error(FindingKind::Rows, message);
        }
        if let Some(claimed) = &self.metadata.statistics {
            let distinct = self.distinct.as_ref().map(|distinct| distinct.len() as u64);
            statistics::check(claimed, self.column, observed, distinct, report);
        }
        if let Some(sizes) = &self.metadata.size_statistics {
            statistics::check_sizes(sizes, self.column, observed, report);
        }
    }

    /// Checks the pages' locations and their total byte and value counts.
    fn layout(&self, report: &mut Report) {
        let kind = FindingKind::ColumnMetadata;
        let metadata = self.metadata;
        if self.num_values != self.declared() {
            let (pages, said) = (self.num_values, metadata.num_values);
            report.error(
                kind,
                format!("num_values is {said}, but the pages have {pages}"),
            );
        }
        let (position, end) = (self.walker.position(), self.walker.chunk().end);
        if position > end {
            let more = position - end;
            let message =
                format!("total_compressed_size is {more} bytes less than the size of the pages");
            report.warning(kind, message);
        }
        let uncompressed = self.sizes.uncompressed;
        if u64::try_from(metadata.total_uncompressed_size) != Ok(uncompressed) {
            let said = metadata.total_uncompressed_size;
            let message =
                format!("total_uncompressed_size is {said}, but the pages have {uncompressed}");
            // Readers only use this size as an estimate.
            report.note(kind, message);
        }
        self.offsets(report);
    }

    /// Checks the offsets of the first data page and of the dictionary page. Readers start at the
    /// lower nonzero offset, so it doesn't matter which of the two belongs to the first page.
    fn offsets(&self, report: &mut Report) {
        let kind = FindingKind::ColumnMetadata;
        let said = |offset: i64| u64::try_from(offset).unwrap_or(u64::MAX);
        let data = said(self.metadata.data_page_offset);
        let dictionary = self.metadata.dictionary_page_offset.map(said);
        let start = dictionary
            .filter(|dictionary| *dictionary > 0)
            .map_or(data, |dictionary| dictionary.min(data));
        let first = self.dictionary_page.or(self.first_data_page);
        let severity = match first.is_none_or(|first| first == start) {
            true => Severity::Note,
            false => Severity::Warning,
        };
        let mut find = |message: String| report.push(severity, kind, message);
        match (dictionary, self.dictionary_page) {
            (None | Some(0), Some(found)) if data == found => {
                find(
                    "data_page_offset points to the dictionary page, and dictionary_page_offset is \
                     missing"
                        .into(),
                );
                return;
            }
            (None, Some(found)) => find(format!(
                "dictionary_page_offset is missing, but there is a dictionary page at {found}"
            )),
            (Some(said), Some(found)) if said != found => find(format!(
                "dictionary_page_offset is {said}, but the dictionary page is at {found}"
            )),
            (Some(said), None) => find(format!(
                "dictionary_page_offset is {said}, but there is no dictionary page"
            )),
            _ => {}
        }
        if let Some(found) = self.first_data_page
            && data != found
        {
            find(format!(
                "data_page_offset is {data}, but the first data page is at {found}"
            ));
        }
    }
}
