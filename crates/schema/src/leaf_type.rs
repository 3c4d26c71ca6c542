//! Deriving a column's Arrow type from its annotation and physical type.

use std::collections::HashMap;

use herringbone_arrow::schema::{DataType, IntervalUnit, TimeUnit};
use herringbone_format::{SchemaElement, TimeUnit as ParquetUnit, Type};

use crate::resolved_type::ResolvedType;
use crate::{ADJUSTED_TO_UTC_KEY, ByteLayout, LOGICAL_TYPE_KEY, Leaf, SchemaOptions};

/// Returns a column's Arrow type according to the Parquet schema alone, and the parts of the
/// annotation to store in the field's metadata.
pub(crate) fn leaf_type(
    leaf: &Leaf,
    element: &SchemaElement,
    options: &SchemaOptions,
) -> (DataType, HashMap<String, String>) {
    let resolved_type = ResolvedType::of(element, leaf.physical_type, leaf.type_length);
    let data_type = data_type(resolved_type, leaf, options);
    let mut metadata = HashMap::new();
    let mut insert = |key: &str, value: &str| {
        metadata.insert(key.to_owned(), value.to_owned());
    };
    match resolved_type {
        ResolvedType::Time { utc: true, .. } => insert(ADJUSTED_TO_UTC_KEY, "true"),
        ResolvedType::Geospatial => {
            if let Some(logical_type) = &element.logical_type {
                insert(LOGICAL_TYPE_KEY, &logical_type.to_string());
            }
        }
        _ => {}
    }
    (data_type, metadata)
}

fn data_type(resolved_type: ResolvedType, leaf: &Leaf, options: &SchemaOptions) -> DataType {
    match resolved_type {
        ResolvedType::Unannotated | ResolvedType::Ignored => physical(leaf, options),
        ResolvedType::String | ResolvedType::Json => text(options.strings),
        ResolvedType::Enum if options.enum_as_binary => binary(options.strings),
        ResolvedType::Enum => text(options.strings),
        ResolvedType::Bson | ResolvedType::Geospatial => binary(options.strings),
        ResolvedType::Decimal { precision, scale } => decimal(precision, scale, options),
        ResolvedType::Date => DataType::Date32,
        ResolvedType::Time { unit, .. } => match unit {
            ParquetUnit::Millis => DataType::Time32(TimeUnit::Millisecond),
            ParquetUnit::Micros => DataType::Time64(TimeUnit::Microsecond),
            ParquetUnit::Nanos => DataType::Time64(TimeUnit::Nanosecond),
        },
        ResolvedType::Timestamp { unit, utc } => {
            let unit = match unit {
                ParquetUnit::Millis => TimeUnit::Millisecond,
                ParquetUnit::Micros => TimeUnit::Microsecond,
                ParquetUnit::Nanos => TimeUnit::Nanosecond,
            };
            DataType::Timestamp(unit, utc.then(|| "UTC".into()))
        }
        ResolvedType::Integer {
            bit_width,
            is_signed,
        } => integer(bit_width, is_signed),
        ResolvedType::Null => DataType::Null,
        ResolvedType::Uuid => DataType::FixedSizeBinary(16),
        ResolvedType::Float16 => DataType::Float16,
        ResolvedType::Interval => DataType::Interval(IntervalUnit::MonthDayNano),
    }
}

/// Returns the Arrow type of a column without an annotation.
pub(crate) fn physical(leaf: &Leaf, options: &SchemaOptions) -> DataType {
    match leaf.physical_type {
        Type::Boolean => DataType::Boolean,
        Type::Int32 => DataType::Int32,
        Type::Int64 => DataType::Int64,
        Type::Int96 if options.int96_as_bytes => DataType::FixedSizeBinary(12),
        Type::Int96 => DataType::Timestamp(options.int96_unit, None),
        Type::Float => DataType::Float32,
        Type::Double => DataType::Float64,
        Type::ByteArray => binary(options.strings),
        // The length was an i32 in the file, so the conversion can't fail.
        Type::FixedLenByteArray => {
            DataType::FixedSizeBinary(i32::try_from(leaf.type_length).unwrap_or(i32::MAX))
        }
    }
}

fn integer(bit_width: i8, is_signed: bool) -> DataType {
    match (bit_width, is_signed) {
        (8, true) => DataType::Int8,
        (8, false) => DataType::UInt8,
        (16, true) => DataType::Int16,
        (16, false) => DataType::UInt16,
        (32, true) => DataType::Int32,
        (32, false) => DataType::UInt32,
        (_, true) => DataType::Int64,
        (_, false) => DataType::UInt64,
    }
}

fn decimal(precision: u8, scale: i8, options: &SchemaOptions) -> DataType {
    match precision {
        ..=9 if options.smallest_decimals => DataType::Decimal32(precision, scale),
        ..=18 if options.smallest_decimals => DataType::Decimal64(precision, scale),
        ..=38 => DataType::Decimal128(precision, scale),
        _ => DataType::Decimal256(precision, scale),
    }
}

fn text(layout: ByteLayout) -> DataType {
    match layout {
        ByteLayout::Offsets => DataType::Utf8,
        ByteLayout::LargeOffsets => DataType::LargeUtf8,
        ByteLayout::Views => DataType::Utf8View,
    }
}

fn binary(layout: ByteLayout) -> DataType {
    match layout {
        ByteLayout::Offsets => DataType::Binary,
        ByteLayout::LargeOffsets => DataType::LargeBinary,
        ByteLayout::Views => DataType::BinaryView,
    }
}
