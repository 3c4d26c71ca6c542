//! Repetition and definition levels of one page, both ways (Encodings, "Run Length Encoding /
//! Bit-Packing Hybrid (RLE = 3)", and the deprecated BIT_PACKED).

mod decode;
mod encode;

pub(crate) use decode::Levels;
pub use encode::{DefinitionLevels, EncodedLevels, PageLevels};
