//! Makes small files that have values of many types.

use std::sync::Arc;

use herringbone::arrow::array::types::Int32Type;
use herringbone::arrow::array::*;
use herringbone::arrow::schema::{DataType, Field, Fields};
use herringbone::{ColumnOptions, Compression, WriteOptions, Writer};

/// The number of rows in each file.
pub(crate) const ROWS: usize = 24;
/// The number of rows per row group.
pub(crate) const GROUP: usize = 8;

/// Returns 24 rows of numbers, texts, lists and structs. Some values are null.
pub(crate) fn batch() -> RecordBatch {
    let rows = || 0..ROWS as i32;
    let texts: StringArray = rows()
        .map(|row| (row % 5 > 0).then(|| format!("text {row:02}")))
        .collect();
    let lists = rows().map(|row| (row % 7 > 0).then(|| (0..row % 3).map(move |at| Some(row + at))));
    let lists = ListArray::from_iter_primitive::<Int32Type, _, _>(lists);
    let decimals: Decimal128Array = rows().map(|row| Some(i128::from(row) * 100)).collect();
    let decimals = decimals.with_precision_and_scale(9, 2).unwrap();
    let floats = Float64Array::from_iter_values(rows().map(|row| f64::from(row) / 4.0));
    let x: Int32Array = rows().map(|row| (row % 4 > 0).then_some(-row)).collect();
    let fields = Fields::from(vec![Field::new("x", DataType::Int32, true)]);
    let structs = StructArray::new(fields, vec![Arc::new(x)], None);
    let columns: [(&str, ArrayRef, bool); 7] = [
        ("row", Arc::new(Int32Array::from_iter_values(rows())), false),
        ("text", Arc::new(texts), true),
        ("list", Arc::new(lists), true),
        ("decimal", Arc::new(decimals), true),
        ("float", Arc::new(floats), true),
        (
            "flag",
            Arc::new(
                rows()
                    .map(|row| Some(row % 3 > 0))
                    .collect::<BooleanArray>(),
            ),
            true,
        ),
        ("struct", Arc::new(structs), true),
    ];
    RecordBatch::try_from_iter_with_nullable(columns).unwrap()
}

/// Returns options for files with two pages per column chunk.
pub(crate) fn options() -> WriteOptions {
    let columns = ColumnOptions::new()
        .compression(Compression::Uncompressed)
        .page_rows(4);
    WriteOptions::new().columns(columns).row_group_rows(GROUP)
}

/// Writes a file and returns its bytes.
pub(crate) fn written(batch: &RecordBatch, options: WriteOptions) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes, batch.schema(), options).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
    bytes
}

/// Returns the offset at which the metadata starts. The metadata's length is in the last eight
/// bytes, before the magic bytes.
pub(crate) fn footer_start(file: &[u8]) -> usize {
    let (rest, tail) = file.split_at(file.len() - 8);
    rest.len() - u32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]]) as usize
}
