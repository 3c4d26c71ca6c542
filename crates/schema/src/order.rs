//! The order in which values of a column are compared for their bounds.

/// The comparison of values, by the column's logical type, or by its physical type if it has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ColumnOrderKind {
    /// INT32 and INT64 as signed integers. Also booleans, with false before true.
    Signed,
    /// INT32 and INT64 as unsigned integers.
    Unsigned,
    /// Byte arrays byte by byte, unsigned. A prefix sorts before any longer array.
    UnsignedBytes,
    /// Byte arrays as big-endian integers in two's complement: decimals.
    SignedBytes,
    /// FLOAT and DOUBLE.
    Float,
    /// Byte arrays of two bytes as half-precision floats.
    Float16,
    /// INT96 by day, then by nanosecond of the day.
    Int96,
    /// No order: there are no bounds.
    Undefined,
}

impl ColumnOrderKind {
    /// Returns true if values are floating-point numbers. They may be NaN, and their bounds may follow the
    /// total order of IEEE 754.
    #[must_use]
    pub fn is_float(self) -> bool {
        matches!(self, Self::Float | Self::Float16)
    }
}
