//! Timestamps in INT96, and in the 96-bit counts of a FIXED_LEN_BYTE_ARRAY(12) TIMESTAMP (LogicalTypes, "TIMESTAMP").

mod read;
mod write;

pub(super) use read::array;
pub(super) use write::values;

/// The number of bytes per value.
pub(super) const BYTES: usize = 12;
