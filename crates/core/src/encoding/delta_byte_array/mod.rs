//! DELTA_BYTE_ARRAY (Encodings, "Delta Strings (DELTA_BYTE_ARRAY = 7)"). For each value, this encoding stores its
//! suffix and the length of the prefix shared with the previous value.
//!
//! ```text
//! prefix lengths (DELTA_BINARY_PACKED) | suffix lengths (likewise) | suffixes back to back
//! ```

mod decode;
mod encode;

pub(super) use decode::{DeltaByteArray, FixedLength};
pub(super) use encode::DeltaBytes;
