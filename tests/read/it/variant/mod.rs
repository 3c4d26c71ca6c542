//! Tests VARIANT in files, with its values, paths and shredding.

mod encrypted;
mod filter;
mod get;
mod official;
mod peer;
mod random;
mod write;

use std::sync::Arc;

use bytes::Bytes;
use herringbone::arrow::array::{Array, ArrayRef, RecordBatch, StructArray};
use herringbone::arrow::schema::{Field, Schema};
use herringbone::variant::extension::{Shredding, VariantExtension};
use herringbone::variant::json::JsonWriter;
use herringbone::variant::shredding::{
    Shredder, ShreddingType, UnshredOptions, VariantArray, variant_field,
};
use herringbone::variant::{PrimitiveType, VariantBuf};
use herringbone::{ParquetFile, ReadOptions, Result, WriteOptions, Writer};

fn primitive(primitive: PrimitiveType) -> ShreddingType {
    ShreddingType::Primitive(primitive)
}

fn object(fields: &[(&str, ShreddingType)]) -> ShreddingType {
    let fields = fields.iter();
    ShreddingType::Object(
        fields
            .map(|(name, it)| ((*name).to_owned(), it.clone()))
            .collect(),
    )
}

fn lenient() -> UnshredOptions {
    let mut options = UnshredOptions::default();
    options.lenient = true;
    options
}

/// Returns the values of JSON texts as an array.
fn array(rows: &[Option<&str>], shredding: ShreddingType) -> StructArray {
    let mut shredder = Shredder::new(shredding).unwrap();
    for row in rows {
        match row {
            Some(text) => {
                let value = VariantBuf::from_json(text).unwrap();
                shredder.append(value.as_variant()).unwrap();
            }
            None => shredder.append_null().unwrap(),
        }
    }
    shredder.finish().unwrap()
}

fn batch(array: StructArray) -> RecordBatch {
    let field = variant_field("v", array.data_type().clone(), true);
    of_field(field, Arc::new(array))
}

fn of_field(field: Field, array: ArrayRef) -> RecordBatch {
    RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![array]).unwrap()
}

fn bytes(batches: &[RecordBatch], options: WriteOptions) -> Result<Bytes> {
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, batches[0].schema(), options)?;
    for batch in batches {
        writer.write(batch)?;
    }
    writer.finish()?;
    Ok(file.into())
}

fn written(batches: &[RecordBatch], shredding: Shredding) -> ParquetFile {
    let extension = VariantExtension::new().shredding(shredding);
    let options = WriteOptions::new().extension(extension);
    ParquetFile::from_bytes(bytes(batches, options).unwrap()).unwrap()
}

/// Returns the JSON of values, or `None` for nulls.
fn json(array: &dyn Array) -> Vec<Option<String>> {
    let array = VariantArray::try_new(array).unwrap();
    let values = (0..array.len()).map(|row| {
        let value = array.value(row, &UnshredOptions::default()).unwrap()?;
        let mut out = String::new();
        JsonWriter::new()
            .write(value.as_variant(), &mut out)
            .unwrap();
        Some(out)
    });
    values.collect()
}

/// Returns the JSON of a file's column `v`.
fn read(file: &ParquetFile) -> Vec<Option<String>> {
    let options = ReadOptions::new().extension(VariantExtension::new());
    let batches = file.read(options).unwrap();
    let arrays = batches.map(|batch| batch.unwrap().column_by_name("v").unwrap().clone());
    arrays.flat_map(|array| json(&array)).collect()
}

/// Returns all batches of a read.
fn batches(file: &ParquetFile, options: ReadOptions) -> Result<Vec<RecordBatch>> {
    let mut reader = file.read(options)?;
    let mut batches = Vec::new();
    while let Some(batch) = reader.next_batch()? {
        batches.push(batch);
    }
    Ok(batches)
}

/// Returns the schema's fields in one line.
fn message(file: &ParquetFile) -> String {
    let text = file.parquet_schema().to_string();
    let words: Vec<_> = text.split_whitespace().collect();
    let words = words.join(" ");
    let fields = words.split_once("{ ").unwrap().1;
    fields.strip_suffix(" }").unwrap().to_owned()
}

fn texts(rows: &[Option<&str>]) -> Vec<Option<String>> {
    rows.iter().map(|row| row.map(str::to_owned)).collect()
}
