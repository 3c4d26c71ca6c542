//! Random values of the non-nested types, including the ends of their ranges, and any values under nulls.

use std::sync::Arc;

use half::f16;
use herringbone_arrow::array::types::*;
use herringbone_arrow::array::*;
use herringbone_arrow::buffer::{NullBuffer, OffsetBuffer, i256};
use herringbone_arrow::schema::{DataType, IntervalUnit, TimeUnit};

use crate::batches::{self, Random, Shape};

/// Returns `n` values of a non-nested type.
pub(crate) fn values(
    random: &mut Random,
    t: &DataType,
    nulls: Option<NullBuffer>,
    n: usize,
) -> ArrayRef {
    use DataType as T;
    let shape = random.pick(&[Shape::Random, Shape::Few, Shape::Sorted]);
    let mut words = batches::words(random, shape, n);
    if random.below(2) == 0 {
        // The words include the ends of number ranges, zeros of both signs and NaN.
        const EDGES: [u64; 8] = [
            0,
            u64::MAX,
            1 << 63,
            i64::MAX as u64,
            1 << 31,
            0x7ff8_0000_7fc0_7e00,
            0x7ff0_0000_7f80_7c00,
            0x8000_0000_8000_8000,
        ];
        for word in &mut words {
            if random.below(4) == 0 {
                *word = random.pick(&EDGES);
            }
        }
    }
    match t {
        T::Utf8 | T::LargeUtf8 | T::Utf8View => byte_values(&words, nulls, t),
        T::Binary | T::LargeBinary | T::BinaryView | T::FixedSizeBinary(_) => {
            byte_values(&words, nulls, t)
        }
        T::Interval(_) | T::Decimal32(..) | T::Decimal64(..) => {
            intervals_and_decimals(&words, nulls, t)
        }
        T::Decimal128(..) | T::Decimal256(..) => intervals_and_decimals(&words, nulls, t),
        _ if t.is_temporal() => times(&words, nulls, t),
        _ => numbers(&words, nulls, t),
    }
}

/// Returns values from `convert`, or from `wild` under nulls.
fn primitive<T: ArrowPrimitiveType>(
    words: &[u64],
    nulls: Option<NullBuffer>,
    data_type: &DataType,
    convert: impl Fn(u64) -> T::Native,
    wild: impl Fn(u64) -> T::Native,
) -> ArrayRef {
    let values: Vec<T::Native> = words
        .iter()
        .enumerate()
        .map(|(i, word)| match &nulls {
            Some(nulls) if nulls.is_null(i) => wild(*word),
            _ => convert(*word),
        })
        .collect();
    Arc::new(PrimitiveArray::<T>::new(values.into(), nulls).with_data_type(data_type.clone()))
}

/// Makes values of a type for which any bits are valid.
macro_rules! plain {
    ($words:ident, $nulls:ident, $t:ident, $type:ty, $convert:expr) => {
        primitive::<$type>($words, $nulls, $t, $convert, $convert)
    };
}

fn numbers(words: &[u64], nulls: Option<NullBuffer>, t: &DataType) -> ArrayRef {
    use DataType as T;
    match t {
        T::Null => Arc::new(NullArray::new(words.len())),
        T::Boolean => {
            let bits = words.iter().map(|w| w % 3 == 0).collect();
            Arc::new(BooleanArray::new(bits, nulls))
        }
        T::Int8 => plain!(words, nulls, t, Int8Type, |w| w as i8),
        T::Int16 => plain!(words, nulls, t, Int16Type, |w| w as i16),
        T::Int32 => plain!(words, nulls, t, Int32Type, |w| w as i32),
        T::Int64 => plain!(words, nulls, t, Int64Type, |w| w as i64),
        T::UInt8 => plain!(words, nulls, t, UInt8Type, |w| w as u8),
        T::UInt16 => plain!(words, nulls, t, UInt16Type, |w| w as u16),
        T::UInt32 => plain!(words, nulls, t, UInt32Type, |w| w as u32),
        T::UInt64 => plain!(words, nulls, t, UInt64Type, |w| w),
        T::Float16 => plain!(words, nulls, t, Float16Type, |w| f16::from_bits(w as u16)),
        T::Float32 => plain!(words, nulls, t, Float32Type, |w| f32::from_bits(w as u32)),
        T::Float64 => plain!(words, nulls, t, Float64Type, f64::from_bits),
        other => panic!("no generator for {other}"),
    }
}

fn times(words: &[u64], nulls: Option<NullBuffer>, t: &DataType) -> ArrayRef {
    use DataType as T;
    use TimeUnit::{Microsecond, Millisecond, Nanosecond, Second};
    match t {
        T::Date32 => plain!(words, nulls, t, Date32Type, |w| w as i32),
        T::Date64 => primitive::<Date64Type>(
            words,
            nulls,
            t,
            |w| i64::from(w as i32) * 86_400_000,
            |w| w as i64,
        ),
        T::Time32(Second) => {
            primitive::<Time32SecondType>(words, nulls, t, |w| (w % 86_400) as i32, |w| w as i32)
        }
        T::Time32(_) => plain!(words, nulls, t, Time32MillisecondType, |w| (w % 86_400_000)
            as i32),
        T::Time64(Microsecond) => plain!(words, nulls, t, Time64MicrosecondType, |w| (w
            % 86_400_000_000)
            as i64),
        T::Time64(_) => plain!(
            words,
            nulls,
            t,
            Time64NanosecondType,
            |w| (w % 86_400_000_000_000) as i64
        ),
        T::Timestamp(Second, _) => {
            primitive::<TimestampSecondType>(words, nulls, t, |w| w as i64 / 1000, |w| w as i64)
        }
        T::Timestamp(Millisecond, _) => {
            plain!(words, nulls, t, TimestampMillisecondType, |w| w as i64)
        }
        T::Timestamp(Microsecond, _) => {
            plain!(words, nulls, t, TimestampMicrosecondType, |w| w as i64)
        }
        T::Timestamp(Nanosecond, _) => {
            plain!(words, nulls, t, TimestampNanosecondType, |w| w as i64)
        }
        T::Duration(Second) => plain!(words, nulls, t, DurationSecondType, |w| w as i64),
        T::Duration(Millisecond) => plain!(words, nulls, t, DurationMillisecondType, |w| w as i64),
        T::Duration(Microsecond) => plain!(words, nulls, t, DurationMicrosecondType, |w| w as i64),
        T::Duration(Nanosecond) => plain!(words, nulls, t, DurationNanosecondType, |w| w as i64),
        other => panic!("no generator for {other}"),
    }
}

