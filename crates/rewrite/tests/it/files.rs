//! Small in-memory files, and the outcome of carrying their properties over.

use std::sync::Arc;

use herringbone::arrow::array::{ArrayRef, RecordBatch, new_empty_array, new_null_array};
use herringbone::arrow::schema::{DataType, Field, Schema, SchemaRef};
use herringbone::format::KeyValue;
use herringbone::{ParquetFile, WriteOptions, Writer};
use herringbone_rewrite::{CarryOver, InputFile, Note};

/// Returns a nullable field.
pub(crate) fn field(name: &str, data_type: DataType) -> Field {
    Field::new(name, data_type, true)
}

/// Returns a schema of nullable columns.
pub(crate) fn schema(fields: &[(&str, DataType)]) -> SchemaRef {
    let fields = fields
        .iter()
        .map(|(name, data_type)| field(name, data_type.clone()));
    Arc::new(Schema::new(fields.collect::<Vec<_>>()))
}

/// Writes a file with two row groups that have one row of nulls each.
pub(crate) fn nulls(schema: &SchemaRef, options: WriteOptions) -> ParquetFile {
    let nulls = |field: &Arc<Field>| -> ArrayRef { new_null_array(field.data_type(), 2) };
    let columns = schema.fields().iter().map(nulls).collect();
    let batch = RecordBatch::try_new(schema.clone(), columns).unwrap();
    written(&batch, options.row_group_rows(1))
}

/// Writes a file without rows.
pub(crate) fn empty(schema: &SchemaRef, options: WriteOptions) -> ParquetFile {
    let columns = schema
        .fields()
        .iter()
        .map(|field| new_empty_array(field.data_type()));
    let batch = RecordBatch::try_new(schema.clone(), columns.collect()).unwrap();
    written(&batch, options)
}

/// Writes a file.
pub(crate) fn written(batch: &RecordBatch, options: WriteOptions) -> ParquetFile {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes, batch.schema(), options).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
    ParquetFile::from_bytes(bytes).unwrap()
}

/// Returns options with key-value metadata.
pub(crate) fn with_keys(pairs: &[(&str, &str)]) -> WriteOptions {
    let pairs = pairs
        .iter()
        .map(|(key, value)| KeyValue::new((*key).to_owned(), (*value).to_owned()));
    WriteOptions::new().key_value_metadata(pairs)
}

/// Collects what the rows of these files, which are named `1`, `2`, …, have in common.
pub(crate) fn collected(mut carry_over: CarryOver, files: &[&ParquetFile]) -> CarryOver {
    for (at, file) in files.iter().enumerate() {
        let row_groups: Vec<usize> = (0..file.metadata().num_row_groups()).collect();
        let name = (at + 1).to_string();
        carry_over
            .add(InputFile::new(&name, file, &row_groups))
            .unwrap();
    }
    carry_over
}

/// Returns the options and notes for a new file that has the rows of these files.
pub(crate) fn carried(files: &[&ParquetFile], new: &SchemaRef) -> (WriteOptions, Vec<Note>) {
    let mut options = WriteOptions::new();
    let carried = collected(CarryOver::new(), files)
        .apply(new, &mut options)
        .unwrap();
    (options, carried.notes)
}

/// Returns a key's value, if it is kept.
pub(crate) fn value(options: &WriteOptions, key: &str) -> Option<String> {
    let pair = options
        .key_value_metadata
        .iter()
        .find(|pair| pair.key == key);
    pair.and_then(|pair| pair.text().map(str::to_owned))
}
