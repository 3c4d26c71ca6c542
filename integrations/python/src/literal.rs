//! Python values as literals of filters.

use herringbone::arrow::buffer::i256;
use herringbone::filter::Literal;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyByteArray, PyBytes, PyFloat, PyInt, PyString};

use crate::error::{Result, argument};

const NANOS_PER_MICRO: i128 = 1_000;
const NANOS_PER_SECOND: i128 = 1_000_000_000;
const SECONDS_PER_DAY: i128 = 86_400;

/// Returns the literal of a Python value, or of a scalar of NumPy, pandas or pyarrow.
pub(crate) fn literal(value: &Bound<'_, PyAny>) -> Result<Literal> {
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

/// Returns the literal of a value of the modules `datetime`, `decimal` and `uuid`.
fn of_module(value: &Bound<'_, PyAny>) -> Result<Option<Literal>> {
    let py = value.py();
    let datetime = py.import("datetime")?;
    let is = |name: &str| -> PyResult<bool> { value.is_instance(&datetime.getattr(name)?) };
    if is("datetime")? {
        return timestamp(value, &datetime).map(Some);
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

/// The ordinal of 1970-01-01 in Python's calendar.
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
    // A Timestamp of pandas has nanoseconds, and a range of its own.
    let value = match value.hasattr("to_pydatetime")? {
        true => (
            value.call_method1("to_pydatetime", (false,))?,
            value.getattr("nanosecond")?,
        ),
        false => (value.clone(), 0_i128.into_pyobject(value.py())?.into_any()),
    };
    let (value, rest) = (value.0, value.1.extract::<i128>()?);
    let since = value.call_method1("__sub__", (start,))?;
    let part = |name: &str| -> PyResult<i128> { since.getattr(name)?.extract() };
    let seconds = part("days")? * SECONDS_PER_DAY + part("seconds")?;
    let micros = part("microseconds")?;
    Ok(Literal::Timestamp {
        nanos: seconds * NANOS_PER_SECOND + micros * NANOS_PER_MICRO + rest,
        is_utc,
    })
}

/// Parses a decimal with all of its digits.
fn decimal(text: &str) -> Result<Literal> {
    let refused = || {
        argument(format!(
            "{text} cannot be a literal: at most 76 digits are allowed"
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
        .all(|it| it.is_ascii_digit());
    if !is_number || unscaled.len() > MAX_DIGITS {
        return Err(refused());
    }
    let places = i32::try_from(fraction.len()).map_err(|_| refused())?;
    Ok(Literal::Decimal {
        unscaled: unscaled.parse::<i256>().map_err(|_| refused())?,
        scale: places.checked_sub(exponent).ok_or_else(refused)?,
    })
}

/// The maximum number of digits and signs of a decimal.
const MAX_DIGITS: usize = 76;

/// Returns the literal of a scalar: `as_py` of pyarrow, `item` of NumPy.
fn of_scalar(value: &Bound<'_, PyAny>) -> Result<Literal> {
    let name = value.get_type().name()?.to_string();
    if name == "datetime64" {
        let nanos = value.call_method1("astype", ("datetime64[ns]",))?;
        let nanos = nanos.call_method1("astype", ("int64",))?;
        return Ok(Literal::Timestamp {
            nanos: nanos.call_method0("item")?.extract()?,
            is_utc: false,
        });
    }
    for method in ["as_py", "item"] {
        if value.hasattr(method)? {
            let plain = value.call_method0(method)?;
            if plain.get_type().is(value.get_type()) {
                break;
            }
            return literal(&plain);
        }
    }
    Err(PyTypeError::new_err(format!(
        "a filter cannot compare with {name}; use None, bool, int, float, str, bytes, Decimal, date, time, datetime \
         or UUID"
    ))
    .into())
}
