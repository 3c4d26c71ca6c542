//! Dates, times of day and timestamps.

use herringbone_arrow::schema::{Field, TimeUnit};
use herringbone_format::{ConvertedType, LogicalType, TimeUnit as ParquetUnit, Type};

use super::stored::Stored;
use super::{WriteConversion, WriteSchemaOptions};
use crate::{ADJUSTED_TO_UTC_KEY, ColumnOrderKind};

pub(super) fn date() -> Stored {
    Stored::new(Type::Int32, ColumnOrderKind::Signed)
        .logical(LogicalType::Date)
        .converted(ConvertedType::Date)
}

/// Returns true if times of day are counted from midnight in UTC.
pub(super) fn utc(field: &Field, options: &WriteSchemaOptions) -> bool {
    match field.metadata().get(ADJUSTED_TO_UTC_KEY) {
        Some(value) => value == "true",
        None => options.times_adjusted_to_utc,
    }
}

pub(super) fn time(unit: TimeUnit, is_adjusted_to_utc: bool) -> Stored {
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

pub(super) fn timestamp(
    unit: TimeUnit,
    is_adjusted_to_utc: bool,
    options: &WriteSchemaOptions,
) -> Stored {
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
        // The counts are little-endian, and the specification defines no order for their bounds.
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
