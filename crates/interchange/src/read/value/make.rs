//! Makes the column for each type.

use herringbone::variant::shredding::is_variant;
use herringbone_arrow::array::builder::{
    BinaryBuilder, BinaryViewBuilder, FixedSizeBinaryBuilder, LargeBinaryBuilder,
    LargeStringBuilder, StringBuilder, StringViewBuilder,
};
use herringbone_arrow::array::types::{
    Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type,
    DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType, DurationSecondType,
    Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    IntervalDayTime, IntervalDayTimeType, IntervalMonthDayNano, IntervalMonthDayNanoType,
    IntervalYearMonthType, Time32MillisecondType, Time32SecondType, Time64MicrosecondType,
    Time64NanosecondType, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use herringbone_arrow::buffer::i256;
use herringbone_arrow::schema::{DataType, Field, FieldRef, IntervalUnit, TimeUnit};

use super::bytes::{Bytes, BytesText};
use super::encoded::{Dictionary, Runs};
use super::list::{Lists, Make, Maps, fixed, lists, views};
use super::period::{Period, period};
use super::primitive::{Booleans, decimals, floats, integers, primitive};
use super::temporal::{dates, dates_in_milliseconds, times, timestamps};
use super::text::{Nulls, Texts};
use super::variant::Variants;
use super::{Column, ParseError, Result, Rules, Scalar, Slot, Struct};
use crate::read::json::ExactDates;
use crate::read::row_size::slot_bytes;

/// Returns the column for a field. `path` is its name in errors.
///
/// Columns don't reserve memory up front, since a file can have many columns.
///
/// # Errors
/// Fails if text cannot be read as the field's type.
pub(super) fn column(field: &Field, path: &str, rules: &Rules) -> Result<Box<dyn Column>> {
    let any = !rules.inferred || rules.mixed.iter().any(|mixed| mixed == path);
    let text = BytesText::of(field);
    let data_type = field.data_type();
    Ok(match data_type {
        DataType::Null => Box::new(Nulls::default()),
        DataType::Boolean => Box::new(Booleans::new()),
        DataType::Utf8 => Box::new(Texts::new(StringBuilder::with_capacity(0, 0), any)),
        DataType::LargeUtf8 => Box::new(Texts::new(LargeStringBuilder::with_capacity(0, 0), any)),
        DataType::Utf8View => Box::new(Texts::new(StringViewBuilder::with_capacity(0), any)),
        DataType::Binary => Box::new(Bytes::new(BinaryBuilder::with_capacity(0, 0), text)),
        DataType::LargeBinary => {
            Box::new(Bytes::new(LargeBinaryBuilder::with_capacity(0, 0), text))
        }
        DataType::BinaryView => Box::new(Bytes::new(BinaryViewBuilder::with_capacity(0), text)),
        DataType::FixedSizeBinary(length) if *length >= 0 => {
            let builder = FixedSizeBinaryBuilder::with_capacity(0, *length);
            Box::new(Bytes::new(builder, text))
        }
        data_type if data_type.is_numeric() => numeric(data_type, rules.inferred)?,
        data_type if data_type.is_temporal() && rules.has_exact_dates => {
            ExactDates::of(data_type, temporal(data_type)?)
        }
        data_type if data_type.is_temporal() => temporal(data_type)?,
        _ => nested(field, path, rules)?,
    })
}

fn unsupported(data_type: &DataType) -> ParseError {
    ParseError::new(format!("text cannot be read as {data_type}"))
}

fn numeric(data_type: &DataType, inferred: bool) -> Result<Box<dyn Column>> {
    Ok(match data_type {
        DataType::Int8 => integers::<Int8Type>(data_type, inferred),
        DataType::Int16 => integers::<Int16Type>(data_type, inferred),
        DataType::Int32 => integers::<Int32Type>(data_type, inferred),
        DataType::Int64 => integers::<Int64Type>(data_type, inferred),
        DataType::UInt8 => integers::<UInt8Type>(data_type, inferred),
        DataType::UInt16 => integers::<UInt16Type>(data_type, inferred),
        DataType::UInt32 => integers::<UInt32Type>(data_type, inferred),
        DataType::UInt64 => integers::<UInt64Type>(data_type, inferred),
        DataType::Float16 => floats::<Float16Type>(data_type, inferred),
        DataType::Float32 => floats::<Float32Type>(data_type, inferred),
        DataType::Float64 => floats::<Float64Type>(data_type, inferred),
        DataType::Decimal32(precision, scale) => {
            let native = |value: i256| i32::try_from(value.to_i128()?).ok();
            decimals::<Decimal32Type>(data_type, *precision, *scale, inferred, native)
        }
        DataType::Decimal64(precision, scale) => {
            let native = |value: i256| i64::try_from(value.to_i128()?).ok();
            decimals::<Decimal64Type>(data_type, *precision, *scale, inferred, native)
        }
        DataType::Decimal128(precision, scale) => {
            decimals::<Decimal128Type>(data_type, *precision, *scale, inferred, i256::to_i128)
        }
        DataType::Decimal256(precision, scale) => {
            decimals::<Decimal256Type>(data_type, *precision, *scale, inferred, Some)
        }
        other => return Err(unsupported(other)),
    })
}

fn temporal(data_type: &DataType) -> Result<Box<dyn Column>> {
    use TimeUnit::{Microsecond, Millisecond, Nanosecond, Second};
    Ok(match data_type {
        DataType::Date32 => dates::<Date32Type>(data_type),
        DataType::Date64 => dates_in_milliseconds::<Date64Type>(data_type),
        DataType::Time32(Second) => times::<Time32SecondType>(data_type, Second),
        DataType::Time32(Millisecond) => times::<Time32MillisecondType>(data_type, Millisecond),
        DataType::Time64(Microsecond) => times::<Time64MicrosecondType>(data_type, Microsecond),
        DataType::Time64(Nanosecond) => times::<Time64NanosecondType>(data_type, Nanosecond),
        DataType::Timestamp(unit, zone) => {
            let zone = zone.is_some();
            match unit {
                Second => timestamps::<TimestampSecondType>(data_type, *unit, zone),
                Millisecond => timestamps::<TimestampMillisecondType>(data_type, *unit, zone),
                Microsecond => timestamps::<TimestampMicrosecondType>(data_type, *unit, zone),
                Nanosecond => timestamps::<TimestampNanosecondType>(data_type, *unit, zone),
            }
        }
        DataType::Duration(unit) => match unit {
            Second => periods::<DurationSecondType>(data_type, duration(1_000_000_000)),
            Millisecond => periods::<DurationMillisecondType>(data_type, duration(1_000_000)),
            Microsecond => periods::<DurationMicrosecondType>(data_type, duration(1_000)),
            Nanosecond => periods::<DurationNanosecondType>(data_type, duration(1)),
        },
        DataType::Interval(unit) => interval(data_type, *unit),
        other => return Err(unsupported(other)),
    })
}

/// Returns a column for periods such as `PT1.5S`. `value` converts a period to the type's value, or
/// returns `None` if it doesn't fit.
fn periods<T: herringbone_arrow::array::types::ArrowPrimitiveType>(
    data_type: &DataType,
    value: impl Fn(Period) -> Option<T::Native> + 'static,
) -> Box<dyn Column> {
    primitive::<T>(data_type, move |scalar| match scalar {
        Scalar::Text(text) | Scalar::Cell(text) => {
            value(period(text).ok_or("expected a period such as PT1.5S or P1M2DT3S")?)
                .ok_or("it is out of range, or has parts that the type does not support")
        }
        _ => Err("expected a period such as \"PT1.5S\" or \"P1M2DT3S\""),
    })
}

fn duration(nanos: i128) -> impl Fn(Period) -> Option<i64> + 'static {
    move |period| {
        let exact = period.months == 0 && period.days == 0 && period.nanos % nanos == 0;
        exact
            .then(|| i64::try_from(period.nanos / nanos).ok())
            .flatten()
    }
}

