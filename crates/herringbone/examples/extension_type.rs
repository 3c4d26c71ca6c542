//! Reads and writes a type of the program: temperatures in degrees, stored as hundredths of a degree.
//!
//! cargo run --example extension_type

use std::collections::HashMap;
use std::sync::Arc;

use herringbone::arrow::array::types::{Float64Type, Int32Type};
use herringbone::arrow::array::{ArrayRef, Float64Array, RecordBatch, cast::AsArray};
use herringbone::arrow::schema::{DataType, Field, FieldRef, Schema};
use herringbone::extension::*;
use herringbone::filter::{Predicate, col};
use herringbone::{ParquetFile, ReadOptions, Result, WriteOptions, Writer};

/// The Arrow extension type `my.celsius` over `Float64`.
#[derive(Debug)]
struct Celsius;

impl ExtensionMapping for Celsius {
    fn to_arrow(&self, stored: &StoredField<'_>) -> Result<Option<ExtensionField>> {
        let is_own = stored.storage.extension_type_name() == Some("my.celsius");
        let field = stored.storage.clone().with_data_type(DataType::Float64);
        Ok(is_own.then(|| ExtensionField::of_arrays(field)))
    }

    fn to_parquet(&self, _: &Field) -> Result<Option<AnnotatedField>> {
        Ok(None) // INT32 without an annotation.
    }
}

impl ExtensionType for Celsius {
    fn make_array(&self, storage: &ArrayRef, _: &Field) -> Result<ArrayRef> {
        let stored = storage.as_primitive::<Int32Type>();
        let degrees = stored.unary::<_, Float64Type>(|value| f64::from(value) / 100.0);
        Ok(Arc::new(degrees))
    }

    fn storage_writer(&self, written: &WrittenField<'_>) -> Result<Option<Box<dyn StorageWriter>>> {
        let field = written.field;
        let is_own = field.extension_type_name() == Some("my.celsius");
        Ok(is_own.then(|| Box::new(Hundredths(field.clone())) as Box<dyn StorageWriter>))
    }
}

struct Hundredths(Field);

impl StorageWriter for Hundredths {
    fn fields(&mut self, _: &ArrayRef) -> Result<Vec<FieldRef>> {
        Ok(vec![Arc::new(
            self.0.clone().with_data_type(DataType::Int32),
        )])
    }

    fn arrays(&mut self, array: &ArrayRef) -> Result<Vec<ArrayRef>> {
        let degrees = array.as_primitive::<Float64Type>();
        let stored = degrees.unary::<_, Int32Type>(|value| (value * 100.0).round() as i32);
        Ok(vec![Arc::new(stored)])
    }
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    // 10,000 temperatures from 0.00 to 99.99.
    let name = ("ARROW:extension:name".to_owned(), "my.celsius".to_owned());
    let field = Field::new("t", DataType::Float64, false).with_metadata(HashMap::from([name]));
    let degrees = (0..10_000).map(|hundredths| f64::from(hundredths) / 100.0);
    let degrees: ArrayRef = Arc::new(Float64Array::from_iter_values(degrees));
    let batch = RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![degrees])?;
    let options = WriteOptions::new().extension(Celsius).row_group_rows(1000);
    let mut writer = Writer::new(Vec::new(), batch.schema(), options)?;
    writer.write(&batch)?;
    let (_, bytes) = writer.finish_into()?;
    let file = ParquetFile::from_bytes(bytes)?;

    // Filters test degrees, not the stored hundredths.
    let rows = |filter: Predicate| -> Result<usize> {
        let reader = file.read(ReadOptions::new().extension(Celsius).filter(filter))?;
        reader.map(|batch| Ok(batch?.num_rows())).sum()
    };
    assert_eq!(rows(col("t").gt(20.0))?, 7_999);
    assert_eq!(rows(col("t").eq(21.5))?, 1);
    assert_eq!(rows(col("t").between(10.0, 20.0))?, 1_001);

    // A program without the type reads its storage.
    let stored = file
        .read(ReadOptions::new())?
        .next_batch()?
        .ok_or("no rows")?;
    assert_eq!(stored.column(0).as_primitive::<Int32Type>().value(150), 150);
    println!("{} rows", file.metadata().num_rows());
    Ok(())
}
