//! Row selections by position.

use std::ops::Range;

use herringbone_arrow::buffer::BooleanBuffer;
use herringbone_format::{Error, Result};

/// A selection of rows to keep or to leave out as deleted, by their position in the file or in one row group. Use this
/// if you already know which rows you want, for example from an index or a delete file.
///
/// ```
/// # use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch};
/// # let ids: ArrayRef = std::sync::Arc::new(Int64Array::from_iter_values(0..100));
/// # let batch = RecordBatch::try_from_iter([("id", ids.clone()), ("price", ids)])?;
/// # let mut bytes = Vec::new();
/// # let options = herringbone::WriteOptions::new().row_group_rows(50);
/// # let mut writer = herringbone::Writer::new(&mut bytes, batch.schema(), options)?;
/// # writer.write(&batch)?;
/// # writer.finish()?;
/// use herringbone::{ParquetFile, ReadOptions, RowSelection};
///
/// // 100 rows in two row groups, with the columns `id` and `price`.
/// let file = ParquetFile::from_bytes(bytes)?;
/// // A deletion vector of the file, and only rows 10 to 19 of the second row group.
/// let options = ReadOptions::new()
///     .row_selection(RowSelection::delete_rows([3, 17, 65]))
///     .row_selection(RowSelection::keep([10..20]).of_row_group(1));
/// let batches = file.read(options)?.collect::<Result<Vec<_>, _>>()?;
/// let rows: Vec<_> = batches.iter().map(|batch| batch.num_rows()).collect();
/// assert_eq!(rows, [48, 9]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RowSelection {
    /// The ranges of kept or deleted rows. They are ascending, disjoint and non-empty.
    ranges: Vec<Range<u64>>,
    is_deleted: bool,
    row_group: Option<usize>,
}

impl RowSelection {
    /// Keeps only the rows in these ranges. Ranges can overlap and be in any order. Positions after the last row are
    /// ignored.
    #[must_use]
    pub fn keep(ranges: impl IntoIterator<Item = Range<u64>>) -> Self {
        Self::new(ranges.into_iter().collect(), false)
    }

    /// Leaves out the rows in these ranges.
    #[must_use]
    pub fn delete(ranges: impl IntoIterator<Item = Range<u64>>) -> Self {
        Self::new(ranges.into_iter().collect(), true)
    }

    /// Leaves out these rows, given in any order.
    #[must_use]
    pub fn delete_rows(rows: impl IntoIterator<Item = u64>) -> Self {
        // Saturating is fine, since no file has a row number `u64::MAX`.
        Self::delete(rows.into_iter().map(|row| row..row.saturating_add(1)))
    }

    /// Keeps the rows whose bit is set. Rows after the last bit are left out.
    #[must_use]
    pub fn keep_bits(bits: &BooleanBuffer) -> Self {
        Self::keep(ranges_of(bits))
    }

    /// Leaves out the rows whose bit is set. Rows after the last bit are kept.
    #[must_use]
    pub fn delete_bits(bits: &BooleanBuffer) -> Self {
        Self::delete(ranges_of(bits))
    }

    /// Restricts the selection to this row group. Its rows are counted from the row group's first row.
    #[must_use]
    pub fn of_row_group(self, ordinal: usize) -> Self {
        Self {
            row_group: Some(ordinal),
            ..self
        }
    }

    /// Returns a selection of the rows kept by both selections.
    ///
    /// # Errors
    /// Fails with [`Argument`](herringbone_format::ErrorKind::Argument) if the selections apply to different row
    /// groups, or only one of them to the whole file. You can add both to a read instead, which then keeps the rows
    /// kept by each of them.
    pub fn intersection(&self, other: &Self) -> Result<Self> {
        let row_group = self.same_row_group(other)?;
        let (ranges, is_deleted) = match (self.is_deleted, other.is_deleted) {
            (false, false) => (intersection(&self.ranges, &other.ranges), false),
            (false, true) => (difference(&self.ranges, &other.ranges), false),
            (true, false) => (difference(&other.ranges, &self.ranges), false),
            (true, true) => (union(&self.ranges, &other.ranges), true),
        };
        Ok(Self {
            ranges,
            is_deleted,
            row_group,
        })
    }

