//! Splits column chunks, so that several threads can decode one.
//!
//! ```text
//! pages     |   0   |   1   |   2   |   3   |   4   |
//! batches   |  |  |  |  |  |  |  |  |  |  |  |  |  |
//! splits    |           |           |              |
//! ```
//!
//! Splits begin where batches begin, so that their column batches equal those of the undivided column. If a page has
//! rows from two splits, one of them decompresses it and both decode it.
//!
//! The offset index has each page's place and first row. It might be wrong, so each split checks that the next one
//! begins with the expected row. Without an index, we read the page headers. Version 1 headers lack the row count of a
//! list page, so threads [count](Counting) these rows during the read.

mod counting;
mod splitter;

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use herringbone_format::modular_encryption::KeyStep;
use herringbone_format::{OffsetIndex, PageHeader, PageType};

pub(crate) use counting::Counting;
use splitter::{DataPage, Splitter};

use super::open::{ChunkInPlan, OpenRowGroup};
use crate::ReadPlan;
use crate::bytes::FileBytes;
use herringbone_core::column::{ColumnSplit, PageOfRow};
use herringbone_core::loss::OnError;
use herringbone_core::page::decompression_limit::DecompressionLimit;
use herringbone_core::page::{PageMap, PageStart, PageWalker};
use herringbone_filter::pruning::IndexDecoder;

/// The number of bytes to read for a page header. If the header turns out to be longer, we read four times as many.
const HEADER_BYTES: u64 = 512;

/// The minimum work of decoding a value, in bytes. Even a value of few bits takes some time.
const BYTES_PER_VALUE: u64 = 8;

/// The minimum work of a split, in decompressed bytes.
const MIN_BYTES: u64 = 1 << 20;

/// The minimum work of a split, as a multiple of the dictionary size. Each split decodes the dictionary again.
const MIN_DICTIONARIES: u64 = 4;

/// The maximum work of a split, in bytes. Each thread works one split ahead, and its arrays wait in memory.
const MAX_BYTES: u64 = 8 << 20;

/// The number of pages per split column that the read's memory must have room for.
const PAGES_IN_BUDGET: u64 = 16;

/// The most pages in a column that is split. The list of these pages takes a few megabytes.
const MAX_PAGES: usize = 1 << 16;

/// The most bytes an offset index can take per page.
const INDEX_BYTES_PER_PAGE: usize = 64;

/// The number of splits per thread. With more than one, fast threads can do more work than slow ones.
const SPLITS_PER_THREAD: u64 = 8;

/// The share of rows that must be selected for columns to be split: one in `MIN_SHARE`.
const MIN_SHARE: u64 = 4;

/// The most batches in a row group whose columns are split. The list of these batches takes a few megabytes.
const MAX_BATCHES: u64 = 1 << 18;

/// The number of page groups to count per split.
const GROUPS_PER_SPLIT: u64 = 4;

/// The splits of a column shared by threads.
pub(crate) enum LaneSplits {
    /// The column stays whole.
    Whole,
    /// The column has these splits. They share a limit on their decompressed size, unless all of their pages have
    /// already been counted against it.
    Known(Vec<ColumnSplit>, Option<DecompressionLimit>),
    /// The splits become known while threads are counting the pages' rows.
    Counting(Box<Counting>),
}

/// A column chunk's pages.
struct ChunkPages {
    /// The dictionary's decompressed size in bytes.
    dictionary: u64,
    data: Vec<DataPage>,
    /// True if each page's row count is known.
    are_rows_known: bool,
}

/// Returns the decoding work, in bytes.
fn work(bytes: u64, num_values: u64) -> u64 {
    bytes.max(num_values.saturating_mul(BYTES_PER_VALUE))
}

