//! A table with values derived from its row numbers, and files with its rows.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use herringbone::arrow::array::builder::{Int32Builder, ListBuilder};
use herringbone::arrow::array::cast::AsArray;
use herringbone::arrow::array::types::Int64Type;
use herringbone::arrow::array::{
    ArrayRef, Int32Array, Int64Array, ListArray, RecordBatch, StringArray, StructArray,
};
use herringbone::arrow::buffer::{NullBuffer, OffsetBuffer};
use herringbone::arrow::schema::{DataType, Field, Fields, Schema};
use herringbone::push::{Poll, PushDecoder};
use herringbone::{ColumnOptions, Compression, ParquetFile, ReadOptions, WriteOptions, Writer};

/// The number of rows per page.
pub(crate) const PAGE: usize = 50;
/// The number of rows per row group.
pub(crate) const GROUP: usize = 300;
/// The number of rows in the file.
pub(crate) const ROWS: usize = 1_000;

/// Returns a row's text, or `None` for each fifth row.
pub(crate) fn text(row: usize) -> Option<String> {
    (!row.is_multiple_of(5)).then(|| format!("text {row}"))
}

/// Returns a row's kind, shared by 40 neighbours.
pub(crate) fn kind(row: usize) -> &'static str {
    ["red", "green", "blue"][row / 40 % 3]
}

/// Returns a row's tags, up to three numbers. Each thirteenth row has no list.
pub(crate) fn tags(row: usize) -> Option<Vec<i32>> {
    let row = row as i32;
    (row % 13 > 0).then(|| (row..row + row % 4).collect())
}

/// Returns the table's rows with these numbers.
pub(crate) fn table(rows: &[usize]) -> RecordBatch {
    let numbers = || rows.iter().map(|row| *row as i32);
    let mut lists = ListBuilder::new(Int32Builder::new());
    for row in rows {
        lists.append_option(tags(*row).map(|tags| tags.into_iter().map(Some)));
    }
    let place_fields = Fields::from(vec![
        Field::new("x", DataType::Int32, true),
        Field::new("y", DataType::Int32, true),
    ]);
    let x: Int32Array = numbers().map(|row| (row % 3 > 0).then_some(row)).collect();
    let y: Int32Array = numbers().map(|row| Some(-row)).collect();
    let is_place: NullBuffer = rows.iter().map(|row| row % 11 > 0).collect();
    let places = StructArray::new(place_fields, vec![Arc::new(x), Arc::new(y)], Some(is_place));
    // Row `r` has `r % 3` pairs.
    let of_pairs = || rows.iter().flat_map(|row| vec![*row; row % 3]);
    let pair_fields = Fields::from(vec![
        Field::new("a", DataType::Int32, false),
        Field::new("b", DataType::Utf8, true),
    ]);
    let a = Int32Array::from_iter_values(of_pairs().map(|row| row as i32));
    let b: StringArray = of_pairs().map(text).collect();
    let pairs = StructArray::new(pair_fields.clone(), vec![Arc::new(a), Arc::new(b)], None);
    let pair = Arc::new(Field::new("item", DataType::Struct(pair_fields), false));
    let lengths = OffsetBuffer::from_lengths(rows.iter().map(|row| row % 3));
    let pairs = ListArray::new(pair, lengths, Arc::new(pairs), None);
    let columns: [(&str, ArrayRef, bool); 6] = [
        (
            "row",
            Arc::new(
                rows.iter()
                    .map(|row| Some(*row as i64))
                    .collect::<Int64Array>(),
            ),
            false,
        ),
        (
            "text",
            Arc::new(rows.iter().map(|row| text(*row)).collect::<StringArray>()),
            true,
        ),
        (
            "kind",
            Arc::new(
                rows.iter()
                    .map(|row| Some(kind(*row)))
                    .collect::<StringArray>(),
            ),
            true,
        ),
        ("place", Arc::new(places), true),
        ("tags", Arc::new(lists.finish()), true),
        ("pairs", Arc::new(pairs), true),
    ];
    let fields = columns
        .iter()
        .map(|(name, array, nullable)| Field::new(*name, array.data_type().clone(), *nullable));
    let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
    let arrays = columns.into_iter().map(|(_, array, _)| array).collect();
    RecordBatch::try_new(schema, arrays).unwrap()
}