fn interval(data_type: &DataType, unit: IntervalUnit) -> Box<dyn Column> {
    match unit {
        IntervalUnit::YearMonth => periods::<IntervalYearMonthType>(data_type, |period| {
            (period.days == 0 && period.nanos == 0).then_some(period.months)
        }),
        IntervalUnit::DayTime => periods::<IntervalDayTimeType>(data_type, |period| {
            let exact = period.months == 0 && period.nanos % 1_000_000 == 0;
            let millis = i32::try_from(period.nanos / 1_000_000).ok()?;
            exact.then(|| IntervalDayTime::new(period.days, millis))
        }),
        IntervalUnit::MonthDayNano => periods::<IntervalMonthDayNanoType>(data_type, |period| {
            let nanos = i64::try_from(period.nanos).ok()?;
            Some(IntervalMonthDayNano::new(period.months, period.days, nanos))
        }),
    }
}

fn nested(field: &Field, path: &str, rules: &Rules) -> Result<Box<dyn Column>> {
    let of = |item: &FieldRef, length, make: Make| -> Result<Box<dyn Column>> {
        let items = Slot::new(item, path, rules)?;
        let item_bytes = slot_bytes(item.data_type());
        Ok(Box::new(Lists::new(items, length, item_bytes, make)))
    };
    match field.data_type() {
        DataType::Struct(_) if is_variant(field) => Ok(Box::new(Variants::new(field)?)),
        DataType::Struct(fields) => Ok(Box::new(Struct::new(fields, path, rules)?)),
        DataType::List(item) => of(item, None, lists::<i32>(item.clone())),
        DataType::LargeList(item) => of(item, None, lists::<i64>(item.clone())),
        DataType::ListView(item) => of(item, None, views::<i32>(item.clone())),
        DataType::LargeListView(item) => of(item, None, views::<i64>(item.clone())),
        DataType::FixedSizeList(item, length) => {
            let count = usize::try_from(*length).map_err(|_| unsupported(field.data_type()))?;
            of(item, Some(count), fixed(item.clone(), *length))
        }
        DataType::Map(entries, ordered) => {
            let DataType::Struct(fields) = entries.data_type() else {
                return Err(unsupported(field.data_type()));
            };
            let [key, value] = fields.as_ref() else {
                return Err(unsupported(field.data_type()));
            };
            Ok(Box::new(Maps {
                keys: Slot::new(key, path, rules)?,
                values: Slot::new(value, path, rules)?,
                entries: entries.clone(),
                fields: fields.clone(),
                ordered: *ordered,
                ends: vec![0],
                count: 0,
                valid: Vec::new(),
            }))
        }
        other => encoded(field, other, path, rules),
    }
}