/// Splits a row group's columns. A column stays whole if the other columns keep the threads as busy.
///
/// Page headers and offset indexes are read from `bytes`. It must have all requested bytes.
pub(crate) fn of_row_group(
    row_group: &OpenRowGroup,
    plan: &ReadPlan,
    threads: usize,
    bytes: &mut dyn FileBytes,
) -> Vec<LaneSplits> {
    let options = plan.options();
    let columns = row_group.num_columns();
    let mut splits: Vec<_> = (0..columns).map(|_| LaneSplits::Whole).collect();
    let chunks: Vec<_> = (0..columns).filter_map(|i| row_group.chunk(i)).collect();
    let work_of = |chunk: &ChunkInPlan| work(chunk.uncompressed_size, chunk.num_values);
    let works = chunks.iter().map(work_of);
    let total = works.fold(0, u64::saturating_add);
    let (num_rows, num_wanted) = (row_group.num_rows(), row_group.num_wanted());
    let is_sparse = num_wanted < num_rows / MIN_SHARE;
    let is_endless = num_rows / row_group.batch_rows() as u64 > MAX_BATCHES;
    // If pages become nulls, we don't split any column, because a lost page must only be reported once.
    if is_sparse || is_endless || matches!(options.on_error, OnError::NullPage) {
        return splits;
    }
    let batch_starts = row_group.batch_starts();
    // A column is long if it exceeds a thread's share of the work by a quarter.
    let share = total / threads as u64;
    let is_long = |chunk: &ChunkInPlan| work_of(chunk) > share.saturating_add(share / 4);
    let long = chunks.iter().filter(|chunk| is_long(chunk)).count() as u64;
    // A column with a larger page stays whole, because the memory must have room for `PAGES_IN_BUDGET` pages of each
    // long column.
    let largest_page = plan.limits().memory_bytes / PAGES_IN_BUDGET / long.max(1);
    for (ordinal, (chunk, split)) in chunks.iter().zip(&mut splits).enumerate() {
        let split_bytes = work_of(chunk) / (threads as u64 * SPLITS_PER_THREAD);
        let split_bytes = split_bytes.clamp(MIN_BYTES, MAX_BYTES);
        // Lists can continue on the next page. We only know in which rows they do if all rows are read.
        let can_split = chunk.is_flat || num_wanted == num_rows;
        if !can_split || !is_long(chunk) || work_of(chunk) < 2 * split_bytes {
            continue;
        }
        // With skipped rows, we can't check where splits end, so we don't trust an index.
        let map = (num_wanted == num_rows).then(|| page_map(chunk, num_rows, plan, bytes));
        let mapped = map
            .flatten()
            .and_then(|map| mapped_pages(chunk, &map, largest_page));
        let limit = mapped.as_ref().and(chunk.decompression_limit.clone());
        let pages = match mapped {
            Some(pages) => Some(pages),
            None => data_pages(chunk, num_rows, plan, bytes, largest_page),
        };
        let Some(pages) = pages else {
            continue;
        };
        let split_bytes = split_bytes.max(pages.dictionary.saturating_mul(MIN_DICTIONARIES));
        let splitter = Splitter::new(num_rows, batch_starts.clone(), split_bytes, chunk.is_flat);
        let checks_ends = num_wanted == num_rows;
        *split = if pages.are_rows_known {
            let limit = limit.map(DecompressionLimit::shared);
            split_all(pages.data, splitter, limit, checks_ends)
        } else {
            let group = split_bytes / GROUPS_PER_SPLIT;
            LaneSplits::Counting(Box::new(Counting::new(
                ordinal, pages.data, splitter, group,
            )))
        };
    }
    splits
}

/// Splits a chunk with a known row count for each page.
fn split_all(
    pages: Vec<DataPage>,
    mut splitter: Splitter,
    limit: Option<DecompressionLimit>,
    checks_ends: bool,
) -> LaneSplits {
    let pages = pages.into_iter();
    let mut splits: Vec<_> = pages.filter_map(|page| splitter.add(page)).collect();
    splits.extend(splitter.end());
    if !checks_ends {
        // A split with skipped rows might end before its last page, so we don't check its end.
        splits.iter_mut().for_each(|split| split.end = None);
    }
    match splits.len() {
        0 | 1 => LaneSplits::Whole,
        _ => LaneSplits::Known(splits, limit),
    }
}

