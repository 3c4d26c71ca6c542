//! Intervals in FIXED_LEN_BYTE_ARRAY(12) INTERVAL.

mod read;

pub(super) use read::array;
