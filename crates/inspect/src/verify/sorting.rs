//! Checks that a row group is sorted as declared.

use std::cmp::Ordering;
use std::collections::{HashSet, VecDeque};
use std::sync::Arc;

use herringbone_core::budget::Budget;
use herringbone_core::physical::PageDecoder;
use herringbone_core::statistics::compare;
use herringbone_format::{Error, PageType, Result, SortingColumn};
use herringbone_schema::ColumnOrderKind;

use super::column::Column;
use super::finding::{FindingKind, Report};
use super::observed::for_each_plain;
use herringbone::ParquetFile;
use herringbone::pages::Pages;
use herringbone::source::Source;

/// Compares each row of a row group with the next one. Decode errors are ignored here, since
/// another check has already reported them.
///
/// # Errors
/// Fails with [`ErrorKind::Io`](herringbone::ErrorKind::Io) if the source fails.
pub(super) fn check(
    file: &ParquetFile,
    row_group: usize,
    sorting: &[SortingColumn],
    report: &mut Report,
) -> Result<()> {
    let kind = FindingKind::Sorting;
    let budget = Budget::new(file.limits());
    let mut cursors = Vec::new();
    let mut named = HashSet::new();
    for sorting in sorting {
        // A repeated column doesn't affect the order.
        if !named.insert(sorting.column_idx) {
            continue;
        }
        let leaf = usize::try_from(sorting.column_idx).ok();
        let Some(leaf) = leaf.filter(|leaf| *leaf < file.parquet_schema().leaves().len()) else {
            let ordinal = sorting.column_idx;
            report.error(
                kind,
                format!("sorting_columns name the column {ordinal}, which does not exist"),
            );
            return Ok(());
        };
        let column = Column::new(file.metadata(), file.parquet_schema(), leaf);
        if column.leaf.max_rep_level > 0 || column.natural_order == ColumnOrderKind::Undefined {
            report.location.set_column(column.path.join("."));
            report.warning(
                FindingKind::NotChecked,
                "rows cannot be ordered by this column",
            );
            report.location.column = None;
            return Ok(());
        }
        match Cursor::new(file, row_group, leaf, column, *sorting, &budget) {
            Ok(cursor) => cursors.push(cursor),
            Err(error) => return reported(error, report),
        }
    }
    match first_unsorted(&mut cursors) {
        Ok(None) => Ok(()),
        Ok(Some(row)) => {
            let message = format!("row {row} of the row group belongs before the previous row");
            report.error(kind, message);
            Ok(())
        }
        Err(error) => reported(error, report),
    }
}

/// Passes on errors that aren't the file's fault. Also reports a limit exceeded only by several
/// columns together, because no other check notices that.
fn reported(error: Error, report: &mut Report) -> Result<()> {
    if Budget::refused(&error) {
        report.warning(FindingKind::NotChecked, error.message());
    }
    match error.is_of_source() {
        true => Err(error),
        false => Ok(()),
    }
}

/// Returns the first row out of order.
fn first_unsorted(cursors: &mut [Cursor]) -> Result<Option<u64>> {
    let mut last: Vec<Option<Vec<u8>>> = Vec::new();
    for row in 0_u64.. {
        let mut current = Vec::with_capacity(cursors.len());
        for cursor in &mut *cursors {
            match cursor.next()? {
                Some(value) => current.push(value),
                None => return Ok(None),
            }
        }
        let pairs = last.iter().zip(&current).zip(&*cursors);
        // We stop comparing at values without a defined order.
        let order = pairs
            .map(|((a, b), cursor)| cursor.compare(a.as_deref(), b.as_deref()))
            .find(|order| *order != Some(Ordering::Equal));
        if order == Some(Some(Ordering::Greater)) {
            return Ok(Some(row));
        }
        last = current;
    }
    Ok(None)
}

