//! DECIMAL, stored as integers or as big-endian bytes of fixed or varying length (LogicalTypes, "DECIMAL").

mod read;
mod unscaled;
mod write;

pub(super) use read::{from_byte_array, from_fixed, from_int32, from_int64};
pub(super) use write::values;
