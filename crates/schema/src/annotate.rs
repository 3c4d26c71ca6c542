//! Logical types and their older counterparts.

use herringbone_format::{ConvertedType, LogicalType, SchemaElement, TimeUnit, Type};

/// Sets an element's logical type, along with its older counterpart for readers that only know the
/// older annotations.
pub(crate) fn annotate(element: &mut SchemaElement, logical_type: LogicalType) {
    element.converted_type = converted_type(&logical_type, element.type_);
    (element.precision, element.scale) = match logical_type {
        LogicalType::Decimal { scale, precision } => (Some(precision), Some(scale)),
        _ => (None, None),
    };
    element.logical_type = Some(logical_type);
}

/// Returns the older annotation for a logical type (LogicalTypes). Local times have one as well,
/// because the specification's forward compatibility rule asks for it.
fn converted_type(
    logical_type: &LogicalType,
    physical_type: Option<Type>,
) -> Option<ConvertedType> {
    Some(match *logical_type {
        LogicalType::String => ConvertedType::Utf8,
        LogicalType::Map => ConvertedType::Map,
        LogicalType::List => ConvertedType::List,
        LogicalType::Enum => ConvertedType::Enum,
        LogicalType::Decimal { .. } => ConvertedType::Decimal,
        LogicalType::Date => ConvertedType::Date,
        LogicalType::Time { unit, .. } => match unit {
            TimeUnit::Millis => ConvertedType::TimeMillis,
            TimeUnit::Micros => ConvertedType::TimeMicros,
            TimeUnit::Nanos => return None,
        },
        // The older annotations only exist for INT64.
        LogicalType::Timestamp { .. } if physical_type == Some(Type::FixedLenByteArray) => {
            return None;
        }
        LogicalType::Timestamp { unit, .. } => match unit {
            TimeUnit::Millis => ConvertedType::TimestampMillis,
            TimeUnit::Micros => ConvertedType::TimestampMicros,
            TimeUnit::Nanos => return None,
        },
        LogicalType::Integer {
            bit_width,
            is_signed,
        } => match (bit_width, is_signed) {
            (8, true) => ConvertedType::Int8,
            (16, true) => ConvertedType::Int16,
            (32, true) => ConvertedType::Int32,
            (64, true) => ConvertedType::Int64,
            (8, false) => ConvertedType::Uint8,
            (16, false) => ConvertedType::Uint16,
            (32, false) => ConvertedType::Uint32,
            (64, false) => ConvertedType::Uint64,
            _ => return None,
        },
        LogicalType::Json => ConvertedType::Json,
        LogicalType::Bson => ConvertedType::Bson,
        _ => return None,
    })
}
