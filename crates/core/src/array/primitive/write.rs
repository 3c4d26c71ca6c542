//! Converts array slots to numbers of the physical type.

use herringbone_arrow::array::types::{
    Date32Type, Date64Type, DurationMicrosecondType, DurationMillisecondType,
    DurationNanosecondType, DurationSecondType, Float32Type, Float64Type, Int8Type, Int16Type,
    Int32Type, Int64Type, Time32MillisecondType, Time32SecondType, Time64MicrosecondType,
    Time64NanosecondType, TimestampMicrosecondType, TimestampMillisecondType,
    TimestampNanosecondType, TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use herringbone_arrow::schema::{DataType, TimeUnit};
use herringbone_format::{Result, Type};
use herringbone_schema::{WriteConversion, WriteLeaf};

use super::times;
use crate::array::leaf_values::no_form;
use crate::array::{Scratch, Selected};
use crate::encoding::physical_values::Values;

/// Returns the selected slots as numbers of the leaf's physical type.
///
/// # Errors
/// Fails with Argument if a value does not fit the stored type.
pub(in crate::array) fn values<'a>(
    leaf: &WriteLeaf,
    selected: Selected<'a>,
    scratch: &'a mut Scratch,
) -> Result<Values<'a>> {
    match (leaf.physical_type, &leaf.data_type) {
        (Type::Int32, _) => int32(leaf, selected, &mut scratch.int32).map(Values::Int32),
        (Type::Int64, _) => int64(leaf, selected, &mut scratch.int64).map(Values::Int64),
        (Type::Float, DataType::Float32) => {
            let values = selected.primitive::<Float32Type>(&mut scratch.float);
            Ok(Values::Float(values))
        }
        (Type::Double, DataType::Float64) => {
            let values = selected.primitive::<Float64Type>(&mut scratch.double);
            Ok(Values::Double(values))
        }
        _ => Err(no_form(leaf)),
    }
}

fn int32<'a>(leaf: &WriteLeaf, selected: Selected<'a>, out: &'a mut Vec<i32>) -> Result<&'a [i32]> {
    match &leaf.data_type {
        DataType::Int32 => return Ok(selected.primitive::<Int32Type>(out)),
        DataType::Date32 => return Ok(selected.primitive::<Date32Type>(out)),
        DataType::Time32(TimeUnit::Millisecond) => {
            let times = selected.primitive::<Time32MillisecondType>(out);
            return times::check_times(times, TimeUnit::Millisecond, leaf).map(|()| times);
        }
        DataType::Time32(_) if leaf.conversion == WriteConversion::Identity => {
            return Ok(selected.primitive::<Time32SecondType>(out));
        }
        DataType::Int8 => selected.mapped::<Int8Type, _>(out, i32::from),
        DataType::Int16 => selected.mapped::<Int16Type, _>(out, i32::from),
        DataType::UInt8 => selected.mapped::<UInt8Type, _>(out, i32::from),
        DataType::UInt16 => selected.mapped::<UInt16Type, _>(out, i32::from),
        DataType::UInt32 => selected.mapped::<UInt32Type, _>(out, u32::cast_signed),
        DataType::Time32(_) => selected.checked::<Time32SecondType, _>(
            out,
            |seconds| times::to_millis(seconds, leaf),
            |seconds| times::no_time(seconds.into(), TimeUnit::Second),
        )?,
        DataType::Date64 => {
            selected.checked::<Date64Type, _>(out, times::whole_days, times::not_whole_days)?
        }
        _ => return Err(no_form(leaf)),
    }
    Ok(out)
}

fn int64<'a>(leaf: &WriteLeaf, selected: Selected<'a>, out: &'a mut Vec<i64>) -> Result<&'a [i64]> {
    use DataType::{Duration, Time64, Timestamp};
    use TimeUnit::{Microsecond, Millisecond, Nanosecond, Second};
    match &leaf.data_type {
        DataType::Int64 => return Ok(selected.primitive::<Int64Type>(out)),
        DataType::Date64 => return Ok(selected.primitive::<Date64Type>(out)),
        Time64(Microsecond) => {
            let times = selected.primitive::<Time64MicrosecondType>(out);
            return times::check_times(times, Microsecond, leaf).map(|()| times);
        }
        Time64(_) => {
            let times = selected.primitive::<Time64NanosecondType>(out);
            return times::check_times(times, Nanosecond, leaf).map(|()| times);
        }
        Timestamp(Millisecond, _) => {
            return Ok(selected.primitive::<TimestampMillisecondType>(out));
        }
        Timestamp(Microsecond, _) => {
            return Ok(selected.primitive::<TimestampMicrosecondType>(out));
        }
        Timestamp(Nanosecond, _) => return Ok(selected.primitive::<TimestampNanosecondType>(out)),
        Timestamp(Second, _) if leaf.conversion == WriteConversion::Identity => {
            return Ok(selected.primitive::<TimestampSecondType>(out));
        }
        Duration(Second) => return Ok(selected.primitive::<DurationSecondType>(out)),
        Duration(Millisecond) => return Ok(selected.primitive::<DurationMillisecondType>(out)),
        Duration(Microsecond) => return Ok(selected.primitive::<DurationMicrosecondType>(out)),
        Duration(Nanosecond) => return Ok(selected.primitive::<DurationNanosecondType>(out)),
        DataType::UInt64 => selected.mapped::<UInt64Type, _>(out, u64::cast_signed),
        Timestamp(Second, _) => selected.checked::<TimestampSecondType, _>(
            out,
            |seconds| seconds.checked_mul(1000),
            |seconds| times::too_far(seconds, "seconds since 1970"),
        )?,
        _ => return Err(no_form(leaf)),
    }
    Ok(out)
}
