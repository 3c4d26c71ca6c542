//! DELTA_BINARY_PACKED, which stores INT32 and INT64 as bit-packed differences (Encodings, "Delta Encoding
//! (DELTA_BINARY_PACKED = 5)").

mod decode;
mod encode;

pub(super) use decode::Decoder;
pub(super) use encode::BlockShape;
