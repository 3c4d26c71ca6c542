//! Values with the format's order, from arrays and from the bytes of bounds.

use half::f16;
use herringbone_arrow::array::Array;
use herringbone_arrow::array::cast::AsArray;
use herringbone_arrow::array::types::*;
use herringbone_arrow::buffer::i256;
use herringbone_arrow::schema::{DataType, TimeUnit};

/// A value that compares as the format specifies.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Key {
    /// A number.
    Number(i256),
    /// A floating-point number in the total order. -0 is less than +0.
    Float(i64),
    /// Unsigned bytes. A prefix is less than the longer value.
    Bytes(Vec<u8>),
    /// A NaN, which is not part of bounds.
    Nan,
}

impl Key {
    fn number(value: impl Into<i128>) -> Self {
        Self::Number(i256::from_i128(value.into()))
    }

    fn float(value: f64) -> Self {
        if value.is_nan() {
            return Self::Nan;
        }
        let bits = value.to_bits() as i64;
        Self::Float(if bits < 0 { bits ^ i64::MAX } else { bits })
    }

    /// Returns the zero of the opposite sign, or `None` if this is not a zero.
    pub(crate) fn other_zero(&self) -> Option<Self> {
        match self {
            Self::Float(0) => Some(Self::Float(-1)),
            Self::Float(-1) => Some(Self::Float(0)),
            _ => None,
        }
    }
}

/// Returns true if the format defines an order for the type, so that it has bounds.
pub(crate) fn is_ordered(data_type: &DataType) -> bool {
    !matches!(data_type, DataType::Null | DataType::Interval(_))
}

/// Returns true if values of the type may be NaN.
pub(crate) fn is_float(data_type: &DataType) -> bool {
    matches!(
        data_type,
        DataType::Float16 | DataType::Float32 | DataType::Float64
    )
}

/// Returns a leaf array's values, with `None` for nulls.
pub(crate) fn keys(array: &dyn Array) -> Vec<Option<Key>> {
    use DataType as T;
    macro_rules! each {
        ($type:ty, $key:expr) => {
            array
                .as_primitive::<$type>()
                .iter()
                .map(|v| v.map($key))
                .collect()
        };
    }
    match array.data_type() {
        T::Boolean => array
            .as_boolean()
            .iter()
            .map(|v| v.map(|v| Key::number(i8::from(v))))
            .collect(),
        T::Int8 => each!(Int8Type, Key::number),
        T::Int16 => each!(Int16Type, Key::number),
        T::Int32 => each!(Int32Type, Key::number),
        T::Int64 => each!(Int64Type, Key::number),
        T::UInt8 => each!(UInt8Type, Key::number),
        T::UInt16 => each!(UInt16Type, Key::number),
        T::UInt32 => each!(UInt32Type, Key::number),
        T::UInt64 => each!(UInt64Type, Key::number),
        T::Float16 => each!(Float16Type, |v| Key::float(v.to_f64())),
        T::Float32 => each!(Float32Type, |v| Key::float(v.into())),
        T::Float64 => each!(Float64Type, Key::float),
        T::Decimal32(..) => each!(Decimal32Type, Key::number),
        T::Decimal64(..) => each!(Decimal64Type, Key::number),
        T::Decimal128(..) => each!(Decimal128Type, Key::number),
        T::Decimal256(..) => each!(Decimal256Type, Key::Number),
        T::Utf8 => array.as_string::<i32>().iter().map(bytes).collect(),
        T::LargeUtf8 => array.as_string::<i64>().iter().map(bytes).collect(),
        T::Utf8View => array.as_string_view().iter().map(bytes).collect(),
        T::Binary => array.as_binary::<i32>().iter().map(bytes).collect(),
        T::LargeBinary => array.as_binary::<i64>().iter().map(bytes).collect(),
        T::BinaryView => array.as_binary_view().iter().map(bytes).collect(),
        T::FixedSizeBinary(_) => array.as_fixed_size_binary().iter().map(bytes).collect(),
        T::Null => vec![None; array.len()],
        _ => times(array),
    }
}

