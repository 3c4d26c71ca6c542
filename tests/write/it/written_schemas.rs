//! Tests the Parquet schemas of Arrow schemas. They must equal the `parquet` crate's schemas if both agree on the
//! stored form, and that crate must be able to read our hints.

use std::sync::Arc;

use herringbone_arrow::schema::{DataType, Field, Fields, Schema, TimeUnit};
use herringbone_schema::{WriteMapping, WriteSchemaOptions, from_arrow};
use parquet::arrow::{ArrowSchemaConverter, parquet_to_arrow_schema};
use parquet::file::metadata::KeyValue;
use parquet::schema::printer::print_schema;
use parquet::schema::types::SchemaDescriptor;

fn leaf_types() -> Vec<DataType> {
    use DataType as T;
    let mut types = vec![
        T::Null,
        T::Boolean,
        T::Int8,
        T::Int16,
        T::Int32,
        T::Int64,
        T::UInt8,
        T::UInt16,
        T::UInt32,
        T::UInt64,
        T::Float16,
        T::Float32,
        T::Float64,
        T::Date32,
        T::Date64,
        T::Time32(TimeUnit::Millisecond),
        T::Time64(TimeUnit::Microsecond),
        T::Time64(TimeUnit::Nanosecond),
        T::Utf8,
        T::LargeUtf8,
        T::Utf8View,
        T::Binary,
        T::LargeBinary,
        T::BinaryView,
        T::FixedSizeBinary(5),
        T::Duration(TimeUnit::Second),
        T::Dictionary(Box::new(T::Int8), Box::new(T::LargeUtf8)),
    ];
    for unit in [
        TimeUnit::Millisecond,
        TimeUnit::Microsecond,
        TimeUnit::Nanosecond,
    ] {
        types.push(T::Timestamp(unit, None));
        types.push(T::Timestamp(unit, Some("Asia/Tokyo".into())));
    }
    types.extend((1..=9).map(|precision| T::Decimal32(precision, 1)));
    types.extend((1..=18).map(|precision| T::Decimal64(precision, 1)));
    types.extend((1..=38).map(|precision| T::Decimal128(precision, 1)));
    types.extend((1..=76).map(|precision| T::Decimal256(precision, 0)));
    types
}

fn nested(leaf: DataType) -> Vec<Field> {
    let child = |name: &str| Arc::new(Field::new(name, leaf.clone(), true));
    let fields = Fields::from(vec![
        Field::new("x", leaf.clone(), true),
        Field::new("y", DataType::LargeList(child("item")), true),
    ]);
    let entries = Fields::from(vec![
        Field::new("keys", DataType::Utf8, false),
        Field::new("values", leaf.clone(), true),
    ]);
    let entries = Arc::new(Field::new("entries", DataType::Struct(entries), false));
    vec![
        Field::new("a", leaf.clone(), true),
        Field::new("b", DataType::List(child("item")), false),
        Field::new("c", DataType::FixedSizeList(child("item"), 3), true),
        Field::new("d", DataType::ListView(child("item")), true),
        Field::new("e", DataType::Struct(fields), true),
        Field::new("f", DataType::Map(entries, false), true),
    ]
}

/// Returns the message in lower case on one line, with the names that the crate prints.
fn ours(mapping: &WriteMapping) -> String {
    let text = mapping.schema.to_string().to_lowercase();
    plain(&text.replace(" binary ", " byte_array "))
}

fn theirs(schema: &SchemaDescriptor) -> String {
    let mut text = Vec::new();
    print_schema(&mut text, schema.root_schema());
    let text = String::from_utf8(text).unwrap().to_lowercase();
    plain(&text.replace("fixed_len_byte_array (", "fixed_len_byte_array("))
}

fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_parquet_crate_makes_the_same_schemas() {
    for leaf in leaf_types() {
        let schema = Schema::new(nested(leaf.clone()));
        let mapping = from_arrow(&schema, &WriteSchemaOptions::default()).unwrap();
        let peer = ArrowSchemaConverter::new()
            .with_coerce_types(true)
            .schema_root("schema")
            .convert(&schema)
            .unwrap();
        assert_eq!(ours(&mapping), theirs(&peer), "{leaf}");
        for (leaf, column) in mapping.leaves.iter().zip(peer.columns()) {
            assert_eq!(leaf.path, column.path().parts());
            assert_eq!(i16::from(leaf.max_def_level), column.max_def_level());
            assert_eq!(i16::from(leaf.max_rep_level), column.max_rep_level());
        }
        let pairs: Vec<KeyValue> = mapping
            .key_values(&[], &[])
            .unwrap()
            .iter()
            .map(|pair| KeyValue::new(pair.key.clone(), pair.text().map(str::to_owned)))
            .collect();
        // The crate takes the names of elements and entries from the file, and everything else from the hint.
        let read = parquet_to_arrow_schema(&peer, Some(&pairs)).unwrap();
        for (read, field) in read.fields().iter().zip(schema.fields()) {
            // List views are stored as lists, because some readers do not support them.
            let shown = match field.data_type() {
                DataType::ListView(child) => &DataType::List(child.clone()),
                other => other,
            };
            let kind = std::mem::discriminant(shown);
            assert_eq!(std::mem::discriminant(read.data_type()), kind, "{field}");
        }
        assert_eq!(read.fields().len(), schema.fields().len());
    }
}
