//! Checks that every table in the code handles each variant that the format or Arrow defines. If a table lacks a
//! variant, the test fails here and names it.

use std::sync::Arc;

use herringbone::format::{
    CompressionCodec, Encoding, Limits, LogicalType, Repetition, SchemaElement, Type,
};
use herringbone::{ColumnOptions, Compression, ErrorKind, ParquetFile, WriteOptions, Writer};
use herringbone_arrow::array::{
    ArrayRef, BinaryArray, BooleanArray, FixedSizeBinaryArray, Float32Array, Float64Array,
    Int32Array, Int64Array, RecordBatch,
};
use herringbone_arrow::schema::{DataType, Field, Schema, TimeUnit};
use herringbone_schema::{ParquetSchema, SchemaOptions, from_arrow, to_arrow};

use crate::write::schemas::leaf_types;

const SUPPORT: &str = include_str!("../../../docs/support.md");
const FUZZ_TARGETS: &str = include_str!("../../../fuzz/src/targets.rs");

/// Returns true if the support table has a row for this encoding or codec.
fn has_row(name: &str) -> bool {
    SUPPORT.contains(&format!("\n| {name} |"))
}

/// Returns values of a physical type, or `None` for INT96, which can only be written with a Parquet schema.
fn values(physical: Type) -> Option<ArrayRef> {
    // There are few distinct values, so that a dictionary saves bytes.
    let numbers = (0..1000).map(|i| i % 10);
    Some(match physical {
        Type::Boolean => Arc::new(
            numbers
                .map(|numbers| Some(numbers % 3 == 0))
                .collect::<BooleanArray>(),
        ) as ArrayRef,
        Type::Int32 => Arc::new(Int32Array::from_iter_values(numbers)),
        Type::Int64 => Arc::new(Int64Array::from_iter_values(numbers.map(i64::from))),
        Type::Int96 => return None,
        Type::Float => Arc::new(Float32Array::from_iter_values(
            numbers.map(|number| number as f32 / 8.0),
        )),
        Type::Double => Arc::new(Float64Array::from_iter_values(
            numbers.map(|number| f64::from(number) / 8.0),
        )),
        Type::ByteArray => Arc::new(BinaryArray::from_iter_values(
            numbers.map(|number| format!("value {number}")),
        )),
        Type::FixedLenByteArray => {
            let values = numbers.map(|it: i32| it.to_le_bytes());
            Arc::new(FixedSizeBinaryArray::try_from_iter(values).unwrap())
        }
    })
}

/// We can write a column in this encoding and read it back if the specification allows the encoding for the type and
/// does not deprecate it. Any other request is refused.
#[test]
fn every_encoding_is_read_and_written() {
    use Encoding::{BitPacked, PlainDictionary, RleDictionary};
    let every = Encoding::ALL.iter().flat_map(|encoding| {
        let types = Type::ALL.iter();
        types.filter_map(|physical| Some((*encoding, *physical, values(*physical)?)))
    });
    for (encoding, physical, column) in every {
        let what = format!("{encoding} of {physical}");
        let batch = RecordBatch::try_from_iter([("a", column)]).unwrap();
        let options = WriteOptions::new().columns(ColumnOptions::new().encoding(encoding));
        let mut file = Vec::new();
        let written = Writer::new(&mut file, batch.schema(), options).and_then(|mut writer| {
            writer.write(&batch)?;
            writer.finish()
        });
        let serves = encoding != BitPacked && encoding.serves().contains(&physical);
        assert_eq!(
            written.as_ref().err().map(|error| error.kind()),
            (!serves).then_some(ErrorKind::Argument),
            "{what}: {written:?}"
        );
        let Ok(metadata) = written else { continue };
        let column = metadata.row_group(0).unwrap().columns[0].clone();
        let is = column.meta_data.unwrap().encodings;
        let wanted = match encoding {
            PlainDictionary => RleDictionary,
            other => other,
        };
        // Booleans are never dictionary-encoded.
        let is_boolean_dictionary = physical == Type::Boolean && wanted == RleDictionary;
        assert!(
            is_boolean_dictionary || is.contains(&wanted),
            "{what}: {is:?}"
        );
        let file = ParquetFile::from_bytes(file).unwrap();
        let read: Vec<_> = file.read(Default::default()).unwrap().collect();
        assert_eq!(read.len(), 1, "{what}");
        assert_eq!(*read[0].as_ref().unwrap(), batch, "{what}");
    }
}

