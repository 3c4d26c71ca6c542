//! The order of a column's values, used to compare bounds.

/// The order of a column's values, according to its logical type, or its physical type if it has
/// none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ColumnOrderKind {
    /// INT32 and INT64 as signed integers. Booleans also have this order, with false before true.
    Signed,
    /// INT32 and INT64 as unsigned integers.
    Unsigned,
    /// Byte arrays by unsigned bytes. A prefix sorts before any longer array.
    UnsignedBytes,
    /// Byte arrays as big-endian integers in two's complement, the stored form of decimals.
    SignedBytes,
    /// FLOAT and DOUBLE.
    Float,
    /// 2-byte arrays as half-precision floats.
    Float16,
    /// INT96 by day, then by nanosecond of the day.
    Int96,
    /// No order, so there are no bounds either.
    Undefined,
}

impl ColumnOrderKind {
    /// Returns true if values are floating-point numbers. Note that these can be NaN, and that
    /// their bounds can follow IEEE 754's total order.
    #[must_use]
    pub fn is_float(self) -> bool {
        matches!(self, Self::Float | Self::Float16)
    }
}
