//! Slots of Arrow arrays as literals.

use herringbone::arrow::array::Array;
use herringbone::arrow::array::cast::AsArray as _;
use herringbone::arrow::array::types::{
    Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type,
    DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType, DurationSecondType,
    Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    Time32MillisecondType, Time32SecondType, Time64MicrosecondType, Time64NanosecondType,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use herringbone::arrow::buffer::i256;
use herringbone::arrow::schema::{DataType, TimeUnit};
use herringbone::filter::Literal;

const MILLIS_PER_DAY: i64 = 86_400_000;

/// Returns a slot's literal, or None if a filter cannot compare with values of its type.
pub(crate) fn literal_at(array: &dyn Array, slot: usize) -> Option<Literal> {
    if slot >= array.len() || array.is_null(slot) {
        return Some(Literal::Null);
    }
    macro_rules! number {
        ($type:ty) => {
            Literal::Integer(array.as_primitive::<$type>().value(slot).into())
        };
    }
    Some(match array.data_type() {
        DataType::Null => Literal::Null,
        DataType::Boolean => Literal::Boolean(array.as_boolean().value(slot)),
        DataType::Int8 => number!(Int8Type),
        DataType::Int16 => number!(Int16Type),
        DataType::Int32 => number!(Int32Type),
        DataType::Int64 => number!(Int64Type),
        DataType::UInt8 => number!(UInt8Type),
        DataType::UInt16 => number!(UInt16Type),
        DataType::UInt32 => number!(UInt32Type),
        DataType::UInt64 => number!(UInt64Type),
        DataType::Float16 => Literal::Float(array.as_primitive::<Float16Type>().value(slot).into()),
        DataType::Float32 => Literal::Float(array.as_primitive::<Float32Type>().value(slot).into()),
        DataType::Float64 => Literal::Float(array.as_primitive::<Float64Type>().value(slot)),
        DataType::Utf8 => array.as_string::<i32>().value(slot).into(),
        DataType::LargeUtf8 => array.as_string::<i64>().value(slot).into(),
        DataType::Utf8View => array.as_string_view().value(slot).into(),
        DataType::Binary => array.as_binary::<i32>().value(slot).into(),
        DataType::LargeBinary => array.as_binary::<i64>().value(slot).into(),
        DataType::BinaryView => array.as_binary_view().value(slot).into(),
        DataType::FixedSizeBinary(_) => array.as_fixed_size_binary().value(slot).into(),
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary_opt()?;
            let key = *dictionary.normalized_keys().get(slot)?;
            return literal_at(dictionary.values().as_ref(), key);
        }
        _ => return of_calendar(array, slot),
    })
}

/// Returns the literal for a decimal, a date, a time, a timestamp or a duration.
fn of_calendar(array: &dyn Array, slot: usize) -> Option<Literal> {
    macro_rules! value {
        ($type:ty) => {
            array.as_primitive::<$type>().value(slot)
        };
    }
    macro_rules! nanos {
        ($unit:expr, $second:ty, $milli:ty, $micro:ty, $nano:ty) => {
            match $unit {
                TimeUnit::Second => i128::from(value!($second)) * 1_000_000_000,
                TimeUnit::Millisecond => i128::from(value!($milli)) * 1_000_000,
                TimeUnit::Microsecond => i128::from(value!($micro)) * 1_000,
                TimeUnit::Nanosecond => i128::from(value!($nano)),
            }
        };
    }
    let decimal = |unscaled: i256, scale: i8| Literal::Decimal {
        unscaled,
        scale: scale.into(),
    };
    Some(match array.data_type() {
        DataType::Decimal32(_, scale) => {
            decimal(i256::from_i128(value!(Decimal32Type).into()), *scale)
        }
        DataType::Decimal64(_, scale) => {
            decimal(i256::from_i128(value!(Decimal64Type).into()), *scale)
        }
        DataType::Decimal128(_, scale) => decimal(i256::from_i128(value!(Decimal128Type)), *scale),
        DataType::Decimal256(_, scale) => decimal(value!(Decimal256Type), *scale),
        DataType::Date32 => Literal::Date(value!(Date32Type)),
        DataType::Date64 => {
            let millis = value!(Date64Type);
            if millis % MILLIS_PER_DAY != 0 {
                return None;
            }
            Literal::Date(i32::try_from(millis / MILLIS_PER_DAY).ok()?)
        }
        DataType::Time32(TimeUnit::Second) => {
            Literal::Time(i64::from(value!(Time32SecondType)) * 1_000_000_000)
        }
        DataType::Time32(_) => Literal::Time(i64::from(value!(Time32MillisecondType)) * 1_000_000),
        DataType::Time64(TimeUnit::Microsecond) => {
            Literal::Time(value!(Time64MicrosecondType).checked_mul(1_000)?)
        }
        DataType::Time64(_) => Literal::Time(value!(Time64NanosecondType)),
        DataType::Timestamp(unit, zone) => Literal::Timestamp {
            nanos: nanos!(
                unit,
                TimestampSecondType,
                TimestampMillisecondType,
                TimestampMicrosecondType,
                TimestampNanosecondType
            ),
            is_utc: zone.is_some(),
        },
        DataType::Duration(unit) => Literal::Duration(nanos!(
            unit,
            DurationSecondType,
            DurationMillisecondType,
            DurationMicrosecondType,
            DurationNanosecondType
        )),
        _ => return None,
    })
}
