//! RLE_DICTIONARY, formerly PLAIN_DICTIONARY, which stores indices into the column chunk's dictionary page (Encodings,
//! "Dictionary Encoding (PLAIN_DICTIONARY = 2 and RLE_DICTIONARY = 8)").

mod decode;
mod encode;

pub(crate) use decode::Indices;
pub use encode::{Dictionary, ranks};