#[test]
fn every_encoding_is_named() {
    for encoding in Encoding::ALL {
        assert!(
            has_row(&encoding.to_string()),
            "docs/support.md: {encoding}"
        );
        // Neither the encoding of levels nor an encoding's older name has a target of its own.
        let is_alone = ![Encoding::BitPacked, Encoding::PlainDictionary].contains(encoding);
        let target = format!("\"encoding_{}", encoding.to_string().to_lowercase());
        assert!(
            !is_alone || FUZZ_TARGETS.contains(&target),
            "fuzz/src/targets.rs: {encoding}"
        );
    }
}

/// A codec's name selects it, or is refused because the codec is read-only. To each codec, garbage input is Corrupt,
/// and not Unsupported.
#[test]
fn every_codec_is_known() {
    for codec in CompressionCodec::ALL {
        let name = codec.to_string();
        assert!(has_row(&name), "docs/support.md: {name}");
        match name.parse::<Compression>() {
            Ok(compression) => {
                assert_eq!(compression.codec(), *codec);
                let mut compressed = Vec::new();
                let mut out = [0; 5];
                herringbone_core::compression::compress(compression, b"fishy", &mut compressed)
                    .unwrap();
                herringbone_core::compression::decompress(*codec, &compressed, &mut out).unwrap();
                assert_eq!(&out, b"fishy", "{name}");
            }
            Err(error) => assert!(
                error.to_string().contains("only be read"),
                "{name}: {error}"
            ),
        }
        if *codec == CompressionCodec::Uncompressed {
            continue;
        }
        let error = herringbone_core::compression::decompress(*codec, &[0xff; 9], &mut [0; 5]);
        assert_eq!(error.unwrap_err().kind(), ErrorKind::Corrupt, "{name}");
        let target = format!("\"codec_{}\"", name.to_lowercase());
        assert!(
            FUZZ_TARGETS.contains(&target),
            "fuzz/src/targets.rs: {name}"
        );
    }
}

/// Returns a leaf with this annotation, and the Arrow type as which it is read, or `None` for annotations of groups.
fn leaf(logical_type: &LogicalType) -> Option<(SchemaElement, DataType)> {
    let (physical, length, data_type) = match logical_type {
        LogicalType::Map | LogicalType::List | LogicalType::Variant { .. } | LogicalType::File => {
            return None;
        }
        LogicalType::String | LogicalType::Json | LogicalType::Enum => {
            (Type::ByteArray, None, DataType::Utf8)
        }
        LogicalType::Bson | LogicalType::Geometry { .. } | LogicalType::Geography { .. } => {
            (Type::ByteArray, None, DataType::Binary)
        }
        LogicalType::Decimal { .. } => (Type::Int32, None, DataType::Decimal128(9, 2)),
        LogicalType::Date => (Type::Int32, None, DataType::Date32),
        LogicalType::Time { .. } => (Type::Int64, None, DataType::Time64(TimeUnit::Microsecond)),
        LogicalType::Timestamp { .. } => {
            let utc = DataType::Timestamp(TimeUnit::Microsecond, Some("UTC".into()));
            (Type::Int64, None, utc)
        }
        LogicalType::Integer { .. } => (Type::Int32, None, DataType::UInt16),
        LogicalType::Unknown => (Type::Int32, None, DataType::Null),
        LogicalType::Uuid => (
            Type::FixedLenByteArray,
            Some(16),
            DataType::FixedSizeBinary(16),
        ),
        LogicalType::Float16 => (Type::FixedLenByteArray, Some(2), DataType::Float16),
        new => panic!("{new} has no line in this table"),
    };
    let element = SchemaElement::new("a".into())
        .type_(physical)
        .type_length(length)
        .repetition_type(Repetition::Optional)
        .logical_type(logical_type.clone());
    Some((element, data_type))
}

