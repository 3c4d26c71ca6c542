//! Leaf arrays as values of their physical type.
//!
//! Where an array holds what the file stores and no nulls, its buffer is lent out as it is.
//! Otherwise the slots that are not null are copied to scratch memory, which is kept between blocks
//! and converted on the way.

use std::ops::Range;

use herringbone_arrow::array::cast::AsArray;
use herringbone_arrow::array::types::{
    ArrowPrimitiveType, Date32Type, Date64Type, Decimal32Type, Decimal64Type, Decimal128Type,
    Decimal256Type, DurationMicrosecondType, DurationMillisecondType, DurationNanosecondType,
    DurationSecondType, Float16Type, Float32Type, Float64Type, Int8Type, Int16Type, Int32Type,
    Int64Type, IntervalDayTimeType, IntervalMonthDayNanoType, IntervalYearMonthType,
    Time32MillisecondType, Time32SecondType, Time64MicrosecondType, Time64NanosecondType,
    TimestampMicrosecondType, TimestampMillisecondType, TimestampNanosecondType,
    TimestampSecondType, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use herringbone_arrow::array::{ArrayRef, GenericByteArray, types::ByteArrayType};
use herringbone_arrow::buffer::NullBuffer;
use herringbone_arrow::schema::{DataType, IntervalUnit, TimeUnit};
use herringbone_format::{Error, Result, Type};
use herringbone_kernels::filter::filter;
use herringbone_schema::{WriteConversion, WriteLeaf};

use super::convert;
use crate::encoding::values::Values;

/// Memory that is used again for each block.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    int32: Vec<i32>,
    int64: Vec<i64>,
    float: Vec<f32>,
    double: Vec<f64>,
    bytes: Vec<u8>,
}

impl Scratch {
    /// Bytes held.
    pub(crate) fn heap_bytes(&self) -> usize {
        4 * (self.int32.capacity() + self.float.capacity())
            + 8 * (self.int64.capacity() + self.double.capacity())
            + self.bytes.capacity()
    }
}

/// Some slots of a leaf array.
#[derive(Clone, Copy)]
pub(crate) struct Selected<'a> {
    pub(crate) array: &'a ArrayRef,
    /// The nulls of `array`.
    pub(crate) nulls: Option<&'a NullBuffer>,
    /// The slots, in order; those of them that are null are left out.
    pub(crate) ranges: &'a [Range<usize>],
}

impl<'a> Selected<'a> {
    /// What `values` has at the selected slots that are not null.
    fn dense<T: Copy + 'static>(&self, values: &'a [T], scratch: &'a mut Vec<T>) -> &'a [T] {
        if let (None, [range]) = (self.nulls, self.ranges) {
            return values.get(range.clone()).unwrap_or_default();
        }
        scratch.clear();
        for range in self.ranges {
            let values = values.get(range.clone()).unwrap_or_default();
            match self.nulls {
                None => scratch.extend_from_slice(values),
                Some(nulls) => filter(
                    values,
                    nulls.validity(),
                    nulls.offset() + range.start,
                    scratch,
                ),
            }
        }
        scratch
    }

