//! Fixed-size binaries and 16-bit floating-point numbers, byte for byte.

mod read;

pub(super) use read::array;
