//! Repetition and definition levels of one page, both ways (Encodings, "Run Length Encoding /
//! Bit-Packing Hybrid (RLE = 3)", and the deprecated BIT_PACKED).

use herringbone_arrow::buffer::Buffer;

mod decode;
mod encode;

pub(crate) use decode::Levels;
pub use encode::{DefinitionLevels, EncodedLevels, PageLevels};

/// The levels of a page, without length prefix.
#[derive(Debug, Clone)]
pub(crate) struct LevelSection {
    /// RLE or BIT_PACKED.
    pub(crate) bit_packed: bool,
    pub(crate) bytes: Buffer,
}

/// Returns the number of bits of a level of at most `max_level`.
pub(crate) fn level_width(max_level: u8) -> u8 {
    (u8::BITS - max_level.leading_zeros()) as u8
}