    /// The values of a primitive array.
    fn primitive<T: ArrowPrimitiveType>(&self, scratch: &'a mut Vec<T::Native>) -> &'a [T::Native] {
        self.dense(self.array.as_primitive::<T>().values(), scratch)
    }

    /// The values of a primitive array, each turned into another type.
    fn mapped<T: ArrowPrimitiveType, U>(&self, out: &mut Vec<U>, with: impl Fn(T::Native) -> U) {
        let mut scratch = Vec::new();
        let values = self.dense_local(self.array.as_primitive::<T>().values(), &mut scratch);
        out.clear();
        out.extend(values.iter().map(|value| with(*value)));
    }

    /// [`Self::dense`] for memory that does not live as long.
    fn dense_local<'b, T: Copy + 'static>(
        &self,
        values: &'b [T],
        scratch: &'b mut Vec<T>,
    ) -> &'b [T]
    where
        'a: 'b,
    {
        let this: Selected<'b> = *self;
        this.dense(values, scratch)
    }

    /// The values of a primitive array, each turned into another type if it fits.
    fn checked<T: ArrowPrimitiveType, U>(
        &self,
        out: &mut Vec<U>,
        with: impl Fn(T::Native) -> Option<U>,
        misfit: impl Fn(T::Native) -> Error,
    ) -> Result<()> {
        let mut scratch = Vec::new();
        let values = self.dense_local(self.array.as_primitive::<T>().values(), &mut scratch);
        out.clear();
        out.reserve(values.len());
        for value in values {
            out.push(with(*value).ok_or_else(|| misfit(*value))?);
        }
        Ok(())
    }

    /// The values of a primitive array, each turned into bytes.
    fn bytes_of<T: ArrowPrimitiveType, const N: usize>(
        &self,
        out: &mut Vec<u8>,
        with: impl Fn(T::Native) -> Option<[u8; N]>,
        misfit: impl Fn(T::Native) -> Error,
    ) -> Result<()> {
        let mut scratch = Vec::new();
        let values = self.dense_local(self.array.as_primitive::<T>().values(), &mut scratch);
        out.clear();
        out.reserve(values.len() * N);
        for value in values {
            out.extend_from_slice(&with(*value).ok_or_else(|| misfit(*value))?);
        }
        Ok(())
    }

    /// Calls `visit` with the ordinal of each selected slot that is not null.
    pub(crate) fn for_each(&self, mut visit: impl FnMut(usize)) {
        for range in self.ranges {
            match self.nulls {
                None => range.clone().for_each(&mut visit),
                Some(nulls) => {
                    let part = nulls.slice(range.start, range.len());
                    part.valid_indices()
                        .for_each(|index| visit(range.start + index));
                }
            }
        }
    }

    /// Slots that are selected.
    fn num_slots(&self) -> usize {
        self.ranges.iter().map(ExactSizeIterator::len).sum()
    }

    fn byte_slices<T: ByteArrayType>(&self) -> Vec<&'a [u8]> {
        let array: &'a GenericByteArray<T> = self.array.as_bytes::<T>();
        let mut out = Vec::with_capacity(self.num_slots());
        self.for_each(|index| out.push(array.value(index).as_ref()));
        out
    }
}

/// Whether there are values of the leaf's Arrow type that the file cannot hold.
pub(crate) fn may_misfit(leaf: &WriteLeaf) -> bool {
    use DataType::{Decimal32, Decimal64, Decimal128, Decimal256, Interval, Time32, Time64};
    leaf.conversion != WriteConversion::Identity
        || matches!(
            leaf.data_type,
            Interval(_)
                | Time32(_)
                | Time64(_)
                | Decimal32(..)
                | Decimal64(..)
                | Decimal128(..)
                | Decimal256(..)
        )
}

/// The selected slots as values of the leaf's physical type.
///
/// # Errors
/// Argument where a value does not fit what the file can hold, naming the value.
pub(crate) fn values<'a>(
    leaf: &WriteLeaf,
    selected: Selected<'a>,
    scratch: &'a mut Scratch,
) -> Result<Values<'a>> {
    if leaf.data_type.is_null() {
        return Ok(no_values(leaf));
    }
    match leaf.physical_type {
        Type::Boolean => Ok(booleans(selected, &mut scratch.bytes)),
        Type::Int32 => int32(leaf, selected, &mut scratch.int32).map(Values::Int32),
        Type::Int64 => int64(leaf, selected, &mut scratch.int64).map(Values::Int64),
        Type::Float => Ok(Values::Float(
            selected.primitive::<Float32Type>(&mut scratch.float),
        )),
        Type::Double => Ok(Values::Double(
            selected.primitive::<Float64Type>(&mut scratch.double),
        )),
        Type::ByteArray => byte_arrays(leaf, selected, &mut scratch.bytes).map(Values::ByteArray),
        Type::Int96 | Type::FixedLenByteArray => fixed(leaf, selected, &mut scratch.bytes),
    }
}

/// A column of nothing but nulls has no values.
fn no_values(leaf: &WriteLeaf) -> Values<'static> {
    match leaf.physical_type {
        Type::Boolean => Values::Boolean {
            bits: &[],
            first: 0,
            len: 0,
        },
        Type::Int32 => Values::Int32(&[]),
        Type::Int64 => Values::Int64(&[]),
        Type::Float => Values::Float(&[]),
        Type::Double => Values::Double(&[]),
        Type::ByteArray => Values::ByteArray(Vec::new()),
        Type::Int96 | Type::FixedLenByteArray => Values::Fixed {
            bytes: &[],
            width: match leaf.physical_type {
                Type::Int96 => convert::INT96_BYTES,
                _ => leaf.type_length,
            },
        },
    }
}

