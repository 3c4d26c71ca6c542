//! Turns a slot of an Arrow array into a Python object.

use herringbone::arrow::array::cast::AsArray as _;
use herringbone::arrow::array::types::{
    Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type,
    DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType, DurationSecondType,
    Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type, Int64Type,
    IntervalDayTimeType, IntervalMonthDayNanoType, IntervalYearMonthType, RunEndIndexType,
    Time32MillisecondType, Time32SecondType, Time64MicrosecondType, Time64NanosecondType,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use herringbone::arrow::array::{Array, ArrayRef, MapArray};
use herringbone::arrow::schema::{DataType, Field, IntervalUnit, TimeUnit};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString};

/// Returns the value in a slot of a column, whose field may name an extension type, such as UUID.
pub(crate) fn of_field<'py>(
    py: Python<'py>,
    field: &Field,
    array: &dyn Array,
    slot: usize,
) -> PyResult<Bound<'py, PyAny>> {
    let value = to_python(py, array, slot)?;
    match field.extension_type_name() {
        Some("arrow.uuid") if value.is_instance_of::<PyBytes>() => py
            .import("uuid")?
            .getattr("UUID")?
            .call1((py.None(), value)),
        Some("arrow.bool8") if !value.is_none() => {
            let is_true = value.is_truthy()?;
            Ok(is_true.into_pyobject(py)?.to_owned().into_any())
        }
        _ => Ok(value),
    }
}

/// Returns a slot's value.
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

/// Returns a slot's decimal, date, time, duration, timestamp or interval.
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
        DataType::Decimal32(_, scale) => {
            let unscaled = array.as_primitive::<Decimal32Type>().value(slot);
            decimal(py, &unscaled.to_string(), *scale)
        }
        DataType::Decimal64(_, scale) => {
            let unscaled = array.as_primitive::<Decimal64Type>().value(slot);
            decimal(py, &unscaled.to_string(), *scale)
        }
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
            timestamp(py, i128::from(value) * nanos, zone.as_deref(), has_nanos)
        }
        DataType::Interval(IntervalUnit::YearMonth) => {
            let months = array.as_primitive::<IntervalYearMonthType>().value(slot);
            interval(py, months, 0, 0)
        }
        DataType::Interval(IntervalUnit::DayTime) => {
            let value = array.as_primitive::<IntervalDayTimeType>().value(slot);
            interval(py, 0, value.days, i64::from(value.milliseconds) * 1_000_000)
        }
        DataType::Interval(IntervalUnit::MonthDayNano) => {
            let value = array.as_primitive::<IntervalMonthDayNanoType>().value(slot);
            interval(py, value.months, value.days, value.nanoseconds)
        }
        _ => of_nested(py, array, slot),
    }
}

/// Returns a slot's list or dict, or the value that it has in a dictionary, a run or a union.
fn of_nested<'py>(py: Python<'py>, array: &dyn Array, slot: usize) -> PyResult<Bound<'py, PyAny>> {
    let (field, elements) = match array.data_type() {
        DataType::List(field) => (field, array.as_list::<i32>().value(slot)),
        DataType::LargeList(field) => (field, array.as_list::<i64>().value(slot)),
        DataType::ListView(field) => (field, array.as_list_view::<i32>().value(slot)),
        DataType::LargeListView(field) => (field, array.as_list_view::<i64>().value(slot)),
        DataType::FixedSizeList(field, _) => (field, array.as_fixed_size_list().value(slot)),
        DataType::Map(..) => return map(py, array.as_map(), slot),
        DataType::Struct(fields) => {
            let dict = PyDict::new(py);
            for (field, column) in fields.iter().zip(array.as_struct().columns()) {
                if dict.contains(field.name())? {
                    return Err(PyValueError::new_err(format!(
                        "a struct has several fields {:?}, which a dict cannot have; to_pyarrow() keeps them",
                        field.name()
                    )));
                }
                dict.set_item(field.name(), of_field(py, field, column, slot)?)?;
            }
            return Ok(dict.into_any());
        }
        DataType::Dictionary(..) => {
            let one = array.slice(slot, 1);
            let one = one.as_any_dictionary();
            let key = one.normalized_keys().first().copied().unwrap_or_default();
            return to_python(py, one.values(), key);
        }
        DataType::RunEndEncoded(ends, values) => {
            let (run, runs) = match ends.data_type() {
                DataType::Int16 => run_of::<Int16Type>(array, slot),
                DataType::Int32 => run_of::<Int32Type>(array, slot),
                _ => run_of::<Int64Type>(array, slot),
            };
            return of_field(py, values, &runs, run);
        }
        DataType::Union(fields, _) => {
            let union = array.as_union();
            let kind = union.type_id(slot);
            let found = fields.iter().find(|(id, _)| *id == kind);
            return match found {
                Some((_, field)) => of_field(py, field, &union.value(slot), 0),
                None => Ok(py.None().into_bound(py)),
            };
        }
        other => {
            return Err(PyValueError::new_err(format!(
                "a value of {other} has no Python object; to_pyarrow() has more types"
            )));
        }
    };
    let list = PyList::empty(py);
    for element in 0..elements.len() {
        list.append(of_field(py, field, &elements, element)?)?;
    }
    Ok(list.into_any())
}

