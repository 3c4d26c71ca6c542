//! Tests bounds and counts of column chunks and of pages.

use std::collections::HashSet;
use std::sync::Arc;

use herringbone::format::{BoundaryOrder, ColumnIndex, Statistics};
use herringbone::{Compatibility, ParquetFile, StatisticsLevel, WriteOptions};
use herringbone_arrow::array::RecordBatch;
use herringbone_arrow::schema::{DataType, Field, Schema, SchemaRef};

use super::keys::{Key, bound, is_float, is_ordered};
use super::rows::{Row, extremes, leaf_type, rows, values};
use crate::batches::Random;
use crate::write::arrays;
use crate::write::compare::written;
use crate::write::schemas::leaf_types;

/// Returns every type as a column, and as the elements of lists.
pub(crate) fn schema() -> SchemaRef {
    let fields: Vec<_> = leaf_types()
        .into_iter()
        .flat_map(|leaf| {
            let item = Arc::new(Field::new("item", leaf.clone(), true));
            [leaf, DataType::List(item)]
        })
        .enumerate()
        .map(|(i, data_type)| Field::new(format!("{i} {data_type}"), data_type, true))
        .collect();
    Arc::new(Schema::new(fields))
}

/// Returns options for several row groups of several pages.
pub(crate) fn options(compatibility: Compatibility, dictionary: bool) -> WriteOptions {
    let options = WriteOptions::new().compatibility(compatibility);
    let columns = options.columns.clone();
    let columns = columns
        .page_rows(20)
        .truncate_bounds(9)
        .dictionary(dictionary);
    options.columns(columns).row_group_rows(70)
}

/// Calls `check` with each column chunk of some files. The arguments are the file, the row group and column, the leaf's
/// type, and the rows.
pub(crate) fn for_each_chunk(
    options: &WriteOptions,
    mut check: impl FnMut(&ParquetFile, (usize, usize), &DataType, &[Row]),
) {
    let schema = schema();
    for seed in 0..3 {
        let batch = arrays::batch(&mut Random(seed), &schema, 150);
        let file = written(&schema, std::slice::from_ref(&batch), options.clone()).unwrap();
        for_each_chunk_of(&ParquetFile::from_bytes(file).unwrap(), &batch, &mut check);
    }
}

fn for_each_chunk_of(
    file: &ParquetFile,
    batch: &RecordBatch,
    check: &mut impl FnMut(&ParquetFile, (usize, usize), &DataType, &[Row]),
) {
    let columns: Vec<_> = batch.columns().iter().map(|array| rows(array)).collect();
    let mut from = 0;
    assert_eq!(file.metadata().num_row_groups(), 3);
    for group in 0..file.metadata().num_row_groups() {
        let num_rows = file.metadata().row_group_header(group).unwrap().num_rows;
        let to = from + usize::try_from(num_rows).unwrap();
        for (i, column) in columns.iter().enumerate() {
            let leaf = leaf_type(batch.column(i).data_type());
            check(file, (group, i), leaf, &column[from..to]);
        }
        from = to;
    }
    assert_eq!(from, batch.num_rows());
}

/// Bounds as bytes, and whether they are exact.
struct Stored<'a> {
    min: Option<&'a [u8]>,
    max: Option<&'a [u8]>,
    exact: Option<(bool, bool)>,
    total_order: bool,
}

/// Compares bounds with the values.
fn check_bounds(what: &str, leaf: &DataType, stored: &Stored<'_>, rows: &[Row]) {
    let any = !values(rows).is_empty();
    if !is_ordered(leaf) || !any {
        let none = stored.min.unwrap_or_default().is_empty();
        assert!(none && stored.max.unwrap_or_default().is_empty(), "{what}");
        return;
    }
    let Some((least, greatest)) = extremes(rows) else {
        let is_nan = |bytes: Option<&[u8]>| bytes.map(|bytes| bound(leaf, bytes) == Key::Nan);
        let want = stored.total_order.then_some(true);
        assert_eq!(
            (is_nan(stored.min), is_nan(stored.max)),
            (want, want),
            "{what}"
        );
        return;
    };
    let min = bound(
        leaf,
        stored.min.unwrap_or_else(|| panic!("{what}: no bounds")),
    );
    let max = bound(leaf, stored.max.unwrap());
    let is_text = matches!(&least, Key::Bytes(_));
    if is_text {
        assert!(min <= least && max >= greatest, "{what}: {min:?} {max:?}");
        check_truncation(what, leaf, stored, (&min, &least), (&max, &greatest));
        return;
    }
    // Without the total order, zeros count as equal, and bounds include both of them.
    let zero = |key: &Key, down: bool| match key.other_zero() {
        Some(other) if !stored.total_order => {
            if down {
                key.clone().min(other)
            } else {
                key.clone().max(other)
            }
        }
        _ => key.clone(),
    };
    assert_eq!(
        (min, max),
        (zero(&least, true), zero(&greatest, false)),
        "{what}"
    );
    if let Some(exact) = stored.exact {
        assert_eq!(exact, (true, true), "{what}");
    }
}

