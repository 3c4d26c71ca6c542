//! RLE_DICTIONARY, formerly PLAIN_DICTIONARY (Encodings, "Dictionary Encoding (PLAIN_DICTIONARY = 2 and RLE_DICTIONARY
//! = 8)"). This encoding stores indices into the dictionary page of the column chunk.

mod decode;
mod encode;

pub(crate) use decode::Indices;
pub use encode::{Dictionary, ranks};
