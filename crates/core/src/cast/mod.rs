//! Lossless array casts, to a type that can represent every value. The one exception is times: you can ask for
//! truncation.
//!
//! A read needs casts if the caller's schema has different types than the file, for example when types were widened
//! over time.

use std::sync::Arc;

use herringbone_arrow::array::types::{ArrowPrimitiveType, Int32Type, Int64Type};
use herringbone_arrow::array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, LargeBinaryArray, LargeStringArray,
    PrimitiveArray, StringArray, StringViewArray, cast::AsArray, make_array, new_null_array,
};
use herringbone_arrow::buffer::i256;
use herringbone_arrow::schema::{ArrowError, DataType, TimeUnit};
use herringbone_format::{Error, Result};

mod constant;
mod decimal;

pub use constant::{Constant, null_bytes};
use decimal::{decimal, decimal_digits, decimal_places};

/// The strictness of casts between times.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TimeCasts {
    /// Times keep their value and their kind. If this is impossible, the cast fails.
    #[default]
    Exact,
    /// Times are truncated toward zero if the wanted unit is coarser. A timestamp without a time zone can become a
    /// timestamp in UTC, and vice versa.
    Loose,
}

/// A cast between two types.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cast {
    to: DataType,
    kind: Kind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    /// A number to a wider number.
    Widen,
    /// An integer or decimal to a decimal, multiplying by this power of ten.
    Decimal(u32),
    /// A count of time units to another unit.
    Time(Factor),
    /// Text to its bytes.
    Bytes,
    /// Bytes in UTF-8 to text.
    Text,
    /// Nulls without a type to nulls of the wanted type.
    Null,
    /// A cast of a dictionary's values.
    Dictionary(Box<Cast>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Factor {
    Multiply(i64),
    /// Division, failing if there is a remainder.
    Divide(i64),
    /// Division, dropping any remainder.
    Truncate(i64),
}

impl Cast {
    /// Creates a cast between two types. Returns `None` if the target type cannot represent the source type's values.
    /// If success depends on the values themselves, [`Self::apply`] checks them.
    pub fn new(from: &DataType, to: &DataType) -> Option<Self> {
        Self::with(TimeCasts::Exact, from, to)
    }

    /// Creates a cast between two types like [`Self::new`], but lets you choose how times are cast.
    pub fn with(times: TimeCasts, from: &DataType, to: &DataType) -> Option<Self> {
        use DataType as T;
        let kind = match (from, to) {
            (T::Null, _) => Kind::Null,
            (T::Dictionary(key, from), T::Dictionary(wanted_key, to)) if key == wanted_key => {
                Kind::Dictionary(Box::new(Self::with(times, from, to)?))
            }
            (T::Utf8, T::Binary)
            | (T::LargeUtf8, T::LargeBinary)
            | (T::Utf8View, T::BinaryView)
            | (T::FixedSizeBinary(_), T::Binary | T::LargeBinary | T::BinaryView) => Kind::Bytes,
            (T::Binary, T::Utf8)
            | (T::LargeBinary, T::LargeUtf8)
            | (T::BinaryView, T::Utf8View) => Kind::Text,
            _ if is_widening(from, to) => Kind::Widen,
            _ => match (decimal_digits(from), decimal_places(to)) {
                (Some((whole, scale)), Some((wanted_whole, wanted_scale))) => {
                    let is_held = whole <= wanted_whole && scale <= wanted_scale;
                    is_held.then(|| Kind::Decimal((wanted_scale - scale).unsigned_abs().into()))?
                }
                _ => Kind::Time(time_factor(times, from, to)?),
            },
        };
        Some(Self {
            to: to.clone(),
            kind,
        })
    }

    /// Returns the target type.
    pub fn data_type(&self) -> &DataType {
        &self.to
    }

    /// Returns the number of value bytes allocated by [`Self::apply`]. Contiguous text and bytes need none, because
    /// they are not copied.
    pub fn bytes(&self, array: &ArrayRef) -> usize {
        let slot = match &self.kind {
            Kind::Dictionary(cast) => {
                let array = array.as_any_dictionary_opt();
                return array.map_or(0, |array| cast.bytes(array.values()));
            }
            Kind::Text => 0,
            // Each value needs an offset or a view in addition to its bytes.
            Kind::Bytes => match array.data_type() {
                DataType::FixedSizeBinary(width) => usize::try_from(*width).unwrap_or(0) + 16,
                _ => 0,
            },
            Kind::Null | Kind::Widen | Kind::Decimal(_) | Kind::Time(_) => null_bytes(&self.to),
        };
        array.len().saturating_mul(slot)
    }

    /// Casts an array's values.
    ///
    /// # Errors
    /// Fails with [Unsupported](herringbone_format::ErrorKind::Unsupported) if a value does not fit the target type.
    pub fn apply(&self, array: &ArrayRef) -> Result<ArrayRef> {
        let to = &self.to;
        let cast = match &self.kind {
            Kind::Null => Some(new_null_array(to, array.len())),
            Kind::Widen => widen(array, to),
            Kind::Decimal(zeros) => return decimal(array, to, *zeros),
            Kind::Time(factor) => return time(array, to, *factor),
            Kind::Bytes => return bytes(array, to),
            Kind::Text => return text(array),
            Kind::Dictionary(cast) => match array.as_any_dictionary_opt() {
                Some(array) => Some(array.with_values(cast.apply(array.values())?)),
                None => None,
            },
        };
        cast.ok_or_else(|| mismatch(array, to))
    }
}

/// Declares the widening number conversions, based on the standard [`From`] implementations.
macro_rules! widenings {
    ($($from:ident => $($to:ident)+;)*) => {
        fn is_widening(from: &DataType, to: &DataType) -> bool {
            matches!((from, to), $($((DataType::$from, DataType::$to))|+)|*)
        }

        fn widen(array: &ArrayRef, to: &DataType) -> Option<ArrayRef> {
            Some(match (array.data_type(), to) {
                $($((DataType::$from, DataType::$to) => {
                    let array = array.as_primitive_opt::<number::$from>()?;
                    type To = <number::$to as ArrowPrimitiveType>::Native;
                    Arc::new(array.unary::<_, number::$to>(To::from))
                })+)*
                _ => return None,
            })
        }
    };
}

widenings! {
    Int8 => Int16 Int32 Int64 Float16 Float32 Float64;
    Int16 => Int32 Int64 Float32 Float64;
    Int32 => Int64 Float64;
    UInt8 => UInt16 UInt32 UInt64 Int16 Int32 Int64 Float16 Float32 Float64;
    UInt16 => UInt32 UInt64 Int32 Int64 Float32 Float64;
    UInt32 => UInt64 Int64 Float64;
    Float16 => Float32 Float64;
    Float32 => Float64;
}

/// Arrow's numeric types under the names that [`DataType`] uses.
mod number {
    pub(super) use herringbone_arrow::array::types::{
        Float16Type as Float16, Float32Type as Float32, Float64Type as Float64, Int8Type as Int8,
        Int16Type as Int16, Int32Type as Int32, Int64Type as Int64, UInt8Type as UInt8,
        UInt16Type as UInt16, UInt32Type as UInt32, UInt64Type as UInt64,
    };
}

/// Returns the number of these units in a second.
fn per_second(unit: TimeUnit) -> i64 {
    match unit {
        TimeUnit::Second => 1,
        TimeUnit::Millisecond => 1_000,
        TimeUnit::Microsecond => 1_000_000,
        TimeUnit::Nanosecond => 1_000_000_000,
    }
}

/// Returns the factor between two units of time, or `None` if the types do not represent the same kind of time.
fn time_factor(times: TimeCasts, from: &DataType, to: &DataType) -> Option<Factor> {
    use DataType as T;
    let is_loose = times == TimeCasts::Loose;
    const SECONDS_OF_DAY: i64 = 86_400;
    let (from, to) = match (from, to) {
        // A date has no time zone, so it only becomes a timestamp without a time zone.
        (T::Date32, T::Timestamp(unit, None)) => {
            return Some(Factor::Multiply(SECONDS_OF_DAY * per_second(*unit)));
        }
        (T::Date32, T::Date64) => return Some(Factor::Multiply(SECONDS_OF_DAY * 1_000)),
        (T::Timestamp(from, None), T::Timestamp(to, None)) => (*from, *to),
        // Any two time zones will do here, because a time zone affects only how instants are displayed.
        (T::Timestamp(from, Some(_)), T::Timestamp(to, Some(_))) => (*from, *to),
        (T::Timestamp(from, None), T::Timestamp(to, Some(zone)))
        | (T::Timestamp(from, Some(zone)), T::Timestamp(to, None))
            if is_loose && ["UTC", "+00:00", "Z"].contains(&zone.as_ref()) =>
        {
            (*from, *to)
        }
        (T::Duration(from), T::Duration(to)) => (*from, *to),
        (T::Time32(from) | T::Time64(from), T::Time32(to) | T::Time64(to)) => (*from, *to),
        _ => return None,
    };
    let (from, to) = (per_second(from), per_second(to));
    Some(match from > to {
        true if is_loose => Factor::Truncate(from / to),
        true => Factor::Divide(from / to),
        false => Factor::Multiply(to / from),
    })
}

fn time(array: &ArrayRef, to: &DataType, factor: Factor) -> Result<ArrayRef> {
    let counts: PrimitiveArray<Int64Type> = match array.data_type().primitive_width() {
        Some(4) => {
            let counts = relabelled(array, &DataType::Int32)?;
            let counts = counts.as_primitive_opt::<Int32Type>();
            counts.ok_or_else(|| mismatch(array, to))?.unary(i64::from)
        }
        _ => {
            let counts = relabelled(array, &DataType::Int64)?;
            let counts = counts.as_primitive_opt::<Int64Type>();
            counts.ok_or_else(|| mismatch(array, to))?.clone()
        }
    };
    let cast = |value: i64| match factor {
        Factor::Multiply(factor) => value.checked_mul(factor),
        Factor::Divide(divisor) => (value % divisor == 0).then_some(value / divisor),
        Factor::Truncate(divisor) => Some(value / divisor),
    };
    let out_of_range = |value: i64| out_of_range(i256::from(value), array, to);
    let cast: ArrayRef = match to.primitive_width() {
        Some(4) => {
            let narrow = |value| cast(value).and_then(|value| i32::try_from(value).ok());
            let counts: PrimitiveArray<Int32Type> =
                counts.try_unary(|value| narrow(value).ok_or_else(|| out_of_range(value)))?;
            Arc::new(counts)
        }
        _ => {
            let counts: PrimitiveArray<Int64Type> =
                counts.try_unary(|value| cast(value).ok_or_else(|| out_of_range(value)))?;
            Arc::new(counts)
        }
    };
    relabelled(&cast, to)
}

/// Reinterprets the values as another type of equal width.
fn relabelled(array: &ArrayRef, to: &DataType) -> Result<ArrayRef> {
    let data = array.to_data().into_builder().data_type(to.clone());
    let data = data.build().map_err(|error| refused(array, to, &error))?;
    Ok(make_array(data))
}

/// Converts text or fixed-size binary values to bytes.
fn bytes(array: &ArrayRef, to: &DataType) -> Result<ArrayRef> {
    if let Some(array) = array.as_fixed_size_binary_opt() {
        return Ok(match to {
            DataType::Binary => Arc::new(array.iter().collect::<BinaryArray>()),
            DataType::LargeBinary => Arc::new(array.iter().collect::<LargeBinaryArray>()),
            _ => Arc::new(array.iter().collect::<BinaryViewArray>()),
        });
    }
    if let Some(text) = array.as_string_opt::<i32>() {
        return Ok(Arc::new(BinaryArray::from(text.clone())));
    }
    if let Some(text) = array.as_string_opt::<i64>() {
        return Ok(Arc::new(LargeBinaryArray::from(text.clone())));
    }
    match array.as_string_view_opt() {
        Some(text) => Ok(Arc::new(text.clone().to_binary_view())),
        None => Err(mismatch(array, to)),
    }
}

/// Converts bytes to text.
fn text(array: &ArrayRef) -> Result<ArrayRef> {
    let no_text =
        |error: ArrowError| Error::unsupported(format!("the bytes are not text: {error}"));
    if let Some(bytes) = array.as_binary_opt::<i32>() {
        let text = StringArray::try_from_binary(bytes.clone());
        return Ok(Arc::new(text.map_err(no_text)?));
    }
    if let Some(bytes) = array.as_binary_opt::<i64>() {
        let text = LargeStringArray::try_from_binary(bytes.clone());
        return Ok(Arc::new(text.map_err(no_text)?));
    }
    match array.as_binary_view_opt() {
        Some(bytes) => {
            let text: StringViewArray = bytes.clone().to_string_view().map_err(no_text)?;
            Ok(Arc::new(text))
        }
        None => Err(mismatch(array, &DataType::Utf8)),
    }
}

fn out_of_range(value: i256, array: &ArrayRef, to: &DataType) -> Error {
    let from = array.data_type();
    Error::unsupported(format!(
        "the value {value} of {from} does not fit into {to}"
    ))
}

fn refused(array: &ArrayRef, to: &DataType, error: &ArrowError) -> Error {
    let from = array.data_type();
    Error::unsupported(format!("{from} cannot be cast to {to}: {error}"))
}

fn mismatch(array: &ArrayRef, to: &DataType) -> Error {
    let from = array.data_type();
    Error::argument(format!(
        "{from} in the file cannot be cast to the wanted {to}"
    ))
}
