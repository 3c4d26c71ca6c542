//! DELTA_BINARY_PACKED (Encodings, "Delta Encoding (DELTA_BINARY_PACKED = 5)"). This encoding stores INT32 and INT64 as
//! bit-packed differences.

mod decode;
mod encode;

pub(super) use decode::Decoder;
pub(super) use encode::BlockShape;