fn intervals_and_decimals(words: &[u64], nulls: Option<NullBuffer>, t: &DataType) -> ArrayRef {
    use DataType as T;
    match t {
        T::Interval(IntervalUnit::YearMonth) => {
            primitive::<IntervalYearMonthType>(words, nulls, t, |w| (w >> 33) as i32, |w| w as i32)
        }
        T::Interval(IntervalUnit::DayTime) => primitive::<IntervalDayTimeType>(
            words,
            nulls,
            t,
            |w| IntervalDayTime::new((w >> 33) as i32, w as i32 & i32::MAX),
            |w| IntervalDayTime::new(w as i32, (w >> 32) as i32),
        ),
        T::Interval(IntervalUnit::MonthDayNano) => primitive::<IntervalMonthDayNanoType>(
            words,
            nulls,
            t,
            |w| {
                let millis = i64::from(w as u32);
                IntervalMonthDayNano::new((w >> 33) as i32, (w >> 50) as i32, millis * 1_000_000)
            },
            |w| IntervalMonthDayNano::new(w as i32, w as i32, w as i64),
        ),
        T::Decimal32(digits, _) => {
            let limit = 10_i32.pow(u32::from(*digits));
            primitive::<Decimal32Type>(words, nulls, t, |w| w as i32 % limit, |w| w as i32)
        }
        T::Decimal64(digits, _) => {
            let limit = 10_i64.pow(u32::from(*digits));
            primitive::<Decimal64Type>(words, nulls, t, |w| w as i64 % limit, |w| w as i64)
        }
        T::Decimal128(digits, _) => {
            let limit = 10_i128.pow(u32::from(*digits));
            let wide = |w: u64| i128::from(w as i64) * i128::from(w | 1);
            primitive::<Decimal128Type>(words, nulls, t, |w| wide(w) % limit, wide)
        }
        T::Decimal256(digits, _) => {
            let limit = i256::from_i128(10).checked_pow((*digits).into()).unwrap();
            let wide = |w: u64| {
                let w = i256::from_i128(i128::from(w as i64) << 60);
                w.wrapping_mul(w).wrapping_mul(i256::from_i128(77))
            };
            primitive::<Decimal256Type>(words, nulls, t, |w| wide(w).wrapping_rem(limit), wide)
        }
        other => panic!("no generator for {other}"),
    }
}

fn byte_values(words: &[u64], nulls: Option<NullBuffer>, t: &DataType) -> ArrayRef {
    use DataType as T;
    let texts: Vec<String> = words.iter().map(|w| text(*w)).collect();
    let bytes: Vec<&[u8]> = texts.iter().map(|text| text.as_bytes()).collect();
    let offsets = || OffsetBuffer::from_lengths(bytes.iter().map(|b| b.len()));
    let large = || OffsetBuffer::from_lengths(bytes.iter().map(|b| b.len()));
    let all = || bytes.concat().into();
    match t {
        T::Utf8 => Arc::new(StringArray::new(offsets(), all(), nulls)),
        T::LargeUtf8 => Arc::new(LargeStringArray::new(large(), all(), nulls)),
        T::Binary => Arc::new(BinaryArray::new(offsets(), all(), nulls)),
        T::LargeBinary => Arc::new(LargeBinaryArray::new(large(), all(), nulls)),
        T::Utf8View => {
            let array = StringViewArray::from_iter_values(&texts);
            let (views, buffers, _) = array.into_parts();
            Arc::new(StringViewArray::new(views, buffers, nulls))
        }
        T::BinaryView => {
            let array = BinaryViewArray::from_iter_values(&bytes);
            let (views, buffers, _) = array.into_parts();
            Arc::new(BinaryViewArray::new(views, buffers, nulls))
        }
        T::FixedSizeBinary(width) => {
            let wide = usize::try_from(*width).unwrap();
            let all: Vec<u8> = words
                .iter()
                .flat_map(|w| w.to_be_bytes().into_iter().cycle().take(wide))
                .collect();
            Arc::new(FixedSizeBinaryArray::new(*width, all.into(), nulls))
        }
        other => panic!("no generator for {other}"),
    }
}

/// Returns texts of 0 to 90 bytes, some of which have a common prefix.
fn text(word: u64) -> String {
    match word % 7 {
        0 => String::new(),
        1 => format!("{}", word % 100),
        2 => format!(
            "https://example.org/a/rather/long/path/that/repeats/itself/over/and/over/{}",
            word % 9999
        ),
        3 => "日本🐟".repeat(1 + (word >> 32) as usize % 8),
        4 => char::from_u32((word >> 20) as u32 % 0x11_0000).map_or_else(String::new, String::from),
        _ => format!("{word:x}"),
    }
}
