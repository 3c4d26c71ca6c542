//! BYTE_STREAM_SPLIT (Encodings, "Byte Stream Split (BYTE_STREAM_SPLIT = 9)"). This encoding has one stream for each
//! byte of a value.

mod decode;
mod encode;

pub(super) use decode::{Bytes, Numbers};
pub(super) use encode::Split;