fn encoded(
    field: &Field,
    data_type: &DataType,
    path: &str,
    rules: &Rules,
) -> Result<Box<dyn Column>> {
    let slot = |values: &DataType, metadata: &Field| {
        let values = Field::new(field.name(), values.clone(), true);
        let values = values.with_metadata(metadata.metadata().clone());
        let mut slot = Slot::new(&values, "", rules)?;
        path.clone_into(&mut slot.path);
        Ok::<_, ParseError>(slot)
    };
    match data_type {
        DataType::Dictionary(keys, values) if !values.is_nested() => {
            let values = slot(values, field)?;
            Ok(match keys.as_ref() {
                DataType::Int8 => Box::new(Dictionary::<Int8Type>::new(values)),
                DataType::Int16 => Box::new(Dictionary::<Int16Type>::new(values)),
                DataType::Int32 => Box::new(Dictionary::<Int32Type>::new(values)),
                DataType::Int64 => Box::new(Dictionary::<Int64Type>::new(values)),
                DataType::UInt8 => Box::new(Dictionary::<UInt8Type>::new(values)),
                DataType::UInt16 => Box::new(Dictionary::<UInt16Type>::new(values)),
                DataType::UInt32 => Box::new(Dictionary::<UInt32Type>::new(values)),
                DataType::UInt64 => Box::new(Dictionary::<UInt64Type>::new(values)),
                _ => return Err(unsupported(data_type)),
            })
        }
        DataType::RunEndEncoded(ends, values) if !values.data_type().is_nested() => {
            let values = slot(values.data_type(), values)?;
            Ok(match ends.data_type() {
                DataType::Int16 => Box::new(Runs::<Int16Type>::new(values)),
                DataType::Int32 => Box::new(Runs::<Int32Type>::new(values)),
                DataType::Int64 => Box::new(Runs::<Int64Type>::new(values)),
                _ => return Err(unsupported(data_type)),
            })
        }
        other => Err(unsupported(other)),
    }
}

