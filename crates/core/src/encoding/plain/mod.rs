//! PLAIN: values back to back, byte arrays with a length prefix, booleans as bits, the least significant first
//! (Encodings, "Plain (PLAIN = 0)").

mod booleans;
mod decode;
mod encode;

pub(super) use booleans::{PlainBooleans, append_bits};
pub(crate) use decode::PlainDecoder;
pub(super) use encode::{Plain, append_plain};
