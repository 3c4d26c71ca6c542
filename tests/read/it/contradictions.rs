//! Tests files whose parts contradict each other, such as page headers, offset indexes, column indexes, histograms,
//! bloom filters and bodies. A read returns the file's rows as they were written, fails, or reports its losses.

use std::sync::Arc;

use bytes::Bytes;
use herringbone::arrow::array::builder::{Int64Builder, ListBuilder};
use herringbone::arrow::array::types::Int64Type;
use herringbone::arrow::array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int64Array, ListArray, RecordBatch, StringArray,
};
use herringbone::filter::col;
use herringbone::format::{ColumnIndex, Encoding};
use herringbone::{
    BloomFilterOptions, ColumnOptions, Compression, DataPageVersion, Lost, OnError, ParquetFile,
    ReadOptions, Result, WriteOptions, Writer,
};
use parquet::arrow::ArrowWriter;
use parquet::file::properties::{EnabledStatistics, WriterProperties};

use crate::canonical::lines;
use crate::dismantled::{Chunk, Dismantled};

const ROWS: i64 = 6000;
const PAGE: usize = 500;

pub(crate) fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(
        columns
            .into_iter()
            .map(|(name, array)| (name, array.clone(), array.null_count() > 0)),
    )
    .unwrap()
}

fn write(batch: &RecordBatch, columns: ColumnOptions, version: DataPageVersion) -> Bytes {
    let mut options = WriteOptions::new().columns(columns.page_rows(PAGE));
    options.row_group_rows = ROWS as usize / 2;
    options.data_page_version = Some(version);
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, batch.schema(), options).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
    file.into()
}

fn row_lists(rows: i64) -> ListArray {
    let lists = (0..rows).map(|row| match row % 7 {
        0 => None,
        n => Some((0..n - 1).map(move |i| (i != 2).then_some(10 * row + i))),
    });
    ListArray::from_iter_primitive::<Int64Type, _, _>(lists)
}

/// Returns columns for each kind of page. All values are functions of `row`, so that we detect wrongly combined rows.
fn columns(rows: i64) -> Vec<(&'static str, ArrayRef)> {
    let values = 0..rows;
    let text = |row: i64| format!("{:012}", row * 7919 % rows);
    let nullable = Int64Array::from_iter(values.clone().map(|row| (row % 5 > 0).then_some(row)));
    vec![
        (
            "row",
            Arc::new(Int64Array::from_iter_values(values.clone())),
        ),
        ("nullable", Arc::new(nullable)),
        (
            "double",
            Arc::new(Float64Array::from_iter_values(
                values.clone().map(|row| row as f64 / 4.0),
            )),
        ),
        (
            "text",
            Arc::new(StringArray::from_iter_values(values.clone().map(text))),
        ),
        (
            "few",
            Arc::new(StringArray::from_iter_values(
                values.clone().map(|row| format!("value {}", row / 3 % 20)),
            )),
        ),
        (
            "flag",
            Arc::new(
                values
                    .map(|row| Some(row % 3 == 0))
                    .collect::<BooleanArray>(),
            ),
        ),
        ("list", Arc::new(row_lists(rows))),
    ]
}

/// Returns a batch's rows as text, column by column.
fn texts(batch: &RecordBatch) -> Vec<Vec<String>> {
    let columns: Vec<_> = batch
        .columns()
        .iter()
        .map(|column| lines(&**column))
        .collect();
    let row = |row: usize| columns.iter().map(|column| column[row].clone()).collect();
    (0..batch.num_rows()).map(row).collect()
}

/// The result of a read.
pub(crate) struct Outcome {
    pub(crate) rows: Vec<Vec<String>>,
    lost_rows: u64,
    lost_values: u64,
    pub(crate) is_failed: bool,
}

pub(crate) fn read(file: &Bytes, options: ReadOptions) -> Outcome {
    read_opened(ParquetFile::from_bytes(file.clone()), options)
}

