//! ALP, which stores FLOAT and DOUBLE as scaled integers with exceptions (Encodings, "Adaptive Lossless floating-Point
//! (ALP = 10)").

mod decode;
mod encode;

pub(super) use decode::Decoder;
