//! DELTA_BYTE_ARRAY (Encodings, "Delta Strings (DELTA_BYTE_ARRAY = 7)"). This encoding stores the length of the prefix
//! that each value shares with its predecessor, and the suffix.
//!
//! ```text
//! prefix lengths (DELTA_BINARY_PACKED) | suffix lengths (likewise) | suffixes back to back
//! ```

mod decode;
mod encode;

pub(super) use decode::{DeltaByteArray, FixedLength};
pub(super) use encode::DeltaBytes;
