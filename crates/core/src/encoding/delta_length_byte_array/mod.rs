//! DELTA_LENGTH_BYTE_ARRAY (Encodings, "Delta-length byte array (DELTA_LENGTH_BYTE_ARRAY = 6)"). This encoding stores
//! all lengths first, followed by the bytes of all values back to back.
//!
//! ```text
//! lengths (DELTA_BINARY_PACKED) | bytes
//! ```

mod decode;
mod encode;

pub(super) use decode::{BLOCK, DeltaLengthByteArray, Lengths, fit};
pub(super) use encode::DeltaLength;
