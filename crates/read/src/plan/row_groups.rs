//! The selected rows of each row group.

use std::ops::Range;

use herringbone_arrow::array::RecordBatch;
use herringbone_format::{Error, FileMetadata, Result};

use super::ReadOptions;
use super::row_selection::{intersection, normalize, within};
use herringbone_core::column::selection::{RowRanges, RowSelector};
use herringbone_core::page::PageMaps;

/// The selected rows of one row group.
///
/// ```
/// # std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
/// use herringbone::filter::col;
/// use herringbone::ParquetFile;
///
/// // The row groups have the ids 0 to 15 and 16 to 23.
/// let file = ParquetFile::open("testdata/example.parquet")?;
/// let kept = file.metadata_handle().prune(&col("id").ge(20))?;
/// assert_eq!(kept.len(), 1);
/// assert_eq!((kept[0].ordinal(), kept[0].first_row()), (1, 16));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone)]
pub struct RowGroupPlan {
    /// The index of this row group among the read's row groups.
    pub(crate) index: usize,
    ordinal: usize,
    /// The number of rows before this row group in the file.
    pub(crate) first_row: u64,
    pub(crate) num_rows: u64,
    pub(crate) ranges: RowRanges,
    num_wanted: u64,
    /// The number of selected rows emitted before this plan's first row.
    pub(crate) rows_before: u64,
    /// The page maps, for columns that have been looked up.
    pub(crate) maps: PageMaps,
}

impl RowGroupPlan {
    /// Returns the row group's ordinal in the file.
    #[must_use]
    pub fn ordinal(&self) -> usize {
        self.ordinal
    }

    /// Returns the selected rows, counted from the row group's first row. The ranges are ascending, disjoint and
    /// non-empty.
    #[must_use]
    pub fn row_ranges(&self) -> &[Range<u64>] {
        &self.ranges
    }

    /// Returns the row group's first row, counted in the file.
    #[must_use]
    pub fn first_row(&self) -> u64 {
        self.first_row
    }

    /// Returns the number of selected rows. It is at least one.
    #[must_use]
    pub fn num_wanted(&self) -> u64 {
        self.num_wanted
    }

    /// Returns the part of the row group starting at `row`. `rows_before` selected rows have already been emitted
    /// before it.
    pub(crate) fn after(&self, row: u64, rows_before: u64) -> Self {
        let ranges = intersection(&self.ranges, std::slice::from_ref(&(row..u64::MAX)));
        Self {
            rows_before,
            ..self.restricted(ranges.into(), self.maps.clone())
        }
    }

    /// Returns the row after the first `wanted` selected rows.
    pub(crate) fn end_of(&self, wanted: u64) -> u64 {
        RowSelector::Ranges(self.ranges.clone()).end_of(wanted)
    }

    /// Returns this row group with other selected rows and page maps.
    pub(crate) fn restricted(&self, ranges: RowRanges, maps: PageMaps) -> Self {
        Self {
            num_wanted: count(ranges.iter()),
            ranges,
            maps,
            ..*self
        }
    }
}

/// Returns the most times that any row group is read.
pub(crate) fn repeats(row_groups: &[RowGroupPlan]) -> u64 {
    let mut ordinals: Vec<_> = row_groups.iter().map(RowGroupPlan::ordinal).collect();
    ordinals.sort_unstable();
    let runs = ordinals.chunk_by(|a, b| a == b).map(<[_]>::len);
    runs.max().unwrap_or(1) as u64
}

