//! DELTA_LENGTH_BYTE_ARRAY, which stores all lengths, and then all values' bytes back to back (Encodings, "Delta-length
//! byte array (DELTA_LENGTH_BYTE_ARRAY = 6)").
//!
//! ```text
//! lengths (DELTA_BINARY_PACKED) | bytes
//! ```

mod decode;
mod encode;

pub(super) use decode::{BLOCK, DeltaLengthByteArray, Lengths, fit};
pub(super) use encode::DeltaLength;
