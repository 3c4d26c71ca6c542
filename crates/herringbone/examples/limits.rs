//! Opens a file with a limit that its rows exceed, and looks at the error.
//!
//! cargo run --example limits

fn main() -> Result<(), Box<dyn std::error::Error>> {
    std::env::set_current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))?;
    // docs: memory
    use herringbone::{ErrorKind, Limits, ParquetFile, ReadOptions};

    let limits = Limits::new().memory_bytes(100);
    let file = ParquetFile::open_with("testdata/example.parquet", limits)?;
    let mut reader = file.read(ReadOptions::new())?;
    let error = reader.next_batch().err().ok_or("100 bytes suffice")?;
    assert_eq!(error.kind(), ErrorKind::Limit);
    assert_eq!(error.limit_name(), Some("memory_bytes"));
    // docs: end
    Ok(())
}
