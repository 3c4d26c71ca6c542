//! RLE for booleans (Encodings, "Run Length Encoding / Bit-Packing Hybrid (RLE = 3)"). This encoding stores runs in the
//! RLE and bit-packing hybrid, preceded by their length.
//!
//! ```text
//! length of the runs in bytes (u32) | runs of bits
//! ```

mod decode;
mod encode;

pub(super) use decode::RleBooleans;
pub(super) use encode::append_runs;
