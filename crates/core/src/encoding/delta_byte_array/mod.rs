//! DELTA_BYTE_ARRAY: how much each value shares with the one before it, and what follows then
//! (Encodings, "Delta Strings (DELTA_BYTE_ARRAY = 7)").
//!
//! ```text
//! prefix lengths (DELTA_BINARY_PACKED) | suffix lengths (likewise) | suffixes back to back
//! ```

mod decode;
mod encode;

pub(super) use decode::{DeltaByteArray, FixedLength};
pub(super) use encode::DeltaBytes;
