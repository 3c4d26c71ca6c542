//! INTERVAL, that is, months, days and milliseconds in a FIXED_LEN_BYTE_ARRAY(12) (LogicalTypes, "INTERVAL").

mod read;
mod write;

pub(super) use read::array;
pub(super) use write::values;

/// The number of bytes per value.
const BYTES: usize = 12;
