//! Answers uploads of untrusted files: 200 with the number of rows, 413 for a file above the limits, and
//! 422 for one that cannot be read.
//!
//! cargo run --example upload_service

use herringbone::{Error, ErrorKind, Limits, ParquetFile, ReadOptions};

/// Counts an upload's rows by decoding all of them. The reads have the limits that the file was
/// opened with.
fn rows(upload: Vec<u8>, limits: Limits) -> Result<usize, Error> {
    let file = ParquetFile::from_bytes_with(upload, limits)?;
    let mut rows = 0;
    for batch in file.read(ReadOptions::new().threads(1))? {
        rows += batch?.num_rows();
    }
    Ok(rows)
}

fn answer(upload: Vec<u8>, limits: Limits) -> (u16, String) {
    match rows(upload, limits) {
        Ok(rows) => (200, format!("{{\"rows\": {rows}}}")),
        Err(error) => {
            let status = match error.kind() {
                ErrorKind::Limit => 413,
                ErrorKind::Corrupt | ErrorKind::Unsupported | ErrorKind::Key => 422,
                _ => 500,
            };
            (status, error.to_string())
        }
    }
}

fn main() -> std::io::Result<()> {
    let example = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../testdata/example.parquet"
    );
    let upload = std::fs::read(example)?;
    let limits = Limits::new().memory_bytes(64 << 20);
    let whole = answer(upload.clone(), limits.clone());
    assert_eq!(whole, (200, "{\"rows\": 24}".to_owned()));

    let (status, reason) = answer(upload.clone(), limits.clone().memory_bytes(1000));
    println!("{status}: {reason}");
    assert_eq!(status, 413);
    assert!(reason.contains("memory_bytes"));

    let truncated = upload[..upload.len() - 1].to_vec();
    let (status, reason) = answer(truncated, limits);
    println!("{status}: {reason}");
    assert_eq!(status, 422);
    Ok(())
}