fn bytes<T: AsRef<[u8]>>(value: Option<T>) -> Option<Key> {
    value.map(|value| Key::Bytes(value.as_ref().to_vec()))
}

/// Returns times in the file's units.
fn times(array: &dyn Array) -> Vec<Option<Key>> {
    use DataType as T;
    use TimeUnit::{Microsecond, Millisecond, Nanosecond, Second};
    macro_rules! each {
        ($type:ty, $key:expr) => {
            array
                .as_primitive::<$type>()
                .iter()
                .map(|v| v.map($key))
                .collect()
        };
    }
    match array.data_type() {
        T::Date32 => each!(Date32Type, Key::number),
        T::Date64 => each!(Date64Type, |v| Key::number(v / 86_400_000)),
        T::Time32(Second) => each!(Time32SecondType, |v| Key::number(v * 1000)),
        T::Time32(_) => each!(Time32MillisecondType, Key::number),
        T::Time64(Microsecond) => each!(Time64MicrosecondType, Key::number),
        T::Time64(_) => each!(Time64NanosecondType, Key::number),
        T::Timestamp(Second, _) => each!(TimestampSecondType, |v| Key::number(v * 1000)),
        T::Timestamp(Millisecond, _) => each!(TimestampMillisecondType, Key::number),
        T::Timestamp(Microsecond, _) => each!(TimestampMicrosecondType, Key::number),
        T::Timestamp(Nanosecond, _) => each!(TimestampNanosecondType, Key::number),
        T::Duration(Second) => each!(DurationSecondType, Key::number),
        T::Duration(Millisecond) => each!(DurationMillisecondType, Key::number),
        T::Duration(Microsecond) => each!(DurationMicrosecondType, Key::number),
        T::Duration(Nanosecond) => each!(DurationNanosecondType, Key::number),
        // Intervals have no order, so only their presence counts.
        _ => (0..array.len())
            .map(|i| array.is_valid(i).then_some(Key::Nan))
            .collect(),
    }
}

/// Returns the value of a bound.
pub(crate) fn bound(data_type: &DataType, bytes: &[u8]) -> Key {
    use DataType as T;
    let int32 = || i32::from_le_bytes(bytes.try_into().unwrap());
    let int64 = || i64::from_le_bytes(bytes.try_into().unwrap());
    match data_type {
        T::Boolean => Key::number(bytes[0]),
        T::UInt8 | T::UInt16 | T::UInt32 => Key::number(int32() as u32),
        T::UInt64 => Key::number(int64() as u64),
        T::Float16 => Key::float(f16::from_le_bytes(bytes.try_into().unwrap()).to_f64()),
        T::Float32 => Key::float(f32::from_le_bytes(bytes.try_into().unwrap()).into()),
        T::Float64 => Key::float(f64::from_le_bytes(bytes.try_into().unwrap())),
        T::Decimal32(digits, _)
        | T::Decimal64(digits, _)
        | T::Decimal128(digits, _)
        | T::Decimal256(digits, _) => match digits {
            ..=9 => Key::number(int32()),
            ..=18 => Key::number(int64()),
            _ => {
                let sign = if bytes[0] >= 0x80 { 0xff } else { 0 };
                let mut wide = [sign; 32];
                wide[32 - bytes.len()..].copy_from_slice(bytes);
                Key::Number(i256::from_be_bytes(wide))
            }
        },
        T::Utf8 | T::LargeUtf8 | T::Utf8View | T::Binary | T::LargeBinary | T::BinaryView => {
            Key::Bytes(bytes.to_vec())
        }
        T::FixedSizeBinary(_) => Key::Bytes(bytes.to_vec()),
        T::Int64 | T::Time64(_) | T::Timestamp(..) | T::Duration(_) => Key::number(int64()),
        _ => Key::number(int32()),
    }
}
