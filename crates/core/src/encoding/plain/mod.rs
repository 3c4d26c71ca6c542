//! PLAIN, which stores values back to back. Byte arrays have a length prefix, and booleans are bits, with the least
//! significant first (Encodings, "Plain (PLAIN = 0)").

mod booleans;
mod decode;
mod encode;

pub(super) use booleans::{PlainBooleans, append_bits};
pub(crate) use decode::PlainDecoder;
pub(super) use encode::{Plain, append_plain};
