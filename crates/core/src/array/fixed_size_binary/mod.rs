//! Fixed-size binaries and 16-bit floating-point numbers, byte for byte.

mod read;
mod write;

pub(super) use read::array;
pub(super) use write::values;
