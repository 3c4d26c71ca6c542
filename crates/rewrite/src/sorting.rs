//! The columns used to sort rows.

use herringbone::format::SortingColumn;
use herringbone::schema::{ColumnOrderKind, ParquetSchema, WriteLeaf};
use herringbone::{ParquetFile, Result, SortingColumnOption, UnsortedRows, WriteOptions};

use crate::Note;
use crate::origins::Origins;

/// The sorting columns shared by all row groups.
#[derive(Debug, Default)]
pub(crate) struct CommonSorting {
    /// The common sorting columns, or `None` before the first row group.
    common: Option<Vec<SortingColumnOption>>,
    /// The largest number of sorting columns in any row group.
    longest: usize,
}

impl CommonSorting {
    /// Reduces the common sorting columns to the prefix shared with these row groups.
    ///
    /// # Errors
    /// Fails with Corrupt if a row group's header cannot be decoded.
    pub(crate) fn add(&mut self, file: &ParquetFile, row_groups: &[usize]) -> Result<()> {
        for &row_group in row_groups {
            let header = file.metadata().row_group_header(row_group)?;
            let columns = header.sorting_columns.as_deref().unwrap_or_default();
            self.longest = self.longest.max(columns.len());
            let columns = by_path(file.parquet_schema(), columns);
            match &mut self.common {
                None => self.common = Some(columns),
                Some(common) => {
                    let same = common.iter().zip(&columns).take_while(|(a, b)| a == b);
                    common.truncate(same.count());
                }
            }
        }
        Ok(())
    }

    /// Declares any sorting columns that still hold for the written rows.
    pub(crate) fn declare(
        &self,
        origins: &Origins,
        leaves: &[WriteLeaf],
        options: &mut WriteOptions,
        notes: &mut Vec<Note>,
    ) {
        let common = self.common.iter().flatten();
        let mut common: Vec<SortingColumnOption> = common
            .map_while(|column| {
                let path = origins.same_value(&column.path)?;
                Some(
                    SortingColumnOption::new(path)
                        .descending(column.descending)
                        .nulls_first(column.nulls_first),
                )
            })
            .collect();
        let can_be_compared = |column: &&SortingColumnOption| {
            leaves.iter().any(|leaf| {
                leaf.path == column.path
                    && leaf.max_rep_level == 0
                    && leaf.order != ColumnOrderKind::Undefined
            })
        };
        common.truncate(common.iter().take_while(can_be_compared).count());
        if common.len() < self.longest {
            notes.push(Note::SortingColumns {
                kept: common.len(),
                of: self.longest,
            });
        }
        options.sorting_columns = common;
        options.unsorted_rows = UnsortedRows::OmitSortingColumns;
    }
}

/// Returns the sorting columns by path, up to the first one missing from the schema.
fn by_path(schema: &ParquetSchema, columns: &[SortingColumn]) -> Vec<SortingColumnOption> {
    let by_path = |column: &SortingColumn| {
        let leaf = usize::try_from(column.column_idx).ok();
        let leaf = leaf.filter(|leaf| *leaf < schema.leaves().len())?;
        Some(
            SortingColumnOption::new(schema.path(leaf))
                .descending(column.descending)
                .nulls_first(column.nulls_first),
        )
    };
    columns.iter().map_while(by_path).collect()
}