/// Each annotation is read as its Arrow type, is printed, and is written for that type. The exceptions are annotations
/// that only survive if there is a Parquet schema to follow.
#[test]
fn every_logical_type_is_mapped() {
    for logical_type in LogicalType::one_of_each() {
        let what = logical_type.to_string();
        let Some((element, data_type)) = leaf(&logical_type) else {
            continue;
        };
        let root = SchemaElement::new("schema".into()).num_children(1);
        let schema = ParquetSchema::new(&[root, element], &Limits::default()).unwrap();
        let name = what.split('(').next().unwrap();
        assert!(schema.to_string().contains(name), "{what}: {schema}");
        let arrow = to_arrow(&schema, &[], &SchemaOptions::default()).unwrap();
        let field = arrow.schema.field(0);
        assert_eq!(*field.data_type(), data_type, "{what}");
        let again = from_arrow(&arrow.schema, &Default::default()).unwrap();
        let written = again.elements[1].logical_type.clone();
        match logical_type {
            LogicalType::Enum => assert_eq!(written, Some(LogicalType::String)),
            LogicalType::Bson => assert_eq!(written, None),
            kept => assert_eq!(written, Some(kept)),
        }
    }
}

/// Returns true if an Arrow type is a leaf, which [`leaf_types`] must list. The match is exhaustive, so that an unknown
/// type does not compile.
fn is_leaf(data_type: &DataType) -> bool {
    use DataType as T;
    match data_type {
        T::Null
        | T::Boolean
        | T::Int8
        | T::Int16
        | T::Int32
        | T::Int64
        | T::UInt8
        | T::UInt16
        | T::UInt32
        | T::UInt64
        | T::Float16
        | T::Float32
        | T::Float64
        | T::Timestamp(..)
        | T::Date32
        | T::Date64
        | T::Time32(_)
        | T::Time64(_)
        | T::Duration(_)
        | T::Interval(_)
        | T::Binary
        | T::FixedSizeBinary(_)
        | T::LargeBinary
        | T::BinaryView
        | T::Utf8
        | T::LargeUtf8
        | T::Utf8View
        | T::Decimal32(..)
        | T::Decimal64(..)
        | T::Decimal128(..)
        | T::Decimal256(..) => true,
        T::List(_)
        | T::ListView(_)
        | T::FixedSizeList(..)
        | T::LargeList(_)
        | T::LargeListView(_)
        | T::Struct(_)
        | T::Union(..)
        | T::Dictionary(..)
        | T::Map(..)
        | T::RunEndEncoded(..) => false,
    }
}

/// Each leaf type has a physical type, is read back unchanged, and is one of the 31 kinds of types that all tests of
/// writing cover.
#[test]
fn every_arrow_type_is_mapped() {
    let types = leaf_types();
    let kinds: std::collections::HashSet<_> = types.iter().map(std::mem::discriminant).collect();
    assert_eq!(kinds.len(), 31);
    for data_type in types {
        assert!(is_leaf(&data_type), "{data_type}");
        let schema = Schema::new(vec![Field::new("a", data_type.clone(), true)]);
        let mapping = from_arrow(&schema, &Default::default()).unwrap();
        let parquet = ParquetSchema::new(&mapping.elements, &Limits::default()).unwrap();
        let pairs = mapping.key_values(&[], &[]).unwrap();
        let read = to_arrow(&parquet, &pairs, &SchemaOptions::default()).unwrap();
        assert_eq!(*read.schema.field(0).data_type(), data_type);
    }
}
