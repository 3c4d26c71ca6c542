//! Negative-scale decimals. Parquet stores them with their trailing zeros.

use std::sync::Arc;

use herringbone_arrow::array::types::{
    Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type, DecimalType,
};
use herringbone_arrow::array::{Array, ArrayRef, PrimitiveArray, cast::AsArray};
use herringbone_arrow::buffer::i256;
use herringbone_arrow::schema::DataType;
use herringbone_format::{Error, Remedy, Result};

/// Converts decimals of scale 0 to the negative-scale `data_type`.
///
/// # Errors
/// Fails with `Unsupported` if a number is not a multiple of the type's unit, or has too many digits.
pub(super) fn negative_scale(array: &ArrayRef, data_type: &DataType) -> Result<ArrayRef> {
    let wide: Vec<Option<i256>> = match array.data_type() {
        DataType::Decimal32(..) => wide::<Decimal32Type>(array, i256::from),
        DataType::Decimal64(..) => wide::<Decimal64Type>(array, i256::from),
        DataType::Decimal128(..) => wide::<Decimal128Type>(array, i256::from_i128),
        DataType::Decimal256(..) => wide::<Decimal256Type>(array, |value| value),
        other => return Err(Error::argument(format!("{other} is not a decimal type"))),
    };
    match *data_type {
        DataType::Decimal32(precision, scale) => {
            let narrow = |value: i256| value.to_i128().and_then(|value| value.try_into().ok());
            rescaled::<Decimal32Type>(&wide, precision, scale, narrow)
        }
        DataType::Decimal64(precision, scale) => {
            let narrow = |value: i256| value.to_i128().and_then(|value| value.try_into().ok());
            rescaled::<Decimal64Type>(&wide, precision, scale, narrow)
        }
        DataType::Decimal128(precision, scale) => {
            rescaled::<Decimal128Type>(&wide, precision, scale, i256::to_i128)
        }
        DataType::Decimal256(precision, scale) => {
            rescaled::<Decimal256Type>(&wide, precision, scale, Some)
        }
        ref other => Err(Error::argument(format!("{other} is not a decimal type"))),
    }
}

fn wide<T: DecimalType>(array: &ArrayRef, widen: impl Fn(T::Native) -> i256) -> Vec<Option<i256>> {
    let values = array.as_primitive_opt::<T>().into_iter().flatten();
    values.map(|value| value.map(&widen)).collect()
}

fn rescaled<T: DecimalType>(
    values: &[Option<i256>],
    precision: u8,
    scale: i8,
    narrow: impl Fn(i256) -> Option<T::Native>,
) -> Result<ArrayRef> {
    let unit = i256::from(10_i64)
        .checked_pow(u32::from(scale.unsigned_abs()))
        .ok_or_else(|| Error::unsupported(format!("decimals of scale {scale}")))?;
    let value = |value: i256| {
        (value % unit == i256::ZERO)
            .then(|| narrow(value / unit))
            .flatten()
            .ok_or_else(|| {
                Error::unsupported(format!(
                    "{value} is not a decimal of {precision} digits and scale {scale}, which the \
                     Arrow schema in the file declares"
                ))
                .with_remedy(Remedy::IgnoreArrowSchema)
            })
    };
    let values = values.iter().map(|slot| slot.map(value).transpose());
    let array: PrimitiveArray<T> = values.collect::<Result<_>>()?;
    let array = array.with_precision_and_scale(precision, scale);
    Ok(Arc::new(array.map_err(super::invalid)?))
}