pub(crate) fn read_opened(file: Result<ParquetFile>, options: ReadOptions) -> Outcome {
    let mut outcome = Outcome {
        rows: Vec::new(),
        lost_rows: 0,
        lost_values: 0,
        is_failed: false,
    };
    let Ok(mut reader) = file.and_then(|file| file.read(options)) else {
        outcome.is_failed = true;
        return outcome;
    };
    loop {
        match reader.next_batch() {
            Ok(Some(batch)) => outcome.rows.extend(texts(&batch)),
            Ok(None) => break,
            Err(_) => {
                outcome.is_failed = true;
                break;
            }
        }
    }
    for loss in reader.losses().kept() {
        match loss.lost {
            Lost::Rows(rows) => outcome.lost_rows += rows,
            Lost::Values(values) => outcome.lost_values += values,
        }
    }
    outcome
}

/// Returns the encodings with which we write a column.
fn encodings(name: &str) -> Vec<ColumnOptions> {
    let with = |encoding| ColumnOptions::new().dictionary(false).encoding(encoding);
    let mut all = vec![ColumnOptions::new(), with(Encoding::Plain)];
    all.extend(match name {
        "row" | "nullable" | "list" => {
            vec![
                with(Encoding::DeltaBinaryPacked),
                with(Encoding::ByteStreamSplit),
            ]
        }
        "double" => vec![with(Encoding::ByteStreamSplit), with(Encoding::Alp)],
        "text" | "few" => {
            vec![
                with(Encoding::DeltaLengthByteArray),
                with(Encoding::DeltaByteArray),
            ]
        }
        _ => vec![with(Encoding::Rle)],
    });
    all
}

/// If a page declares half of its levels, that is an error. If a read skips the page, it keeps the correct rows and
/// reports the correct losses.
#[test]
fn a_page_that_declares_fewer_levels_than_it_has_is_damage() {
    let rows: Vec<_> = columns(ROWS);
    for (name, array) in rows {
        let table = batch(vec![(name, array)]);
        let expected = texts(&table);
        for (columns, version) in encodings(name).into_iter().flat_map(|encoding| {
            [DataPageVersion::V1, DataPageVersion::V2].map(|version| (encoding.clone(), version))
        }) {
            let codec = [Compression::Uncompressed, Compression::Snappy];
            let codec = codec[usize::from(version == DataPageVersion::V2)];
            let file = write(&table, columns.compression(codec), version);
            let mut parts = Dismantled::new(&file);
            let chunk = &mut parts.row_groups[0][0];
            let number = chunk.num_data_pages() - 2;
            let page = chunk.data_page(number);
            let declared = page.num_values();
            page.declare(declared / 2, name != "list");
            let file = parts.assemble();
            let what = format!(
                "{name} {version:?} {:?}",
                parts.row_groups[0][0].pages[0].header
            );

            let outcome = read(&file, ReadOptions::new().batch_size(100));
            assert!(outcome.is_failed, "{what}");
            assert_eq!(outcome.rows, expected[..outcome.rows.len()], "{what}");
            assert!(outcome.rows.len() < ROWS as usize / 2, "{what}");
            for on_error in [OnError::SkipRowGroup, OnError::NullPage] {
                let options = ReadOptions::new().batch_size(100).on_error(on_error);
                let outcome = read(&file, options);
                let kept = outcome.rows.len() - ROWS as usize / 2;
                assert_eq!(outcome.rows[..kept], expected[..kept], "{what}");
                assert_eq!(
                    outcome.rows[kept..],
                    expected[ROWS as usize / 2..],
                    "{what}"
                );
                assert_eq!(
                    outcome.lost_rows as usize,
                    ROWS as usize / 2 - kept,
                    "{what}"
                );
            }
        }
    }
}

/// A page of version 2 has one row per value if its column has no lists.
#[test]
fn a_flat_page_with_other_rows_than_values_is_damage() {
    let table = batch(columns(ROWS)[..1].to_vec());
    let file = write(&table, ColumnOptions::new(), DataPageVersion::V2);
    let mut parts = Dismantled::new(&file);
    let header = &mut parts.row_groups[0][0].data_page(1).header;
    header.data_page_header_v2.as_mut().unwrap().num_rows -= 1;
    let file = ParquetFile::from_bytes(parts.assemble()).unwrap();
    let error = file.read(ReadOptions::new()).unwrap().find_map(Result::err);
    let error = error.unwrap().to_string();
    assert!(error.contains("249 rows and 250 values"), "{error}");
    assert!(error.contains("column row, row group 0, page"), "{error}");
}

/// Shifts the first rows of pages `from..to` in an offset index.
pub(crate) fn shift(chunk: &mut Chunk, pages: std::ops::Range<usize>, by: i64) {
    let offsets = chunk.offsets.as_mut().unwrap();
    for page in &mut offsets.page_locations[pages] {
        page.first_row_index += by;
    }
}

