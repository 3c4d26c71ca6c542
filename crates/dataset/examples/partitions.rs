//! Writes a dataset partitioned by year, and reads one year of it.
//!
//!     cargo run -p herringbone-dataset --example partitions

use std::error::Error;
use std::sync::Arc;

use herringbone::arrow::array::{ArrayRef, Float64Array, Int64Array, RecordBatch};
use herringbone::filter::col;
use herringbone::{ReadOptions, WriteOptions};
use herringbone_dataset::{
    Dataset, DatasetOptions, DatasetReadOptions, DatasetWriteOptions, DatasetWriter, metadata_file,
};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::temp_dir().join(format!("herringbone-example-{}", std::process::id()));
    write(&folder)?;

    // Only the directory of 2024 is listed, and no footer is read: `_metadata` has them.
    let options = DatasetOptions::new().filter(col("year").eq(2024));
    let dataset = Dataset::open(&folder, options)?;
    println!(
        "{} files, {} directories listed",
        dataset.files().len(),
        dataset.directories_listed()
    );

    let read = ReadOptions::new()
        .filter(col("id").lt(1000))
        .columns(["id", "year"]);
    println!("{:#?}", dataset.explain(read.clone())?);
    let mut rows = 0;
    for batch in dataset.read(DatasetReadOptions::from(read).path_column("path"))? {
        rows += batch?.num_rows();
    }
    assert_eq!(rows, 333);

    std::fs::remove_dir_all(&folder)?;
    Ok(())
}

/// Writes files of at most 1,000 rows for each of three years.
fn write(folder: &std::path::Path) -> Result<(), Box<dyn Error>> {
    let ids = 0..10_000;
    let columns: [(&str, ArrayRef); 3] = [
        ("id", Arc::new(Int64Array::from_iter_values(ids.clone()))),
        (
            "year",
            Arc::new(Int64Array::from_iter_values(
                ids.clone().map(|id| 2022 + id % 3),
            )),
        ),
        (
            "price",
            Arc::new(Float64Array::from_iter_values(
                ids.map(|id| id as f64 / 100.0),
            )),
        ),
    ];
    let batch = RecordBatch::try_from_iter(columns)?;
    let options = DatasetWriteOptions::new()
        .partition_by(["year"])
        .max_rows(1000)
        .write(WriteOptions::new());
    let mut writer = DatasetWriter::create(folder, batch.schema(), options)?;
    writer.write(&batch)?;
    let files = writer.finish()?;
    for file in &files {
        println!(
            "{}: {} rows, {} bytes",
            file.path,
            file.metadata.num_rows(),
            file.bytes
        );
    }
    let footers = files
        .iter()
        .map(|file| (file.path.as_str(), &file.metadata));
    std::fs::write(folder.join("_metadata"), metadata_file(footers, true)?)?;
    Ok(())
}
