//! Tests schemas, batches, values and options that cannot be written, for which the errors name the column.

mod options;
mod schemas;
mod values;

use std::sync::Arc;

use herringbone::{Error, WriteOptions, Writer};
use herringbone_arrow::array::{ArrayRef, Int32Array, RecordBatch};
use herringbone_arrow::schema::{DataType, Field, Schema, SchemaRef};

use super::remote::written;
use crate::table::without_panic;

/// Writes an empty batch, and then this one. Returns the error, which must be the same with an async writer.
pub(super) fn batch_error(schema: &SchemaRef, batch: &RecordBatch, threads: usize) -> Error {
    let options = WriteOptions::new().threads(threads);
    let batches = [RecordBatch::new_empty(schema.clone()), batch.clone()];
    let write = || {
        let mut writer = Writer::new(Vec::new(), schema.clone(), options.clone())?;
        for batch in &batches {
            writer.write(batch)?;
        }
        writer.finish().map(|_| ())
    };
    let error = without_panic(write).unwrap().unwrap_err();
    let written = without_panic(|| written(schema, &batches, options.clone())).unwrap();
    let message = written.unwrap_err().to_string();
    assert!(message.contains(error.message()), "{message}, not {error}");
    error
}

/// Returns the error of writing a column `odd` with this array. If the array has two values, the first one is valid.
pub(super) fn value_error(array: ArrayRef, nullable: bool, threads: usize) -> Error {
    let field = Field::new("odd", array.data_type().clone(), true);
    let file_field = field.clone().with_nullable(nullable);
    let fine: ArrayRef = Arc::new(Int32Array::from_iter_values(0..array.len() as i32));
    let first = Field::new("fine", DataType::Int32, true);
    let schema = Arc::new(Schema::new(vec![first.clone(), file_field]));
    let batch_schema = Arc::new(Schema::new(vec![first, field]));
    let batch = RecordBatch::try_new(batch_schema, vec![fine, array]).unwrap();
    batch_error(&schema, &batch, threads)
}
