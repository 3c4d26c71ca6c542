//! From record batches to the bytes of a file.

mod levels;
