//! Salvages row groups still present in a footer.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use herringbone_format::{ColumnMetaData, FileMetadata, Result, RowGroup};
use herringbone_schema::ParquetSchema;

use super::codecs::CodecSet;

/// The parts of a file occupied by column chunks.
#[derive(Debug, Default)]
pub(super) struct OccupiedRanges(BTreeMap<u64, u64>);

impl OccupiedRanges {
    /// Marks a part as occupied. Returns false if it overlaps a part that is already occupied.
    pub(super) fn take(&mut self, part: Range<u64>) -> bool {
        let before = self.0.range(..part.end).next_back();
        let is_free = before.is_none_or(|(_, end)| *end <= part.start);
        if is_free && !part.is_empty() {
            self.0.insert(part.start, part.end);
        }
        is_free
    }

    /// Returns the free ranges between `start` and the last occupied part.
    pub(super) fn gaps(&self, start: u64) -> Vec<Range<u64>> {
        let starts = self.0.keys().copied();
        let ends = [start].into_iter().chain(self.0.values().copied());
        let gaps = ends.zip(starts).map(|(end, start)| end..start);
        gaps.filter(|gap| !gap.is_empty()).collect()
    }

    /// Returns the end of the last occupied part.
    pub(super) fn end(&self) -> Option<u64> {
        self.0.values().next_back().copied()
    }
}

/// Returns the row groups before the first unusable one, and the parts of the file occupied by
/// them. A usable row group matches the schema, lies before `end`, and doesn't overlap another row
/// group.
pub(super) fn usable(
    row_groups: Vec<RowGroup>,
    schema: &ParquetSchema,
    end: u64,
) -> (Vec<RowGroup>, OccupiedRanges) {
    let mut taken = OccupiedRanges::default();
    let fits = |row_group: &RowGroup| {
        let chunks = row_group
            .columns
            .iter()
            .map(|column| column.meta_data.as_ref());
        let types = chunks.clone().map(|it| it.map(|it| it.type_));
        let leaves = schema.leaves().iter().map(|leaf| Some(leaf.physical_type));
        types.eq(leaves)
            && chunks.flatten().all(|chunk| {
                let range = range(chunk).filter(|range| range.end <= end);
                range.is_some_and(|range| taken.take(range))
            })
    };
    let usable = row_groups.into_iter().take_while(fits).collect();
    (usable, taken)
}

/// Returns the row groups with overlapping column chunks. At least one of them must have a wrong
/// location in the footer.
///
/// # Errors
/// Fails with [`ErrorKind::Corrupt`](herringbone::ErrorKind::Corrupt) if a column chunk's metadata
/// cannot be decoded.
pub(super) fn overlapping(metadata: &FileMetadata) -> Result<BTreeSet<usize>> {
    let mut chunks = Vec::new();
    for row_group in 0..metadata.num_row_groups() {
        for leaf in 0..metadata.num_columns(row_group) {
            let chunk = metadata.column_chunk(row_group, leaf)?;
            let range = chunk.meta_data.as_ref().and_then(range);
            chunks.extend(range.map(|range| (range.start, range.end, row_group)));
        }
    }
    chunks.sort_unstable();
    let mut overlapping = BTreeSet::new();
    // The column chunk with the furthest end so far.
    let mut last: Option<(u64, usize)> = None;
    for (start, end, row_group) in chunks {
        if let Some((_, other)) = last.filter(|(end, _)| start < *end) {
            overlapping.extend([other, row_group]);
        }
        if last.is_none_or(|(furthest, _)| furthest < end) {
            last = Some((end, row_group));
        }
    }
    Ok(overlapping)
}

/// Returns each leaf's codecs in these row groups.
pub(super) fn codecs(row_groups: &[RowGroup]) -> Vec<CodecSet> {
    let num_leaves = row_groups
        .iter()
        .map(|row_group| row_group.columns.len())
        .max();
    let mut codecs = vec![CodecSet::default(); num_leaves.unwrap_or_default()];
    for row_group in row_groups {
        for (codecs, chunk) in codecs.iter_mut().zip(&row_group.columns) {
            if let Some(metadata) = &chunk.meta_data {
                codecs.insert(metadata.codec);
            }
        }
    }
    codecs
}

/// Returns a column chunk's byte range in the file.
pub(super) fn range(metadata: &ColumnMetaData) -> Option<Range<u64>> {
    let dictionary = metadata.dictionary_page_offset.filter(|offset| *offset > 0);
    let start = dictionary.map_or(metadata.data_page_offset, |dictionary| {
        dictionary.min(metadata.data_page_offset)
    });
    let end = start.checked_add(metadata.total_compressed_size)?;
    Some(u64::try_from(start).ok()?..u64::try_from(end).ok()?)
}
