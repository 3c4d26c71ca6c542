//! BYTE_STREAM_SPLIT, which has one stream for each byte of a value (Encodings, "Byte Stream Split (BYTE_STREAM_SPLIT =
//! 9)").

mod decode;
mod encode;

pub(super) use decode::{Bytes, Numbers};
pub(super) use encode::Split;
