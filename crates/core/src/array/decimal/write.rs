//! Converts decimals to integers and to big-endian bytes.

use herringbone_arrow::array::cast::AsArray;
use herringbone_arrow::array::types::{
    ArrowPrimitiveType, Decimal32Type, Decimal64Type, Decimal128Type, Decimal256Type,
};
use herringbone_arrow::schema::DataType;
use herringbone_format::{Result, Type};
use herringbone_schema::{WriteConversion, WriteLeaf};

use super::unscaled::{Rescale, Unscaled, check_digits, digits, out_of_range};
use crate::array::leaf_values::no_form;
use crate::array::{Scratch, Selected};
use crate::encoding::physical_values::Values;

/// Returns the selected slots as numbers or bytes of the leaf's physical type.
///
/// # Errors
/// Fails with Argument if a value has more digits than the column allows.
pub(in crate::array) fn values<'a>(
    leaf: &WriteLeaf,
    selected: Selected<'a>,
    scratch: &'a mut Scratch,
) -> Result<Values<'a>> {
    let as_it_is = leaf.conversion == WriteConversion::Identity;
    match (leaf.physical_type, &leaf.data_type) {
        (Type::Int32, DataType::Decimal32(..)) if as_it_is => {
            let values = selected.primitive::<Decimal32Type>(&mut scratch.int32);
            check_digits(values, leaf).map(|()| Values::Int32(values))
        }
        (Type::Int64, DataType::Decimal64(..)) if as_it_is => {
            let values = selected.primitive::<Decimal64Type>(&mut scratch.int64);
            check_digits(values, leaf).map(|()| Values::Int64(values))
        }
        (_, DataType::Decimal32(..)) => of::<Decimal32Type>(leaf, selected, scratch),
        (_, DataType::Decimal64(..)) => of::<Decimal64Type>(leaf, selected, scratch),
        (_, DataType::Decimal128(..)) => of::<Decimal128Type>(leaf, selected, scratch),
        (_, DataType::Decimal256(..)) => of::<Decimal256Type>(leaf, selected, scratch),
        _ => Err(no_form(leaf)),
    }
}

/// Converts decimals of one Arrow type.
fn of<'a, T>(
    leaf: &WriteLeaf,
    selected: Selected<'a>,
    scratch: &'a mut Scratch,
) -> Result<Values<'a>>
where
    T: ArrowPrimitiveType,
    T::Native: Unscaled,
{
    match leaf.physical_type {
        Type::Int32 => {
            integers::<T>(leaf, selected, &mut scratch.int64)?;
            scratch.int32.clear();
            for value in &scratch.int64 {
                let stored = i32::try_from(*value).map_err(|_| out_of_range(*value, leaf))?;
                scratch.int32.push(stored);
            }
            Ok(Values::Int32(&scratch.int32))
        }
        Type::Int64 => {
            integers::<T>(leaf, selected, &mut scratch.int64)?;
            Ok(Values::Int64(&scratch.int64))
        }
        Type::ByteArray => decimals::<T>(leaf, selected, &mut scratch.bytes).map(Values::ByteArray),
        Type::FixedLenByteArray => {
            let width = leaf.type_length;
            decimal_bytes::<T>(leaf, selected, width, &mut scratch.bytes)?;
            Ok(Values::Fixed {
                bytes: &scratch.bytes,
                width,
            })
        }
        _ => Err(no_form(leaf)),
    }
}

/// Converts decimals to 64-bit integers.
fn integers<T>(leaf: &WriteLeaf, selected: Selected<'_>, out: &mut Vec<i64>) -> Result<()>
where
    T: ArrowPrimitiveType,
    T::Native: Unscaled,
{
    let rescale = Rescale::of(leaf.conversion);
    let mut scratch = Vec::new();
    let values = selected.dense_local(selected.array.as_primitive::<T>().values(), &mut scratch);
    out.clear();
    if rescale.is_none()
        && let Some(digits) = digits(&leaf.data_type)
        && T::Native::narrow(values, out)
        && i64::all_within(out, digits)
    {
        return Ok(());
    }
    check_digits(values, leaf)?;
    out.clear();
    out.reserve(values.len());
    for value in values {
        let stored = rescale.apply(*value);
        let stored = stored.and_then(|stored| i64::try_from(stored).ok());
        out.push(stored.ok_or_else(|| out_of_range(*value, leaf))?);
    }
    Ok(())
}

/// Converts decimals to big-endian two's complement with as few bytes as possible.
fn decimals<'a, T>(
    leaf: &WriteLeaf,
    selected: Selected<'a>,
    scratch: &'a mut Vec<u8>,
) -> Result<Vec<&'a [u8]>>
where
    T: ArrowPrimitiveType,
    T::Native: Unscaled,
{
    /// The widest decimal's byte count.
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

/// Converts decimals to big-endian two's complement in `width` bytes.
fn decimal_bytes<T>(
    leaf: &WriteLeaf,
    selected: Selected<'_>,
    width: usize,
    out: &mut Vec<u8>,
) -> Result<()>
where
    T: ArrowPrimitiveType,
    T::Native: Unscaled,
{
    let rescale = Rescale::of(leaf.conversion);
    let mut scratch = Vec::new();
    let values = selected.dense_local(selected.array.as_primitive::<T>().values(), &mut scratch);
    check_digits(values, leaf)?;
    out.clear();
    if rescale.is_none() && T::Native::append_big_endian(values, width, out) {
        return Ok(());
    }
    out.clear();
    out.reserve(values.len() * width);
    for value in values {
        if !rescale.append_big_endian(*value, width, out) {
            return Err(out_of_range(*value, leaf));
        }
    }
    Ok(())
}
