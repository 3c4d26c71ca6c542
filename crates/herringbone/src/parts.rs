//! Where a column chunk is cut, so that several threads decode it.
//!
//! ```text
//! pages     |   0   |   1   |   2   |   3   |   4   |
//! batches   |  |  |  |  |  |  |  |  |  |  |  |  |  |
//! parts     |           |           |              |
//! ```
//!
//! Parts begin where batches do, so that their pieces are those of the undivided column. A page that
//! two parts have rows of is decompressed for each of them; parts are long enough for that to be rare.

use std::ops::Range;
use std::sync::Arc;

use herringbone_core::page::PageStart;
use herringbone_core::read::{ChunkInPlan, OnError, OpenRowGroup, ReadOptions};
use herringbone_format::PageType;

use crate::pages::Pages;
use crate::source::Source;

/// A part is not worth its start below this many bytes, decompressed.
const LEAST_BYTES: u64 = 1 << 20;

/// Threads run ahead by a part each, whose arrays wait in memory: no more bytes than this.
const MOST_BYTES: u64 = 8 << 20;

/// Pages of the columns that are cut, of which the budget of the read must hold as many.
const PAGES_IN_BUDGET: u64 = 16;

/// Parts a thread, so that one that is late does not keep the others waiting.
const PARTS_A_THREAD: u64 = 4;

/// A part of a column chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    /// Rows of the row group.
    pub(crate) rows: Range<u64>,
    /// The page that has the first of them.
    pub(crate) start: PageStart,
}

/// A data page, as far as cutting needs to know it.
struct DataPage {
    start: PageStart,
    bytes: u64,
}

/// The parts of each column of a row group; none for a column that is decoded as a whole. That is
/// where other columns keep the threads as busy.
pub(crate) fn of_row_group(
    row_group: &OpenRowGroup,
    source: &Arc<dyn Source>,
    options: &ReadOptions,
    threads: usize,
) -> Vec<Vec<Part>> {
    let columns = row_group.num_columns();
    let mut parts = vec![Vec::new(); columns];
    let chunks: Vec<_> = (0..columns).filter_map(|i| row_group.chunk(i)).collect();
    let total: u64 = chunks.iter().map(|chunk| chunk.uncompressed_size).sum();
    // A page that is lost must be lost once.
    let (Some(num_rows), false) = (
        row_group.whole(),
        matches!(options.on_error, OnError::NullPage),
    ) else {
        return parts;
    };
    // More than a thread's share, and more than a quarter of that more.
    let share = total / threads as u64;
    let is_long = |chunk: &ChunkInPlan| {
        chunk.is_flat && chunk.uncompressed_size > share.saturating_add(share / 4)
    };
    let long = chunks.iter().filter(|chunk| is_long(chunk)).count() as u64;
    // Larger pages than this make parts that take much less memory than the whole does.
    let largest_page = options.limits.memory_bytes / PAGES_IN_BUDGET / long.max(1);
    for (chunk, parts) in chunks.iter().zip(&mut parts) {
        if !is_long(chunk) {
            continue;
        }
        let bytes = chunk.uncompressed_size / (threads as u64 * PARTS_A_THREAD);
        let bytes = bytes.clamp(LEAST_BYTES, MOST_BYTES);
        if chunk.uncompressed_size >= 2 * bytes
            && let Some(pages) = data_pages(chunk, num_rows, source, (options, largest_page))
        {
            *parts = cut(&pages, num_rows, row_group.batch_rows() as u64, bytes);
        }
    }
    parts
}

