//! Checks the page indexes against the pages, in order.

use herringbone_core::statistics::compare;
use herringbone_format::{BoundaryOrder, ColumnIndex, OffsetIndex, PageLocation};
use herringbone_schema::ColumnOrderKind;

use super::bounds::{Bound, Side, fault};
use super::column::Column;
use super::finding::{FindingKind, Report};
use super::observed::Observed;
use super::statistics::histogram_fault;

/// A column chunk's page indexes and the number of data pages compared so far.
#[derive(Debug, Default)]
pub(super) struct Indexes {
    pub(super) column_index: Option<ColumnIndex>,
    pub(super) offset_index: Option<OffsetIndex>,
    pages: usize,
}

/// A data page as found in the file.
#[derive(Debug, Clone, Copy)]
pub(super) struct FoundPage<'a> {
    /// The offset of the page's header in the file.
    pub(super) offset: u64,
    /// The size of header and body, in bytes.
    pub(super) size: u64,
    /// The ordinal of the first row starting in the page, or `None` after an undecodable page.
    pub(super) first_row: Option<u64>,
    /// True if the page starts with a new row, or if this is unknown.
    pub(super) starts_row: bool,
    /// The page's actual contents, or `None` if it can't be decoded.
    pub(super) observed: Option<&'a Observed>,
}

impl Indexes {
    /// Compares the next data page with the indexes.
    pub(super) fn page(&mut self, page: FoundPage<'_>, column: &Column, report: &mut Report) {
        let ordinal = self.pages;
        self.pages += 1;
        if let Some(index) = &self.offset_index {
            location(index, ordinal, page, report);
            if let (Some(bytes), Some(observed)) =
                (&index.unencoded_byte_array_data_bytes, page.observed)
                && column.is_byte_array()
                && let Some(claimed) = bytes.get(ordinal)
                && u64::try_from(*claimed) != Ok(observed.byte_array_bytes)
            {
                let actual = observed.byte_array_bytes;
                let message = format!(
                    "unencoded_byte_array_data_bytes is {claimed}, but the values have {actual} \
                     bytes"
                );
                report.error(FindingKind::OffsetIndex, message);
            }
        }
        if let (Some(index), Some(observed)) = (&self.column_index, page.observed) {
            summary(index, ordinal, observed, column, report);
        }
    }

    /// Checks everything that depends on all pages.
    pub(super) fn finish(&self, all_found: bool, column: &Column, report: &mut Report) {
        let pages = self.pages;
        let mut count = |kind, listed: usize| {
            if all_found && listed != pages {
                let message =
                    format!("it lists {listed} pages, but the column chunk has {pages} data pages");
                report.error(kind, message);
            }
        };
        if let Some(index) = &self.offset_index {
            count(FindingKind::OffsetIndex, index.page_locations.len());
        }
        if let Some(index) = &self.column_index {
            count(FindingKind::ColumnIndex, index.null_pages.len());
            boundary_order(index, column, report);
        }
    }
}

fn location(index: &OffsetIndex, ordinal: usize, page: FoundPage<'_>, report: &mut Report) {
    let kind = FindingKind::OffsetIndex;
    let Some(listed) = index.page_locations.get(ordinal) else {
        return;
    };
    let PageLocation {
        offset,
        compressed_page_size,
        first_row_index,
        ..
    } = *listed;
    let mut compare = |name: &str, claimed: i64, actual: u64| {
        if u64::try_from(claimed) != Ok(actual) {
            report.error(kind, format!("{name} is {claimed}, but it is {actual}"));
        }
    };
    compare("the offset of the page", offset, page.offset);
    compare(
        "the size of the page with its header",
        compressed_page_size.into(),
        page.size,
    );
    if let Some(first_row) = page.first_row {
        compare("first_row_index", first_row_index, first_row);
    }
    if !page.starts_row {
        let message = "the page starts inside of a row, which is not allowed if there is an index";
        report.error(kind, message);
    }
}

fn summary(
    index: &ColumnIndex,
    ordinal: usize,
    observed: &Observed,
    column: &Column,
    report: &mut Report,
) {
    let kind = FindingKind::ColumnIndex;
    let Some(&null_page) = index.null_pages.get(ordinal) else {
        return;
    };
    let bound = |bounds: &'static str, side| {
        let bytes = match side {
            Side::Min => index.min_values.get(ordinal),
            Side::Max => index.max_values.get(ordinal),
        };
        Bound {
            name: bounds,
            bytes: bytes.unwrap_or_default(),
            exact: None,
            side,
        }
    };
    let bounds = [
        bound("min_values", Side::Min),
        bound("max_values", Side::Max),
    ];
    match (null_page, observed.values()) {
        (true, 0) => {
            if bounds.iter().any(|bound| !bound.bytes.is_empty()) {
                // Readers ignore these bounds, so this is only a note.
                report.note(kind, "a page of nulls has bounds");
            }
        }
        (true, values) => {
            let message = format!("null_pages claims only nulls, but there are {values} values");
            report.error(kind, message);
        }
        (false, 0) if observed.levels() > 0 => {
            report.error(kind, "null_pages claims values, but there are only nulls");
        }
        (false, _) => {
            for bound in bounds {
                if let Some((severity, message)) = fault(column, bound, &observed.bounds) {
                    report.push(severity, kind, message);
                }
            }
        }
    }
    counts(index, ordinal, observed, column, report);
}

