//! Tests footers with wrong information.

use std::sync::Arc;

use herringbone::arrow::array::{ArrayRef, Float64Array, RecordBatch};
use herringbone::format::{
    BoundaryOrder, ColumnIndex, Encoding, KeyValue, PageEncodingStats, Statistics,
};
use herringbone::{DataPageVersion, WriteOptions, Writer};

use super::lines;
use crate::damage::{
    ID, LIST, NAME, SCORE, sound, with_chunk, with_column_index, with_footer, with_metadata,
    with_offset_index, with_statistics,
};
use crate::files;

fn file() -> Vec<u8> {
    sound(DataPageVersion::V1)
}

/// A change to a column index.
type Change = fn(&mut ColumnIndex);

/// Checks that a file's findings are these lines.
fn expect(file: &[u8], wanted: &[&str]) {
    assert_eq!(lines(file), wanted);
}

#[test]
fn sound_files_have_no_findings() {
    expect(&sound(DataPageVersion::V1), &[]);
    expect(&sound(DataPageVersion::V2), &[]);
}

#[test]
fn magic_and_rows() {
    let mut other = file();
    other[3] = b'2';
    let line = "error magic: the file starts with \"PAR2\", not with \"PAR1\" (offset 0x0)";
    expect(&other, &[line]);
    let other = with_footer(&file(), |parts| parts.num_rows = 25);
    expect(
        &other,
        &["error rows: the footer declares 25 rows, but the row groups have 24"],
    );
    let other = with_footer(&file(), |parts| parts.row_groups[1].num_rows = 11);
    let found = lines(&other);
    assert_eq!(
        found[0],
        "error rows: the footer declares 24 rows, but the row groups have 23"
    );
    assert_eq!(
        found[1],
        "error rows: the column chunk has 12 rows, but its row group has 11 (column id, row group \
         1)"
    );
    assert_eq!(found.len(), 5, "{found:?}");
}

#[test]
fn row_groups() {
    let other = with_footer(&file(), |parts| parts.row_groups[1].ordinal = Some(7));
    expect(
        &other,
        &["warning row_group: its ordinal is 7 (row group 1)"],
    );
    let other = with_footer(&file(), |parts| {
        parts.row_groups[0].total_byte_size += 1;
    });
    let found = lines(&other);
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("note row_group: total_byte_size is "));
    let other = with_footer(&file(), |parts| {
        parts.row_groups[0].columns.pop();
    });
    let found = lines(&other);
    let line = "error row_group: it has 3 column chunks for 4 columns (row group 0)";
    assert_eq!(found[0], line);
}

#[test]
fn sorting() {
    let other = with_footer(&file(), |parts| {
        let sorting = parts.row_groups[1].sorting_columns.as_mut().unwrap();
        sorting[0].descending = true;
    });
    let line =
        "error sorting: row 1 of the row group belongs before the previous row (row group 1)";
    expect(&other, &[line]);
    let other = with_footer(&file(), |parts| {
        let sorting = parts.row_groups[0].sorting_columns.as_mut().unwrap();
        sorting[0].column_idx = NAME as i32;
    });
    let line =
        "error sorting: row 3 of the row group belongs before the previous row (row group 0)";
    expect(&other, &[line]);
    let other = with_footer(&file(), |parts| {
        let sorting = parts.row_groups[0].sorting_columns.as_mut().unwrap();
        sorting[0].column_idx = 9;
    });
    let line = "error sorting: sorting_columns name the column 9, which does not exist (row group \
                0)";
    expect(&other, &[line]);
}

#[test]
fn places() {
    let other = with_metadata(&file(), ID, |it| it.total_compressed_size = 1 << 40);
    let found = lines(&other);
    assert!(
        found[0].starts_with(
            "error range: the column chunk at 4 with 1099511627776 bytes lies outside"
        ),
        "{found:?}"
    );
    let other = with_chunk(&file(), SCORE, |it| it.offset_index_offset = Some(4));
    let found = lines(&other);
    assert!(
        found.iter().any(|found| found
            .starts_with("error overlap: the column chunk overlaps the offset index")
            || found.starts_with("error overlap: the offset index overlaps the column chunk")),
        "{found:?}"
    );
    let other = with_metadata(&file(), NAME, |it| it.dictionary_page_offset = None);
    let found = lines(&other);
    assert!(
        found
            .iter()
            .any(|found| found.contains("dictionary indices without a dictionary page")),
        "{found:?}"
    );
}