fn check_truncation(
    what: &str,
    leaf: &DataType,
    stored: &Stored<'_>,
    (min, least): (&Key, &Key),
    (max, greatest): (&Key, &Key),
) {
    let is_utf8 = matches!(
        leaf,
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View
    );
    for (bound, value) in [(min, least), (max, greatest)] {
        let (Key::Bytes(bytes), Key::Bytes(whole)) = (bound, value) else {
            panic!("{what}: no bytes");
        };
        assert!(bytes == whole || bytes.len() <= 9, "{what}: {bytes:?}");
        assert!(
            !is_utf8 || std::str::from_utf8(bytes).is_ok(),
            "{what}: {bytes:?}"
        );
        assert!(
            whole.len() > 9 || bytes == whole,
            "{what}: {bytes:?} is short enough"
        );
    }
    if let Some(exact) = stored.exact {
        assert_eq!(exact, (min == least, max == greatest), "{what}");
    }
}

fn nans(rows: &[Row]) -> i64 {
    values(rows).iter().filter(|key| ***key == Key::Nan).count() as i64
}

fn check_chunk(
    file: &ParquetFile,
    (group, column): (usize, usize),
    leaf: &DataType,
    rows: &[Row],
    total_order: bool,
) {
    let what = format!("row group {group}, column {column} of {leaf}");
    let chunk = file.metadata().column_chunk(group, column).unwrap();
    let metadata = chunk.meta_data.unwrap();
    let statistics: Statistics = metadata.statistics.unwrap();
    let (all, nulls) = counts(rows);
    assert_eq!(metadata.num_values, all, "{what}");
    assert_eq!(statistics.null_count, Some(nulls), "{what}");
    assert_eq!((&statistics.min, &statistics.max), (&None, &None), "{what}");
    let exact = statistics
        .is_min_value_exact
        .zip(statistics.is_max_value_exact);
    assert_eq!(exact.is_some(), statistics.min_value.is_some(), "{what}");
    let stored = Stored {
        min: statistics.min_value.as_deref(),
        max: statistics.max_value.as_deref(),
        exact,
        total_order,
    };
    check_bounds(&what, leaf, &stored, rows);
    let want = is_float(leaf).then(|| nans(rows));
    assert_eq!(statistics.nan_count, want, "{what}");
    if let Some(distinct) = statistics.distinct_count.filter(|_| is_ordered(leaf)) {
        // NaNs differ by their bits.
        let known: HashSet<_> = values(rows)
            .into_iter()
            .filter(|key| **key != Key::Nan)
            .collect();
        let range = known.len() as i64..=known.len() as i64 + nans(rows);
        assert!(
            range.contains(&distinct),
            "{what}: {distinct} distinct values, not {range:?}"
        );
    }
}

fn counts(rows: &[Row]) -> (i64, i64) {
    let all = super::rows::num_levels(rows);
    (all as i64, (all - values(rows).len()) as i64)
}

fn check_pages(
    file: &ParquetFile,
    (group, column): (usize, usize),
    leaf: &DataType,
    rows: &[Row],
    total_order: bool,
) {
    let Some(index) = file.column_index(group, column).unwrap() else {
        // If there is no order, there are no bounds. A page of NaNs has none, either.
        let all_nan = |rows: &[Row]| !values(rows).is_empty() && extremes(rows).is_none();
        let missing =
            !total_order && is_float(leaf) && pages(file, (group, column), rows).any(all_nan);
        assert!(
            !is_ordered(leaf) || missing,
            "{column} of {leaf} has no column index"
        );
        return;
    };
    let mut num_pages = 0;
    for (page, rows) in pages(file, (group, column), rows).enumerate() {
        num_pages += 1;
        let what = format!("row group {group}, column {column} of {leaf}, page {page}");
        let (_, nulls) = counts(rows);
        assert_eq!(index.null_pages[page], values(rows).is_empty(), "{what}");
        assert_eq!(index.null_counts.as_ref().unwrap()[page], nulls, "{what}");
        let nan_count = index.nan_counts.as_ref().map(|counts| counts[page]);
        assert_eq!(nan_count, is_float(leaf).then(|| nans(rows)), "{what}");
        let stored = Stored {
            min: index.min_values.get(page),
            max: index.max_values.get(page),
            exact: None,
            total_order,
        };
        check_bounds(&what, leaf, &stored, rows);
    }
    assert_eq!(index.null_pages.len(), num_pages);
    check_order(leaf, &index);
}

