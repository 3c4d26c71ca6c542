//! Reads a partitioned dataset, writes one with a `_metadata` file, and writes one to a store.
//!
//! cargo run -p herringbone-dataset --features object-store-014 --example datasets

use std::error::Error;
use std::path::Path;

use object_store_014 as object_store;

fn read() -> Result<(), Box<dyn Error>> {
    // docs: read
    use herringbone::{ReadOptions, filter::col};
    use herringbone_dataset::{Dataset, DatasetOptions, DatasetReadOptions};

    // testdata/datasets/codes/year=2023/code=01001/part.parquet, …
    let filter = col("year").eq(2024).and(col("code").ne("2A001"));
    let options = DatasetOptions::new().filter(filter);
    let dataset = Dataset::open("testdata/datasets/codes", options)?;
    // 4 of 11 directories: the folder, one year, and two codes.
    assert_eq!(dataset.directories_listed(), 4);
    assert_eq!(dataset.files().len(), 2);

    let columns = ReadOptions::new().columns(["id", "code"]);
    let read = DatasetReadOptions::from(columns).path_column("path");
    for batch in dataset.read(read)? {
        println!("{} rows", batch?.num_rows());
    }
    // docs: end
    Ok(())
}

fn write(folder: &Path) -> Result<(), Box<dyn Error>> {
    let mut batches = herringbone::open("testdata/example.parquet")?;
    let batch = batches.next().ok_or("no rows")??;
    // docs: write
    use herringbone_dataset::{DatasetWriteOptions, DatasetWriter, metadata_file};

    let options = DatasetWriteOptions::new()
        .partition_by(["name"])
        .max_rows(1_000_000);
    let mut writer = DatasetWriter::create(folder, batch.schema(), options)?;
    writer.write(&batch)?;
    let files = writer.finish()?;
    let footers = files
        .iter()
        .map(|file| (file.path.as_str(), &file.metadata));
    std::fs::write(folder.join("_metadata"), metadata_file(footers, true)?)?;
    // docs: end
    let mut rows = 0;
    for written in herringbone_dataset::open(folder)? {
        rows += written?.num_rows();
    }
    assert_eq!(rows, batch.num_rows());
    std::fs::remove_dir_all(folder)?;
    Ok(())
}

fn write_to_store() -> herringbone::Result<usize> {
    // docs: store
    use std::sync::Arc;

    use herringbone::{Result, arrow::array::RecordBatch};
    use herringbone_dataset::object_store_014::StoreListing;
    use herringbone_dataset::{AsyncDatasetWriter, DatasetWriteOptions};
    use object_store::ObjectStore;

    async fn write(store: Arc<dyn ObjectStore>, batches: &[RecordBatch]) -> Result<usize> {
        // With tokio: `.runtime(move |abort| drop(handle.spawn(abort)))` aborts the uploads of a dropped writer.
        let listing = Arc::new(StoreListing::new(store));
        let options = DatasetWriteOptions::new()
            .partition_by(["name"])
            .max_rows(1_000_000);
        let schema = batches[0].schema();
        let mut writer = AsyncDatasetWriter::create(listing, "table", schema, options)?;
        for batch in batches {
            writer.write(batch).await?;
        }
        Ok(writer.finish().await?.len())
    }
    // docs: end
    let batches = herringbone::open("testdata/example.parquet")?;
    let batches: Vec<_> = batches.collect::<Result<_>>()?;
    let store = object_store::memory::InMemory::new();
    futures::executor::block_on(write(Arc::new(store), &batches))
}

fn main() -> Result<(), Box<dyn Error>> {
    std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
    read()?;
    let name = format!("herringbone-example-datasets-{}", std::process::id());
    write(&std::env::temp_dir().join(name))?;
    // There is one file per name.
    assert_eq!(write_to_store()?, 10);
    Ok(())
}