/// The data pages of a chunk with as many rows; none where pages are larger than `largest_page` bytes,
/// or their headers are not what they should be, about which the column itself will complain.
fn data_pages(
    chunk: &ChunkInPlan,
    num_rows: u64,
    source: &Arc<dyn Source>,
    (options, largest_page): (&ReadOptions, u64),
) -> Option<Vec<DataPage>> {
    let limits = options.limits.clone();
    let pages = Pages::over(
        source.clone(),
        chunk.range.clone(),
        chunk.num_values,
        limits,
    );
    let mut chunk = chunk.clone();
    let mut data_pages = Vec::new();
    let mut rows = 0;
    for (ordinal, page) in pages.enumerate() {
        let page = page.ok()?;
        let header = &page.header;
        let bytes = u64::try_from(header.uncompressed_page_size).ok()?;
        let compressed = u64::try_from(header.compressed_page_size).ok()?;
        let carries_values = matches!(
            header.type_,
            PageType::DictionaryPage | PageType::DataPage | PageType::DataPageV2
        );
        if carries_values && (bytes.max(compressed) > largest_page || !chunk.allows(header)) {
            return None;
        }
        let values = match (&header.data_page_header, &header.data_page_header_v2) {
            (Some(v1), _) if header.type_ == PageType::DataPage => v1.num_values,
            (_, Some(v2)) if header.type_ == PageType::DataPageV2 => v2.num_values,
            _ => continue,
        };
        data_pages.push(DataPage {
            start: PageStart {
                ordinal,
                offset: page.offset,
                num_values_before: rows,
            },
            bytes,
        });
        rows += u64::try_from(values).ok()?;
    }
    (rows == num_rows).then_some(data_pages)
}

/// Parts of about so many bytes.
fn cut(pages: &[DataPage], num_rows: u64, batch_rows: u64, part_bytes: u64) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    let mut bytes = 0;
    for (i, page) in pages.iter().enumerate() {
        if bytes >= part_bytes || parts.is_empty() {
            // The first batch that starts in this page or behind it.
            let first = page.start.num_values_before.next_multiple_of(batch_rows);
            let holds_it = |page: &&DataPage| page.start.num_values_before <= first;
            let start = pages.get(i..).unwrap_or_default();
            let start = start.iter().take_while(holds_it).last();
            if let Some(start) = start.filter(|_| first < num_rows) {
                if let Some(before) = parts.last_mut() {
                    before.rows.end = first;
                }
                parts.push(Part {
                    rows: first..num_rows,
                    start: start.start,
                });
                bytes = 0;
            }
        }
        bytes += page.bytes;
    }
    parts.retain(|part| !part.rows.is_empty());
    if parts.len() < 2 { Vec::new() } else { parts }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(rows: &[u64]) -> Vec<DataPage> {
        let mut before = 0;
        let mut pages = Vec::new();
        for (ordinal, rows) in rows.iter().enumerate() {
            pages.push(DataPage {
                start: PageStart {
                    ordinal: ordinal + 1,
                    offset: 100 * ordinal as u64,
                    num_values_before: before,
                },
                bytes: *rows,
            });
            before += rows;
        }
        pages
    }

    fn rows_and_pages(parts: &[Part]) -> Vec<(Range<u64>, usize)> {
        parts
            .iter()
            .map(|part| (part.rows.clone(), part.start.ordinal))
            .collect()
    }

    #[test]
    fn parts_begin_with_batches_and_in_the_page_that_has_them() {
        let pages = pages(&[50, 50, 50, 50, 50]);
        let parts = cut(&pages, 250, 20, 90);
        assert_eq!(
            rows_and_pages(&parts),
            [(0..100, 1), (100..200, 3), (200..250, 5)]
        );
        let parts = cut(&pages, 250, 30, 50);
        assert_eq!(
            rows_and_pages(&parts),
            [
                (0..60, 1),
                (60..120, 2),
                (120..150, 3),
                (150..210, 4),
                (210..250, 5)
            ]
        );
        // The batch starts two pages behind the one where the part has bytes enough.
        let parts = cut(&pages, 250, 120, 50);
        assert_eq!(
            rows_and_pages(&parts),
            [(0..120, 1), (120..240, 3), (240..250, 5)]
        );
    }

    #[test]
    fn what_is_not_worth_it_stays_whole() {
        assert_eq!(cut(&pages(&[50, 50]), 100, 100, 10), []);
        assert_eq!(cut(&pages(&[50, 50]), 100, 10, 200), []);
        assert_eq!(cut(&[], 0, 10, 200), []);
    }
}