/// Returns the rows in each page, according to the offset index.
pub(crate) fn pages<'a>(
    file: &ParquetFile,
    (group, column): (usize, usize),
    rows: &'a [Row],
) -> impl Iterator<Item = &'a [Row]> + use<'a> {
    let index = file.offset_index(group, column).unwrap().unwrap();
    let mut starts: Vec<_> = index
        .page_locations
        .iter()
        .map(|page| usize::try_from(page.first_row_index).unwrap())
        .collect();
    assert_eq!(starts[0], 0);
    starts.push(rows.len());
    (1..starts.len()).map(move |i| &rows[starts[i - 1]..starts[i]])
}

/// Checks that the boundary order is correct and as strong as possible.
fn check_order(leaf: &DataType, index: &ColumnIndex) {
    let list = |values: &herringbone::format::ByteArrays| -> Vec<Key> {
        let pages = index.null_pages.iter().zip(values.iter());
        pages
            .filter(|(null, _)| !**null)
            .map(|(_, bytes)| bound(leaf, bytes))
            .collect()
    };
    let (mins, maxs) = (list(&index.min_values), list(&index.max_values));
    if mins.contains(&Key::Nan) {
        return;
    }
    let ascending = mins.is_sorted() && maxs.is_sorted();
    let descending = mins.iter().rev().is_sorted() && maxs.iter().rev().is_sorted();
    let want = match (ascending, descending) {
        (true, _) => BoundaryOrder::Ascending,
        (_, true) => BoundaryOrder::Descending,
        _ => BoundaryOrder::Unordered,
    };
    assert_eq!(index.boundary_order, want, "{leaf}: {mins:?} {maxs:?}");
}

#[test]
fn of_chunks_and_pages() {
    for (compatibility, total_order) in [
        (Compatibility::Widest, false),
        (Compatibility::Modern, true),
    ] {
        for dictionary in [false, true] {
            let options = options(compatibility, dictionary);
            for_each_chunk(&options, |file, chunk, leaf, rows| {
                check_chunk(file, chunk, leaf, rows, total_order);
                check_pages(file, chunk, leaf, rows, total_order);
            });
        }
    }
}

#[test]
fn the_footer_declares_the_version_of_the_options() {
    let batch = RecordBatch::new_empty(schema());
    let version = |version| {
        let options = WriteOptions::new().format_version(version);
        let file = written(&schema(), std::slice::from_ref(&batch), options)?;
        Ok::<_, herringbone::Error>(ParquetFile::from_bytes(file)?.metadata().version())
    };
    assert_eq!((version(1).unwrap(), version(2).unwrap()), (1, 2));
    let error = version(3).unwrap_err();
    assert_eq!(error.message(), "format_version must be 1 or 2, not 3");
}

#[test]
fn statistics_and_distinct_counts_are_left_out_on_request() {
    let options = options(Compatibility::Widest, true);
    let without = |change: &dyn Fn(&mut WriteOptions)| {
        let mut options = options.clone();
        change(&mut options);
        let mut found = Vec::new();
        for_each_chunk(&options, |file, (group, column), _, _| {
            let chunk = file.metadata().column_chunk(group, column).unwrap();
            found.push(chunk.meta_data.unwrap().statistics);
        });
        found
    };
    let none = without(&|it| it.columns.statistics = Some(StatisticsLevel::None));
    assert!(none.iter().all(Option::is_none));
    let plain = without(&|_| ());
    let mut uncounted = without(&|it| it.columns.distinct_counts = Some(false));
    assert_ne!(plain, uncounted);
    for (uncounted, plain) in uncounted.iter_mut().flatten().zip(plain.iter().flatten()) {
        uncounted.distinct_count = plain.distinct_count;
    }
    assert_eq!(plain, uncounted);
}