/// Returns a map's pairs.
fn map<'py>(py: Python<'py>, array: &MapArray, slot: usize) -> PyResult<Bound<'py, PyAny>> {
    let entries = array.value(slot);
    let pairs = PyList::empty(py);
    let [keys, values] = entries.fields().as_ref() else {
        return Err(PyValueError::new_err("a map has keys and values"));
    };
    for entry in 0..entries.len() {
        let key = of_field(py, keys, entries.column(0), entry)?;
        pairs.append((key, of_field(py, values, entries.column(1), entry)?))?;
    }
    Ok(pairs.into_any())
}

/// Returns the number of the run that a slot is in, and the values of all runs.
fn run_of<T: RunEndIndexType>(array: &dyn Array, slot: usize) -> (usize, ArrayRef) {
    let runs = array.as_run::<T>();
    (runs.get_physical_index(slot), runs.values().clone())
}

/// Returns an interval as months, days and nanoseconds, because these have no fixed ratio.
fn interval(py: Python<'_>, months: i32, days: i32, nanos: i64) -> PyResult<Bound<'_, PyAny>> {
    let module = py.import("herringbone._values")?;
    module.getattr("MonthDayNano")?.call1((months, days, nanos))
}

fn decimal<'py>(py: Python<'py>, unscaled: &str, scale: i8) -> PyResult<Bound<'py, PyAny>> {
    let text = format!("{unscaled}e{}", -i32::from(scale));
    py.import("decimal")?.getattr("Decimal")?.call1((text,))
}

const MILLIS_PER_DAY: i64 = 86_400_000;

/// Returns the date for a number of days since 1970.
fn date(py: Python<'_>, days: i64) -> PyResult<Bound<'_, PyAny>> {
    let ordinal = days.saturating_add(719_163);
    py.import("datetime")?
        .getattr("date")?
        .call_method1("fromordinal", (ordinal,))
}

/// Returns a timedelta, or a `pandas.Timedelta` for nanoseconds if pandas is installed.
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

/// Returns a time of day, which only has microseconds in Python.
fn time<'py>(py: Python<'py>, value: i64, nanos: i64) -> PyResult<Bound<'py, PyAny>> {
    let nanos = i128::from(value) * i128::from(nanos);
    if nanos % 1_000 != 0 {
        return Err(PyValueError::new_err(format!(
            "{nanos} nanoseconds of a day have no datetime.time; to_numpy() and to_pyarrow() keep them"
        )));
    }
    let micros = nanos / 1_000;
    let parts = (
        micros / 3_600_000_000,
        micros / 60_000_000 % 60,
        micros / 1_000_000 % 60,
        micros % 1_000_000,
    );
    py.import("datetime")?.getattr("time")?.call1(parts)
}

/// Returns a datetime, or a `pandas.Timestamp` for nanoseconds if pandas is installed.
fn timestamp<'py>(
    py: Python<'py>,
    nanos: i128,
    zone: Option<&str>,
    has_nanos: bool,
) -> PyResult<Bound<'py, PyAny>> {
    let values = py.import("herringbone._values")?;
    let zone = match zone {
        Some(name) => values.call_method1("zone", (name,))?,
        None => py.None().into_bound(py),
    };
    if has_nanos {
        if let Ok(pandas) = py.import("pandas") {
            let options = PyDict::new(py);
            options.set_item("tz", zone)?;
            return pandas.getattr("Timestamp")?.call((nanos,), Some(&options));
        }
        if nanos % 1_000 != 0 {
            return Err(PyValueError::new_err(format!(
                "{nanos} nanoseconds since 1970 have no datetime; install pandas, or use the raw value"
            )));
        }
    }
    let micros = nanos.div_euclid(1_000);
    values.call_method1("moment", (micros, zone))
}
