//! Reads files from several versions of a table under its newest schema: a renamed column, a new column with a default, a
//! wider type. Field ids find the columns, whatever their names.
//!
//! cargo run --example schema_evolution

use std::collections::HashMap;
use std::sync::Arc;

use herringbone::arrow::array::{ArrayRef, Int32Array, Int64Array, RecordBatch, StringArray};
use herringbone::arrow::schema::{DataType, Field, Schema};
use herringbone::schema::FIELD_ID_KEY;
use herringbone::{FieldMatching, ParquetFile, ReadOptions, WantedSchema, WriteOptions, Writer};

type Outcome<T> = Result<T, Box<dyn std::error::Error>>;

fn field(id: i32, name: &str, data_type: DataType) -> Field {
    let id = (FIELD_ID_KEY.to_owned(), id.to_string());
    Field::new(name, data_type, true).with_metadata(HashMap::from([id]))
}

fn file(fields: Vec<Field>, columns: Vec<ArrayRef>) -> Outcome<ParquetFile> {
    let batch = RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)?;
    let mut writer = Writer::new(Vec::new(), batch.schema(), WriteOptions::new())?;
    writer.write(&batch)?;
    let (_, bytes) = writer.finish_into()?;
    Ok(ParquetFile::from_bytes(bytes)?)
}

fn main() -> Outcome<()> {
    let ids = Arc::new(Int32Array::from(vec![1, 2]));
    let old = file(vec![field(1, "number", DataType::Int32)], vec![ids])?;
    let ids = Arc::new(Int64Array::from(vec![1 << 40]));
    let units = Arc::new(StringArray::from(vec!["kg"]));
    let newest = vec![
        field(1, "id", DataType::Int64),
        field(2, "unit", DataType::Utf8),
    ];
    let new = file(newest.clone(), vec![ids, units])?;

    let schema = Arc::new(Schema::new(newest));
    let wanted = WantedSchema::new(schema)
        .matching(FieldMatching::FieldId(Vec::new()))
        .default_value(["unit"], Arc::new(StringArray::from(vec!["piece"])));
    let expected: [(Vec<i64>, Vec<&str>); 2] = [
        (vec![1, 2], vec!["piece", "piece"]),
        (vec![1 << 40], vec!["kg"]),
    ];
    for (file, (ids, units)) in [old, new].into_iter().zip(expected) {
        let mut reader = file.read(ReadOptions::new().wanted_schema(wanted.clone()))?;
        let batch = reader.next_batch()?.ok_or("no rows")?;
        let ids: ArrayRef = Arc::new(Int64Array::from(ids));
        let units: ArrayRef = Arc::new(StringArray::from(units));
        assert_eq!(batch.columns(), [ids, units]);
        println!("{} rows", batch.num_rows());
    }
    Ok(())
}
