//! Selects rows by the values in a column and in a nested column.
//!
//! cargo run --example filtering

fn main() -> Result<(), Box<dyn std::error::Error>> {
    std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
    // docs: filter
    use herringbone::{ParquetFile, ReadOptions, filter::col};

    let file = ParquetFile::open("testdata/example.parquet")?;
    let filter = col("price")
        .ge(2.5)
        .and(col("origin.country").is_in(["NO", "PE"]));
    let mut reader = file.read(ReadOptions::new().filter(filter).columns(["id"]))?;
    let mut rows = 0;
    while let Some(batch) = reader.next_batch()? {
        rows += batch.num_rows();
    }
    assert_eq!(rows, 16);
    println!("{:?}", reader.metrics());
    // docs: end
    Ok(())
}
