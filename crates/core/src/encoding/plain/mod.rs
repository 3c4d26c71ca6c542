//! PLAIN (Encodings, "Plain (PLAIN = 0)"). This encoding stores values back to back. Byte arrays have a length prefix,
//! and booleans are bits, least significant first.

mod booleans;
mod decode;
mod encode;

pub(super) use booleans::{PlainBooleans, append_bits};
pub(crate) use decode::PlainDecoder;
pub(super) use encode::{Plain, append_plain};
