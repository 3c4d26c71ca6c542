//! Casts of integers and decimals to decimals with room for more digits.

use std::sync::Arc;

use herringbone_arrow::array::types::{
    ArrowPrimitiveType, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, Int8Type,
    Int16Type, Int32Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type,
};
use herringbone_arrow::array::{Array as _, ArrayRef, PrimitiveArray, cast::AsArray};
use herringbone_arrow::buffer::{ArrowNativeType, i256};
use herringbone_arrow::schema::DataType;
use herringbone_format::Result;

use super::{mismatch, out_of_range};

/// Returns a decimal's numbers of digits before and after the decimal point.
pub(super) fn decimal_places(data_type: &DataType) -> Option<(i16, i16)> {
    match *data_type {
        DataType::Decimal32(precision, scale)
        | DataType::Decimal64(precision, scale)
        | DataType::Decimal128(precision, scale)
        | DataType::Decimal256(precision, scale) => {
            let scale = i16::from(scale);
            Some((i16::from(precision) - scale, scale))
        }
        _ => None,
    }
}

/// Returns the numbers of digits before and after the decimal point, for decimals and for integer types.
pub(super) fn decimal_digits(data_type: &DataType) -> Option<(i16, i16)> {
    Some(match data_type {
        DataType::Int8 | DataType::UInt8 => (3, 0),
        DataType::Int16 | DataType::UInt16 => (5, 0),
        DataType::Int32 | DataType::UInt32 => (10, 0),
        DataType::Int64 => (19, 0),
        DataType::UInt64 => (20, 0),
        other => return decimal_places(other),
    })
}

/// Converts integers and decimals to decimals. Each value is multiplied by 10 to the power of `zeros`, the number of
/// additional digits after the decimal point in the target type.
///
/// # Errors
/// Fails with Unsupported if a value does not fit the target type.
pub(super) fn decimal(array: &ArrayRef, to: &DataType, zeros: u32) -> Result<ArrayRef> {
    match array.data_type() {
        DataType::Int8 => decimal_from::<Int8Type>(array, to, zeros),
        DataType::Int16 => decimal_from::<Int16Type>(array, to, zeros),
        DataType::Int32 => decimal_from::<Int32Type>(array, to, zeros),
        DataType::Int64 => decimal_from::<Int64Type>(array, to, zeros),
        DataType::UInt8 => decimal_from::<UInt8Type>(array, to, zeros),
        DataType::UInt16 => decimal_from::<UInt16Type>(array, to, zeros),
        DataType::UInt32 => decimal_from::<UInt32Type>(array, to, zeros),
        DataType::UInt64 => decimal_from::<UInt64Type>(array, to, zeros),
        DataType::Decimal32(..) => decimal_from::<Decimal32Type>(array, to, zeros),
        DataType::Decimal64(..) => decimal_from::<Decimal64Type>(array, to, zeros),
        DataType::Decimal128(..) => decimal_from::<Decimal128Type>(array, to, zeros),
        DataType::Decimal256(..) => decimal_from::<Decimal256Type>(array, to, zeros),
        _ => Err(mismatch(array, to)),
    }
}

fn decimal_from<F>(array: &ArrayRef, to: &DataType, zeros: u32) -> Result<ArrayRef>
where
    F: ArrowPrimitiveType,
    F::Native: Whole,
{
    match to {
        DataType::Decimal32(..) => decimal_to::<F, Decimal32Type>(array, to, zeros),
        DataType::Decimal64(..) => decimal_to::<F, Decimal64Type>(array, to, zeros),
        DataType::Decimal128(..) => decimal_to::<F, Decimal128Type>(array, to, zeros),
        DataType::Decimal256(..) => decimal_to::<F, Decimal256Type>(array, to, zeros),
        _ => Err(mismatch(array, to)),
    }
}

fn decimal_to<F, T>(array: &ArrayRef, to: &DataType, zeros: u32) -> Result<ArrayRef>
where
    F: ArrowPrimitiveType,
    T: ArrowPrimitiveType,
    F::Native: Whole,
    T::Native: Whole,
{
    let values = array
        .as_primitive_opt::<F>()
        .ok_or_else(|| mismatch(array, to))?;
    let (factor, wide) = (10_i128.checked_pow(zeros), i256::from(10_i64));
    let wide = wide.checked_pow(zeros);
    let cast = |value: F::Native| -> Option<T::Native> {
        let product = value.to_i128().zip(factor);
        match product.and_then(|(value, factor)| value.checked_mul(factor)) {
            Some(value) => T::Native::from_i128(value),
            None => T::Native::from_i256(value.to_i256().checked_mul(wide?)?),
        }
    };
    let cast: PrimitiveArray<T> = values
        .try_unary(|value| cast(value).ok_or_else(|| out_of_range(value.to_i256(), array, to)))?;
    Ok(Arc::new(cast.with_data_type(to.clone())))
}

/// Integers of any width.
trait Whole: ArrowNativeType {
    fn to_i128(self) -> Option<i128>;
    fn to_i256(self) -> i256;
    fn from_i128(value: i128) -> Option<Self>;
    fn from_i256(value: i256) -> Option<Self>;
}

macro_rules! whole {
    ($($native:ty)+) => {$(
        impl Whole for $native {
            fn to_i128(self) -> Option<i128> {
                Some(self.into())
            }

            fn to_i256(self) -> i256 {
                i256::from_i128(self.into())
            }

            fn from_i128(value: i128) -> Option<Self> {
                value.try_into().ok()
            }

            fn from_i256(value: i256) -> Option<Self> {
                value.to_i128()?.try_into().ok()
            }
        }
    )+};
}

whole!(i8 i16 i32 i64 i128 u8 u16 u32 u64);

impl Whole for i256 {
    fn to_i128(self) -> Option<i128> {
        Self::to_i128(self)
    }

    fn to_i256(self) -> i256 {
        self
    }

    fn from_i128(value: i128) -> Option<Self> {
        Some(Self::from_i128(value))
    }

    fn from_i256(value: i256) -> Option<Self> {
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A scale below zero leaves out that many digits before the decimal point.
    #[test]
    fn digits_are_before_or_after_the_decimal_point() {
        for (data_type, places) in [
            (DataType::Decimal32(9, 2), Some((7, 2))),
            (DataType::Decimal64(18, 0), Some((18, 0))),
            (DataType::Decimal128(5, -2), Some((7, -2))),
            (DataType::Decimal256(76, 76), Some((0, 76))),
            (DataType::Float64, None),
        ] {
            assert_eq!(decimal_places(&data_type), places, "{data_type}");
            assert_eq!(decimal_digits(&data_type), places, "{data_type}");
        }
        // The longest integers are -128, -32768, 4294967295, -9223372036854775808 and 18446744073709551615.
        for (data_type, digits) in [
            (DataType::Int8, 3),
            (DataType::UInt16, 5),
            (DataType::UInt32, 10),
            (DataType::Int64, 19),
            (DataType::UInt64, 20),
        ] {
            assert_eq!(decimal_digits(&data_type), Some((digits, 0)), "{data_type}");
            assert_eq!(decimal_places(&data_type), None, "{data_type}");
        }
    }
}