fn booleans<'a>(selected: Selected<'a>, scratch: &'a mut Vec<u8>) -> Values<'a> {
    let values: &'a _ = selected.array.as_boolean().values();
    if let (None, [range]) = (selected.nulls, selected.ranges) {
        return Values::Boolean {
            bits: values.values(),
            first: values.offset() + range.start,
            len: range.len(),
        };
    }
    scratch.clear();
    let (mut byte, mut len) = (0_u8, 0_usize);
    selected.for_each(|index| {
        byte |= u8::from(values.value(index)) << (len % 8);
        len += 1;
        if len.is_multiple_of(8) {
            scratch.push(std::mem::take(&mut byte));
        }
    });
    if !len.is_multiple_of(8) {
        scratch.push(byte);
    }
    Values::Boolean {
        bits: scratch,
        first: 0,
        len,
    }
}

fn int32<'a>(leaf: &WriteLeaf, selected: Selected<'a>, out: &'a mut Vec<i32>) -> Result<&'a [i32]> {
    match &leaf.data_type {
        DataType::Int32 => return Ok(selected.primitive::<Int32Type>(out)),
        DataType::Date32 => return Ok(selected.primitive::<Date32Type>(out)),
        DataType::Time32(TimeUnit::Millisecond) => {
            let times = selected.primitive::<Time32MillisecondType>(out);
            return convert::check_times(times, TimeUnit::Millisecond).map(|()| times);
        }
        DataType::Time32(_) if leaf.conversion == WriteConversion::Identity => {
            return Ok(selected.primitive::<Time32SecondType>(out));
        }
        DataType::Decimal32(..) if leaf.conversion == WriteConversion::Identity => {
            let values = selected.primitive::<Decimal32Type>(out);
            return convert::check_digits(values, leaf).map(|()| values);
        }
        DataType::Int8 => selected.mapped::<Int8Type, _>(out, i32::from),
        DataType::Int16 => selected.mapped::<Int16Type, _>(out, i32::from),
        DataType::UInt8 => selected.mapped::<UInt8Type, _>(out, i32::from),
        DataType::UInt16 => selected.mapped::<UInt16Type, _>(out, i32::from),
        DataType::UInt32 => selected.mapped::<UInt32Type, _>(out, u32::cast_signed),
        DataType::Time32(_) => selected.checked::<Time32SecondType, _>(
            out,
            |seconds| convert::is_time(seconds.into(), TimeUnit::Second).then(|| seconds * 1000),
            |seconds| convert::no_time(seconds.into(), TimeUnit::Second),
        )?,
        DataType::Date64 => {
            selected.checked::<Date64Type, _>(out, convert::whole_days, convert::not_whole_days)?
        }
        DataType::Decimal32(..) => decimal_int::<Decimal32Type, _>(leaf, selected, out)?,
        DataType::Decimal64(..) => decimal_int::<Decimal64Type, _>(leaf, selected, out)?,
        DataType::Decimal128(..) => decimal_int::<Decimal128Type, _>(leaf, selected, out)?,
        DataType::Decimal256(..) => decimal_int::<Decimal256Type, _>(leaf, selected, out)?,
        other => return Err(no_form(other, leaf)),
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
            return convert::check_times(times, Microsecond).map(|()| times);
        }
        Time64(_) => {
            let times = selected.primitive::<Time64NanosecondType>(out);
            return convert::check_times(times, Nanosecond).map(|()| times);
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
        DataType::Decimal64(..) if leaf.conversion == WriteConversion::Identity => {
            let values = selected.primitive::<Decimal64Type>(out);
            return convert::check_digits(values, leaf).map(|()| values);
        }
        DataType::UInt64 => selected.mapped::<UInt64Type, _>(out, u64::cast_signed),
        Timestamp(Second, _) => selected.checked::<TimestampSecondType, _>(
            out,
            |seconds| seconds.checked_mul(1000),
            |seconds| convert::too_far(seconds, "seconds since 1970"),
        )?,
        DataType::Decimal32(..) => decimal_int::<Decimal32Type, _>(leaf, selected, out)?,
        DataType::Decimal64(..) => decimal_int::<Decimal64Type, _>(leaf, selected, out)?,
        DataType::Decimal128(..) => decimal_int::<Decimal128Type, _>(leaf, selected, out)?,
        DataType::Decimal256(..) => decimal_int::<Decimal256Type, _>(leaf, selected, out)?,
        other => return Err(no_form(other, leaf)),
    }
    Ok(out)
}