/// A cursor over the rows of a column without lists.
struct Cursor {
    source: Arc<dyn Source>,
    pages: Pages,
    decoder: PageDecoder,
    column: Column,
    sorting: SortingColumn,
    open: bool,
    /// The definition levels of decoded but unread rows.
    levels: VecDeque<u8>,
    /// The values of these rows.
    values: VecDeque<Vec<u8>>,
}

impl Cursor {
    fn new(
        file: &ParquetFile,
        row_group: usize,
        leaf: usize,
        column: Column,
        sorting: SortingColumn,
        budget: &Arc<Budget>,
    ) -> Result<Self> {
        let chunk = file.metadata().readable_chunk(row_group, leaf)?.ready()?;
        Ok(Self {
            source: file.source().clone(),
            pages: file.pages(row_group, leaf)?,
            decoder: PageDecoder::with_budget(
                &column.leaf,
                chunk.layout.codec,
                file.metadata().created_by(),
                file.limits().clone(),
                budget,
            )?
            .encrypted(chunk.cipher),
            column,
            sorting,
            open: false,
            levels: VecDeque::new(),
            values: VecDeque::new(),
        })
    }

    /// Returns the next row's value in the PLAIN encoding, or an inner `None` for a null. The outer
    /// `None` marks the end.
    fn next(&mut self) -> Result<Option<Option<Vec<u8>>>> {
        let max = self.column.leaf.max_def_level;
        loop {
            match self.levels.front() {
                Some(&level) if level < max => {
                    self.levels.pop_front();
                    return Ok(Some(None));
                }
                Some(_) => {
                    if let Some(value) = self.values.pop_front() {
                        self.levels.pop_front();
                        return Ok(Some(Some(value)));
                    }
                }
                None => {}
            }
            if !self.decode()? {
                return Ok(None);
            }
        }
    }

    /// Decodes more rows. Returns false after the last page.
    fn decode(&mut self) -> Result<bool> {
        if self.open {
            if let Some(block) = self.decoder.block()? {
                self.levels.extend(block.def);
                for_each_plain(&block.values, |value| self.values.push_back(value.to_vec()));
                return Ok(true);
            }
            self.open = false;
        }
        let Some(page) = self.pages.next() else {
            return Ok(false);
        };
        let page = page?;
        let body = page.start.offset + page.header_bytes as u64;
        let header = &page.header;
        let is_data = matches!(header.type_, PageType::DataPage | PageType::DataPageV2);
        if is_data || header.type_ == PageType::DictionaryPage {
            self.decoder.check_sizes(header)?;
            let body = self
                .source
                .read(body..body.saturating_add(page.body_bytes))?;
            self.decoder.open(header, &page.start, body)?;
            self.open = is_data;
        }
        Ok(true)
    }

    fn compare(&self, a: Option<&[u8]>, b: Option<&[u8]>) -> Option<Ordering> {
        let nulls = if self.sorting.nulls_first {
            Ordering::Less
        } else {
            Ordering::Greater
        };
        match (a, b) {
            (None, None) => Some(Ordering::Equal),
            (None, Some(_)) => Some(nulls),
            (Some(_), None) => Some(nulls.reverse()),
            (Some(a), Some(b)) if a == b => Some(Ordering::Equal),
            (Some(a), Some(b)) => {
                let (order, physical) = (self.column.natural_order, self.column.leaf.physical_type);
                // Not all orders define a place for NaNs and the two zeros, so we skip them.
                let zeros = is_zero(order, a) && is_zero(order, b);
                let order = compare(order, physical, a, b).filter(|_| !zeros)?;
                Some(match self.sorting.descending {
                    true => order.reverse(),
                    false => order,
                })
            }
        }
    }
}

/// Returns true if a float is zero, with either sign.
fn is_zero(order: ColumnOrderKind, value: &[u8]) -> bool {
    order.is_float()
        && value
            .split_last()
            .is_some_and(|(sign, rest)| sign & 0x7f == 0 && rest.iter().all(|byte| *byte == 0))
}