    /// Returns a selection of the rows kept by at least one of the two selections.
    ///
    /// # Errors
    /// Fails with [`Argument`](herringbone_format::ErrorKind::Argument) if the selections apply to different row
    /// groups, or only one of them to the whole file.
    pub fn union(&self, other: &Self) -> Result<Self> {
        let row_group = self.same_row_group(other)?;
        let (ranges, is_deleted) = match (self.is_deleted, other.is_deleted) {
            (false, false) => (union(&self.ranges, &other.ranges), false),
            (false, true) => (difference(&other.ranges, &self.ranges), true),
            (true, false) => (difference(&self.ranges, &other.ranges), true),
            (true, true) => (intersection(&self.ranges, &other.ranges), true),
        };
        Ok(Self {
            ranges,
            is_deleted,
            row_group,
        })
    }

    /// Returns the row group that the selection applies to, or `None` for the whole file.
    #[must_use]
    pub fn row_group(&self) -> Option<usize> {
        self.row_group
    }

    /// Returns the ranges of kept rows among the first `rows` rows of the file or row group. The ranges are ascending,
    /// disjoint and non-empty.
    ///
    /// ```
    /// use herringbone::RowSelection;
    ///
    /// let selection = RowSelection::delete_rows([0, 4]);
    /// assert_eq!(selection.ranges(10), [1..4, 5..10]);
    /// assert_eq!(selection.num_rows(10), 8);
    /// ```
    #[must_use]
    pub fn ranges(&self, rows: u64) -> Vec<Range<u64>> {
        let ranges = within(&self.ranges, &(0..rows));
        match self.is_deleted {
            true => gaps(&ranges, rows),
            false => ranges,
        }
    }

    /// Returns the number of kept rows among the first `rows` rows of the file or row group.
    #[must_use]
    pub fn num_rows(&self, rows: u64) -> u64 {
        let ranges = self.ranges(rows);
        ranges.iter().map(|range| range.end - range.start).sum()
    }

    /// Returns the row group that both selections apply to, or `None` if both apply to the whole file.
    fn same_row_group(&self, other: &Self) -> Result<Option<usize>> {
        let name = |row_group: Option<usize>| match row_group {
            Some(ordinal) => format!("row group {ordinal}"),
            None => "the file".to_string(),
        };
        if self.row_group != other.row_group {
            return Err(Error::argument(format!(
                "one row selection applies to {}, the other to {}; pass both to the read instead",
                name(self.row_group),
                name(other.row_group)
            )));
        }
        Ok(self.row_group)
    }

    fn new(ranges: Vec<Range<u64>>, is_deleted: bool) -> Self {
        Self {
            ranges: normalize(ranges),
            is_deleted,
            row_group: None,
        }
    }

    /// Returns the rows of `wanted` kept by the selection, in the row group with this `ordinal`. `rows` is the row
    /// group's range in the file, while `wanted` and the result are counted from the row group's first row.
    pub(crate) fn apply(
        &self,
        wanted: Vec<Range<u64>>,
        ordinal: usize,
        rows: &Range<u64>,
    ) -> Vec<Range<u64>> {
        let chosen = match self.row_group {
            None => within(&self.ranges, rows),
            Some(row_group) if row_group == ordinal => {
                within(&self.ranges, &(0..rows.end - rows.start))
            }
            Some(_) => return wanted,
        };
        match self.is_deleted {
            true => intersection(&wanted, &gaps(&chosen, rows.end - rows.start)),
            false => intersection(&wanted, &chosen),
        }
    }
}

fn ranges_of(bits: &BooleanBuffer) -> impl Iterator<Item = Range<u64>> {
    let slices = bits.set_slices();
    slices.map(|(from, to)| from as u64..to as u64)
}

