//! Looks at errors: their kind, their place, the remedy, and their way through other libraries'
//! errors.
//!
//! cargo run --example errors

use herringbone::filter::col;
use herringbone::{Error, ErrorKind, Limits, OpenOptions, ParquetFile, ReadOptions, Remedy};

type Outcome = Result<(), Box<dyn std::error::Error>>;

/// Reads the column `prize`, which the file does not have, and boxes the error.
fn read_prize(file: &ParquetFile) -> Outcome {
    file.read(ReadOptions::new().columns(["prize"]))?;
    Ok(())
}

fn main() -> Outcome {
    let example = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../testdata/example.parquet"
    );

    // An I/O error keeps the system's error.
    let missing = ParquetFile::open("no/such/file.parquet").err();
    let missing = missing.ok_or("the file exists")?;
    assert_eq!(missing.kind(), ErrorKind::Io);
    let system = missing.io_error().map(std::io::Error::kind);
    assert_eq!(system, Some(std::io::ErrorKind::NotFound));

    // The error can be taken out of a box.
    let file = ParquetFile::open(example)?;
    let boxed = read_prize(&file).err().ok_or("no error")?;
    let error: &Error = boxed.downcast_ref().ok_or("another error")?;
    println!("{error}");
    assert_eq!(error.kind(), ErrorKind::Argument);
    assert!(error.message().contains("price"));

    // An exceeded limit has a name, and a remedy names it, too. Your code looks at these, while
    // people read the text.
    let limits = Limits::new().memory_bytes(1000);
    let file = ParquetFile::open_with(example, OpenOptions::from(limits))?;
    let refused = file.read(ReadOptions::new())?.next_batch().err();
    let refused = refused.ok_or("no error")?;
    println!("{refused}");
    assert_eq!(refused.limit_name(), Some("memory_bytes"));
    assert_eq!(refused.remedy(), Some(Remedy::RaiseLimit("memory_bytes")));

    // Arrow's errors, which its traits require, carry ours.
    let mut batches = file.read(ReadOptions::new())?.into_record_batch_reader();
    let arrow = batches.next().ok_or("no batch")?.err();
    let kind = arrow.map(|error| Error::from(error).kind());
    assert_eq!(kind, Some(ErrorKind::Limit));

    // If a literal has another type than its column, the error is found before anything is read.
    let filter = ReadOptions::new().filter(col("id").eq("four"));
    let error = ParquetFile::open(example)?.read(filter).err();
    assert_eq!(error.map(|error| error.kind()), Some(ErrorKind::Argument));
    Ok(())
}
