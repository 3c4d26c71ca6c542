//! ALP (Encodings, "Adaptive Lossless floating-Point (ALP = 10)"). This encoding stores FLOAT and DOUBLE as scaled
//! integers with exceptions.

mod decode;
mod encode;

pub(super) use decode::Decoder;
