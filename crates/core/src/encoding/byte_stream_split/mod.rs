//! BYTE_STREAM_SPLIT (Encodings, "Byte Stream Split (BYTE_STREAM_SPLIT = 9)"). This encoding splits values into one
//! stream per byte, since similar bytes compress better together.

mod decode;
mod encode;

pub(super) use decode::{Bytes, Numbers};
pub(super) use encode::Split;