/// Returns true if the type has a value whose text is empty.
pub(crate) fn may_be_empty(data_type: &DataType) -> bool {
    match data_type {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => true,
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => true,
        DataType::FixedSizeBinary(width) => *width == 0,
        DataType::Dictionary(_, values) => may_be_empty(values),
        DataType::RunEndEncoded(_, values) => may_be_empty(values.data_type()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use herringbone_arrow::array::cast::AsArray as _;

    use super::super::value_of;
    use super::*;
    use TimeUnit::{Microsecond, Millisecond, Nanosecond, Second};

    fn periods_as(
        data_type: &DataType,
    ) -> impl Fn(&str) -> Option<herringbone_arrow::array::ArrayRef> {
        let field = Field::new("p", data_type.clone(), true);
        move |text| value_of(&field, text).ok()
    }

    /// Checks ISO 8601 periods as counts of each unit. A duration can't have months, days or
    /// fractional units.
    #[test]
    fn durations_are_whole_units() {
        let value = |unit, text: &str| {
            let array = periods_as(&DataType::Duration(unit))(text)?;
            Some(match unit {
                Second => array.as_primitive::<DurationSecondType>().value(0),
                Millisecond => array.as_primitive::<DurationMillisecondType>().value(0),
                Microsecond => array.as_primitive::<DurationMicrosecondType>().value(0),
                Nanosecond => array.as_primitive::<DurationNanosecondType>().value(0),
            })
        };
        let units = [Second, Millisecond, Microsecond, Nanosecond];
        let table: [(&str, [Option<i64>; 4]); 8] = [
            ("PT0S", [Some(0); 4]),
            (
                "PT1M30S",
                [
                    Some(90),
                    Some(90_000),
                    Some(90_000_000),
                    Some(90_000_000_000),
                ],
            ),
            (
                "PT-1.5S",
                [None, Some(-1_500), Some(-1_500_000), Some(-1_500_000_000)],
            ),
            ("PT0.000002S", [None, None, Some(2), Some(2_000)]),
            ("PT0.000000003S", [None, None, None, Some(3)]),
            // 2^63 nanoseconds are just under 293 years of 8,766 hours each.
            (
                "PT2568438H",
                [
                    Some(9_246_376_800),
                    Some(9_246_376_800_000),
                    Some(9_246_376_800_000_000),
                    None,
                ],
            ),
            ("P1DT1S", [None; 4]),
            ("P1MT1S", [None; 4]),
        ];
        for (text, expected) in table {
            let found = units.map(|unit| value(unit, text));
            assert_eq!(found, expected, "{text}");
        }
    }

    /// IEEE 754 has each integer up to 2^11, 2^24 and 2^53 in 16, 32 and 64 bits, and then every
    /// second one.
    #[test]
    fn integers_as_floats_keep_all_digits() {
        let table = [
            (DataType::Float16, 1_u64 << 11),
            (DataType::Float32, 1 << 24),
            (DataType::Float64, 1 << 53),
        ];
        for (data_type, most) in table {
            let field = Field::new("f", data_type.clone(), true);
            for (integer, is_exact) in [
                (most - 1, true),
                (most, true),
                (most + 1, false),
                (most + 2, true),
                (most + 3, false),
            ] {
                for text in [format!("{integer}"), format!("-{integer}")] {
                    let value = value_of(&field, &text);
                    assert_eq!(value.is_ok(), is_exact, "{text} as {data_type}");
                }
            }
        }
    }

    #[test]
    fn intervals_have_the_parts_of_their_unit() {
        for (text, [months, days, all]) in [
            ("P1Y2M", [true, false, true]),
            ("P2DT0.5S", [false, true, true]),
            ("P2DT0.0005S", [false, false, true]),
            ("P1M2DT3S", [false, false, true]),
            ("PT0S", [true, true, true]),
        ] {
            let read = |unit| periods_as(&DataType::Interval(unit))(text).is_some();
            assert_eq!(read(IntervalUnit::YearMonth), months, "{text}");
            assert_eq!(read(IntervalUnit::DayTime), days, "{text}");
            assert_eq!(read(IntervalUnit::MonthDayNano), all, "{text}");
        }
        let array = periods_as(&DataType::Interval(IntervalUnit::DayTime))("P2DT0.5S").unwrap();
        let value = array.as_primitive::<IntervalDayTimeType>().value(0);
        assert_eq!(value, IntervalDayTime::new(2, 500));
        let array = periods_as(&DataType::Interval(IntervalUnit::YearMonth))("P1Y2M").unwrap();
        assert_eq!(array.as_primitive::<IntervalYearMonthType>().value(0), 14);
    }
}
