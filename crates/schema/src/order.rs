//! The order in which values of a column are compared for their bounds.

/// How values compare, by the logical type of the column or else by its physical type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ColumnOrderKind {
    /// INT32 and INT64 as signed integers; also false before true.
    Signed,
    /// INT32 and INT64 as unsigned integers.
    Unsigned,
    /// Byte arrays byte by byte, unsigned; a prefix comes first.
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
    /// Whether values are floating-point numbers, which may be NaN, and whose bounds may follow the total order
    /// of IEEE 754.
    #[must_use]
    pub fn is_float(self) -> bool {
        matches!(self, Self::Float | Self::Float16)
    }
}