/// Decimals whose digits fit an integer of the file.
fn decimal_int<T, U>(leaf: &WriteLeaf, selected: Selected<'_>, out: &mut Vec<U>) -> Result<()>
where
    T: ArrowPrimitiveType,
    T::Native: convert::Unscaled,
    U: TryFrom<i128>,
{
    let rescale = convert::Rescale::of(leaf.conversion);
    let mut scratch = Vec::new();
    let values = selected.dense_local(selected.array.as_primitive::<T>().values(), &mut scratch);
    convert::check_digits(values, leaf)?;
    out.clear();
    out.reserve(values.len());
    for value in values {
        let stored = rescale.apply(*value).and_then(|it| U::try_from(it).ok());
        out.push(stored.ok_or_else(|| convert::decimal_misfit(*value, leaf))?);
    }
    Ok(())
}

fn byte_arrays<'a>(
    leaf: &WriteLeaf,
    selected: Selected<'a>,
    scratch: &'a mut Vec<u8>,
) -> Result<Vec<&'a [u8]>> {
    use herringbone_arrow::array::types::{BinaryType, LargeBinaryType, LargeUtf8Type, Utf8Type};
    Ok(match &leaf.data_type {
        DataType::Utf8 => selected.byte_slices::<Utf8Type>(),
        DataType::LargeUtf8 => selected.byte_slices::<LargeUtf8Type>(),
        DataType::Binary => selected.byte_slices::<BinaryType>(),
        DataType::LargeBinary => selected.byte_slices::<LargeBinaryType>(),
        DataType::Utf8View => {
            let array = selected.array.as_string_view();
            let mut out = Vec::with_capacity(selected.num_slots());
            selected.for_each(|index| out.push(array.value(index).as_bytes()));
            out
        }
        DataType::BinaryView => {
            let array = selected.array.as_binary_view();
            let mut out = Vec::with_capacity(selected.num_slots());
            selected.for_each(|index| out.push(array.value(index)));
            out
        }
        DataType::FixedSizeBinary(_) => {
            let array = selected.array.as_fixed_size_binary();
            let mut out = Vec::with_capacity(selected.num_slots());
            selected.for_each(|index| out.push(array.value(index)));
            out
        }
        DataType::Decimal32(..) => decimals::<Decimal32Type>(leaf, selected, scratch)?,
        DataType::Decimal64(..) => decimals::<Decimal64Type>(leaf, selected, scratch)?,
        DataType::Decimal128(..) => decimals::<Decimal128Type>(leaf, selected, scratch)?,
        DataType::Decimal256(..) => decimals::<Decimal256Type>(leaf, selected, scratch)?,
        other => return Err(no_form(other, leaf)),
    })
}

/// Decimals as big-endian two's complement of as few bytes as hold it.
fn decimals<'a, T>(
    leaf: &WriteLeaf,
    selected: Selected<'a>,
    scratch: &'a mut Vec<u8>,
) -> Result<Vec<&'a [u8]>>
where
    T: ArrowPrimitiveType,
    T::Native: convert::Unscaled,
{
    /// Bytes of the widest decimal.
    const WIDTH: usize = 32;
    decimal_bytes::<T>(leaf, selected, WIDTH, scratch)?;
    let shortest = |mut bytes: &'a [u8]| {
        while let [sign @ (0 | 0xff), rest @ ..] = bytes
            && rest.first().is_some_and(|next| (next ^ sign) < 0x80)
        {
            bytes = rest;
        }
        bytes
    };
    Ok(scratch.chunks_exact(WIDTH).map(shortest).collect())
}

