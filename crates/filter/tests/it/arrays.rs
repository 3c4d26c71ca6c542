//! Arrays of numbers and texts in all column types and layouts.

use std::sync::Arc;

use herringbone::arrow::array::types::*;
use herringbone::arrow::array::*;
use herringbone::arrow::buffer::i256;
use herringbone::arrow::schema::{DataType, TimeUnit};

/// Returns an array of whole numbers. For decimals, they are multiplied by a power of ten, so that they keep their
/// value.
pub(crate) fn numbers(data_type: &DataType, values: &[Option<i64>]) -> ArrayRef {
    use DataType as T;
    macro_rules! of {
        ($type:ty, $number:expr) => {{
            let number: fn(i64) -> <$type as ArrowPrimitiveType>::Native = $number;
            let array: PrimitiveArray<$type> = values.iter().map(|it| it.map(number)).collect();
            Arc::new(array.with_data_type(data_type.clone()))
        }};
    }
    macro_rules! decimals {
        ($type:ty, $native:ty, $scale:expr) => {{
            let power = (0..$scale).fold(1_i128, |power, _| power * 10);
            let number = |number: i64| i128::from(number) * power;
            let array: PrimitiveArray<$type> = values
                .iter()
                .map(|it| it.map(|it| <$native>::try_from(number(it)).unwrap()))
                .collect();
            Arc::new(array.with_data_type(data_type.clone()))
        }};
    }
    match data_type {
        T::Int8 => of!(Int8Type, |it| it as i8),
        T::Int16 => of!(Int16Type, |it| it as i16),
        T::Int32 => of!(Int32Type, |it| it as i32),
        T::Int64 => of!(Int64Type, |it| it),
        T::UInt8 => of!(UInt8Type, |it| it as u8),
        T::UInt16 => of!(UInt16Type, |it| it as u16),
        T::UInt32 => of!(UInt32Type, |it| it as u32),
        T::UInt64 => of!(UInt64Type, |it| it as u64),
        T::Float16 => of!(Float16Type, |it| half::f16::from_f64(it as f64)),
        T::Float32 => of!(Float32Type, |it| it as f32),
        T::Float64 => of!(Float64Type, |it| it as f64),
        T::Decimal32(_, scale) => decimals!(Decimal32Type, i32, *scale),
        T::Decimal64(_, scale) => decimals!(Decimal64Type, i64, *scale),
        T::Decimal128(_, scale) => decimals!(Decimal128Type, i128, *scale),
        T::Decimal256(_, scale) => {
            let power = (0..*scale).fold(1_i128, |power, _| power * 10);
            let wide = |it: i64| i256::from_i128(i128::from(it)) * i256::from_i128(power);
            let array: Decimal256Array = values.iter().map(|it| it.map(wide)).collect();
            Arc::new(array.with_data_type(data_type.clone()))
        }
        T::Date32 => of!(Date32Type, |it| it as i32),
        T::Time32(TimeUnit::Second) => of!(Time32SecondType, |it| it as i32),
        T::Time32(_) => of!(Time32MillisecondType, |it| it as i32),
        T::Time64(TimeUnit::Microsecond) => of!(Time64MicrosecondType, |it| it),
        T::Time64(_) => of!(Time64NanosecondType, |it| it),
        T::Timestamp(TimeUnit::Second, _) => of!(TimestampSecondType, |it| it),
        T::Timestamp(TimeUnit::Millisecond, _) => of!(TimestampMillisecondType, |it| it),
        T::Timestamp(TimeUnit::Microsecond, _) => of!(TimestampMicrosecondType, |it| it),
        T::Timestamp(TimeUnit::Nanosecond, _) => of!(TimestampNanosecondType, |it| it),
        T::Duration(TimeUnit::Second) => of!(DurationSecondType, |it| it),
        T::Duration(TimeUnit::Millisecond) => of!(DurationMillisecondType, |it| it),
        T::Duration(TimeUnit::Microsecond) => of!(DurationMicrosecondType, |it| it),
        T::Duration(TimeUnit::Nanosecond) => of!(DurationNanosecondType, |it| it),
        other => panic!("{other} has no numbers"),
    }
}

/// Returns an array of texts or their bytes.
pub(crate) fn texts(data_type: &DataType, values: &[Option<String>]) -> ArrayRef {
    use DataType as T;
    let texts = || values.iter().map(Option::as_deref);
    let bytes = || texts().map(|text| text.map(str::as_bytes));
    match data_type {
        T::Utf8 => Arc::new(texts().collect::<StringArray>()),
        T::LargeUtf8 => Arc::new(texts().collect::<LargeStringArray>()),
        T::Utf8View => Arc::new(texts().collect::<StringViewArray>()),
        T::Binary => Arc::new(bytes().collect::<BinaryArray>()),
        T::LargeBinary => Arc::new(bytes().collect::<LargeBinaryArray>()),
        T::BinaryView => Arc::new(bytes().collect::<BinaryViewArray>()),
        T::FixedSizeBinary(size) => {
            let array = FixedSizeBinaryArray::try_from_sparse_iter_with_size(bytes(), *size);
            Arc::new(array.unwrap())
        }
        other => panic!("{other} has no texts"),
    }
}
