//! Reads, filters and writes rows as the README shows.
//!
//! cargo run --example readme

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

fn read() -> Result<()> {
    // docs: read
    use herringbone::{ParquetFile, ReadOptions};

    let file = ParquetFile::open("testdata/example.parquet")?;
    let options = ReadOptions::new().columns(["id", "name"]).limit(5);
    for batch in file.read(options)? {
        println!("{} rows", batch?.num_rows());
    }
    // docs: end
    let options = ReadOptions::new().columns(["id", "name"]).limit(5);
    assert_eq!(rows(file.read(options)?)?, 5);
    Ok(())
}

fn filter() -> Result<()> {
    let file = herringbone::ParquetFile::open("testdata/example.parquet")?;
    // docs: filter
    use herringbone::{ReadOptions, filter::col};

    let filter = col("id").ge(20).and(col("origin.country").eq("NO"));
    let options = ReadOptions::new().filter(filter).columns(["name"]);
    let mut reader = file.read(options)?;
    // docs: end
    let mut rows = 0;
    while let Some(batch) = reader.next_batch()? {
        rows += batch.num_rows();
    }
    assert_eq!(rows, 4);
    Ok(())
}

fn write() -> Result<()> {
    let file = herringbone::open("testdata/example.parquet")?;
    let batch = file
        .collect::<herringbone::Result<Vec<_>>>()?
        .swap_remove(0);
    let path = std::env::temp_dir().join("herringbone-example-readme.parquet");
    // docs: write
    use herringbone::{Compression, WriteOptions};

    let options = WriteOptions::new()
        .compression(Compression::Snappy)
        .row_group_rows(100_000);
    let mut writer = herringbone::create_with(&path, batch.schema(), options)?;
    writer.write(&batch)?;
    let metadata = writer.finish()?; // The file appears under its name here.
    // docs: end
    assert_eq!(metadata.num_rows(), batch.num_rows() as i64);
    assert_eq!(rows(herringbone::open(&path)?)?, batch.num_rows());
    std::fs::remove_file(&path)?;
    Ok(())
}

fn rows(reader: herringbone::Reader) -> Result<usize> {
    let mut rows = 0;
    for batch in reader {
        rows += batch?.num_rows();
    }
    Ok(rows)
}

fn main() -> Result<()> {
    std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
    read()?;
    filter()?;
    write()
}
