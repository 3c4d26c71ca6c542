//! Tests VARIANT columns that the `parquet` crate reads and writes.

use std::sync::Arc;

use bytes::Bytes;
use herringbone::arrow::array::cast::AsArray;
use herringbone::arrow::array::types::Int64Type;
use herringbone::arrow::array::{ArrayRef, RecordBatch, StringArray};
use herringbone::arrow::schema::{DataType, Field};
use herringbone::variant::PrimitiveType;
use herringbone::variant::extension::{Shredding, VariantExtension};
use herringbone::variant::shredding::ShreddingType;
use herringbone::{ParquetFile, ReadOptions, WriteOptions};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::variant as theirs;

use super::{array, batch, batches, bytes, message, object, of_field, primitive, read, texts};

const ROWS: [Option<&str>; 7] = [
    Some(r#"{"id":7,"tags":["a",null,5]}"#),
    Some(r#"{"id":"seven","x":{"y":[]}}"#),
    None,
    Some("null"),
    Some(r#"{"id":null,"tags":{}}"#),
    Some("[1,2]"),
    Some(r#"{"id":300000000000,"tags":[]}"#),
];

fn shreddings() -> [ShreddingType; 4] {
    let int = || primitive(PrimitiveType::Int64);
    let tags = ShreddingType::Array(Box::new(primitive(PrimitiveType::String)));
    [
        ShreddingType::Unshredded,
        int(),
        object(&[("id", int())]),
        object(&[("id", int()), ("tags", tags)]),
    ]
}

/// Returns a column's JSON as the `parquet` crate prints it.
fn their_json(array: &ArrayRef) -> Vec<Option<String>> {
    let array = theirs::VariantArray::try_new(array).unwrap();
    let array = theirs::unshred_variant(&array).unwrap();
    let text = theirs::variant_to_json(&ArrayRef::from(array)).unwrap();
    text.iter().map(|text| text.map(str::to_owned)).collect()
}

fn their_batch(file: Bytes) -> RecordBatch {
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    reader.build().unwrap().next().unwrap().unwrap()
}

#[test]
fn they_read_our_files() {
    for shredding in shreddings() {
        let extension = VariantExtension::new().shredding(Shredding::As(shredding));
        let rows = batch(array(&ROWS, ShreddingType::Unshredded));
        let file = bytes(&[rows], WriteOptions::new().extension(extension)).unwrap();
        let read = their_batch(file);
        let field = read.schema().field(0).clone();
        assert!(field.has_valid_extension_type::<theirs::VariantType>());
        assert_eq!(their_json(read.column(0)), texts(&ROWS));
    }
}

#[test]
fn we_read_their_files() {
    let text: ArrayRef = Arc::new(StringArray::from(ROWS.to_vec()));
    let plain = theirs::json_to_variant(&text).unwrap();
    let element = Field::new("item", DataType::Utf8, true);
    let object = DataType::Struct(
        vec![
            Field::new("id", DataType::Int64, true),
            Field::new("tags", DataType::List(Arc::new(element)), true),
        ]
        .into(),
    );
    let shredded = [DataType::Int64, object];
    let shredded = shredded.map(|shredded| theirs::shred_variant(&plain, &shredded).unwrap());
    for values in [vec![plain], shredded.to_vec()].concat() {
        let batch = of_field(values.field("v"), ArrayRef::from(values));
        let mut file = Vec::new();
        let mut writer = ArrowWriter::try_new(&mut file, batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        let file = ParquetFile::from_bytes(file).unwrap();
        assert_eq!(read(&file), texts(&ROWS), "{}", message(&file));
        // The `parquet` crate accepts this library's arrays, and also the stored arrays.
        for options in [
            ReadOptions::new(),
            ReadOptions::new().extension(VariantExtension::new()),
        ] {
            let back = batches(&file, options).unwrap().remove(0);
            assert!(
                back.schema_ref()
                    .field(0)
                    .has_valid_extension_type::<theirs::VariantType>()
            );
            assert_eq!(their_json(back.column(0)), texts(&ROWS));
            let path = theirs::VariantPath::try_from("id").unwrap();
            let wanted = Arc::new(Field::new("id", DataType::Int64, true));
            let get = theirs::GetOptions::new_with_path(path).with_as_type(Some(wanted));
            let ids = theirs::variant_get(back.column(0), get).unwrap();
            let ids: Vec<_> = ids.as_primitive::<Int64Type>().iter().flatten().collect();
            assert_eq!(ids, [7, 300_000_000_000]);
        }
        // This library writes the `parquet` crate's arrays, with the extension type and without it.
        let extended = WriteOptions::new().extension(VariantExtension::new());
        for options in [WriteOptions::new(), extended] {
            let file = bytes(std::slice::from_ref(&batch), options).unwrap();
            assert_eq!(
                their_json(their_batch(file.clone()).column(0)),
                texts(&ROWS)
            );
            let file = ParquetFile::from_bytes(file).unwrap();
            assert_eq!(read(&file), texts(&ROWS), "{}", message(&file));
        }
    }
}
