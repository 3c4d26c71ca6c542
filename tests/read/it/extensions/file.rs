//! Tests FILE groups, which are `arrow.parquet.file` in Arrow, with the `parquet` crate, which checks them, and with
//! this library.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use herringbone::arrow::array::cast::AsArray;
use herringbone::arrow::array::types::Int64Type;
use herringbone::arrow::array::{
    Array, ArrayRef, BinaryArray, Int64Array, LargeStringArray, RecordBatch, StringArray,
    StructArray,
};
use herringbone::arrow::buffer::NullBuffer;
use herringbone::arrow::schema::{DataType, Field, FieldRef, Schema};
use herringbone::extension::FILE_EXTENSION_NAME;
use herringbone::{ParquetFile, ReadOptions, WriteOptions, Writer};
use parquet::basic::LogicalType;
use parquet::data_type::{ByteArray, ByteArrayType, Int64Type as ParquetInt64};
use parquet::file::properties::WriterProperties;
use parquet::file::reader::FileReader;
use parquet::file::serialized_reader::SerializedFileReader;
use parquet::file::writer::SerializedFileWriter;
use parquet::record::RowAccessor;
use parquet::schema::parser::parse_message_type;

use super::whole::by_all;

fn file_field(children: Vec<Field>, metadata: Option<&str>) -> Field {
    let field = Field::new("f", DataType::Struct(children.into()), true);
    let name = ("ARROW:extension:name", FILE_EXTENSION_NAME);
    let metadata = metadata.map(|metadata| ("ARROW:extension:metadata", metadata));
    let pairs = [name].into_iter().chain(metadata);
    let pairs = pairs.map(|(k, v)| (k.to_owned(), v.to_owned()));
    field.with_metadata(pairs.collect::<HashMap<_, _>>())
}

fn all_fields(nullable: bool) -> Vec<Field> {
    vec![
        Field::new("size", DataType::Int64, nullable),
        Field::new("uri", DataType::Utf8, nullable),
        Field::new("checksum", DataType::LargeUtf8, nullable),
        Field::new("inline", DataType::Binary, true),
    ]
}

/// Returns three rows, which are a file at a URI, a null, and an inline file.
fn batch(field: Field) -> RecordBatch {
    let DataType::Struct(fields) = field.data_type() else {
        panic!("no struct");
    };
    let column = |field: &FieldRef| -> ArrayRef {
        match field.name().as_str() {
            "size" => Arc::new(Int64Array::from(vec![7, 0, 2])),
            "uri" => Arc::new(StringArray::from(vec!["s3://b/k", "", "x"])),
            "checksum" => Arc::new(LargeStringArray::from(vec!["ETAG:1", "", ""])),
            _ => Arc::new(BinaryArray::from(vec![None, None, Some(&b"hi"[..])])),
        }
    };
    let nulls = NullBuffer::from(vec![true, false, true]);
    let columns = fields.iter().map(column).collect();
    let array = StructArray::new(fields.clone(), columns, Some(nulls));
    let schema = Arc::new(Schema::new(vec![field]));
    RecordBatch::try_new(schema, vec![Arc::new(array)]).unwrap()
}

fn written(batch: &RecordBatch) -> Bytes {
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, batch.schema(), WriteOptions::default()).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
    file.into()
}

/// Returns the annotation of the only field, and whether each of its children is optional, as the `parquet` crate reads
/// them.
fn by_peer(file: &Bytes) -> (Option<LogicalType>, Vec<bool>) {
    let reader = SerializedFileReader::new(file.clone()).unwrap();
    let schema = reader.metadata().file_metadata().schema();
    let group = &schema.get_fields()[0];
    let optional = group.get_fields().iter().map(|field| field.is_optional());
    let annotation = group.get_basic_info().logical_type_ref().cloned();
    (annotation, optional.collect())
}

#[test]
fn what_we_write_is_a_file_to_the_peer_that_checks_it() {
    for metadata in [Some(""), None] {
        let batch = batch(file_field(all_fields(true), metadata));
        let file = written(&batch);
        assert_eq!(by_peer(&file), (Some(LogicalType::File), vec![true; 4]));
        let file = ParquetFile::from_bytes(file).unwrap();
        let back = by_all(&file, ReadOptions::new);
        assert_eq!(back[0].schema().fields(), batch.schema().fields());
        assert_eq!(back, [batch]);
    }
}

