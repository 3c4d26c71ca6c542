//! Shows what each step of pruning rules out before a filter reads rows.
//!
//! cargo run --example filter_and_explain

use herringbone::filter::col;
use herringbone::{ParquetFile, ReadOptions, Result};

fn main() -> Result<()> {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../testdata/example.parquet"
    );
    let file = ParquetFile::open(path)?;
    let filter = col("id").ge(20).and(col("organic").eq(false));
    let options = ReadOptions::new().filter(filter).columns(["id", "name"]);

    for row_group in file.explain(&options)? {
        println!("row group {}: {} rows", row_group.row_group, row_group.rows);
        for step in &row_group.steps {
            println!(
                "  {:?}: {} rows ruled out, {} accepted, {} bytes",
                step.step, step.ruled_out, step.accepted, step.bytes
            );
        }
        let (fetched, undecided) = (row_group.fetched, row_group.undecided());
        println!(
            "  {undecided} rows to test, {} bytes in {} requests",
            fetched.bytes, fetched.requests
        );
    }

    let mut rows = 0;
    for batch in file.read(options)? {
        rows += batch?.num_rows();
    }
    println!("{rows} rows");
    assert_eq!(rows, 3);
    Ok(())
}
