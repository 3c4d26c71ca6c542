//! Timestamps in INT96, and in FIXED_LEN_BYTE_ARRAY(12).

mod read;

pub(super) use read::array;
