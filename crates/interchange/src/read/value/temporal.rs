//! Parses ISO 8601 dates, times and timestamps. Losing a digit is an error.

use herringbone_arrow::array::types::ArrowPrimitiveType;
use herringbone_arrow::schema::{DataType, TimeUnit};
use herringbone_text::iso8601::{NotCounted, Timestamp, parse_date, parse_time, parse_timestamp};

use super::number::{DIGITS, RANGE};
use super::primitive::{primitive, primitive_or, ticks};
use super::{Column, Scalar, usual};

const DAY: i64 = 86_400;

/// Returns the number of units per second.
pub(in crate::read) fn per_second(unit: TimeUnit) -> u32 {
    match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1_000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    }
}

/// Describes why a time doesn't fit its column's unit.
fn reason(error: NotCounted) -> &'static str {
    match error {
        NotCounted::MoreDigits => DIGITS,
        NotCounted::OutOfRange => RANGE,
    }
}

/// Reads a scalar. A JSON number is a count of units.
fn read(
    scalar: Scalar<'_>,
    text: impl Fn(&str) -> Result<i64, &'static str>,
) -> Result<i64, &'static str> {
    match scalar {
        Scalar::Boolean(_) => Err(""),
        Scalar::Number(number) => ticks(number),
        Scalar::Text(scalar_text) | Scalar::Cell(scalar_text) => text(scalar_text),
    }
}

/// Parses a date, or a timestamp at midnight.
fn midnight(text: &str) -> Result<i64, &'static str> {
    if let Some(days) = parse_date(text) {
        return Ok(days);
    }
    let moment = parse_timestamp(text).ok_or("")?;
    match (moment.offset, moment.nanos, moment.seconds.rem_euclid(DAY)) {
        (Some(_), ..) => Err("it has an offset from UTC"),
        (None, 0, 0) => Ok(moment.seconds.div_euclid(DAY)),
        _ => Err("it has a time"),
    }
}

/// Returns a column of dates in days.
pub(super) fn dates<T: ArrowPrimitiveType<Native = i32>>(data_type: &DataType) -> Box<dyn Column> {
    primitive_or::<T>(data_type, usual::date, |scalar| {
        i32::try_from(read(scalar, midnight)?).map_err(|_| RANGE)
    })
}

/// Returns a column of dates in milliseconds. They should be whole days, but we keep any value.
pub(super) fn dates_in_milliseconds<T>(data_type: &DataType) -> Box<dyn Column>
where
    T: ArrowPrimitiveType<Native = i64>,
{
    primitive::<T>(data_type, |scalar| {
        read(scalar, |text| match parse_date(text) {
            Some(days) => days.checked_mul(DAY * 1000).ok_or(RANGE),
            None => local(text)?.ticks(1000).map_err(reason),
        })
    })
}

/// Returns a column of times in units since midnight.
pub(super) fn times<T>(data_type: &DataType, unit: TimeUnit) -> Box<dyn Column>
where
    T: ArrowPrimitiveType<Native: TryFrom<i64>>,
{
    let per_second = per_second(unit);
    primitive::<T>(data_type, move |scalar| {
        let value = read(scalar, |text| {
            let time = parse_time(text).ok_or("")?;
            time.ticks(per_second).map_err(reason)
        })?;
        if !(0..DAY * i64::from(per_second)).contains(&value) {
            return Err(RANGE);
        }
        T::Native::try_from(value).map_err(|_| RANGE)
    })
}

/// Parses a timestamp without an offset, or a date, meaning its midnight.
fn local(text: &str) -> Result<Timestamp, &'static str> {
    let moment = match parse_date(text) {
        Some(_) => parse_timestamp(&format!("{text}T00:00:00")),
        None => parse_timestamp(text),
    };
    match moment {
        None => Err(""),
        Some(Timestamp {
            offset: Some(_), ..
        }) => Err("it has an offset from UTC, but the type does not have a time zone"),
        Some(moment) => Ok(moment),
    }
}

/// Returns true for a whole number, that is, a count of units since 1970. This is unambiguous,
/// because we don't read ISO 8601 dates in digits alone.
fn is_count(text: &str) -> bool {
    let digits = text.strip_prefix('-').unwrap_or(text);
    !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Returns a column of timestamps in units since 1970. They are instants if there is a time zone,
/// or local times otherwise. Whole numbers are counts of units, both in CSV and in JSON.
pub(super) fn timestamps<T>(data_type: &DataType, unit: TimeUnit, zone: bool) -> Box<dyn Column>
where
    T: ArrowPrimitiveType<Native = i64>,
{
    let per_second = per_second(unit);
    let usual = move |text: &str| {
        let moment = parse_timestamp(text)?;
        let ticks = moment.ticks(per_second).ok()?;
        (moment.offset.is_some() == zone).then_some(ticks)
    };
    primitive_or::<T>(data_type, usual, move |scalar| {
        if let Scalar::Cell(text) = scalar
            && is_count(text)
        {
            return ticks(text);
        }
        read(scalar, |text| {
            if !zone {
                return local(text)?.ticks(per_second).map_err(reason);
            }
            let moment = parse_timestamp(text).ok_or("")?;
            match moment.offset {
                Some(_) => moment.ticks(per_second).map_err(reason),
                None => Err(
                    "it lacks an offset from UTC, such as Z or +01:00, but the type has a time \
                     zone",
                ),
            }
        })
    })
}