/// Compares a page's null, NaN and level counts.
fn counts(
    index: &ColumnIndex,
    ordinal: usize,
    observed: &Observed,
    column: &Column,
    report: &mut Report,
) {
    let kind = FindingKind::ColumnIndex;
    let null_count = index
        .null_counts
        .as_ref()
        .and_then(|null_counts| null_counts.get(ordinal));
    let (levels, slots) = (observed.without_value(), observed.null_slots(column));
    if let Some(&claimed) = null_count
        && ![Ok(levels), Ok(slots)].contains(&u64::try_from(claimed))
    {
        let message = format!("null_counts has {claimed}, but there are {levels} nulls");
        report.error(kind, message);
    }
    let nan_count = index
        .nan_counts
        .as_ref()
        .and_then(|nan_counts| nan_counts.get(ordinal));
    if let (Some(&claimed), Some(nans)) = (nan_count, observed.bounds.nan_count())
        && claimed != nans
    {
        report.error(
            kind,
            format!("nan_counts has {claimed}, but there are {nans} NaNs"),
        );
    }
    let histograms = [
        (
            "repetition_level_histograms",
            &index.repetition_level_histograms,
            &observed.rep_histogram,
        ),
        (
            "definition_level_histograms",
            &index.definition_level_histograms,
            &observed.def_histogram,
        ),
    ];
    for (name, claimed, actual) in histograms {
        let Some(claimed) = claimed else { continue };
        let length = claimed.len() / index.null_pages.len().max(1);
        let claimed = claimed.get(ordinal * length..(ordinal + 1) * length);
        if let Some(message) = histogram_fault(name, claimed.unwrap_or_default(), actual) {
            report.error(kind, message);
        }
    }
}

/// Checks that the bounds are sorted as declared, skipping all-null pages.
fn boundary_order(index: &ColumnIndex, column: &Column, report: &mut Report) {
    let name = match index.boundary_order {
        BoundaryOrder::Ascending => "ascending",
        BoundaryOrder::Descending => "descending",
        BoundaryOrder::Unordered => return,
        unknown => {
            report.warning(
                FindingKind::NotChecked,
                format!("unknown boundary order {}", unknown.id()),
            );
            return;
        }
    };
    if column.order == ColumnOrderKind::Undefined {
        return;
    }
    let pages = index.null_pages.iter().enumerate();
    let pages: Vec<usize> = pages
        .filter(|(_, null)| !**null)
        .map(|(page, _)| page)
        .collect();
    let sorted = |bounds: &herringbone_format::ByteArrays| {
        pages.windows(2).all(|pair| {
            let [before, behind] = pair else { return true };
            let (Some(before), Some(behind)) = (bounds.get(*before), bounds.get(*behind)) else {
                return true;
            };
            let order = compare(column.order, column.leaf.physical_type, before, behind);
            match index.boundary_order {
                BoundaryOrder::Ascending => order.is_none_or(std::cmp::Ordering::is_le),
                _ => order.is_none_or(std::cmp::Ordering::is_ge),
            }
        })
    };
    if !sorted(&index.min_values) || !sorted(&index.max_values) {
        let message = format!("the bounds are declared as {name}, but are not");
        report.error(FindingKind::ColumnIndex, message);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use herringbone::arrow::array::{ArrayRef, Int32Array, RecordBatch};
    use herringbone::{ParquetFile, WriteOptions, Writer};
    use herringbone_format::ByteArrays;

    use super::super::finding::Severity;
    use super::*;

    /// A page without any level has neither nulls nor values, so that either claim is true.
    #[test]
    fn a_page_of_nulls_is_called_one() {
        let array: ArrayRef = Arc::new(Int32Array::from(vec![None, Some(1)]));
        let batch = RecordBatch::try_from_iter_with_nullable([("n", array, true)]).unwrap();
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&mut bytes, batch.schema(), WriteOptions::new()).unwrap();
        writer.write(&batch).unwrap();
        writer.finish().unwrap();
        let file = ParquetFile::from_bytes(bytes).unwrap();
        let column = Column::new(file.metadata(), file.parquet_schema(), 0);
        for (null_page, has_bounds, nulls, expected) in [
            (true, false, 3, None),
            (true, true, 3, Some(Severity::Note)),
            (false, false, 3, Some(Severity::Error)),
            (false, false, 0, None),
            (true, false, 0, None),
        ] {
            let bound: &[u8] = match has_bounds {
                true => &[1, 0, 0, 0],
                false => &[],
            };
            let bounds = || ByteArrays::from_iter([bound]);
            let order = BoundaryOrder::Unordered;
            let index = ColumnIndex::new(vec![null_page], bounds(), bounds(), order);
            let mut observed = Observed::new(&column, false);
            observed.def_histogram[0] = nulls;
            let mut report = Report::default();
            summary(&index, 0, &observed, &column, &mut report);
            let about_nulls = report.findings.iter();
            let about_nulls = about_nulls.filter(|finding| finding.message.contains("nulls"));
            let found: Vec<Severity> = about_nulls.map(|finding| finding.severity).collect();
            assert_eq!(
                found,
                Vec::from_iter(expected),
                "{null_page} {has_bounds} {nulls}"
            );
        }
    }
}
