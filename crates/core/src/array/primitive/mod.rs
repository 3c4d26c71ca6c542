//! Numbers, dates, times, timestamps and durations in INT32, INT64, FLOAT and DOUBLE (LogicalTypes, "Numeric Types" and
//! "Temporal Types").

mod read;
mod times;
mod write;

pub(super) use read::array;
pub(super) use times::per_second;
pub(super) use write::values;
