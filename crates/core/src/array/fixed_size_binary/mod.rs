//! Fixed-size binaries and 16-bit floating-point numbers, whose bytes are stored unchanged (LogicalTypes, "FLOAT16" and
//! "UUID").

mod read;
mod write;

pub(super) use read::array;
pub(super) use write::values;