#[test]
fn metadata_of_column_chunks() {
    let other = with_metadata(&file(), ID, |it| it.num_values = 13);
    expect(
        &other,
        &[
            "error column_metadata: num_values is 13, but the pages have 12 (column id, row group \
             0)",
        ],
    );
    let other = with_metadata(&file(), ID, |it| it.path_in_schema = vec!["di".into()]);
    let line = "error column_metadata: path_in_schema is `di`, which is not the path of this \
                column (column id, row group 0)";
    expect(&other, &[line]);
    let other = with_metadata(&file(), ID, |it| it.total_uncompressed_size = 1);
    let found = lines(&other);
    assert_eq!(found.len(), 1);
    assert!(
        found[0]
            .starts_with("note column_metadata: total_uncompressed_size is 1, but the pages have ")
    );
    let other = with_metadata(&file(), ID, |it| it.encodings.clear());
    let line =
        "note encodings: pages use PLAIN, which encodings does not list (column id, row group 0)";
    expect(&other, &[line]);
    let other = with_metadata(&file(), ID, |it| {
        let count = |it: &mut PageEncodingStats| it.count += 1;
        it.encoding_stats.iter_mut().flatten().for_each(count);
    });
    let line = "note encodings: encoding_stats count 3 pages of DATA_PAGE PLAIN, but there are 2 \
                (column id, row group 0)";
    expect(&other, &[line]);
    // If a reader finds no value in the dictionary, it would skip the row group.
    let other = with_metadata(&file(), ID, |it| {
        let code = |it: &mut PageEncodingStats| it.encoding = Encoding::RleDictionary;
        it.encoding_stats.iter_mut().flatten().for_each(code);
    });
    let line = "error encodings: encoding_stats count 0 pages of DATA_PAGE PLAIN, but there are 2 \
                (column id, row group 0)";
    assert!(
        lines(&other).iter().any(|it| it == line),
        "{:?}",
        lines(&other)
    );
    let other = with_metadata(&file(), LIST, |it| {
        let sizes = it.size_statistics.as_mut().unwrap();
        sizes.repetition_level_histogram = Some(vec![12, 8]);
    });
    let found = lines(&other);
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with(
        "error size_statistics: repetition_level_histogram is [12, 8], but the levels give [12, "
    ));
}

#[test]
fn statistics() {
    let other = with_statistics(&file(), SCORE, |it| it.null_count = Some(4));
    let line = "error statistics: null_count is 4, but there are 3 nulls (column score, row group \
                0)";
    expect(&other, &[line]);
    let other = with_statistics(&file(), SCORE, |it| it.nan_count = Some(0));
    let line = "error statistics: nan_count is 0, but there are 1 NaNs (column score, row group 0)";
    expect(&other, &[line]);
    let other = with_statistics(&file(), SCORE, |it| {
        it.max_value = Some(f64::NAN.to_le_bytes().to_vec());
    });
    let line = "warning statistics: max_value is NaN (column score, row group 0)";
    expect(&other, &[line]);
    let other = with_statistics(&file(), ID, |it| it.distinct_count = Some(11));
    let line = "note statistics: distinct_count is 11, but there are 12 distinct values (column \
                id, row group 0)";
    expect(&other, &[line]);
    let other = with_statistics(&file(), NAME, |it| it.max_value = Some(b"eel".to_vec()));
    let line = "error statistics: max_value is \"eel\", but the greatest value is \"herring\" (column name, row group 0)";
    expect(&other, &[line]);
    let other = with_statistics(&file(), ID, |it| it.min_value = Some(vec![0; 3]));
    let line = "error statistics: min_value has 3 bytes, but a INT32 has 4 (column id, row group \
                0)";
    expect(&other, &[line]);
}

/// Loose bounds are only wrong if they are marked as exact.
#[test]
fn bounds_need_not_be_tight() {
    let loose = |exact| {
        with_statistics(&file(), NAME, |it| {
            it.min_value = Some(b"co".to_vec());
            it.is_min_value_exact = exact;
        })
    };
    expect(&loose(None), &[]);
    expect(&loose(Some(false)), &[]);
    let line = "error statistics: min_value is \"co\" and exact, but the least value is \"cod\" (column name, row group 0)";
    expect(&loose(Some(true)), &[line]);
}

/// The deprecated bounds may follow any order that a writer used.
#[test]
fn old_bounds() {
    let with = |min: &[u8], max: &[u8]| {
        with_statistics(&file(), NAME, |it| {
            it.min = Some(min.to_vec());
            it.max = Some(max.to_vec());
        })
    };
    expect(&with(b"cod", b"herring"), &[]);
    // In the order of signed bytes, values from 0x80 on are the smallest.
    expect(&with(b"\xc3", b"herring"), &[]);
    let line = "warning statistics: the deprecated min and max do not bound the values in any order (column name, row group 0)";
    expect(&with(b"cod", b"eel"), &[line]);
}

/// If a writer compares numbers, it may choose either zero as the minimum, because they are equal.
#[test]
fn old_bounds_of_zeros() {
    let numbers: ArrayRef = Arc::new(Float64Array::from(vec![0.0, 1.5, -0.0]));
    let batch = RecordBatch::try_from_iter([("x", numbers)]).unwrap();
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, batch.schema(), WriteOptions::new()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    let with = |min: f64, max: f64| {
        let old = with_statistics(&file, 0, |it| {
            *it = Statistics::default();
            it.min = Some(min.to_le_bytes().to_vec());
            it.max = Some(max.to_le_bytes().to_vec());
        });
        with_footer(&old, |parts| parts.column_orders = None)
    };
    for zero in [0.0, -0.0] {
        expect(&with(zero, 1.5), &[]);
    }
    let line = "error statistics: the deprecated min and max do not bound the values in any order (column x, row group 0)";
    expect(&with(0.5, 1.5), &[line]);
    expect(&with(0.0, 1.0), &[line]);
}

