//! How the values of an Arrow type are stored: physical type, annotations and conversion.

use herringbone_arrow::schema::extension::EXTENSION_TYPE_NAME_KEY;
use herringbone_arrow::schema::{DataType, Field, TimeUnit};
use herringbone_format::{
    ConvertedType, Error, LogicalType, Result, SchemaElement, TimeUnit as ParquetUnit, Type,
};

use super::logical_type::logical_type;
use super::{Date64, WriteConversion, WriteSchemaOptions};
use crate::{ADJUSTED_TO_UTC_KEY, ColumnOrderKind};

/// How a column is stored; only the parts of the element that are about its type are set.
#[derive(Debug)]
pub(super) struct Stored {
    pub(super) element: SchemaElement,
    pub(super) conversion: WriteConversion,
    pub(super) order: ColumnOrderKind,
}

impl Stored {
    fn new(physical: Type, order: ColumnOrderKind) -> Self {
        Self {
            element: SchemaElement {
                type_: Some(physical),
                ..SchemaElement::default()
            },
            conversion: WriteConversion::Identity,
            order,
        }
    }

    fn fixed(length: i32, order: ColumnOrderKind) -> Self {
        let mut stored = Self::new(Type::FixedLenByteArray, order);
        stored.element.type_length = Some(length);
        stored
    }

    fn logical(mut self, logical: LogicalType) -> Self {
        self.element.logical_type = Some(logical);
        self
    }

    fn converted(mut self, converted: ConvertedType) -> Self {
        self.element.converted_type = Some(converted);
        self
    }

    fn by(mut self, conversion: WriteConversion) -> Self {
        self.conversion = conversion;
        self
    }
}

/// How a column of values of `data_type` is stored. `field` has the metadata; its own type may have
/// dictionaries and run-end encodings around the values.
///
/// **Errors**: as [`from_arrow`](super::from_arrow), without the column.
pub(super) fn stored(
    data_type: &DataType,
    field: &Field,
    options: &WriteSchemaOptions,
) -> Result<Stored> {
    use ColumnOrderKind as Order;
    use DataType as T;
    let annotation = logical_type(field)?;
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
        T::Utf8 | T::LargeUtf8 | T::Utf8View => text(field),
        T::Binary | T::LargeBinary | T::BinaryView => {
            Stored::new(Type::ByteArray, Order::UnsignedBytes)
        }
        T::FixedSizeBinary(length) => fixed_size(*length, field)?,
        other => return Err(no_form(other)),
    };
    match annotation {
        None => Ok(stored),
        Some(annotation) => annotated(stored, annotation, data_type),
    }
}

/// The annotation that the field's metadata ask for, instead of that of its type.
fn annotated(mut stored: Stored, annotation: LogicalType, data_type: &DataType) -> Result<Stored> {
    let fits = match annotation {
        LogicalType::Variant { .. } | LogicalType::File => false,
        _ => stored.element.type_ == Some(Type::ByteArray),
    };
    if !fits {
        return Err(Error::argument(format!(
            "the field's metadata ask for {annotation}, which {data_type} cannot be"
        )));
    }
    stored.element.converted_type = match annotation {
        LogicalType::Enum => Some(ConvertedType::Enum),
        LogicalType::Bson => Some(ConvertedType::Bson),
        _ => {
            // Bounds of shapes have no meaning.
            stored.order = ColumnOrderKind::Undefined;
            None
        }
    };
    Ok(stored.logical(annotation))
}

