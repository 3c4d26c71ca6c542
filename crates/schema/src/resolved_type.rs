//! The meaning of a column's values, resolved from both annotations and checked (LogicalTypes).
//!
//! LogicalType wins over ConvertedType. An annotation might be unknown, or not allowed on the
//! column's physical type, but the file is still readable then. The specification asks us to read
//! the physical values without using the column's bounds. This case is [`ResolvedType::Ignored`].

use std::ops::RangeInclusive;

use crate::ColumnOrderKind;
use herringbone_format::{ConvertedType, LogicalType, SchemaElement, TimeUnit, Type};

/// The meaning of a column's values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ResolvedType {
    /// No annotation.
    Unannotated,
    String,
    Enum,
    Json,
    Bson,
    /// A decimal with 1 ≤ precision ≤ 76 and 0 ≤ scale ≤ precision.
    Decimal {
        precision: u8,
        scale: i8,
    },
    Date,
    Time {
        unit: TimeUnit,
        utc: bool,
    },
    Timestamp {
        unit: TimeUnit,
        utc: bool,
    },
    /// An integer of 8, 16, 32 or 64 bits.
    Integer {
        bit_width: i8,
        is_signed: bool,
    },
    /// No values, because all slots are null.
    Null,
    Uuid,
    Float16,
    Interval,
    /// GEOMETRY or GEOGRAPHY. The annotation itself goes into the field's metadata.
    Geospatial,
    /// An unusable annotation.
    Ignored,
}

impl ResolvedType {
    /// Resolves a column's annotation. `type_length` is 0 unless the values have a fixed length.
    pub(crate) fn of(element: &SchemaElement, physical: Type, type_length: usize) -> Self {
        let resolved_type = match (annotation(element), element.converted_type) {
            (Some(logical), _) => of_logical(logical),
            (None, Some(converted)) => of_converted(converted, element),
            (None, None) => Self::Unannotated,
        };
        if resolved_type.may_annotate(physical, type_length) {
            resolved_type
        } else {
            Self::Ignored
        }
    }

    /// Returns the order of values with this meaning and physical type.
    pub(crate) fn order(self, physical: Type) -> ColumnOrderKind {
        use ColumnOrderKind as Order;
        match self {
            Self::Null | Self::Interval | Self::Geospatial | Self::Ignored => Order::Undefined,
            Self::Float16 => Order::Float16,
            Self::Integer {
                is_signed: false, ..
            } => Order::Unsigned,
            // Each value is 12 little-endian bytes, and the specification doesn't define an order
            // for these yet.
            Self::Timestamp { .. } if physical != Type::Int64 => Order::Undefined,
            Self::Decimal { .. } => match physical {
                Type::Int32 | Type::Int64 => Order::Signed,
                _ => Order::SignedBytes,
            },
            _ => match physical {
                Type::Boolean | Type::Int32 | Type::Int64 => Order::Signed,
                Type::Float | Type::Double => Order::Float,
                Type::Int96 => Order::Int96,
                Type::ByteArray | Type::FixedLenByteArray => Order::UnsignedBytes,
            },
        }
    }

    /// Returns the range of allowed integers, if it is narrower than the physical type's.
    pub(crate) fn integer_range(self) -> Option<RangeInclusive<i64>> {
        const SECONDS_PER_DAY: i64 = 86_400;
        match self {
            Self::Integer {
                bit_width: bit_width @ (8 | 16),
                is_signed,
            } => Some(match is_signed {
                true => -(1 << (bit_width - 1))..=(1 << (bit_width - 1)) - 1,
                false => 0..=(1 << bit_width) - 1,
            }),
            Self::Time { unit, .. } => {
                let per_second = match unit {
                    TimeUnit::Millis => 1_000,
                    TimeUnit::Micros => 1_000_000,
                    TimeUnit::Nanos => 1_000_000_000,
                };
                Some(0..=SECONDS_PER_DAY * per_second - 1)
            }
            _ => None,
        }
    }

    fn may_annotate(self, physical: Type, type_length: usize) -> bool {
        let fixed = |length| physical == Type::FixedLenByteArray && type_length == length;
        match self {
            Self::Unannotated | Self::Null | Self::Ignored => true,
            Self::String | Self::Enum | Self::Json | Self::Bson | Self::Geospatial => {
                physical == Type::ByteArray
            }
            Self::Decimal { .. } => matches!(
                physical,
                Type::Int32 | Type::Int64 | Type::ByteArray | Type::FixedLenByteArray
            ),
            Self::Date => physical == Type::Int32,
            Self::Time { unit, .. } => match unit {
                TimeUnit::Millis => physical == Type::Int32,
                TimeUnit::Micros | TimeUnit::Nanos => physical == Type::Int64,
            },
            Self::Timestamp { .. } => physical == Type::Int64 || fixed(12),
            Self::Integer { bit_width, .. } => match bit_width {
                64 => physical == Type::Int64,
                _ => physical == Type::Int32,
            },
            Self::Uuid => fixed(16),
            Self::Float16 => fixed(2),
            Self::Interval => fixed(12),
        }
    }
}