/// By the specification, a FILE's fields are OPTIONAL.
#[test]
fn fields_that_are_never_null_are_optional_all_the_same() {
    let batch = batch(file_field(all_fields(false), Some("")));
    let file = written(&batch);
    assert_eq!(by_peer(&file), (Some(LogicalType::File), vec![true; 4]));
    let back = by_all(&ParquetFile::from_bytes(file).unwrap(), ReadOptions::new);
    let files = back[0].column(0).as_struct();
    assert_eq!(files.null_count(), 1);
    let sizes = files.column_by_name("size").unwrap();
    let sizes: Vec<_> = sizes.as_primitive::<Int64Type>().iter().collect();
    assert_eq!(sizes, [Some(7), None, Some(2)]);
}

/// Readers that check would refuse these as a FILE. So we write the group without the annotation, and keep the
/// extension name as a hint.
#[test]
fn a_struct_of_other_fields_is_written_as_it_is() {
    for children in [
        vec![Field::new("inline", DataType::Utf8, true)],
        vec![Field::new("size", DataType::Int32, true)],
        vec![
            Field::new("uri", DataType::Utf8, true),
            Field::new("etag", DataType::Utf8, true),
        ],
        vec![
            Field::new("uri", DataType::Utf8, true),
            Field::new("uri", DataType::Utf8, true),
        ],
    ] {
        let schema = Arc::new(Schema::new(vec![file_field(children, None)]));
        let file = written(&RecordBatch::new_empty(schema.clone()));
        assert_eq!(by_peer(&file).0, None);
        let file = ParquetFile::from_bytes(file).unwrap();
        let back = file.arrow_schema(&Default::default()).unwrap();
        assert_eq!(back.fields(), schema.fields());
    }
}

#[test]
fn what_the_peer_writes_comes_as_an_extension_type() {
    let message = "message m { optional group f (FILE) {
        optional int64 offset; optional binary uri (STRING); optional int64 size; } }";
    let schema = Arc::new(parse_message_type(message).unwrap());
    let properties = Arc::new(WriterProperties::default());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, properties).unwrap();
    let mut row_group = writer.next_row_group().unwrap();
    // The rows are a range of a file, a null, and a file.
    for (levels, numbers) in [
        ([2, 0, 1], Some([3])),
        ([2, 0, 2], None),
        ([2, 0, 1], Some([9])),
    ] {
        let mut column = row_group.next_column().unwrap().unwrap();
        match numbers {
            Some(values) => {
                column
                    .typed::<ParquetInt64>()
                    .write_batch(&values, Some(&levels), None)
            }
            None => {
                let values = ["a", "b"].map(ByteArray::from);
                column
                    .typed::<ByteArrayType>()
                    .write_batch(&values, Some(&levels), None)
            }
        }
        .unwrap();
        column.close().unwrap();
    }
    row_group.close().unwrap();
    let file = Bytes::from(writer.into_inner().unwrap());
    let peer = SerializedFileReader::new(file.clone()).unwrap();
    let first = peer.get_row_iter(None).unwrap().next().unwrap().unwrap();
    assert_eq!(first.get_group(0).unwrap().get_string(1).unwrap(), "a");

    let file = ParquetFile::from_bytes(file).unwrap();
    let batch = &by_all(&file, ReadOptions::new)[0];
    let children = vec![
        Field::new("offset", DataType::Int64, true),
        Field::new("uri", DataType::Utf8, true),
        Field::new("size", DataType::Int64, true),
    ];
    assert_eq!(*batch.schema().field(0), file_field(children, Some("")));
    let files = batch.column(0).as_struct();
    let column = |name: &str| files.column_by_name(name).unwrap();
    let numbers =
        |name: &str| -> Vec<_> { column(name).as_primitive::<Int64Type>().iter().collect() };
    assert_eq!(numbers("offset"), [Some(3), None, None]);
    assert_eq!(numbers("size"), [Some(9), None, None]);
    let uris: Vec<_> = column("uri").as_string::<i32>().iter().collect();
    assert_eq!(uris, [Some("a"), None, Some("b")]);
    assert_eq!(files.nulls().map(|nulls| nulls.null_count()), Some(1));
    // A part of a FILE is a FILE, too, and is written as one.
    let paths = vec![vec!["f".to_owned(), "uri".to_owned()]];
    let part = ReadOptions::new().projection(herringbone::Projection::Paths(paths));
    let part = &by_all(&file, || part.clone())[0];
    assert_eq!(
        by_peer(&written(part)),
        (Some(LogicalType::File), vec![true])
    );
}
