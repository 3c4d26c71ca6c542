//! Choosing the storage for an Arrow type's values: a physical type, annotations and a conversion.

use herringbone_arrow::schema::{DataType, Field};
use herringbone_format::{ConvertedType, Error, LogicalType, Result, Type};

use super::decimal::decimal;
use super::logical_type::asked_logical_type;
use super::stored::Stored;
use super::temporal::{date, time, timestamp, utc};
use super::{Date64, WriteConversion, WriteSchemaOptions};
use crate::ColumnOrderKind;
use crate::resolved_type::ResolvedType;

/// Returns the storage of a column with values of type `data_type`. `field` supplies the metadata,
/// but its own type can have dictionaries and run-end encodings around the values. `extension_type`
/// is the annotation requested by the field's extension type, if any.
///
/// Fails for the same reasons as [`from_arrow`](super::from_arrow), but does not add the column to
/// the error.
pub(super) fn stored(
    data_type: &DataType,
    field: &Field,
    extension_type: Option<&LogicalType>,
    options: &WriteSchemaOptions,
) -> Result<Stored> {
    use ColumnOrderKind as Order;
    use DataType as T;
    let annotation = asked_logical_type(field)?.or_else(|| extension_type.cloned());
    let stored = match data_type {
        T::Null => Stored::new(Type::Int32, Order::Undefined).logical(LogicalType::Unknown),
        T::Boolean => Stored::new(Type::Boolean, Order::Signed),
        T::Int8 => integer(8, true, ConvertedType::Int8),
        T::Int16 => integer(16, true, ConvertedType::Int16),
        T::Int32 => Stored::new(Type::Int32, Order::Signed),
        T::Int64 | T::Duration(_) => Stored::new(Type::Int64, Order::Signed),
        T::UInt8 => integer(8, false, ConvertedType::Uint8),
        T::UInt16 => integer(16, false, ConvertedType::Uint16),
        T::UInt32 => integer(32, false, ConvertedType::Uint32),
        T::UInt64 => integer(64, false, ConvertedType::Uint64),
        T::Float16 => Stored::fixed(2, Order::Float16).logical(LogicalType::Float16),
        T::Float32 => Stored::new(Type::Float, Order::Float),
        T::Float64 => Stored::new(Type::Double, Order::Float),
        T::Decimal32(precision, scale) => decimal(*precision, *scale, 9, options)?,
        T::Decimal64(precision, scale) => decimal(*precision, *scale, 18, options)?,
        T::Decimal128(precision, scale) => decimal(*precision, *scale, 38, options)?,
        T::Decimal256(precision, scale) => decimal(*precision, *scale, 76, options)?,
        T::Date32 => date(),
        T::Date64 => match options.date64 {
            Date64::Date => date().by(WriteConversion::MillisToDays),
            Date64::Int64 => Stored::new(Type::Int64, Order::Signed),
        },
        T::Time32(unit) | T::Time64(unit) => time(*unit, utc(field, options)),
        T::Timestamp(unit, zone) => {
            let utc = zone.as_deref().is_some_and(|zone| !zone.is_empty());
            timestamp(*unit, utc, options)
        }
        T::Interval(_) => Stored::fixed(12, Order::Undefined).converted(ConvertedType::Interval),
        T::Utf8 | T::LargeUtf8 | T::Utf8View => Stored::new(Type::ByteArray, Order::UnsignedBytes)
            .logical(LogicalType::String)
            .converted(ConvertedType::Utf8),
        T::Binary | T::LargeBinary | T::BinaryView => {
            Stored::new(Type::ByteArray, Order::UnsignedBytes)
        }
        T::FixedSizeBinary(length) => fixed_size(*length)?,
        other => return Err(no_form(other)),
    };
    match annotation {
        None => Ok(stored),
        Some(annotation) => annotated(stored, annotation, data_type),
    }
}

/// Replaces the type's annotation with the one requested by the field's metadata or extension type.
fn annotated(stored: Stored, annotation: LogicalType, data_type: &DataType) -> Result<Stored> {
    let converted_type = match annotation {
        LogicalType::Enum => Some(ConvertedType::Enum),
        LogicalType::Bson => Some(ConvertedType::Bson),
        LogicalType::Json => Some(ConvertedType::Json),
        _ => None,
    };
    let mut element = stored.element;
    element.logical_type = Some(annotation);
    element.converted_type = converted_type;
    let length = element
        .type_length
        .and_then(|length| usize::try_from(length).ok());
    let physical = element.type_.unwrap_or(Type::ByteArray);
    let resolved = ResolvedType::of(&element, physical, length.unwrap_or(0));
    match &element.logical_type {
        Some(annotation) if resolved == ResolvedType::Ignored => Err(Error::argument(format!(
            "the field's metadata or extension type requests {annotation}, which does not fit \
             {data_type}"
        ))),
        _ => Ok(Stored {
            order: resolved.order(physical),
            element,
            ..stored
        }),
    }
}

#[cold]
pub(super) fn no_form(data_type: &DataType) -> Error {
    let what = match data_type {
        DataType::Union(..) => "unions".to_owned(),
        other => format!("the Arrow type {other}"),
    };
    Error::unsupported(format!("Parquet cannot store {what}"))
}

fn integer(bit_width: i8, is_signed: bool, converted: ConvertedType) -> Stored {
    let physical = if bit_width == 64 {
        Type::Int64
    } else {
        Type::Int32
    };
    let order = if is_signed {
        ColumnOrderKind::Signed
    } else {
        ColumnOrderKind::Unsigned
    };
    let logical = LogicalType::Integer {
        bit_width,
        is_signed,
    };
    Stored::new(physical, order)
        .logical(logical)
        .converted(converted)
}

fn fixed_size(length: i32) -> Result<Stored> {
    if length <= 0 {
        return Err(Error::unsupported(format!(
            "Parquet cannot store values with a fixed size of {length} bytes; write them as Binary"
        )));
    }
    Ok(Stored::fixed(length, ColumnOrderKind::UnsignedBytes))
}
