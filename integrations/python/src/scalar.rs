//! One slot of an Arrow array as a Python object.

use herringbone::arrow::array::Array;
use herringbone::arrow::array::cast::AsArray as _;
use herringbone::arrow::array::types::{
    Date32Type, Date64Type, Decimal128Type, Decimal256Type, DurationMicrosecondType,
    DurationMillisecondType, DurationNanosecondType, DurationSecondType, Float16Type, Float32Type,
    Float64Type, Int8Type, Int16Type, Int32Type, Int64Type, Time32MillisecondType,
    Time32SecondType, Time64MicrosecondType, Time64NanosecondType, TimestampMicrosecondType,
    TimestampMillisecondType, TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type,
    UInt32Type, UInt64Type,
};
use herringbone::arrow::schema::{DataType, TimeUnit};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};

/// Returns the value of a slot. Types without a Python object of their own are bytes or None.
pub(crate) fn to_python<'py>(
    py: Python<'py>,
    array: &dyn Array,
    slot: usize,
) -> PyResult<Bound<'py, PyAny>> {
    if slot >= array.len() || array.is_null(slot) {
        return Ok(py.None().into_bound(py));
    }
    macro_rules! number {
        ($type:ty) => {
            Ok(array
                .as_primitive::<$type>()
                .value(slot)
                .into_pyobject(py)?
                .into_any())
        };
    }
    match array.data_type() {
        DataType::Null => Ok(py.None().into_bound(py)),
        DataType::Boolean => Ok(array
            .as_boolean()
            .value(slot)
            .into_pyobject(py)?
            .to_owned()
            .into_any()),
        DataType::Int8 => number!(Int8Type),
        DataType::Int16 => number!(Int16Type),
        DataType::Int32 => number!(Int32Type),
        DataType::Int64 => number!(Int64Type),
        DataType::UInt8 => number!(UInt8Type),
        DataType::UInt16 => number!(UInt16Type),
        DataType::UInt32 => number!(UInt32Type),
        DataType::UInt64 => number!(UInt64Type),
        DataType::Float16 => {
            let value = array.as_primitive::<Float16Type>().value(slot);
            Ok(f64::from(value).into_pyobject(py)?.into_any())
        }
        DataType::Float32 => number!(Float32Type),
        DataType::Float64 => number!(Float64Type),
        DataType::Utf8 => Ok(PyString::new(py, array.as_string::<i32>().value(slot)).into_any()),
        DataType::LargeUtf8 => {
            Ok(PyString::new(py, array.as_string::<i64>().value(slot)).into_any())
        }
        DataType::Utf8View => Ok(PyString::new(py, array.as_string_view().value(slot)).into_any()),
        DataType::Binary => Ok(PyBytes::new(py, array.as_binary::<i32>().value(slot)).into_any()),
        DataType::LargeBinary => {
            Ok(PyBytes::new(py, array.as_binary::<i64>().value(slot)).into_any())
        }
        DataType::BinaryView => Ok(PyBytes::new(py, array.as_binary_view().value(slot)).into_any()),
        DataType::FixedSizeBinary(_) => {
            Ok(PyBytes::new(py, array.as_fixed_size_binary().value(slot)).into_any())
        }
        _ => of_calendar(py, array, slot),
    }
}

/// Returns a decimal, a date, a time, a duration or a timestamp.
fn of_calendar<'py>(
    py: Python<'py>,
    array: &dyn Array,
    slot: usize,
) -> PyResult<Bound<'py, PyAny>> {
    macro_rules! value {
        ($type:ty) => {
            i64::from(array.as_primitive::<$type>().value(slot))
        };
    }
    match array.data_type() {
        DataType::Decimal128(_, scale) => {
            let unscaled = array.as_primitive::<Decimal128Type>().value(slot);
            decimal(py, &unscaled.to_string(), *scale)
        }
        DataType::Decimal256(_, scale) => {
            let unscaled = array.as_primitive::<Decimal256Type>().value(slot);
            decimal(py, &unscaled.to_string(), *scale)
        }
        DataType::Date32 => date(py, value!(Date32Type)),
        DataType::Date64 => date(py, value!(Date64Type).div_euclid(MILLIS_PER_DAY)),
        DataType::Duration(unit) => {
            let (value, nanos) = match unit {
                TimeUnit::Second => (value!(DurationSecondType), 1_000_000_000),
                TimeUnit::Millisecond => (value!(DurationMillisecondType), 1_000_000),
                TimeUnit::Microsecond => (value!(DurationMicrosecondType), 1_000),
                TimeUnit::Nanosecond => (value!(DurationNanosecondType), 1),
            };
            duration(py, i128::from(value) * nanos, *unit == TimeUnit::Nanosecond)
        }
        DataType::Time32(TimeUnit::Second) => time(py, value!(Time32SecondType), 1_000_000_000),
        DataType::Time32(_) => time(py, value!(Time32MillisecondType), 1_000_000),
        DataType::Time64(TimeUnit::Microsecond) => time(py, value!(Time64MicrosecondType), 1_000),
        DataType::Time64(_) => time(py, value!(Time64NanosecondType), 1),
        DataType::Timestamp(unit, zone) => {
            let (value, nanos) = match unit {
                TimeUnit::Second => (value!(TimestampSecondType), 1_000_000_000),
                TimeUnit::Millisecond => (value!(TimestampMillisecondType), 1_000_000),
                TimeUnit::Microsecond => (value!(TimestampMicrosecondType), 1_000),
                TimeUnit::Nanosecond => (value!(TimestampNanosecondType), 1),
            };
            let has_nanos = *unit == TimeUnit::Nanosecond;
            timestamp(py, i128::from(value) * nanos, zone.is_some(), has_nanos)
        }
        _ => of_nested(py, array, slot),
    }
}

