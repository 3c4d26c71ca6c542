//! Prints columns of dates, times, timestamps, durations and intervals.

use herringbone_arrow::array::types::{
    Date32Type, Date64Type, IntervalDayTimeType, IntervalMonthDayNanoType, IntervalYearMonthType,
};
use herringbone_arrow::array::{Array, ArrowPrimitiveType, PrimitiveArray, cast::AsArray as _};
use herringbone_arrow::schema::{IntervalUnit, TimeUnit};

use super::scalar::quoted;
use super::temporal::{
    Zone, push_date, push_date64, push_duration, push_interval, push_time, push_timestamp,
};
use super::value::{Boxed, Value};

/// A column of values formatted by `push`. The text never needs escapes.
struct Temporal<'a, T: ArrowPrimitiveType, F> {
    array: &'a PrimitiveArray<T>,
    push: F,
}

impl<T: ArrowPrimitiveType, F: Fn(&mut String, T::Native)> Value for Temporal<'_, T, F> {
    fn json(&self, row: usize, out: &mut String) {
        quoted(self, row, out);
    }

    fn text(&self, row: usize, out: &mut String) {
        (self.push)(out, self.array.value(row));
    }
}

fn boxed<'a, T: ArrowPrimitiveType>(
    array: &'a dyn Array,
    push: impl Fn(&mut String, T::Native) + 'a,
) -> Boxed<'a> {
    Box::new(Temporal {
        array: array.as_primitive::<T>(),
        push,
    })
}

/// Wraps dates in days.
pub(super) fn date32(array: &dyn Array) -> Boxed<'_> {
    boxed::<Date32Type>(array, |out, days| push_date(out, days.into()))
}

/// Wraps dates in milliseconds, which should be whole days.
pub(super) fn date64(array: &dyn Array) -> Boxed<'_> {
    boxed::<Date64Type>(array, push_date64)
}

/// Wraps times of day.
pub(super) fn time<T: ArrowPrimitiveType<Native: Into<i64>>>(
    array: &dyn Array,
    unit: TimeUnit,
) -> Boxed<'_> {
    boxed::<T>(array, move |out, value| push_time(out, value.into(), unit))
}

/// Wraps timestamps, which have a time zone or are local.
pub(super) fn timestamp<'a, T: ArrowPrimitiveType<Native = i64>>(
    array: &'a dyn Array,
    unit: TimeUnit,
    zone: Option<&str>,
) -> Boxed<'a> {
    let zone = Zone::of(zone);
    boxed::<T>(array, move |out, value| {
        push_timestamp(out, value, unit, zone)
    })
}

/// Wraps durations.
pub(super) fn duration<T: ArrowPrimitiveType<Native = i64>>(
    array: &dyn Array,
    unit: TimeUnit,
) -> Boxed<'_> {
    boxed::<T>(array, move |out, value| push_duration(out, value, unit))
}

/// Wraps calendar intervals.
pub(super) fn interval(array: &dyn Array, unit: IntervalUnit) -> Boxed<'_> {
    match unit {
        IntervalUnit::YearMonth => boxed::<IntervalYearMonthType>(array, |out, months| {
            push_interval(out, months, 0, 0);
        }),
        IntervalUnit::DayTime => boxed::<IntervalDayTimeType>(array, |out, value| {
            push_interval(
                out,
                0,
                value.days,
                i128::from(value.milliseconds) * 1_000_000,
            );
        }),
        IntervalUnit::MonthDayNano => boxed::<IntervalMonthDayNanoType>(array, |out, value| {
            push_interval(out, value.months, value.days, i128::from(value.nanoseconds));
        }),
    }
}
