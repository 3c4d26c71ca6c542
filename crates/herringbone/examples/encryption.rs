//! Writes a file with one key for the footer and another one for a column, and reads it with the footer key only.
//!
//! cargo run --example encryption --features encryption

// docs: columns
use herringbone::arrow::array::{ArrayRef, Int64Array, RecordBatch};
use herringbone::encryption::{FileDecryptionProperties, FileEncryptionProperties, Key, KeyLength};
use herringbone::{ReadOptions, WriteOptions};
use std::sync::Arc;
// docs: end

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // docs: columns
    let ids: ArrayRef = Arc::new(Int64Array::from(vec![1, 2, 3]));
    let batch = RecordBatch::try_from_iter([("id", ids.clone()), ("salary", ids)])?;

    // All columns use the footer key, except for one.
    let (footer_key, salary_key) = (
        Key::generate(KeyLength::Bits256)?,
        Key::generate(KeyLength::Bits256)?,
    );
    let properties = FileEncryptionProperties::builder(footer_key.clone())
        .column_key(["salary"], salary_key)
        .build()?;
    let path = std::env::temp_dir().join("herringbone-example-encrypted.parquet");
    let options = WriteOptions::new().encryption(Arc::new(properties));
    let mut writer = herringbone::create_with(&path, batch.schema(), options)?;
    writer.write(&batch)?;
    writer.finish()?;

    // A read needs the keys of its columns only.
    let properties = FileDecryptionProperties::builder()
        .footer_key(footer_key)
        .build()?;
    let options = ReadOptions::new()
        .columns(["id"])
        .decryption(Arc::new(properties));
    for batch in herringbone::open_with(&path, options)? {
        assert_eq!(batch?.num_rows(), 3);
    }
    // docs: end
    std::fs::remove_file(&path)?;
    Ok(())
}
