//! The order in which a column's values are compared for their bounds.

/// The order of values, by the column's logical type, or by its physical type if it has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ColumnOrderKind {
    /// INT32 and INT64 as signed integers. Booleans have this order, too, with false before true.
    Signed,
    /// INT32 and INT64 as unsigned integers.
    Unsigned,
    /// Byte arrays byte by byte, unsigned. A prefix sorts before any longer array.
    UnsignedBytes,
    /// Byte arrays as big-endian integers in two's complement, which is how decimals are stored.
    SignedBytes,
    /// FLOAT and DOUBLE.
    Float,
    /// Byte arrays of two bytes as half-precision floats.
    Float16,
    /// INT96 by day, then by nanosecond of the day.
    Int96,
    /// No order, so that there are no bounds.
    Undefined,
}

impl ColumnOrderKind {
    /// Returns true if values are floating-point numbers. Such values may be NaN, and their bounds
    /// may follow IEEE 754's total order.
    #[must_use]
    pub fn is_float(self) -> bool {
        matches!(self, Self::Float | Self::Float16)
    }
}