/// Returns options for a file without compression, with small row groups and pages. Only `kind` has a dictionary.
pub(crate) fn options() -> WriteOptions {
    let columns = ColumnOptions::new()
        .compression(Compression::Uncompressed)
        .dictionary(false)
        .page_rows(PAGE);
    WriteOptions::new()
        .columns(columns)
        .column("kind", ColumnOptions::new().dictionary(true))
        .row_group_rows(GROUP)
}

/// Writes a batch as a file.
pub(crate) fn written(batch: &RecordBatch, options: WriteOptions) -> Bytes {
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, batch.schema(), options).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
    file.into()
}

/// Writes all rows of the table as a file.
pub(crate) fn file(options: WriteOptions) -> Bytes {
    written(&table(&(0..ROWS).collect::<Vec<_>>()), options)
}

/// Opens a file in memory.
pub(crate) fn open(file: &Bytes) -> ParquetFile {
    ParquetFile::from_bytes(file.clone()).unwrap()
}

/// Returns a range of a file's bytes.
pub(crate) fn slice(file: &Bytes, range: &Range<u64>) -> Bytes {
    file.slice(range.start as usize..range.end as usize)
}

/// Creates the decoder for a read.
pub(crate) fn decoder(file: &Bytes, options: &ReadOptions) -> PushDecoder {
    PushDecoder::new(Arc::new(open(file).plan(options).unwrap()))
}

/// Reads a file with a decoder that gets each needed range by itself.
pub(crate) fn pushed(file: &Bytes, options: &ReadOptions) -> Vec<RecordBatch> {
    supplied(&mut decoder(file, options), file)
}

/// Gives a decoder each range it needs, returning its batches.
pub(crate) fn supplied(decoder: &mut PushDecoder, file: &Bytes) -> Vec<RecordBatch> {
    let mut batches = Vec::new();
    loop {
        match decoder.poll().unwrap() {
            Poll::Batch(batch) => batches.push(batch),
            Poll::Needs(needs) => {
                for range in needs.now {
                    decoder.supply(range.start, &slice(file, &range));
                }
            }
            Poll::NeedsKeys(keys) => panic!("the file is not encrypted: {keys:?}"),
            Poll::Finished => break,
        }
    }
    assert_eq!(decoder.rows_left(), 0);
    batches
}

/// Reads a file with a reader.
pub(crate) fn read(file: &Bytes, options: &ReadOptions) -> Vec<RecordBatch> {
    let reader = open(file).read(options.clone()).unwrap();
    reader.map(Result::unwrap).collect()
}

/// Returns the numbers in the column `row`.
pub(crate) fn rows_of(batches: &[RecordBatch]) -> Vec<usize> {
    let column = |batch: &RecordBatch| {
        let rows = batch.column_by_name("row").unwrap();
        let rows = rows.as_primitive::<Int64Type>().values().to_vec();
        rows.into_iter().map(|row| row as usize)
    };
    batches.iter().flat_map(column).collect()
}

/// Checks that the batches have these rows of the table, in this order.
pub(crate) fn compare(batches: &[RecordBatch], rows: &[usize], context: &str) {
    let mut rest = rows;
    for batch in batches {
        assert!(
            batch.num_rows() <= rest.len(),
            "{context}: more rows than {}",
            rows.len()
        );
        let (due, after) = rest.split_at(batch.num_rows());
        let expected = table(due);
        for (field, column) in batch.schema().fields().iter().zip(batch.columns()) {
            let expected = expected.column_by_name(field.name()).unwrap();
            assert_eq!(column, expected, "{context}: {}", field.name());
        }
        rest = after;
    }
    assert_eq!(rest, &[] as &[usize], "{context}: rows are missing");
}
