//! Writes rows to one file per value of a column, `country=NO/part-0.parquet` and so on.
//!
//! cargo run --example partitioned_write

use std::collections::BTreeMap;
use std::sync::Arc;

use herringbone::arrow::array::cast::AsArray;
use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use herringbone::{FileTarget, Result, WriteOptions, Writer};

fn batch() -> Result<RecordBatch> {
    let countries = ["NO", "PE", "NO", "IT", "PE", "NO"];
    let columns: [(&str, ArrayRef); 2] = [
        (
            "country",
            Arc::new(StringArray::from_iter_values(countries)),
        ),
        ("catch", Arc::new(Int64Array::from_iter_values(0..6))),
    ];
    Ok(RecordBatch::try_from_iter(columns)?)
}

fn main() -> Result<()> {
    let folder = std::env::temp_dir().join("herringbone-partitioned");
    let batch = batch()?;
    let mut writers: BTreeMap<String, Writer<FileTarget>> = BTreeMap::new();
    // Rows are sorted into runs of one partition. A real program sorts or groups larger batches first.
    let countries = batch.column(0).as_string::<i32>();
    for row in 0..batch.num_rows() {
        let country = countries.value(row);
        let rows = batch.slice(row, 1).project(&[1])?;
        if !writers.contains_key(country) {
            let partition = folder.join(format!("country={country}"));
            std::fs::create_dir_all(&partition)?;
            // All writers share the process's threads. With `threads(1)`, they would encode on this
            // thread only.
            let path = partition.join("part-0.parquet");
            let writer = herringbone::create_with(path, rows.schema(), WriteOptions::new())?;
            writers.insert(country.to_owned(), writer);
        }
        if let Some(writer) = writers.get_mut(country) {
            writer.write(&rows)?;
        }
    }
    let mut rows = Vec::new();
    for (country, writer) in writers {
        rows.push((country, writer.finish()?.num_rows()));
    }
    println!("{rows:?}");
    let expected = [("IT", 1), ("NO", 3), ("PE", 2)];
    assert_eq!(
        rows,
        expected.map(|(country, rows)| (country.to_owned(), rows))
    );
    std::fs::remove_dir_all(folder)?;
    Ok(())
}
