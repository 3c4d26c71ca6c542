//! Reads numbers, dates, times and timestamps from INT32, INT64, FLOAT and DOUBLE.
//!
//! Most of these Arrow types have the physical type's bits, so we copy their values unchanged. The exceptions are
//! narrower integers and times whose unit differs from the file's.

use herringbone_arrow::schema::DataType;
use herringbone_format::{Result, Type};
use herringbone_kernels::Malformed;
use herringbone_kernels::plain;
use herringbone_schema::Conversion;

use crate::array::convert::{Blocks, Identity};
use crate::array::fixed_width::{FixedWidth, converted};
use crate::array::{LeafArray, LeafType, decimal, unsupported};

const MILLIS_PER_DAY: i64 = 86_400_000;

/// Returns the array for a leaf with a numeric physical type.
///
/// # Errors
/// Fails with Unsupported if the Arrow type cannot represent the physical type.
pub(in crate::array) fn array(leaf: &LeafType) -> Result<Box<dyn LeafArray>> {
    match leaf.physical_type {
        Type::Int32 => from_int32(leaf),
        Type::Int64 => from_int64(leaf),
        Type::Float => match &leaf.data_type {
            DataType::Float32 => Ok(same::<f32>(leaf)),
            _ => Err(unsupported(leaf)),
        },
        Type::Double => match &leaf.data_type {
            DataType::Float64 => Ok(same::<f64>(leaf)),
            _ => Err(unsupported(leaf)),
        },
        _ => Err(unsupported(leaf)),
    }
}

/// Returns an array with the physical type's bits.
fn same<U>(leaf: &LeafType) -> Box<dyn LeafArray>
where
    U: crate::encoding::Native + herringbone_arrow::buffer::ArrowNativeType,
{
    Box::new(FixedWidth::<U, _>::new(leaf.data_type.clone(), 1, Identity))
}

fn from_int32(leaf: &LeafType) -> Result<Box<dyn LeafArray>> {
    use DataType::*;
    Ok(match &leaf.data_type {
        Time32(_) if leaf.conversion == Conversion::MillisToSeconds => {
            converted::<i32, _>(leaf, Blocks::of_hint(millis_to_seconds))
        }
        Int32 | UInt32 | Date32 | Time32(_) | Decimal32(..) => same::<i32>(leaf),
        Int8 => converted::<i32, _>(leaf, Blocks::of_annotation(narrow::<i8>)),
        UInt8 => converted::<i32, _>(leaf, Blocks::of_annotation(narrow::<u8>)),
        Int16 => converted::<i32, _>(leaf, Blocks::of_annotation(narrow::<i16>)),
        UInt16 => converted::<i32, _>(leaf, Blocks::of_annotation(narrow::<u16>)),
        Date64 => converted::<i32, _>(leaf, Blocks::new(days_to_millis)),
        Decimal64(..) | Decimal128(..) | Decimal256(..) => decimal::from_int32(leaf)?,
        _ => return Err(unsupported(leaf)),
    })
}

fn from_int64(leaf: &LeafType) -> Result<Box<dyn LeafArray>> {
    use DataType::*;
    Ok(match &leaf.data_type {
        Timestamp(..) if leaf.conversion == Conversion::MillisToSeconds => {
            converted::<i64, _>(leaf, Blocks::of_hint(millis_to_seconds_64))
        }
        Timestamp(..) | Time64(_) => same::<i64>(leaf),
        Int64 | UInt64 | Duration(_) | Date64 | Decimal64(..) => same::<i64>(leaf),
        Decimal32(..) | Decimal128(..) | Decimal256(..) => decimal::from_int64(leaf)?,
        _ => return Err(unsupported(leaf)),
    })
}

/// An integer type with fewer bits than the stored integer.
trait Narrow {
    /// The bias added to a number to check its range. If the number fits, the sum has no bits above `BITS`. Otherwise
    /// it has at least one such bit.
    const BIAS: i32;
    const BITS: u32;
    /// The error for an out-of-range number.
    const MISFIT: Malformed;
    /// Returns the lowest bits of `value`.
    fn narrow(value: i32) -> Self;
}

macro_rules! narrow {
    ($($type:ident $bias:literal $annotation:literal $range:literal,)*) => {$(
        impl Narrow for $type {
            const BIAS: i32 = $bias;
            const BITS: u32 = Self::BITS;
            const MISFIT: Malformed = Malformed(concat!(
                "a number that ", $annotation, " does not allow (", $range, ")",
            ));
            fn narrow(value: i32) -> Self {
                value as Self
            }
        }
    )*};
}
narrow! {
    i8 128 "INTEGER(8,true)" "-128 to 127",
    u8 0 "INTEGER(8,false)" "0 to 255",
    i16 32768 "INTEGER(16,true)" "-32768 to 32767",
    u16 0 "INTEGER(16,false)" "0 to 65535",
}

/// Narrows the numbers. We accumulate the excess bits and check them once at the end, which keeps the loop branchless.
fn narrow<T: Narrow>(bytes: &[u8], out: &mut Vec<T>) -> Result<(), Malformed> {
    let mut all = 0;
    out.extend(plain::values::<i32>(bytes).map(|value| {
        all |= value.wrapping_add(T::BIAS).cast_unsigned();
        T::narrow(value)
    }));
    match all >> T::BITS {
        0 => Ok(()),
        _ => Err(T::MISFIT),
    }
}

fn days_to_millis(bytes: &[u8], out: &mut Vec<i64>) -> Result<(), Malformed> {
    out.extend(plain::values::<i32>(bytes).map(|days| i64::from(days) * MILLIS_PER_DAY));
    Ok(())
}

/// The error for a time with a fractional second. A file must not contain such a time if its Arrow schema has whole
/// seconds.
const FRACTION: Malformed =
    Malformed("a time has milliseconds, but the Arrow schema in the file declares whole seconds");

fn millis_to_seconds(bytes: &[u8], out: &mut Vec<i32>) -> Result<(), Malformed> {
    let values = plain::values::<i32>(bytes);
    out.extend(values.clone().map(|millis| millis / 1_000));
    let mut rest = values.map(|millis| millis % 1_000);
    if rest.all(|rest| rest == 0) {
        Ok(())
    } else {
        Err(FRACTION)
    }
}

fn millis_to_seconds_64(bytes: &[u8], out: &mut Vec<i64>) -> Result<(), Malformed> {
    let values = plain::values::<i64>(bytes);
    out.extend(values.clone().map(|millis| millis / 1_000));
    let mut rest = values.map(|millis| millis % 1_000);
    if rest.all(|rest| rest == 0) {
        Ok(())
    } else {
        Err(FRACTION)
    }
}
