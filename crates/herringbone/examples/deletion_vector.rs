//! Reads a file without its deleted rows, and with the number that each row has in the file.
//!
//! cargo run --example deletion_vector

use std::sync::Arc;

use herringbone::arrow::array::cast::AsArray;
use herringbone::arrow::array::types::Int64Type;
use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch};
use herringbone::filter::col;
use herringbone::{ParquetFile, ReadOptions, RowSelection, VirtualColumn, WriteOptions, Writer};

/// Returns the values of the only columns, `id` and `row`.
fn rows(file: &ParquetFile, options: ReadOptions) -> herringbone::Result<Vec<(i64, i64)>> {
    let mut rows = Vec::new();
    for batch in file.read(options.virtual_column(VirtualColumn::row_number("row")))? {
        let batch = batch?;
        let values = |column| {
            let column = batch.column(column).as_primitive::<Int64Type>();
            column.values().iter().copied()
        };
        rows.extend(values(0).zip(values(1)));
    }
    Ok(rows)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The file has 100 rows in four row groups. The row with the number n has the id 1000 + n.
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(1000..1100));
    let batch = RecordBatch::try_from_iter([("id", ids)])?;
    let options = WriteOptions::new().row_group_rows(25);
    let mut writer = Writer::new(Vec::new(), batch.schema(), options)?;
    writer.write(&batch)?;
    let (_, bytes) = writer.finish_into()?;
    let file = ParquetFile::from_bytes(bytes)?;

    // A table format keeps a file's deleted rows elsewhere, as numbers, ranges or bits.
    let deleted = [0, 31, 32, 99];
    let deletions = RowSelection::delete_rows(deleted);
    let kept = ReadOptions::new().row_selection(deletions);
    let expected: Vec<(i64, i64)> = (0..100)
        .filter(|row| !deleted.contains(row))
        .map(|row| (1000 + row as i64, row as i64))
        .collect();
    assert_eq!(rows(&file, kept.clone())?, expected);

    // A filter selects among the remaining rows, and their row numbers in the file stay the same.
    let found = rows(&file, kept.filter(col("id").between(1030, 1034)))?;
    assert_eq!(found, [(1030, 30), (1033, 33), (1034, 34)]);
    println!("{} rows are left", expected.len());
    Ok(())
}
