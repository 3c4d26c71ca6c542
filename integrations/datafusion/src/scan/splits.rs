//! Parts of a file, from byte ranges to rows.

use std::ops::Range;

use datafusion_common::{Result, internal_err};
use datafusion_datasource::FileRange;
use herringbone::MetadataHandle;

use crate::error::from_library;

/// The smallest row count of a row group that several ranges share.
const SHARED_ROWS: u64 = 1 << 17;

/// The rows that belong to a byte range.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct RowSplit {
    /// The ordinals of the row groups.
    pub(crate) row_groups: Vec<usize>,
    /// The rows, counted from the file's first row, if row groups are shared with other ranges.
    pub(crate) row_ranges: Option<Vec<Range<u64>>>,
}

/// Returns the rows that belong to a byte range. If ranges cover each byte of a file once, their
/// rows cover each row once.
///
/// A row group belongs to the range that has its first byte. But a large row group with page
/// indexes is shared, and we assume that its rows are spread evenly over its bytes.
///
/// # Errors
/// Fails with Corrupt if a row group's metadata cannot be decoded, and with an internal error if
/// the range is not valid.
pub(crate) fn part(handle: &MetadataHandle, range: &FileRange) -> Result<RowSplit> {
    let (Ok(start), Ok(end)) = (u64::try_from(range.start), u64::try_from(range.end)) else {
        return internal_err!("a range of bytes from {} to {}", range.start, range.end);
    };
    let own = handle.row_groups_in(start..end).map_err(from_library)?;
    let (mut row_groups, mut row_ranges, mut is_shared) = (Vec::new(), Vec::new(), false);
    let mut first_row = 0;
    for row_group in 0..handle.metadata().num_row_groups() {
        let shared = shared(handle, row_group)?;
        let header = handle
            .metadata()
            .row_group_header(row_group)
            .map_err(from_library)?;
        let rows = u64::try_from(header.num_rows).unwrap_or_default();
        let wanted = match shared {
            Some(bytes) => {
                is_shared = true;
                rows_before(start, &bytes, rows)..rows_before(end, &bytes, rows)
            }
            None if own.binary_search(&row_group).is_ok() => 0..rows,
            None => 0..0,
        };
        if !wanted.is_empty() {
            row_groups.push(row_group);
            row_ranges.push(first_row + wanted.start..first_row + wanted.end);
        }
        first_row += rows;
    }
    Ok(RowSplit {
        row_groups,
        row_ranges: is_shared.then_some(row_ranges),
    })
}

/// Returns a row group's byte range, if several ranges share the row group.
fn shared(handle: &MetadataHandle, row_group: usize) -> Result<Option<Range<u64>>> {
    let metadata = handle.metadata();
    let header = metadata.row_group_header(row_group).map_err(from_library)?;
    if u64::try_from(header.num_rows).unwrap_or_default() < SHARED_ROWS {
        return Ok(None);
    }
    let Some(bytes) = header
        .total_compressed_size
        .and_then(|total_compressed_size| u64::try_from(total_compressed_size).ok())
    else {
        return Ok(None);
    };
    if metadata.num_columns(row_group) == 0 {
        return Ok(None);
    }
    let chunk = metadata.column_chunk(row_group, 0).map_err(from_library)?;
    // Without page indexes, each range would have to read all pages before its rows, so we do not
    // share the row group.
    let Some(first) = chunk
        .meta_data
        .filter(|_| chunk.offset_index_offset.is_some())
    else {
        return Ok(None);
    };
    let dictionary = first
        .dictionary_page_offset
        .filter(|dictionary_page_offset| *dictionary_page_offset > 0);
    let start = dictionary.map_or(first.data_page_offset, |dictionary| {
        dictionary.min(first.data_page_offset)
    });
    let Ok(start) = u64::try_from(start) else {
        return Ok(None);
    };
    // Cut the range at the file's end, because the ranges cover no byte after it.
    let end = start.saturating_add(bytes).min(handle.file_length());
    Ok((start < end).then_some(start..end))
}

/// Returns how many of a row group's rows belong to ranges before an offset.
fn rows_before(offset: u64, bytes: &Range<u64>, rows: u64) -> u64 {
    let length = u128::from(bytes.end - bytes.start);
    let before = u128::from(offset.clamp(bytes.start, bytes.end) - bytes.start);
    // The cast loses nothing, because the result is at most `rows`.
    (u128::from(rows) * before / length) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_ranges_that_cover_the_bytes_cover_each_row_once() {
        for rows in [1, 131_072, 1_000_003] {
            for (bytes, step) in [
                (4..5, 1),
                (4..1_000, 7),
                (4..1_000, 300),
                (1 << 20..90 << 20, 12_345),
            ] {
                let borders = (0..)
                    .map(|i| i * step)
                    .take_while(|it| *it < bytes.end + step);
                let cuts: Vec<u64> = borders
                    .map(|border| rows_before(border, &bytes, rows))
                    .collect();
                assert!(cuts.is_sorted());
                assert_eq!(
                    (cuts.first(), cuts.last()),
                    (Some(&0), Some(&rows)),
                    "{bytes:?} by {step}"
                );
            }
        }
    }
}
