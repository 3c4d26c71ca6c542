//! Turns Python values into literals for filters.

mod arrow;
mod numpy;

use herringbone::arrow::array::Array as _;
use herringbone::arrow::buffer::i256;
use herringbone::filter::Literal;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyFloat, PyInt, PyString};
use pyo3_arrow::input::AnyArray;

pub(crate) use self::arrow::literal_at;

use crate::capsules;
use crate::column::ChunkedArray;
use crate::error::{Result, argument};

const NANOS_PER_MICRO: i128 = 1_000;
const NANOS_PER_SECOND: i128 = 1_000_000_000;
const SECONDS_PER_DAY: i128 = 86_400;

/// Returns the literals in an iterable of values, or in one of our columns.
pub(crate) fn literals(values: &Bound<'_, PyAny>) -> Result<Vec<Literal>> {
    let Ok(column) = values.cast::<ChunkedArray>() else {
        let values = values.try_iter()?;
        return values.map(|value| literal(&value?)).collect();
    };
    let mut found = Vec::new();
    for chunk in &column.get().chunks {
        for slot in 0..chunk.len() {
            found.push(literal_at(chunk, slot).ok_or_else(|| {
                argument(format!(
                    "a filter cannot compare with values of the type {}",
                    chunk.data_type()
                ))
            })?);
        }
    }
    Ok(found)
}

/// Returns the literal for a Python value, for a scalar of NumPy, pandas or pyarrow, or for one of
/// our columns with a single row.
pub(crate) fn literal(value: &Bound<'_, PyAny>) -> Result<Literal> {
    if value.is_instance_of::<ChunkedArray>() {
        let [only] = <[Literal; 1]>::try_from(literals(value)?)
            .map_err(|values| argument(format!("one value is needed, not {}", values.len())))?;
        return Ok(only);
    }
    if value.is_none() {
        return Ok(Literal::Null);
    }
    if let Ok(value) = value.cast::<PyBool>() {
        return Ok(Literal::Boolean(value.is_true()));
    }
    if value.is_instance_of::<PyInt>() {
        return match value.extract() {
            Ok(integer) => Ok(Literal::Integer(integer)),
            Err(_) => decimal(&value.str()?.to_string()),
        };
    }
    if value.is_instance_of::<PyFloat>() {
        return Ok(Literal::Float(value.extract()?));
    }
    if value.is_instance_of::<PyString>() {
        return Ok(Literal::Text(value.extract()?));
    }
    if value.is_instance_of::<PyBytes>() || value.is_instance_of::<PyByteArray>() {
        return Ok(Literal::Bytes(value.extract()?));
    }
    match of_module(value)? {
        Some(literal) => Ok(literal),
        None => of_scalar(value),
    }
}

/// Returns the literal for a value of the modules `datetime`, `decimal` and `uuid`.
fn of_module(value: &Bound<'_, PyAny>) -> Result<Option<Literal>> {
    let py = value.py();
    let datetime = py.import("datetime")?;
    let is = |name: &str| -> PyResult<bool> { value.is_instance(&datetime.getattr(name)?) };
    // We take these two types of pandas first, because they have nanoseconds, their own range, and
    // NaT.
    if value.hasattr("to_datetime64")? {
        let is_utc = !value.getattr("tzinfo")?.is_none();
        return numpy::datetime64(&value.call_method0("to_datetime64")?, is_utc).map(Some);
    }
    if value.hasattr("to_timedelta64")? {
        return numpy::timedelta64(&value.call_method0("to_timedelta64")?).map(Some);
    }
    if is("datetime")? {
        return timestamp(value, &datetime).map(Some);
    }
    if is("timedelta")? {
        return Ok(Some(Literal::Duration(nanos_of_timedelta(value)?)));
    }
    if is("date")? {
        let days = value.call_method0("toordinal")?.extract::<i32>()?;
        return Ok(Some(Literal::Date(days - DAYS_BEFORE_1970)));
    }
    if is("time")? {
        let part = |name: &str| -> PyResult<i64> { value.getattr(name)?.extract() };
        let seconds = (part("hour")? * 60 + part("minute")?) * 60 + part("second")?;
        let nanos = part("microsecond")? * 1_000;
        return Ok(Some(Literal::Time(seconds * 1_000_000_000 + nanos)));
    }
    if value.is_instance(&py.import("decimal")?.getattr("Decimal")?)? {
        return decimal(&value.str()?.to_string()).map(Some);
    }
    if value.is_instance(&py.import("uuid")?.getattr("UUID")?)? {
        return Ok(Some(Literal::Bytes(value.getattr("bytes")?.extract()?)));
    }
    Ok(None)
}

