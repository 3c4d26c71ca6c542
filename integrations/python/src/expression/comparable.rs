//! Decides which values our filters compare in the same way as pyarrow.

use herringbone::arrow::schema::DataType;
use herringbone::filter::Literal;

/// The largest integers up to which a floating-point type can represent all of them, which are 2 to
/// the power of its digits.
const EXACT_IN_F64: i128 = 1 << 53;
const EXACT_IN_F32: i128 = 1 << 24;

/// Returns true if a filter compares a column with a literal as pyarrow does. Our filters compare
/// exact values, but round a literal to the numbers of a floating-point column, while pyarrow
/// converts both to a common type.
pub(super) fn is_comparable(column: &DataType, literal: &Literal) -> bool {
    use Literal as L;
    match (column, literal) {
        (_, L::Null) => !column.is_nested(),
        (DataType::Boolean, L::Boolean(_)) => true,
        (DataType::Float64, L::Float(_)) => true,
        (DataType::Float64, L::Integer(value)) => value.abs() <= EXACT_IN_F64,
        (DataType::Float32, L::Float(value)) => {
            value.is_nan() || f64::from(*value as f32) == *value
        }
        (DataType::Float32, L::Integer(value)) => value.abs() <= EXACT_IN_F32,
        // This is safe, because pyarrow refuses integers that a floating-point number cannot
        // represent.
        (_, L::Integer(_) | L::Decimal { .. } | L::Float(_)) if column.is_integer() => true,
        (
            DataType::Decimal32(..)
            | DataType::Decimal64(..)
            | DataType::Decimal128(..)
            | DataType::Decimal256(..),
            L::Integer(_) | L::Decimal { .. },
        ) => true,
        (DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View, L::Text(_)) => true,
        (DataType::Binary | DataType::LargeBinary | DataType::BinaryView, L::Bytes(_)) => true,
        (DataType::FixedSizeBinary(length), L::Bytes(bytes)) => {
            usize::try_from(*length) == Ok(bytes.len())
        }
        (DataType::Date32 | DataType::Date64, L::Date(_)) => true,
        (DataType::Time32(_) | DataType::Time64(_), L::Time(_)) => true,
        (DataType::Timestamp(_, None), L::Date(_)) => true,
        (DataType::Timestamp(_, zone), L::Timestamp { is_utc, .. }) => zone.is_some() == *is_utc,
        (DataType::Duration(_), L::Duration(_)) => true,
        _ => false,
    }
}
