//! INTERVAL: months, days and milliseconds in FIXED_LEN_BYTE_ARRAY(12): LogicalTypes,
//! "INTERVAL".

mod read;
mod write;

pub(super) use read::array;
pub(super) use write::values;

/// Bytes of a value.
const BYTES: usize = 12;
