//! Writes a dataset partitioned by year and city, and reads one year of it.
//!
//!     cargo run -p herringbone-dataset --example partitions [FOLDER]
//!
//! The dataset is kept if you name its folder.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use herringbone::ReadOptions;
use herringbone::arrow::array::{ArrayRef, Float64Array, Int64Array, RecordBatch, StringArray};
use herringbone::filter::col;
use herringbone_dataset::{
    Dataset, DatasetOptions, DatasetReadOptions, DatasetWriteOptions, DatasetWriter, metadata_file,
};

/// Each row's city is one of these.
const CITIES: [Option<&str>; 4] = [Some("São Paulo"), Some("a/b"), Some("x=y 100%"), None];

fn main() -> Result<(), Box<dyn Error>> {
    let kept = std::env::args_os().nth(1).map(PathBuf::from);
    let name = format!("herringbone-example-{}", std::process::id());
    let folder = kept
        .clone()
        .unwrap_or_else(|| std::env::temp_dir().join(name));
    write(&folder)?;

    // Opening lists only 2024, which is one of three years. It reads no footers, because
    // `_metadata` has them and is up to date.
    let options = DatasetOptions::new()
        .filter(col("year").eq(2024))
        .use_metadata_file(true);
    let dataset = Dataset::open(&folder, options)?;
    let listed = dataset.directories_listed();
    println!(
        "{} files, {listed} directories listed",
        dataset.files().len()
    );

    let read = ReadOptions::new()
        .filter(col("id").lt(1000))
        .columns(["id", "city"]);
    println!("{:#?}", dataset.explain(read.clone())?);
    let mut rows = 0;
    for batch in dataset.read(DatasetReadOptions::from(read).path_column("path"))? {
        rows += batch?.num_rows();
    }
    // Every third row belongs to 2024.
    assert_eq!(rows, 333);

    if kept.is_none() {
        std::fs::remove_dir_all(&folder)?;
    }
    Ok(())
}

/// Writes files of at most 500 rows for each year and city.
fn write(folder: &Path) -> Result<(), Box<dyn Error>> {
    let ids = 0..10_000_i64;
    let cities = ids.clone().map(|id| CITIES[id as usize % CITIES.len()]);
    let columns: [(&str, ArrayRef, bool); 4] = [
        (
            "id",
            Arc::new(Int64Array::from_iter_values(ids.clone())),
            false,
        ),
        (
            "year",
            Arc::new(Int64Array::from_iter_values(
                ids.clone().map(|id| 2022 + id % 3),
            )),
            false,
        ),
        ("city", Arc::new(cities.collect::<StringArray>()), true),
        (
            "price",
            Arc::new(Float64Array::from_iter_values(
                ids.map(|id| id as f64 / 100.0),
            )),
            false,
        ),
    ];
    let batch = RecordBatch::try_from_iter_with_nullable(columns)?;
    let options = DatasetWriteOptions::new()
        .partition_by(["year", "city"])
        .max_rows(500);
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
    let footers: Vec<_> = footers.collect();
    let metadata = metadata_file(footers.iter().copied(), true)?;
    std::fs::write(folder.join("_metadata"), metadata)?;
    // This file has the schema alone.
    let common = metadata_file(footers, false)?;
    std::fs::write(folder.join("_common_metadata"), common)?;
    Ok(())
}
