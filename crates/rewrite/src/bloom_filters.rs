//! Requests bloom filters for the columns that had one.

use std::collections::BTreeSet;

use herringbone::format::Type;
use herringbone::schema::WriteLeaf;
use herringbone::{BloomFilterOptions, ColumnOptions, ColumnSelector, ParquetFile, WriteOptions};

use crate::Note;

/// Adds the paths of all columns with a bloom filter in any of these row groups.
pub(crate) fn add(paths: &mut BTreeSet<Vec<String>>, file: &ParquetFile, row_groups: &[usize]) {
    let schema = file.parquet_schema();
    for leaf in 0..schema.leaves().len() {
        let path: Vec<String> = schema.path(leaf).into_iter().map(str::to_owned).collect();
        if !paths.contains(&path) && has_bloom_filter(file, row_groups, leaf) {
            paths.insert(path);
        }
    }
}

/// Returns true if any of the row groups has a bloom filter for the leaf. Undecodable metadata
/// isn't an error here, because rows can be read without it.
fn has_bloom_filter(file: &ParquetFile, row_groups: &[usize], leaf: usize) -> bool {
    let has_one = |row_group: &usize| {
        let chunk = file.metadata().column_chunk(*row_group, leaf);
        let metadata = chunk.ok().and_then(|chunk| chunk.meta_data);
        metadata.is_some_and(|metadata| metadata.bloom_filter_offset.is_some())
    };
    row_groups.iter().any(has_one)
}

/// Requests bloom filters for these columns, as far as they are among the leaves.
pub(crate) fn ask_for(
    paths: &BTreeSet<Vec<String>>,
    leaves: &[WriteLeaf],
    bloom_filter: BloomFilterOptions,
    options: &mut WriteOptions,
    notes: &mut Vec<Note>,
) {
    for path in paths {
        let Some(leaf) = leaves.iter().find(|leaf| leaf.path == *path) else {
            // This column isn't written, so it has no bloom filter to lose.
            continue;
        };
        let path = path.clone();
        if leaf.physical_type == Type::Boolean {
            notes.push(Note::NoBloomFilterForBoolean { path });
            continue;
        }
        let bloom_filter = ColumnOptions::new().bloom_filter(bloom_filter);
        // We insert at the front, so that the caller's later overrides win.
        options
            .overrides
            .insert(0, (ColumnSelector::Path(path), bloom_filter));
    }
}