/// Returns the list, the dict or the value of a dictionary in a slot.
fn of_nested<'py>(py: Python<'py>, array: &dyn Array, slot: usize) -> PyResult<Bound<'py, PyAny>> {
    let elements = match array.data_type() {
        DataType::List(_) => array.as_list::<i32>().value(slot),
        DataType::LargeList(_) => array.as_list::<i64>().value(slot),
        DataType::ListView(_) => array.as_list_view::<i32>().value(slot),
        DataType::LargeListView(_) => array.as_list_view::<i64>().value(slot),
        DataType::FixedSizeList(..) => array.as_fixed_size_list().value(slot),
        DataType::Map(..) => {
            let entries = array.as_map().value(slot);
            let pairs = PyList::empty(py);
            for entry in 0..entries.len() {
                let key = to_python(py, entries.column(0), entry)?;
                pairs.append((key, to_python(py, entries.column(1), entry)?))?;
            }
            return Ok(pairs.into_any());
        }
        DataType::Struct(fields) => {
            let dict = PyDict::new(py);
            for (field, column) in fields.iter().zip(array.as_struct().columns()) {
                dict.set_item(field.name(), to_python(py, column, slot)?)?;
            }
            return Ok(dict.into_any());
        }
        DataType::Dictionary(..) => {
            let one = array.slice(slot, 1);
            let one = one.as_any_dictionary();
            let key = one.normalized_keys().first().copied().unwrap_or_default();
            return to_python(py, one.values(), key);
        }
        other => {
            return Err(PyValueError::new_err(format!(
                "a value of {other} has no Python object; to_pyarrow() has more types"
            )));
        }
    };
    let list = PyList::empty(py);
    for element in 0..elements.len() {
        list.append(to_python(py, &elements, element)?)?;
    }
    Ok(list.into_any())
}

fn decimal<'py>(py: Python<'py>, unscaled: &str, scale: i8) -> PyResult<Bound<'py, PyAny>> {
    let text = format!("{unscaled}e{}", -i32::from(scale));
    py.import("decimal")?.getattr("Decimal")?.call1((text,))
}

const MILLIS_PER_DAY: i64 = 86_400_000;

/// Returns a date, from days since 1970.
fn date(py: Python<'_>, days: i64) -> PyResult<Bound<'_, PyAny>> {
    let ordinal = days.saturating_add(719_163);
    py.import("datetime")?
        .getattr("date")?
        .call_method1("fromordinal", (ordinal,))
}

/// Returns a timedelta. Nanoseconds are a `pandas.Timedelta`, if pandas is installed.
fn duration(py: Python<'_>, nanos: i128, has_nanos: bool) -> PyResult<Bound<'_, PyAny>> {
    if has_nanos {
        if let Ok(pandas) = py.import("pandas") {
            return pandas.getattr("Timedelta")?.call1((nanos, "ns"));
        }
        if nanos % 1_000 != 0 {
            return Err(PyValueError::new_err(format!(
                "{nanos} nanoseconds have no timedelta; install pandas"
            )));
        }
    }
    let micros = nanos.div_euclid(1_000);
    py.import("datetime")?
        .getattr("timedelta")?
        .call1((0, 0, micros))
}

fn time<'py>(py: Python<'py>, value: i64, nanos: i64) -> PyResult<Bound<'py, PyAny>> {
    let micros = value.saturating_mul(nanos) / 1_000;
    let parts = (
        micros / 3_600_000_000,
        micros / 60_000_000 % 60,
        micros / 1_000_000 % 60,
        micros % 1_000_000,
    );
    py.import("datetime")?.getattr("time")?.call1(parts)
}

/// Returns a datetime. Nanoseconds are a `pandas.Timestamp`, if pandas is installed.
fn timestamp(
    py: Python<'_>,
    nanos: i128,
    is_utc: bool,
    has_nanos: bool,
) -> PyResult<Bound<'_, PyAny>> {
    let datetime = py.import("datetime")?;
    if has_nanos {
        if let Ok(pandas) = py.import("pandas") {
            let zone = is_utc.then_some("UTC");
            return pandas
                .getattr("Timestamp")?
                .call1((nanos, "ns", zone))
                .or_else(|_| {
                    let options = pyo3::types::PyDict::new(py);
                    options.set_item("tz", zone)?;
                    pandas.getattr("Timestamp")?.call((nanos,), Some(&options))
                });
        }
        if nanos % 1_000 != 0 {
            return Err(PyValueError::new_err(format!(
                "{nanos} nanoseconds since 1970 have no datetime; install pandas, or use the raw value"
            )));
        }
    }
    let zone = match is_utc {
        true => datetime.getattr("timezone")?.getattr("utc")?,
        false => py.None().into_bound(py),
    };
    let start = datetime
        .getattr("datetime")?
        .call1((1970, 1, 1, 0, 0, 0, 0, zone))?;
    let micros = nanos.div_euclid(1_000);
    let since = datetime.getattr("timedelta")?.call1((0, 0, micros))?;
    start.call_method1("__add__", (since,))
}
