//! Bounds in their file format, and their order.

use super::bytes::ByteOrder;
use super::float::Width;
use herringbone_format::{Statistics, Type};
use herringbone_schema::ColumnOrderKind;
use std::cmp::Ordering;

/// Bounds as PLAIN values. Byte arrays have no length prefix.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct EncodedBounds {
    /// A lower bound on the values, or `None` if empty or unordered.
    pub min: Option<Vec<u8>>,
    /// An upper bound on the values, or `None` if empty or unordered.
    pub max: Option<Vec<u8>>,
    /// True if `min` is one of the values.
    pub min_exact: bool,
    /// True if `max` is one of the values.
    pub max_exact: bool,
    /// The number of NaNs, or `None` for values other than floating-point numbers.
    pub nan_count: Option<i64>,
}

impl EncodedBounds {
    /// Converts the bounds to the statistics for a page or column chunk with `null_count` nulls.
    #[must_use]
    pub fn into_statistics(self, null_count: i64) -> Statistics {
        Statistics::new()
            .null_count(null_count)
            .is_max_value_exact(self.max.as_ref().map(|_| self.max_exact))
            .is_min_value_exact(self.min.as_ref().map(|_| self.min_exact))
            .max_value(self.max)
            .min_value(self.min)
            .nan_count(self.nan_count)
    }
}

/// Compares two encoded bounds. Returns `None` if there is no order, or if either bound is a NaN or not a value of the
/// type.
#[must_use]
pub fn compare(order: ColumnOrderKind, physical: Type, a: &[u8], b: &[u8]) -> Option<Ordering> {
    use ColumnOrderKind::{Float, Float16, Int96, Signed, SignedBytes, Unsigned, UnsignedBytes};
    let float = |width: Width| Some(width.decode(a)?.cmp(&width.decode(b)?));
    match (order, physical) {
        (Signed | Unsigned, Type::Boolean) => Some(a.cmp(b)),
        (Signed, Type::Int32) => Some(i32_of(a)?.cmp(&i32_of(b)?)),
        (Signed, Type::Int64) => Some(i64_of(a)?.cmp(&i64_of(b)?)),
        (Unsigned, Type::Int32) => {
            Some(i32_of(a)?.cast_unsigned().cmp(&i32_of(b)?.cast_unsigned()))
        }
        (Unsigned, Type::Int64) => {
            Some(i64_of(a)?.cast_unsigned().cmp(&i64_of(b)?.cast_unsigned()))
        }
        (Float, Type::Float) => float(Width::Single),
        (Float, Type::Double) => float(Width::Double),
        (Float16, Type::FixedLenByteArray) => float(Width::Half),
        (Int96, Type::Int96) => Some(ByteOrder::Int96.compare(a, b)),
        (UnsignedBytes, _) => Some(a.cmp(b)),
        (SignedBytes, _) => Some(ByteOrder::Signed.compare(a, b)),
        _ => None,
    }
}

fn i32_of(bytes: &[u8]) -> Option<i32> {
    Some(i32::from_le_bytes(bytes.try_into().ok()?))
}

fn i64_of(bytes: &[u8]) -> Option<i64> {
    Some(i64::from_le_bytes(bytes.try_into().ok()?))
}