/// Any pages of an offset index may be wrong. A read always returns the requested rows or an error.
#[test]
fn an_offset_index_that_is_off_by_one_puts_no_wrong_rows_together() {
    let all = columns(ROWS);
    let table = batch(all);
    let expected = texts(&table);
    let mut failed = 0;
    for version in [DataPageVersion::V1, DataPageVersion::V2] {
        let columns = ColumnOptions::new().dictionary(false);
        let columns = columns.compression(Compression::Uncompressed);
        let file = write(&table, columns, version);
        for leaf in [0, 3, 6] {
            for (end, by) in [(None, 1), (None, -1), (Some(4), 1), (Some(4), -1)] {
                let mut parts = Dismantled::new(&file);
                let pages = parts.row_groups[0][leaf].num_data_pages();
                let range = end.map_or(1..pages, |end| 3..end);
                shift(&mut parts.row_groups[0][leaf], range, by);
                let file = parts.assemble();
                for row in [499, 500, 1499, 1500, 1501, 2222, 2999] {
                    let wanted = row..row + 1;
                    let ranges = ReadOptions::new().row_ranges(vec![wanted.clone()]);
                    let filtered = ReadOptions::new().filter(col("row").eq(row as i64));
                    for options in [ranges, filtered] {
                        let outcome = read(&file, options.threads(1));
                        failed += usize::from(outcome.is_failed);
                        let right = &expected[row as usize..row as usize + 1];
                        assert!(
                            outcome.is_failed || outcome.rows == right,
                            "{version:?}, leaf {leaf}, row {row}, {by}: {:?}",
                            outcome.rows
                        );
                    }
                }
            }
        }
    }
    // We reject most of these indexes before we skip a page by them.
    assert!(failed > 0);
}

/// If there are no histograms, only the levels show how many rows the pages of lists have.
#[test]
fn rows_of_a_page_of_lists_are_counted_before_an_index_is_followed() {
    let table = batch(
        columns(ROWS)
            .into_iter()
            .filter(|column| column.0 == "list")
            .collect(),
    );
    let expected = texts(&table);
    let columns = ColumnOptions::new().compression(Compression::Uncompressed);
    let file = write(&table, columns, DataPageVersion::V1);
    let mut parts = Dismantled::new(&file);
    let chunk = &mut parts.row_groups[0][0];
    chunk.columns = None;
    shift(chunk, 3..4, 1);
    let pages = &chunk.offsets.as_ref().unwrap().page_locations;
    let first = pages[3].first_row_index as u64;
    let sound = pages[5].first_row_index as u64;
    let file = parts.assemble();
    let read = |row: u64| read(&file, ReadOptions::new().row_ranges(vec![row..row + 1]));
    assert!(read(first - 10).is_failed);
    assert!(read(first + 10).is_failed);
    let row = sound as usize + 10;
    assert_eq!(read(sound + 10).rows, expected[row..row + 1]);
}

/// This is the file from the arrow-rs issue, in which a page of lists is marked as all null because it has as many
/// nulls as rows.
#[test]
fn pages_of_lists_that_arrow_rs_calls_null_have_their_values() {
    let mut lists = ListBuilder::new(Int64Builder::new());
    for row in 0..ROWS {
        // Each row has one null and one value.
        lists.append_value([None, Some(row)]);
    }
    let table = batch(vec![
        ("list", Arc::new(lists.finish())),
        ("row", Arc::new(Int64Array::from_iter_values(0..ROWS))),
    ]);
    let properties = WriterProperties::builder()
        .set_data_page_row_count_limit(PAGE)
        .set_write_batch_size(PAGE)
        .set_statistics_enabled(EnabledStatistics::Page)
        .set_dictionary_enabled(false)
        .build();
    let mut file = Vec::new();
    let mut writer = ArrowWriter::try_new(&mut file, table.schema(), Some(properties)).unwrap();
    writer.write(&table).unwrap();
    writer.close().unwrap();
    let file = Bytes::from(file);
    let said = ParquetFile::from_bytes(file.clone()).unwrap();
    let said = said.column_index(0, 0).unwrap().unwrap();
    assert!(
        said.null_pages.contains(&true),
        "arrow-rs was mended: this test may go"
    );

    let mut without_histograms = Dismantled::new(&file);
    for chunk in without_histograms.row_groups.iter_mut().flatten() {
        if let Some(index) = &mut chunk.columns {
            index.definition_level_histograms = None;
            index.repetition_level_histograms = None;
        }
    }
    for file in [file, without_histograms.assemble()] {
        let options = ReadOptions::new().filter(col("list").any().eq(4242_i64));
        let outcome = read(&file, options.columns(["row"]));
        assert_eq!(outcome.rows, [["4242".to_owned()]]);
    }
}