/// Sorts and merges ranges, so that they are disjoint and non-empty.
pub(crate) fn normalize(mut ranges: Vec<Range<u64>>) -> Vec<Range<u64>> {
    ranges.retain(|range| range.start < range.end);
    ranges.sort_by_key(|range| range.start);
    let mut merged: Vec<Range<u64>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

/// Returns the parts of normalized `ranges` within `rows`, counted from the start of `rows`.
pub(crate) fn within(ranges: &[Range<u64>], rows: &Range<u64>) -> Vec<Range<u64>> {
    let first = ranges.partition_point(|range| range.end <= rows.start);
    ranges
        .iter()
        .skip(first)
        .take_while(|range| range.start < rows.end)
        .map(|range| range.start.max(rows.start) - rows.start..range.end.min(rows.end) - rows.start)
        .filter(|range| range.start < range.end)
        .collect()
}

/// Returns the rows in both lists of ranges. Both must be normalized.
pub(crate) fn intersection(a: &[Range<u64>], b: &[Range<u64>]) -> Vec<Range<u64>> {
    let (mut a, mut b) = (a.iter().peekable(), b.iter().peekable());
    let mut both = Vec::new();
    while let (Some(one), Some(other)) = (a.peek(), b.peek()) {
        let range = one.start.max(other.start)..one.end.min(other.end);
        if one.end < other.end {
            a.next();
        } else {
            b.next();
        }
        if range.start < range.end {
            both.push(range);
        }
    }
    both
}

/// Returns the rows in at least one of the lists of ranges.
fn union(a: &[Range<u64>], b: &[Range<u64>]) -> Vec<Range<u64>> {
    normalize([a, b].concat())
}

/// Returns the rows in `ranges` that are not in `without`.
fn difference(ranges: &[Range<u64>], without: &[Range<u64>]) -> Vec<Range<u64>> {
    let end = ranges.last().map_or(0, |range| range.end);
    intersection(ranges, &gaps(&within(without, &(0..end)), end))
}

/// Returns the rows among the first `rows` that are in no range.
fn gaps(ranges: &[Range<u64>], rows: u64) -> Vec<Range<u64>> {
    let starts = std::iter::once(0).chain(ranges.iter().map(|range| range.end));
    let ends = ranges.iter().map(|range| range.start);
    let gaps = starts
        .zip(ends.chain([rows]))
        .map(|(start, end)| start..end);
    gaps.filter(|gap| gap.start < gap.end).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_merged_and_cut_to_row_groups() {
        let ranges = normalize(vec![7..9, 0..2, 5..5, 1..4, 8..12]);
        assert_eq!(ranges, [0..4, 7..12]);
        assert_eq!(within(&ranges, &(0..5)), [0..4]);
        assert_eq!(within(&ranges, &(3..8)), [0..1, 4..5]);
        assert_eq!(within(&ranges, &(4..7)), []);
        assert_eq!(within(&ranges, &(10..20)), [0..2]);
    }

    #[test]
    fn selections_are_combined_like_sets_of_rows() {
        let rows = |selection: &RowSelection| -> Vec<u64> {
            let ranges = selection.ranges(12);
            let rows: Vec<u64> = ranges.into_iter().flatten().collect();
            assert_eq!(rows.len() as u64, selection.num_rows(12));
            rows
        };
        let selections = [
            RowSelection::keep([0..3, 5..9]),
            RowSelection::keep([2..6, 8..30]),
            RowSelection::keep([]),
            RowSelection::delete([1..4, 7..11]),
            RowSelection::delete_rows([0, 3, 8, 40]),
            RowSelection::delete([]),
        ];
        for a in &selections {
            for b in &selections {
                let (kept_a, kept_b) = (rows(a), rows(b));
                let both: Vec<u64> = (0..12)
                    .filter(|row| kept_a.contains(row) && kept_b.contains(row))
                    .collect();
                assert_eq!(rows(&a.intersection(b).unwrap()), both, "{a:?} {b:?}");
                let any: Vec<u64> = (0..12)
                    .filter(|row| kept_a.contains(row) || kept_b.contains(row))
                    .collect();
                assert_eq!(rows(&a.union(b).unwrap()), any, "{a:?} {b:?}");
            }
        }
        let other = RowSelection::keep([0..3]).of_row_group(1);
        assert!(selections[0].intersection(&other).is_err());
        assert!(other.union(&selections[0]).is_err());
        assert_eq!(other.union(&other).unwrap().row_group(), Some(1));
    }

    #[test]
    fn what_is_kept_and_deleted_is_counted_by_file_or_row_group() {
        let all = vec![0..10];
        let kept = RowSelection::keep([12..14, 3..5, 18..40]);
        assert_eq!(kept.apply(all.clone(), 1, &(10..20)), [2..4, 8..10]);
        let deleted = RowSelection::delete_rows([19, 10, 13, 12, 30]);
        assert_eq!(deleted.apply(all.clone(), 1, &(10..20)), [1..2, 4..9]);
        assert_eq!(deleted.apply(vec![0..2, 8..10], 1, &(10..20)), [1..2, 8..9]);
        let here = RowSelection::delete([0..8]).of_row_group(1);
        assert_eq!(here.apply(all.clone(), 1, &(10..20)), [8..10]);
        assert_eq!(here.apply(all.clone(), 0, &(10..20)), [0..10]);
        let bits = BooleanBuffer::from(vec![true, true, false, true]);
        assert_eq!(
            RowSelection::keep_bits(&bits).apply(all.clone(), 0, &(0..10)),
            [0..2, 3..4]
        );
        assert_eq!(
            RowSelection::delete_bits(&bits).apply(all, 0, &(0..10)),
            [2..3, 4..10]
        );
    }
}
