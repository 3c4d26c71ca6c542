//! Reads files of several versions of a table under its newest schema: a renamed column, a new column with a default, a wider type.
//!
//! cargo run --example schema_evolution

use std::sync::Arc;

use herringbone::arrow::array::{ArrayRef, Int32Array, Int64Array, RecordBatch, StringArray};
use herringbone::arrow::schema::{DataType, Field, Schema};
use herringbone::{ParquetFile, ReadOptions, Result, WantedSchema, WriteOptions, Writer};

fn file(columns: Vec<(&str, ArrayRef)>) -> Result<ParquetFile> {
    let batch = RecordBatch::try_from_iter(columns)?;
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, batch.schema(), WriteOptions::new())?;
    writer.write(&batch)?;
    writer.finish()?;
    ParquetFile::from_bytes(file)
}

fn main() -> Result<()> {
    let old = file(vec![("id", Arc::new(Int32Array::from(vec![1, 2])))])?;
    let new = file(vec![
        ("id", Arc::new(Int64Array::from(vec![1 << 40]))),
        ("unit", Arc::new(StringArray::from(vec!["kg"]))),
    ])?;

    let schema = Schema::new(vec![
        Field::new("id", DataType::Int64, true),
        Field::new("unit", DataType::Utf8, true),
    ]);
    let default: ArrayRef = Arc::new(StringArray::from(vec!["piece"]));
    let wanted = WantedSchema::new(Arc::new(schema)).default_value(["unit"], default);
    for file in [old, new] {
        let mut reader = file.read(ReadOptions::new().wanted_schema(wanted.clone()))?;
        while let Some(batch) = reader.next_batch()? {
            println!("{batch:?}");
            assert_eq!(batch.column(0).data_type(), &DataType::Int64);
        }
    }
    Ok(())
}