/// Truncates all bounds to 16 bytes without incrementing upper bounds, as segmentio/parquet-go did.
pub(crate) fn cut_bounds(index: &ColumnIndex) -> ColumnIndex {
    let mut cut = index.clone();
    for bounds in [&mut cut.min_values, &mut cut.max_values] {
        let mut shorter = herringbone::format::ByteArrays::new();
        for bound in bounds.iter() {
            shorter.push(&bound[..bound.len().min(16)]);
        }
        *bounds = shorter;
    }
    cut
}

#[test]
fn upper_bounds_that_were_cut_are_not_used() {
    let text = |row: i64| format!("a prefix of all {row:06}");
    let table = batch(vec![(
        "text",
        Arc::new(StringArray::from_iter_values((0..ROWS).map(text))),
    )]);
    let file = write(&table, ColumnOptions::new(), DataPageVersion::V1);
    let outcome = |parts: &Dismantled| {
        let file = parts.assemble();
        let wanted = ReadOptions::new().filter(col("text").eq(text(4321).as_str()));
        let bounds = ParquetFile::from_bytes(file.clone()).unwrap();
        let bounds = bounds.page_bounds(1, 0).unwrap().unwrap();
        let unknown = bounds.max.null_count() == bounds.max.len();
        (read(&file, wanted).rows, unknown)
    };
    let mut parts = Dismantled::new(&file);
    for chunk in parts.row_groups.iter_mut().flatten() {
        chunk.columns = chunk.columns.as_ref().map(cut_bounds);
    }
    for writer in [
        "github.com/segmentio/parquet-go version 0.0.0-20230209 (build f785677b9a75)",
        "github.com/grafana/phlare/ version 0.5.0 (build 3b1a0d2)",
    ] {
        parts.created_by(writer);
        let right = vec![vec![format!("\"{}\"", text(4321))]];
        assert_eq!(outcome(&parts), (right, true), "{writer}");
    }
    // If another writer is named, the chunk's bounds contradict the bounds of its pages.
    parts.created_by("a program");
    assert_eq!(outcome(&parts).0.len(), 1);
}

#[test]
fn a_bloom_filter_with_another_length_than_its_chunk_has_it_is_not_believed() {
    let table = batch(columns(ROWS)[3..4].to_vec());
    let options = ColumnOptions::new().dictionary(false);
    let options = options.bloom_filter(BloomFilterOptions::default());
    let file = write(&table, options, DataPageVersion::V1);
    let expected = texts(&table)[100][0].clone();
    let wanted = expected.trim_matches('"').to_owned();
    let mut parts = Dismantled::new(&file);
    let chunk = &mut parts.row_groups[0][0];
    // Since this filter has no set bits, it rules out all values.
    let filter = chunk.bloom_filter.clone().unwrap();
    let zeros: Vec<u8> = filter
        .iter()
        .enumerate()
        .map(|(at, byte)| if at < 16 { *byte } else { 0 })
        .collect();
    chunk.bloom_filter = Some(zeros.into());
    let find = |file: &Bytes| {
        let options = ReadOptions::new().filter(col("text").eq(wanted.as_str()));
        read(file, options).rows.len()
    };
    assert_eq!(find(&parts.assemble()), 0, "the filter is asked");
    let metadata = parts.row_groups[0][0].chunk.meta_data.as_mut().unwrap();
    *metadata.bloom_filter_length.as_mut().unwrap() += 32;
    let file = parts.assemble();
    assert_eq!(find(&file), 1);
    let error = ParquetFile::from_bytes(file)
        .unwrap()
        .bloom_filter_header(0, 0)
        .unwrap_err();
    assert!(
        error
            .message()
            .contains("in the metadata of its column chunk"),
        "{error}"
    );
}