#[cold]
pub(super) fn no_form(data_type: &DataType) -> Error {
    let what = match data_type {
        DataType::Union(..) => "unions".to_owned(),
        other => format!("the Arrow type {other}"),
    };
    Error::unsupported(format!("Parquet has no form for {what}"))
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

fn date() -> Stored {
    Stored::new(Type::Int32, ColumnOrderKind::Signed)
        .logical(LogicalType::Date)
        .converted(ConvertedType::Date)
}

/// Whether midnight is that of UTC.
fn utc(field: &Field, options: &WriteSchemaOptions) -> bool {
    match field.metadata().get(ADJUSTED_TO_UTC_KEY) {
        Some(value) => value == "true",
        None => options.times_adjusted_to_utc,
    }
}

fn time(unit: TimeUnit, is_adjusted_to_utc: bool) -> Stored {
    use ColumnOrderKind::Signed;
    let logical = |unit| LogicalType::Time {
        is_adjusted_to_utc,
        unit,
    };
    let millis = || {
        Stored::new(Type::Int32, Signed)
            .logical(logical(ParquetUnit::Millis))
            .converted(ConvertedType::TimeMillis)
    };
    match unit {
        TimeUnit::Second => millis().by(WriteConversion::SecondsToMillis),
        TimeUnit::Millisecond => millis(),
        TimeUnit::Microsecond => Stored::new(Type::Int64, Signed)
            .logical(logical(ParquetUnit::Micros))
            .converted(ConvertedType::TimeMicros),
        TimeUnit::Nanosecond => {
            Stored::new(Type::Int64, Signed).logical(logical(ParquetUnit::Nanos))
        }
    }
}

fn timestamp(unit: TimeUnit, is_adjusted_to_utc: bool, options: &WriteSchemaOptions) -> Stored {
    if options.int96_timestamps {
        return Stored::new(Type::Int96, ColumnOrderKind::Int96);
    }
    let (unit, converted, conversion) = match unit {
        TimeUnit::Second => (
            ParquetUnit::Millis,
            Some(ConvertedType::TimestampMillis),
            WriteConversion::SecondsToMillis,
        ),
        TimeUnit::Millisecond => (
            ParquetUnit::Millis,
            Some(ConvertedType::TimestampMillis),
            WriteConversion::Identity,
        ),
        TimeUnit::Microsecond => (
            ParquetUnit::Micros,
            Some(ConvertedType::TimestampMicros),
            WriteConversion::Identity,
        ),
        TimeUnit::Nanosecond => (ParquetUnit::Nanos, None, WriteConversion::Identity),
    };
    let mut stored = if options.flba12_timestamps {
        // The counts are in the order of little-endian numbers, which no bounds are kept in.
        Stored::fixed(12, ColumnOrderKind::Undefined)
    } else {
        let mut stored = Stored::new(Type::Int64, ColumnOrderKind::Signed);
        stored.element.converted_type = converted;
        stored
    };
    stored.conversion = conversion;
    stored.logical(LogicalType::Timestamp {
        is_adjusted_to_utc,
        unit,
    })
}

fn text(field: &Field) -> Stored {
    let stored = Stored::new(Type::ByteArray, ColumnOrderKind::UnsignedBytes);
    if is_extension(field, "arrow.json") {
        stored
            .logical(LogicalType::Json)
            .converted(ConvertedType::Json)
    } else {
        stored
            .logical(LogicalType::String)
            .converted(ConvertedType::Utf8)
    }
}

fn fixed_size(length: i32, field: &Field) -> Result<Stored> {
    if length <= 0 {
        return Err(Error::unsupported(format!(
            "Parquet has no values of a fixed size of {length} bytes; write them as Binary"
        )));
    }
    let stored = Stored::fixed(length, ColumnOrderKind::UnsignedBytes);
    Ok(if length == 16 && is_extension(field, "arrow.uuid") {
        stored.logical(LogicalType::Uuid)
    } else {
        stored
    })
}

fn is_extension(field: &Field, name: &str) -> bool {
    field
        .metadata()
        .get(EXTENSION_TYPE_NAME_KEY)
        .is_some_and(|extension| extension == name)
}

/// The digits and the scale that a decimal is stored with, and how many zeros are put behind its
/// numbers: Parquet has no negative scale.
///
/// **Errors**: Argument when the type contradicts itself, Unsupported for more than 76 digits.
pub(super) fn stored_decimal(precision: u8, scale: i8, max_precision: u8) -> Result<(u8, u8, u8)> {
    const MAX_PRECISION: u8 = 76;
    let (stored_scale, digits) = match u8::try_from(scale) {
        Ok(scale) => (scale, 0),
        Err(_) => (0, scale.unsigned_abs()),
    };
    if precision == 0 || precision > max_precision || stored_scale > precision {
        return Err(Error::argument(format!(
            "a decimal of the precision {precision} and the scale {scale}; of {max_precision} \
             digits at most, 1 or more are needed, and not less than the scale"
        )));
    }
    match precision.checked_add(digits) {
        Some(stored @ ..=MAX_PRECISION) => Ok((stored, stored_scale, digits)),
        _ => Err(Error::unsupported(format!(
            "a decimal of the precision {precision} and the scale {scale} has more than 76 digits \
             without its negative scale"
        ))),
    }
}

fn decimal(
    precision: u8,
    scale: i8,
    max_precision: u8,
    options: &WriteSchemaOptions,
) -> Result<Stored> {
    let (precision, scale, digits) = stored_decimal(precision, scale, max_precision)?;
    let mut stored = match precision {
        ..=9 if !options.decimals_as_fixed => Stored::new(Type::Int32, ColumnOrderKind::Signed),
        ..=18 if !options.decimals_as_fixed => Stored::new(Type::Int64, ColumnOrderKind::Signed),
        _ => Stored::fixed(decimal_bytes(precision), ColumnOrderKind::SignedBytes),
    };
    let (precision, scale) = (i32::from(precision), i32::from(scale));
    stored.element.precision = Some(precision);
    stored.element.scale = Some(scale);
    if digits > 0 {
        stored.conversion = WriteConversion::Rescale { digits };
    }
    Ok(stored
        .logical(LogicalType::Decimal { scale, precision })
        .converted(ConvertedType::Decimal))
}

/// The least number of bytes whose two's complement has room for all numbers of that many digits.
fn decimal_bytes(precision: u8) -> i32 {
    // log10(2), in units of 1e-5; exact enough for the bits of 32 bytes.
    const LOG: i32 = 30_103;
    let holds = |bytes: &i32| (8 * bytes - 1) * LOG / 100_000 >= i32::from(precision);
    (1..32).find(holds).unwrap_or(32)
}