/// Returns the pages of a chunk with `num_rows` rows by reading all page headers. Returns `None` if a page is larger
/// than `largest_page` bytes, or if a header is invalid. Decoding the column reports the latter.
fn data_pages(
    chunk: &ChunkInPlan,
    num_rows: u64,
    plan: &ReadPlan,
    bytes: &mut dyn FileBytes,
    largest_page: u64,
) -> Option<ChunkPages> {
    let mut counted = chunk.clone();
    let mut walker = chunk.walker();
    let mut data_pages = Vec::new();
    let mut dictionary = 0;
    let mut rows = Some(0);
    while walker.start().num_values_before < chunk.num_values
        && walker.start().offset < chunk.range.end
    {
        let header = next_header(&mut walker, plan, bytes)?;
        let page = walker.start();
        walker.pass();
        let bytes = u64::try_from(header.uncompressed_page_size).ok()?;
        let compressed = u64::try_from(header.compressed_page_size).ok()?;
        if !header.type_.carries_values() {
            continue;
        }
        if bytes.max(compressed) > largest_page || !counted.allows(&header) {
            return None;
        }
        if header.type_ == PageType::DictionaryPage {
            dictionary = bytes;
            continue;
        }
        let (values_of_page, rows_of_page) = values_and_rows(&header, chunk.is_flat)?;
        if data_pages.len() == MAX_PAGES {
            return None;
        }
        data_pages.push(DataPage {
            place: PageOfRow {
                page,
                rows_before: rows.unwrap_or_default(),
            },
            work: work(bytes, values_of_page),
            shared: None,
        });
        rows = rows.zip(rows_of_page).map(|(before, rows)| before + rows);
    }
    let are_rows_known = match rows {
        Some(rows) if rows != num_rows => return None,
        Some(_) => true,
        None => false,
    };
    Some(ChunkPages {
        dictionary,
        data: data_pages,
        are_rows_known,
    })
}

/// Reads the header of the page at `walker`.
fn next_header(
    walker: &mut PageWalker,
    plan: &ReadPlan,
    bytes: &mut dyn FileBytes,
) -> Option<PageHeader> {
    let start = walker.position();
    let mut length = HEADER_BYTES;
    loop {
        let end = start.saturating_add(length).min(walker.end());
        let found = read(bytes, start.min(end)..end)?;
        let limits = plan.limits();
        let decode = PageHeader::decode_prefix_without_statistics;
        let is_whole = walker.decode_header(&found, limits, decode).ok()?;
        if let Some(header) = walker.header().filter(|_| is_whole) {
            return Some(header.clone());
        }
        length *= 4;
    }
}

/// Returns a range's bytes, or `None` if they can't be read.
fn read(bytes: &mut dyn FileBytes, range: Range<u64>) -> Option<Bytes> {
    bytes.get(&range, range.end).ok()?
}

/// Returns a data page's level count, and its row count if the header has it.
fn values_and_rows(header: &PageHeader, is_flat: bool) -> Option<(u64, Option<u64>)> {
    let (values, rows) = match header.type_ {
        PageType::DataPage => (header.data_page_header.as_ref()?.num_values, None),
        _ => {
            let v2 = header.data_page_header_v2.as_ref()?;
            (v2.num_values, Some(v2.num_rows))
        }
    };
    let values = u64::try_from(values).ok()?;
    let rows = match (is_flat, rows) {
        (true, _) => Some(values),
        (false, Some(rows)) => Some(u64::try_from(rows).ok()?),
        (false, None) => None,
    };
    Some((values, rows))
}

/// Returns a chunk's page map from its offset index, or `None` if there is no offset index or its bytes are not at
/// hand.
fn page_map(
    chunk: &ChunkInPlan,
    num_rows: u64,
    plan: &ReadPlan,
    bytes: &mut dyn FileBytes,
) -> Option<PageMap> {
    let known = plan.page_indexes().get(chunk.row_group, chunk.leaf);
    let index = match known.and_then(|cell| cell.offsets) {
        Some(known) => known,
        None => read_offset_index(chunk, plan, bytes)?,
    };
    let map = PageMap::new(&index, &chunk.range, num_rows)?;
    (map.num_pages() <= MAX_PAGES).then_some(map)
}

/// Returns the pages of a map, with their work estimated from their stored size. Returns `None` if a page is probably
/// larger than `largest_page` bytes.
fn mapped_pages(chunk: &ChunkInPlan, map: &PageMap, largest_page: u64) -> Option<ChunkPages> {
    let (length, first) = (chunk.range.end - chunk.range.start, map.get(0)?);
    let share = |amount: u64, of: u64, all: u64| {
        (u128::from(amount) * u128::from(of) / u128::from(all.max(1))) as u64
    };
    let num_rows = map.get(map.num_pages() - 1)?.rows.end;
    let mut start = PageStart::first(first.range.start);
    start.ordinal = usize::from(chunk.has_dictionary);
    let mut data = Vec::with_capacity(map.num_pages());
    for index in 0..map.num_pages() {
        let page = map.get(index)?;
        let bytes = share(
            chunk.uncompressed_size,
            page.range.end - page.range.start,
            length,
        );
        if bytes > largest_page {
            return None;
        }
        let values = share(chunk.num_values, page.rows.end - page.rows.start, num_rows);
        data.push(DataPage {
            place: PageOfRow {
                page: map.start(index, start)?,
                rows_before: page.rows.start,
            },
            work: work(bytes, values),
            shared: None,
        });
    }
    let dictionary = first.range.start - chunk.range.start;
    Some(ChunkPages {
        dictionary: share(chunk.uncompressed_size, dictionary, length),
        data,
        are_rows_known: true,
    })
}