/// Returns an element's logical type. UNKNOWN does not count if the converted type is INTERVAL or
/// MAP_KEY_VALUE. These two have no logical type, and parquet-java writes UNKNOWN for them. But a
/// column that cannot be an INTERVAL keeps UNKNOWN, since it says that all values are null.
pub(crate) fn annotation(element: &SchemaElement) -> Option<&LogicalType> {
    const INTERVAL_BYTES: i32 = 12;
    let is_slip = match element.converted_type {
        Some(ConvertedType::Interval) => {
            element.type_ == Some(Type::FixedLenByteArray)
                && element.type_length == Some(INTERVAL_BYTES)
        }
        Some(ConvertedType::MapKeyValue) => element.type_.is_none(),
        _ => false,
    };
    let logical_type = element.logical_type.as_ref();
    logical_type.filter(|logical_type| !(is_slip && **logical_type == LogicalType::Unknown))
}

fn of_logical(logical: &LogicalType) -> ResolvedType {
    match *logical {
        LogicalType::String => ResolvedType::String,
        LogicalType::Enum => ResolvedType::Enum,
        LogicalType::Json => ResolvedType::Json,
        LogicalType::Bson => ResolvedType::Bson,
        LogicalType::Decimal { scale, precision } => decimal(precision, scale),
        LogicalType::Date => ResolvedType::Date,
        LogicalType::Time {
            is_adjusted_to_utc: utc,
            unit,
        } => ResolvedType::Time { unit, utc },
        LogicalType::Timestamp {
            is_adjusted_to_utc: utc,
            unit,
        } => ResolvedType::Timestamp { unit, utc },
        LogicalType::Integer {
            bit_width: bit_width @ (8 | 16 | 32 | 64),
            is_signed,
        } => ResolvedType::Integer {
            bit_width,
            is_signed,
        },
        LogicalType::Unknown => ResolvedType::Null,
        LogicalType::Uuid => ResolvedType::Uuid,
        LogicalType::Float16 => ResolvedType::Float16,
        LogicalType::Geometry { .. } | LogicalType::Geography { .. } => ResolvedType::Geospatial,
        // For example, a group's annotation on a column, an invalid width, or an unknown
        // annotation.
        _ => ResolvedType::Ignored,
    }
}

fn of_converted(converted: ConvertedType, element: &SchemaElement) -> ResolvedType {
    let integer = |bit_width, is_signed| ResolvedType::Integer {
        bit_width,
        is_signed,
    };
    let (millis, micros) = (TimeUnit::Millis, TimeUnit::Micros);
    match converted {
        ConvertedType::Utf8 => ResolvedType::String,
        ConvertedType::Enum => ResolvedType::Enum,
        ConvertedType::Json => ResolvedType::Json,
        ConvertedType::Bson => ResolvedType::Bson,
        ConvertedType::Decimal => {
            decimal(element.precision.unwrap_or(0), element.scale.unwrap_or(0))
        }
        ConvertedType::Date => ResolvedType::Date,
        // Converted types only exist for instants and for times in UTC.
        ConvertedType::TimeMillis => ResolvedType::Time {
            unit: millis,
            utc: true,
        },
        ConvertedType::TimeMicros => ResolvedType::Time {
            unit: micros,
            utc: true,
        },
        ConvertedType::TimestampMillis => ResolvedType::Timestamp {
            unit: millis,
            utc: true,
        },
        ConvertedType::TimestampMicros => ResolvedType::Timestamp {
            unit: micros,
            utc: true,
        },
        ConvertedType::Uint8 => integer(8, false),
        ConvertedType::Uint16 => integer(16, false),
        ConvertedType::Uint32 => integer(32, false),
        ConvertedType::Uint64 => integer(64, false),
        ConvertedType::Int8 => integer(8, true),
        ConvertedType::Int16 => integer(16, true),
        ConvertedType::Int32 => integer(32, true),
        ConvertedType::Int64 => integer(64, true),
        ConvertedType::Interval => ResolvedType::Interval,
        ConvertedType::Map
        | ConvertedType::MapKeyValue
        | ConvertedType::List
        | ConvertedType::Unknown(_) => ResolvedType::Ignored,
    }
}

/// Returns a decimal if Arrow can represent it and the specification allows it. Otherwise, ignores
/// the annotation.
fn decimal(precision: i32, scale: i32) -> ResolvedType {
    const MAX_PRECISION: u8 = 76;
    match (u8::try_from(precision), i8::try_from(scale)) {
        (Ok(precision @ 1..=MAX_PRECISION), Ok(scale))
            if scale >= 0 && i32::from(scale) <= i32::from(precision) =>
        {
            ResolvedType::Decimal { precision, scale }
        }
        _ => ResolvedType::Ignored,
    }
}
