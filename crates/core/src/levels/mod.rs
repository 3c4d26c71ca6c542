//! Decodes and encodes the repetition and definition levels of a page (Encodings, "Run Length Encoding / Bit-Packing
//! Hybrid (RLE = 3)", and the deprecated BIT_PACKED).

use herringbone_arrow::buffer::Buffer;

mod decode;
mod encode;

pub(crate) use decode::Levels;
pub use encode::{DefinitionLevels, EncodedLevels, PageLevels};

/// The levels of a page, without a length prefix.
#[derive(Debug, Clone)]
pub(crate) struct LevelSection {
    /// True if the encoding is BIT_PACKED, false if it is RLE.
    pub(crate) bit_packed: bool,
    pub(crate) bytes: Buffer,
}

/// Returns the bit width for levels up to `max_level`.
pub(crate) fn level_width(max_level: u8) -> u8 {
    (u8::BITS - max_level.leading_zeros()) as u8
}
