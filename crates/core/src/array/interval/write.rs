//! Converts intervals to months, days and milliseconds.

use std::fmt;

use herringbone_arrow::array::types::{
    IntervalDayTime, IntervalDayTimeType, IntervalMonthDayNano, IntervalMonthDayNanoType,
    IntervalYearMonthType,
};
use herringbone_arrow::schema::IntervalUnit;
use herringbone_format::{Error, Result};

use super::BYTES;
use crate::array::Selected;
use crate::encoding::physical_values::Values;

/// Returns the selected slots as INTERVAL.
///
/// # Errors
/// Fails with Argument if a component is negative or not a whole number of milliseconds.
pub(in crate::array) fn values<'a>(
    unit: IntervalUnit,
    selected: Selected<'a>,
    out: &'a mut Vec<u8>,
) -> Result<Values<'a>> {
    match unit {
        IntervalUnit::YearMonth => {
            selected.bytes_of::<IntervalYearMonthType, BYTES>(out, year_month, |v| {
                out_of_range(format_args!("{v} months"))
            })?
        }
        IntervalUnit::DayTime => {
            selected.bytes_of::<IntervalDayTimeType, BYTES>(out, day_time, |v| {
                out_of_range(format_args!("{} days {} ms", v.days, v.milliseconds))
            })?
        }
        IntervalUnit::MonthDayNano => {
            selected.bytes_of::<IntervalMonthDayNanoType, BYTES>(out, month_day_nano, |v| {
                out_of_range(format_args!(
                    "{} months {} days {} ns",
                    v.months, v.days, v.nanoseconds
                ))
            })?
        }
    }
    Ok(Values::Fixed {
        bytes: out,
        width: BYTES,
    })
}

/// Encodes an INTERVAL, whose months, days and milliseconds are unsigned.
fn interval(months: i32, days: i32, millis: i64) -> Option<[u8; BYTES]> {
    let parts = [
        u32::try_from(months).ok()?,
        u32::try_from(days).ok()?,
        u32::try_from(millis).ok()?,
    ];
    let mut bytes = [0; BYTES];
    for (to, part) in bytes.chunks_exact_mut(4).zip(parts) {
        to.copy_from_slice(&part.to_le_bytes());
    }
    Some(bytes)
}

/// Encodes an interval of months.
fn year_month(months: i32) -> Option<[u8; BYTES]> {
    interval(months, 0, 0)
}

/// Encodes an interval of days and milliseconds.
fn day_time(value: IntervalDayTime) -> Option<[u8; BYTES]> {
    interval(0, value.days, value.milliseconds.into())
}

/// Encodes an interval of months, days and nanoseconds. The nanoseconds must be whole milliseconds, because INTERVAL
/// stores nothing finer.
fn month_day_nano(value: IntervalMonthDayNano) -> Option<[u8; BYTES]> {
    if value.nanoseconds % 1_000_000 != 0 {
        return None;
    }
    interval(value.months, value.days, value.nanoseconds / 1_000_000)
}

#[cold]
fn out_of_range(value: fmt::Arguments<'_>) -> Error {
    Error::argument(format!(
        "the interval {value} does not fit INTERVAL, whose months, days and milliseconds are \
         unsigned and whole"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_unsigned_and_whole() {
        assert_eq!(
            day_time(IntervalDayTime::new(1, 2)),
            Some([0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0])
        );
        assert_eq!(year_month(-1), None);
        assert_eq!(month_day_nano(IntervalMonthDayNano::new(0, 0, 1)), None);
        assert_eq!(
            month_day_nano(IntervalMonthDayNano::new(3, 0, 5_000_000)).map(|b| (b[0], b[8])),
            Some((3, 5))
        );
    }
}