/// Returns the row groups with selected rows, in read order.
///
/// # Errors
/// Fails with `Corrupt` if row counts are invalid, and with `Argument` if a requested row group is missing from the
/// file.
pub(crate) fn plan_row_groups(
    metadata: &FileMetadata,
    options: &ReadOptions,
) -> Result<Vec<RowGroupPlan>> {
    let wanted = options.row_ranges.clone().map(normalize);
    let mut starts = Vec::with_capacity(metadata.num_row_groups());
    let mut total = 0u64;
    for ordinal in 0..metadata.num_row_groups() {
        let num_rows = metadata.row_group_header(ordinal)?.num_rows;
        let next = u64::try_from(num_rows)
            .ok()
            .and_then(|rows| total.checked_add(rows));
        let next = next.ok_or_else(|| {
            Error::corrupt(format!(
                "the number of rows is {num_rows}, which is negative"
            ))
            .in_row_group(ordinal)
        })?;
        starts.push(total..next);
        total = next;
    }
    let mut selections = options.row_selections.iter();
    let missing = selections.find_map(|it| {
        it.row_group()
            .filter(|row_group| *row_group >= starts.len())
    });
    if let Some(ordinal) = missing {
        return Err(no_row_group(ordinal, starts.len()));
    }
    let ordinals = match &options.row_groups {
        Some(ordinals) => ordinals.clone(),
        None => (0..starts.len()).collect(),
    };
    // A filter is applied before the offset and the limit, so they can't clip the ranges here.
    let mut window = match options.filter {
        Some(_) => OffsetLimit::all(),
        None => OffsetLimit::of(options),
    };
    let mut plans = Vec::new();
    // Most row groups have as many rows as the one before, so they share their ranges.
    let (mut shared, no_maps): (RowRanges, PageMaps) = ([].into(), [].into());
    for ordinal in ordinals {
        let rows = starts.get(ordinal).cloned();
        let rows = rows.ok_or_else(|| no_row_group(ordinal, starts.len()))?;
        let ranges = match &wanted {
            Some(wanted) => within(wanted, &rows),
            None => vec![0..rows.end - rows.start],
        };
        let selections = options.row_selections.iter();
        let ranges = selections.fold(ranges, |it, selection| selection.apply(it, ordinal, &rows));
        let ranges = window.clip(ranges);
        let num_wanted = count(&ranges);
        if num_wanted > 0 {
            let num_rows = rows.end - rows.start;
            if *shared != *ranges {
                shared = ranges.into();
            }
            plans.push(RowGroupPlan {
                index: plans.len(),
                rows_before: 0,
                maps: no_maps.clone(),
                ordinal,
                first_row: rows.start,
                num_rows,
                ranges: shared.clone(),
                num_wanted,
            });
        }
    }
    Ok(plans)
}

/// Returns the number of rows in the ranges.
pub(crate) fn count<'a>(ranges: impl IntoIterator<Item = &'a Range<u64>>) -> u64 {
    let ranges = ranges.into_iter();
    ranges.map(|range| range.end - range.start).sum()
}

fn no_row_group(ordinal: usize, row_groups: usize) -> Error {
    Error::argument(format!(
        "there is no row group {ordinal}: the file has {row_groups}"
    ))
}

/// The numbers of rows left to skip and to read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct OffsetLimit {
    pub(crate) offset: u64,
    pub(crate) left: u64,
}

impl OffsetLimit {
    /// Returns the window of all rows.
    pub(crate) fn all() -> Self {
        Self {
            offset: 0,
            left: u64::MAX,
        }
    }

    /// Returns the window described by the options' offset and limit.
    pub(crate) fn of(options: &ReadOptions) -> Self {
        Self {
            offset: options.offset,
            left: options.limit.unwrap_or(u64::MAX),
        }
    }

    /// Returns the number of rows left to skip or emit.
    pub(crate) fn wanted(&self) -> u64 {
        self.offset.saturating_add(self.left)
    }

    /// Moves past the next `rows` rows, returning the part to emit.
    pub(crate) fn next(&mut self, rows: u64) -> Range<u64> {
        let passed = rows.min(self.offset);
        self.offset -= passed;
        let taken = (rows - passed).min(self.left);
        self.left -= taken;
        passed..passed + taken
    }

    /// Moves past the next batch, returning the part to emit, if any.
    pub(crate) fn clip_batch(&mut self, batch: RecordBatch) -> Option<RecordBatch> {
        let rows = self.next(batch.num_rows() as u64);
        // Both casts fit, since the values are at most the batch's row count.
        let (first, length) = (rows.start as usize, (rows.end - rows.start) as usize);
        match length {
            0 => None,
            length if length == batch.num_rows() => Some(batch),
            length => Some(batch.slice(first, length)),
        }
    }

    fn clip(&mut self, ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
        let mut clipped = Vec::with_capacity(ranges.len());
        for range in ranges {
            let taken = self.next(range.end - range.start);
            if !taken.is_empty() {
                clipped.push(range.start + taken.start..range.start + taken.end);
            }
        }
        clipped
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn offset_and_limit_count_wanted_rows() {
        let mut window = OffsetLimit { offset: 3, left: 4 };
        assert_eq!(window.clip(vec![0..2, 4..6]), [5..6]);
        assert_eq!(window.clip(vec![0..2, 8..20]), [0..2, 8..9]);
        assert_eq!(window.clip(vec![0..2]), []);
    }
}
