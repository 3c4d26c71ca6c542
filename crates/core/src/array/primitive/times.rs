//! Converts times to their stored form. The result is exact, or an error.

use herringbone_arrow::schema::TimeUnit;
use herringbone_format::{Error, Remedy, Result};
use herringbone_schema::WriteLeaf;

const MILLIS_PER_DAY: i64 = 86_400_000;
const SECONDS_PER_DAY: i64 = 86_400;

/// Converts milliseconds to days, if they are a whole number of days.
pub(super) fn whole_days(millis: i64) -> Option<i32> {
    if millis % MILLIS_PER_DAY != 0 {
        return None;
    }
    i32::try_from(millis / MILLIS_PER_DAY).ok()
}

#[cold]
pub(super) fn not_whole_days(millis: i64) -> Error {
    Error::argument(format!(
        "the Date64 value {millis} ms is not a whole number of days, as DATE requires"
    ))
}

#[cold]
pub(super) fn too_far(value: i64, what: &str) -> Error {
    Error::argument(format!(
        "{value} {what} cannot be written: the value overflows in milliseconds, the coarsest unit \
         of Parquet"
    ))
}

/// Returns the number of these units in a second.
pub(in crate::array) fn per_second(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1_000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    }
}

/// Returns true if a time of `value` units after midnight lies within one day.
fn is_time(value: i64, unit: TimeUnit) -> bool {
    (0..SECONDS_PER_DAY * per_second(unit)).contains(&value)
}

/// Converts a time of day from seconds to milliseconds. If out-of-range values are allowed, any time whose milliseconds
/// fit in 32 bits is accepted.
pub(super) fn to_millis(seconds: i32, leaf: &WriteLeaf) -> Option<i32> {
    let is_allowed = leaf.allow_out_of_range || is_time(seconds.into(), TimeUnit::Second);
    seconds.checked_mul(1000).filter(|_| is_allowed)
}

/// Refuses times outside of a day, unless they are allowed. They're invalid in both Arrow and Parquet, but Arrow
/// doesn't check them.
pub(super) fn check_times<T: Copy + Into<i64>>(
    values: &[T],
    unit: TimeUnit,
    leaf: &WriteLeaf,
) -> Result<()> {
    // We use one branchless comparison per value, so that the compiler can vectorize it.
    let end = (SECONDS_PER_DAY * per_second(unit)).cast_unsigned();
    let beyond = |value: &T| (*value).into().cast_unsigned() >= end;
    if leaf.allow_out_of_range || !values.iter().fold(false, |any, value| any | beyond(value)) {
        return Ok(());
    }
    let out_of_range = values.iter().find(|value| beyond(value));
    Err(no_time(
        out_of_range.map_or(0, |value| (*value).into()),
        unit,
    ))
}

#[cold]
pub(super) fn no_time(value: i64, unit: TimeUnit) -> Error {
    let end = SECONDS_PER_DAY * per_second(unit);
    Error::argument(format!(
        "the time {value} is outside one day, which has {end} units ({unit:?}) from midnight on: \
         TIME cannot store it, but an integer column can"
    ))
    .with_remedy(Remedy::AllowOutOfRange)
}