/// INT96 had no order, so its bounds are never wrong.
#[test]
fn old_bounds_of_int96() {
    let file = std::fs::read(files::testdata().join("built/int96_nanoseconds.parquet")).unwrap();
    let sound = lines(&file);
    let other = with_metadata(&file, 0, |it| {
        let mut statistics = Statistics::default();
        statistics.min = Some(vec![0xff; 12]);
        statistics.max = Some(vec![0; 12]);
        it.statistics = Some(statistics);
    });
    assert_eq!(lines(&other), sound);
}

#[test]
fn column_indexes() {
    let id = |value: i32| value.to_le_bytes().to_vec();
    let other = with_column_index(&file(), ID, |it| {
        it.max_values = [id(49), id(110)].into_iter().collect();
    });
    let found = lines(&other);
    assert_eq!(found.len(), 1);
    assert!(
        found[0].starts_with(
            "error column_index: max_values is 49, but the greatest value is 50 (column id, row group 0, page 0, offset 0x"
        ),
        "{found:?}"
    );
    let other = with_column_index(&file(), ID, |it| {
        it.boundary_order = BoundaryOrder::Descending;
    });
    let line = "error column_index: the bounds are declared as descending, but are not (column id, \
                row group 0)";
    expect(&other, &[line]);
    let messages: [(usize, Change, &str); 4] = [
        (
            ID,
            |it| it.null_pages[1] = true,
            "null_pages claims only nulls, but there are 6 values",
        ),
        (
            SCORE,
            |it| it.null_counts = Some(vec![2, 2]),
            "null_counts has 2, but there are 1 nulls",
        ),
        (
            SCORE,
            |it| it.nan_counts = Some(vec![1, 1]),
            "nan_counts has 1, but there are 0 NaNs",
        ),
        (
            SCORE,
            |it| it.definition_level_histograms = Some(vec![2, 4, 2, 4]),
            "definition_level_histograms is [2, 4], but the levels give [1, 5]",
        ),
    ];
    for (leaf, change, message) in messages {
        let found = lines(&with_column_index(&file(), leaf, change));
        assert!(
            found
                .iter()
                .any(|found| found.contains(message) && found.contains("page 1")),
            "{found:?}"
        );
    }
    let other = with_column_index(&file(), ID, |it| {
        it.null_pages.push(true);
        it.min_values.push(b"");
        it.max_values.push(b"");
        it.null_counts = None;
        it.definition_level_histograms = None;
        it.repetition_level_histograms = None;
    });
    let line = "error column_index: it lists 3 pages, but the column chunk has 2 data pages \
                (column id, row group 0)";
    expect(&other, &[line]);
}

#[test]
fn offset_indexes() {
    let other = with_offset_index(&file(), ID, |it| it.page_locations[1].first_row_index = 5);
    let found = lines(&other);
    assert_eq!(found.len(), 1);
    let line = "error offset_index: first_row_index is 5, but it is 6 (column id, row group 0, page 1, offset 0x";
    assert!(found[0].starts_with(line), "{found:?}");
    let other = with_offset_index(&file(), ID, |it| {
        it.page_locations[0].offset += 1;
        it.page_locations[0].compressed_page_size -= 1;
        it.page_locations.pop();
    });
    let found = lines(&other);
    assert_eq!(found.len(), 3, "{found:?}");
    assert!(found[0].starts_with("error offset_index: the offset of the page is 5, but it is 4 ("));
    assert!(found[1].starts_with("error offset_index: the size of the page with its header is "));
    let line = "error offset_index: it lists 1 pages, but the column chunk has 2 data pages \
                (column id, row group 0)";
    assert_eq!(found[2], line);
    let other = with_offset_index(&file(), NAME, |it| {
        let bytes = it.unencoded_byte_array_data_bytes.as_mut().unwrap();
        bytes[1] += 1;
    });
    let found = lines(&other);
    assert_eq!(found.len(), 1);
    let line = "error offset_index: unencoded_byte_array_data_bytes is 14, but the values have 13 \
                bytes (column name, row group 0, page 2, offset 0x";
    assert!(found[0].starts_with(line), "{found:?}");
}

#[test]
fn arrow_schemas() {
    let other = with_footer(&file(), |parts| {
        parts.key_value_metadata =
            Some(vec![KeyValue::new("ARROW:schema", "no base64!".to_owned())]);
    });
    let found = lines(&other);
    assert_eq!(found.len(), 1);
    assert!(found[0].starts_with("warning arrow_schema: ARROW:schema is ignored: "));
}