fn fixed<'a>(leaf: &WriteLeaf, selected: Selected<'a>, out: &'a mut Vec<u8>) -> Result<Values<'a>> {
    use DataType::{Decimal32, Decimal64, Decimal128, Decimal256, Interval, Timestamp};
    let width = match leaf.physical_type {
        Type::Int96 => convert::INT96_BYTES,
        _ => leaf.type_length,
    };
    match &leaf.data_type {
        DataType::FixedSizeBinary(_) => return Ok(fixed_size_binary(selected, width, out)),
        DataType::Float16 => {
            selected.bytes_of::<Float16Type, 2>(out, |v| Some(v.to_le_bytes()), |_| unreached())?;
        }
        Interval(IntervalUnit::YearMonth) => {
            selected.bytes_of::<IntervalYearMonthType, 12>(out, convert::year_month, |v| {
                convert::interval_misfit(format_args!("{v} months"))
            })?
        }
        Interval(IntervalUnit::DayTime) => {
            selected.bytes_of::<IntervalDayTimeType, 12>(out, convert::day_time, |v| {
                convert::interval_misfit(format_args!("{} days {} ms", v.days, v.milliseconds))
            })?
        }
        Interval(IntervalUnit::MonthDayNano) => selected.bytes_of::<IntervalMonthDayNanoType, 12>(
            out,
            convert::month_day_nano,
            |v| {
                convert::interval_misfit(format_args!(
                    "{} months {} days {} ns",
                    v.months, v.days, v.nanoseconds
                ))
            },
        )?,
        Timestamp(unit, _) => {
            let per_second = convert::per_second(*unit);
            let int96 = leaf.physical_type == Type::Int96;
            let encode = |value: i64| {
                Some(if int96 {
                    convert::int96(value, per_second)
                } else {
                    convert::wide_count(value, *unit)
                })
            };
            let never = |_| unreached();
            match unit {
                TimeUnit::Second => {
                    selected.bytes_of::<TimestampSecondType, 12>(out, encode, never)?;
                }
                TimeUnit::Millisecond => {
                    selected.bytes_of::<TimestampMillisecondType, 12>(out, encode, never)?;
                }
                TimeUnit::Microsecond => {
                    selected.bytes_of::<TimestampMicrosecondType, 12>(out, encode, never)?;
                }
                TimeUnit::Nanosecond => {
                    selected.bytes_of::<TimestampNanosecondType, 12>(out, encode, never)?;
                }
            }
        }
        Decimal32(..) => decimal_bytes::<Decimal32Type>(leaf, selected, width, out)?,
        Decimal64(..) => decimal_bytes::<Decimal64Type>(leaf, selected, width, out)?,
        Decimal128(..) => decimal_bytes::<Decimal128Type>(leaf, selected, width, out)?,
        Decimal256(..) => decimal_bytes::<Decimal256Type>(leaf, selected, width, out)?,
        other => return Err(no_form(other, leaf)),
    }
    Ok(Values::Fixed { bytes: out, width })
}

fn fixed_size_binary<'a>(selected: Selected<'a>, width: usize, out: &'a mut Vec<u8>) -> Values<'a> {
    let array = selected.array.as_fixed_size_binary();
    let all: &'a [u8] = array.value_data();
    let bytes = |range: &Range<usize>| {
        all.get(range.start * width..range.end * width)
            .unwrap_or_default()
    };
    if let (None, [range]) = (selected.nulls, selected.ranges) {
        let bytes = bytes(range);
        return Values::Fixed { bytes, width };
    }
    out.clear();
    selected.for_each(|index| out.extend_from_slice(bytes(&(index..index + 1))));
    Values::Fixed { bytes: out, width }
}

/// Decimals as big-endian two's complement of `width` bytes.
fn decimal_bytes<T>(
    leaf: &WriteLeaf,
    selected: Selected<'_>,
    width: usize,
    out: &mut Vec<u8>,
) -> Result<()>
where
    T: ArrowPrimitiveType,
    T::Native: convert::Unscaled,
{
    let rescale = convert::Rescale::of(leaf.conversion);
    let mut scratch = Vec::new();
    let values = selected.dense_local(selected.array.as_primitive::<T>().values(), &mut scratch);
    convert::check_digits(values, leaf)?;
    out.clear();
    out.reserve(values.len() * width);
    for value in values {
        if !rescale.append_big_endian(*value, width, out) {
            return Err(convert::decimal_misfit(*value, leaf));
        }
    }
    Ok(())
}

/// For conversions that fit any value.
fn unreached() -> Error {
    Error::argument("the value does not fit")
}

#[cold]
fn no_form(data_type: &DataType, leaf: &WriteLeaf) -> Error {
    Error::unsupported(format!(
        "{data_type} as {:?}: the mapping of schemas and that of values disagree",
        leaf.physical_type
    ))
}
