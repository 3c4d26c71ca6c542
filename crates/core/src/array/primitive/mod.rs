//! Numbers, dates, times, timestamps and durations in INT32, INT64, FLOAT and DOUBLE.

mod read;

pub(super) use read::array;
