//! Dates and durations of NumPy, which all count in their own units.

use herringbone::filter::Literal;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::error::Result;

const NANOS_PER_SECOND: i128 = 1_000_000_000;
const NANOS_PER_DAY: i128 = 86_400 * NANOS_PER_SECOND;

/// The unit of a `datetime64` or a `timedelta64`.
enum Unit {
    /// A fixed number of nanoseconds.
    Nanos(i128),
    /// A part of a nanosecond, with the number of parts in one nanosecond.
    PerNano(i128),
    /// A number of calendar months.
    Months(i128),
}

/// Returns the unit that has this name in NumPy.
fn unit(name: &str) -> Option<Unit> {
    Some(match name {
        "Y" => Unit::Months(12),
        "M" => Unit::Months(1),
        "W" => Unit::Nanos(7 * NANOS_PER_DAY),
        "D" => Unit::Nanos(NANOS_PER_DAY),
        "h" => Unit::Nanos(3_600 * NANOS_PER_SECOND),
        "m" => Unit::Nanos(60 * NANOS_PER_SECOND),
        "s" => Unit::Nanos(NANOS_PER_SECOND),
        "ms" => Unit::Nanos(1_000_000),
        "us" => Unit::Nanos(1_000),
        "ns" => Unit::Nanos(1),
        "ps" => Unit::PerNano(1_000),
        "fs" => Unit::PerNano(1_000_000),
        "as" => Unit::PerNano(1_000_000_000),
        _ => return None,
    })
}

/// Returns the literal for a `datetime64`. If its unit is coarser than a day, it means the first
/// moment of its unit.
pub(super) fn datetime64(value: &Bound<'_, PyAny>, is_utc: bool) -> Result<Literal> {
    let Some((count, unit)) = ticks(value)? else {
        return Ok(Literal::Null);
    };
    let nanos = match unit {
        Unit::Nanos(nanos) => saturating(count, nanos),
        Unit::PerNano(per_nano) => whole_nanos(value, count, per_nano)?,
        Unit::Months(months) => {
            saturating(first_day_of_month(saturating(count, months)), NANOS_PER_DAY)
        }
    };
    Ok(Literal::Timestamp { nanos, is_utc })
}

/// Returns the literal for a `timedelta64`.
pub(super) fn timedelta64(value: &Bound<'_, PyAny>) -> Result<Literal> {
    let Some((count, unit)) = ticks(value)? else {
        return Ok(Literal::Null);
    };
    Ok(Literal::Duration(match unit {
        Unit::Nanos(nanos) => saturating(count, nanos),
        Unit::PerNano(per_nano) => whole_nanos(value, count, per_nano)?,
        Unit::Months(_) => {
            return Err(PyValueError::new_err(format!(
                "{} cannot be a literal, because months and years have different lengths; use days",
                value.repr()?
            ))
            .into());
        }
    }))
}

/// Returns the number of units with the unit, or None for NaT.
fn ticks(value: &Bound<'_, PyAny>) -> Result<Option<(i128, Unit)>> {
    let numpy = value.py().import("numpy")?;
    if numpy.call_method1("isnat", (value,))?.is_truthy()? {
        return Ok(None);
    }
    let dtype = value.getattr("dtype")?;
    let (name, step): (String, i64) = numpy.call_method1("datetime_data", (dtype,))?.extract()?;
    let count: i64 = value.call_method1("astype", ("int64",))?.extract()?;
    let Some(unit) = unit(&name) else {
        return Err(PyValueError::new_err(format!(
            "{} cannot be a literal, because it has no unit of time",
            value.repr()?
        ))
        .into());
    };
    // The product cannot overflow, because both factors have 64 bits.
    Ok(Some((i128::from(count) * i128::from(step), unit)))
}

/// Multiplies two numbers. A product that exceeds 128 bits becomes the last number on its side,
/// which no column reaches.
fn saturating(count: i128, by: i128) -> i128 {
    count.saturating_mul(by)
}

/// Returns whole nanoseconds, and fails for a part of one, because no column can have it.
fn whole_nanos(value: &Bound<'_, PyAny>, count: i128, per_nano: i128) -> Result<i128> {
    match count % per_nano {
        0 => Ok(count / per_nano),
        _ => Err(PyValueError::new_err(format!(
            "{} cannot be a literal, because it has a part of a nanosecond",
            value.repr()?
        ))
        .into()),
    }
}

/// Returns the days from 1970-01-01 to the first day of a month, where months count from January
/// 1970.
fn first_day_of_month(months: i128) -> i128 {
    /// The months after which the calendar repeats, which are 400 years.
    const MONTHS: i128 = 400 * 12;
    const DAYS: i128 = 146_097;
    let cycles = months.div_euclid(MONTHS);
    let rest = months.rem_euclid(MONTHS);
    let (year, month) = (1970 + rest / 12, rest % 12);
    let before = year - 1;
    // Count days from 0001-01-01, which is 719,162 days before 1970-01-01.
    let to_year = before * 365 + before / 4 - before / 100 + before / 400 - 719_162;
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let lengths = [
        31,
        28 + i128::from(is_leap),
        31,
        30,
        31,
        30,
        31,
        31,
        30,
        31,
        30,
        31,
    ];
    let to_month: i128 = lengths.iter().zip(0..month).map(|(days, _)| days).sum();
    cycles
        .saturating_mul(DAYS)
        .saturating_add(to_year + to_month)
}