/// The ordinal that 1970-01-01 has in Python's calendar.
const DAYS_BEFORE_1970: i32 = 719_163;

fn timestamp(value: &Bound<'_, PyAny>, datetime: &Bound<'_, PyModule>) -> Result<Literal> {
    let zone = value.getattr("tzinfo")?;
    let utc = datetime.getattr("timezone")?.getattr("utc")?;
    let is_utc = !zone.is_none();
    let start = match is_utc {
        true => datetime
            .getattr("datetime")?
            .call1((1970, 1, 1, 0, 0, 0, 0, utc))?,
        false => datetime.getattr("datetime")?.call1((1970, 1, 1))?,
    };
    let since = value.call_method1("__sub__", (start,))?;
    Ok(Literal::Timestamp {
        nanos: nanos_of_timedelta(&since)?,
        is_utc,
    })
}

/// Returns the nanoseconds in a `timedelta`.
fn nanos_of_timedelta(value: &Bound<'_, PyAny>) -> Result<i128> {
    let part = |name: &str| -> PyResult<i128> { value.getattr(name)?.extract() };
    let seconds = part("days")? * SECONDS_PER_DAY + part("seconds")?;
    Ok(seconds * NANOS_PER_SECOND + part("microseconds")? * NANOS_PER_MICRO)
}

/// Parses a decimal and keeps all of its digits.
fn decimal(text: &str) -> Result<Literal> {
    let refused = || {
        argument(format!(
            "{text} cannot be a literal, which is a finite number of at most 76 digits"
        ))
    };
    let (digits, exponent) = match text.split_once(['e', 'E']) {
        Some((digits, exponent)) => (digits, exponent.parse::<i32>().map_err(|_| refused())?),
        None => (text, 0),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let unscaled = format!("{whole}{fraction}");
    let is_number = unscaled
        .trim_start_matches('-')
        .bytes()
        .all(|digit| digit.is_ascii_digit());
    if !is_number || unscaled.len() > MAX_DIGITS {
        return Err(refused());
    }
    let places = i32::try_from(fraction.len()).map_err(|_| refused())?;
    Ok(Literal::Decimal {
        unscaled: unscaled.parse::<i256>().map_err(|_| refused())?,
        scale: places.checked_sub(exponent).ok_or_else(refused)?,
    })
}

/// The largest number of digits and signs in a decimal.
const MAX_DIGITS: usize = 76;

/// Returns the literal for a scalar of pyarrow, NumPy or pandas.
fn of_scalar(value: &Bound<'_, PyAny>) -> Result<Literal> {
    let kind = value.get_type();
    let name = kind.name()?.to_string();
    match name.as_str() {
        "datetime64" => return numpy::datetime64(value, false),
        "timedelta64" => return numpy::timedelta64(value),
        // This is the null of pandas.
        "NAType" => return Ok(Literal::Null),
        _ => {}
    }
    if value.hasattr("as_py")? {
        // We do not take its value as a Python object, because that may be out of range or lack
        // nanoseconds.
        let array = value.py().import("pyarrow")?;
        let array = array.call_method1("array", ([value], value.getattr("type")?))?;
        if let AnyArray::Array(array) = capsules::arrays(&array)?
            && let Some(literal) = literal_at(array.array(), 0)
        {
            return Ok(literal);
        }
    } else if value.hasattr("item")? {
        let plain = value.call_method0("item")?;
        if !plain.get_type().is(&kind) {
            return literal(&plain);
        }
    }
    Err(PyTypeError::new_err(format!(
        "a filter cannot compare with {name}; use None, bool, int, float, str, bytes, Decimal, date, time, datetime, \
         timedelta or UUID"
    ))
    .into())
}
