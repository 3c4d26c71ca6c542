//! The conversions of values that the kernel demands.

use delta_kernel::arrow::datatypes::{DataType as T, TimeUnit};

/// Returns true if values may be read as the wanted type: type widening of Delta, the integers of checkpoints as dates and
/// timestamps, and timestamps of any unit.
pub(crate) fn can_become(file: &T, wanted: &T) -> bool {
    match (file, wanted) {
        (file, wanted) if file == wanted => true,
        (T::Int8, T::Int16 | T::Int32 | T::Int64 | T::Float64)
        | (T::Int16, T::Int32 | T::Int64 | T::Float64)
        | (T::Int32, T::Int64 | T::Float64 | T::Date32)
        | (T::Int64, T::Timestamp(TimeUnit::Microsecond, _))
        | (T::Float32, T::Float64)
        | (T::Date32, T::Timestamp(_, None))
        | (T::Timestamp(..), T::Timestamp(..))
        | (T::FixedSizeBinary(_), T::Binary) => true,
        (file, T::Decimal128(precision, scale)) => {
            let (digits, places) = match file {
                T::Decimal128(digits, places) => (*digits, *places),
                T::Int8 => (3, 0),
                T::Int16 => (5, 0),
                T::Int32 => (10, 0),
                T::Int64 => (20, 0),
                _ => return false,
            };
            let whole = |digits: u8, places: i8| i16::from(digits) - i16::from(places);
            *scale >= places && whole(*precision, *scale) >= whole(digits, places)
        }
        _ => false,
    }
}
