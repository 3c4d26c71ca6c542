//! Storing decimals in the smallest form that fits their digits.

use herringbone_format::{ConvertedType, Error, LogicalType, Result, Type};

use super::stored::Stored;
use super::{WriteConversion, WriteSchemaOptions};
use crate::ColumnOrderKind;

/// Returns a decimal's stored precision and scale, and the number of zeros to append to its
/// numbers. Zeros are needed for a negative scale, since Parquet doesn't support these.
///
/// Fails with Argument if the type contradicts itself, and with Unsupported if it needs more than
/// 76 digits.
pub(super) fn stored_decimal(precision: u8, scale: i8, max_precision: u8) -> Result<(u8, u8, u8)> {
    const MAX_PRECISION: u8 = 76;
    let (stored_scale, digits) = match u8::try_from(scale) {
        Ok(scale) => (scale, 0),
        Err(_) => (0, scale.unsigned_abs()),
    };
    if precision == 0 || precision > max_precision || stored_scale > precision {
        return Err(Error::argument(format!(
            "a decimal of precision {precision} and scale {scale}; the precision must be from 1 to \
             {max_precision}, and not less than the scale"
        )));
    }
    match precision.checked_add(digits) {
        Some(stored @ ..=MAX_PRECISION) => Ok((stored, stored_scale, digits)),
        _ => Err(Error::unsupported(format!(
            "a decimal of precision {precision} and scale {scale} would need more than 76 digits, \
             because Parquet does not allow a negative scale"
        ))),
    }
}

pub(super) fn decimal(
    precision: u8,
    scale: i8,
    max_precision: u8,
    options: &WriteSchemaOptions,
) -> Result<Stored> {
    let (precision, scale, digits) = stored_decimal(precision, scale, max_precision)?;
    let mut stored = match precision {
        ..=9 if !options.decimals_as_fixed => Stored::new(Type::Int32, ColumnOrderKind::Signed),
        ..=18 if !options.decimals_as_fixed => Stored::new(Type::Int64, ColumnOrderKind::Signed),
        _ => Stored::fixed(decimal_bytes(precision), ColumnOrderKind::SignedBytes),
    };
    let (precision, scale) = (i32::from(precision), i32::from(scale));
    stored.element.precision = Some(precision);
    stored.element.scale = Some(scale);
    if digits > 0 {
        stored.conversion = WriteConversion::Rescale { digits };
    }
    Ok(stored
        .logical(LogicalType::Decimal { scale, precision })
        .converted(ConvertedType::Decimal))
}

/// Returns the smallest number of bytes that fit all numbers of `precision` digits in two's
/// complement.
fn decimal_bytes(precision: u8) -> i32 {
    // This is log10(2) in units of 1e-5, exact enough for 32 bytes.
    const LOG: i32 = 30_103;
    let holds = |bytes: &i32| (8 * bytes - 1) * LOG / 100_000 >= i32::from(precision);
    (1..32).find(holds).unwrap_or(32)
}