/// Reads a chunk's offset index, or returns `None` if the chunk has no valid one.
fn read_offset_index(
    chunk: &ChunkInPlan,
    plan: &ReadPlan,
    bytes: &mut dyn FileBytes,
) -> Option<Arc<OffsetIndex>> {
    let (row_group, leaf) = (chunk.row_group, chunk.leaf);
    let metadata = plan.metadata().column_chunk(row_group, leaf).ok()?;
    let cipher = plan.metadata().cipher_of(row_group, leaf, &metadata);
    let cipher = cipher.and_then(KeyStep::ready).ok()?;
    let mut limits = plan.limits().clone();
    limits.page_index_bytes = INDEX_BYTES_PER_PAGE * MAX_PAGES;
    let index = IndexDecoder::of_offsets(&metadata, plan.file_length(), &limits).ok()??;
    let index = index.encrypted(cipher);
    let bytes = read(bytes, index.range())?;
    index.decode(&bytes, &limits).ok().map(Arc::new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use herringbone_core::page::PageStart;

    /// Returns the start of the data page at `ordinal`, in a chunk with a dictionary page.
    fn start(ordinal: usize, num_values_before: u64) -> PageStart {
        let mut start = PageStart::first(100 * ordinal as u64);
        start.ordinal = ordinal + 1;
        start.data_pages_before = ordinal;
        start.num_values_before = num_values_before;
        start
    }

    fn pages(rows: &[u64]) -> Vec<DataPage> {
        let mut before = 0;
        let mut pages = Vec::new();
        for (ordinal, rows) in rows.iter().enumerate() {
            pages.push(DataPage {
                place: PageOfRow {
                    page: start(ordinal, before),
                    rows_before: before,
                },
                work: *rows,
                shared: None,
            });
            before += rows;
        }
        pages
    }

    fn rows_and_pages(splits: &[ColumnSplit]) -> Vec<(Range<u64>, usize)> {
        splits
            .iter()
            .map(|split| (split.rows.clone(), split.begin.page.ordinal))
            .collect()
    }

    fn split(pages: Vec<DataPage>, num_rows: u64, batch_rows: u64, work: u64) -> Vec<ColumnSplit> {
        let starts = (0..num_rows).step_by(batch_rows as usize).collect();
        match split_all(
            pages,
            Splitter::new(num_rows, starts, work, true),
            None,
            true,
        ) {
            LaneSplits::Known(splits, _) => splits,
            _ => Vec::new(),
        }
    }

    #[test]
    fn parts_begin_with_batches_and_in_the_page_that_has_them() {
        let pages = || pages(&[50, 50, 50, 50, 50]);
        let splits = split(pages(), 250, 20, 90);
        assert_eq!(
            rows_and_pages(&splits),
            [(0..100, 1), (100..200, 3), (200..250, 5)]
        );
        let splits = split(pages(), 250, 30, 50);
        assert_eq!(
            rows_and_pages(&splits),
            [
                (0..60, 1),
                (60..120, 2),
                (120..150, 3),
                (150..210, 4),
                (210..250, 5)
            ]
        );
        // The batch starts two pages after the one in which the split reaches the required work.
        let splits = split(pages(), 250, 120, 50);
        assert_eq!(
            rows_and_pages(&splits),
            [(0..120, 1), (120..240, 3), (240..250, 5)]
        );
    }

    #[test]
    fn what_is_not_worth_it_stays_whole() {
        assert!(split(pages(&[50, 50]), 100, 100, 10).is_empty());
        assert!(split(pages(&[50, 50]), 100, 10, 200).is_empty());
        assert!(split(Vec::new(), 0, 10, 200).is_empty());
    }
}
