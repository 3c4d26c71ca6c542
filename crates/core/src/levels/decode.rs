//! Decodes one page's levels into the form needed by the column. If a column has no lists and its highest definition
//! level is 1, the definition levels are exactly the validity bitmap, so we decode them straight into bits. All other
//! levels become bytes, in blocks that stay in the L1 cache.
//!
//! The level encodings are in Encodings, "Run Length Encoding / Bit-Packing Hybrid (RLE = 3)", and the deprecated
//! "Bit-packed (Deprecated) (BIT_PACKED = 4)".

use herringbone_arrow::buffer::Buffer;
use herringbone_format::{Error, Result};
use herringbone_kernels::bit_unpack::extend_u8_msb;
use herringbone_kernels::bitmap::Bitmap;
use herringbone_kernels::hybrid::{HybridDecoder, Leftover};
use herringbone_kernels::nesting;

use super::{LevelSection, level_width};
use crate::malformed;
use crate::page::BLOCK_LEVELS;

/// A page's repetition or definition levels, minus the levels already taken.
pub(crate) struct Levels {
    max_level: u8,
    source: Source,
}

enum Source {
    /// No levels are stored, because all of them are equal.
    Constant(u8),
    Hybrid {
        decoder: HybridDecoder,
        bytes: Buffer,
    },
    BitPacked {
        next: usize,
        bytes: Buffer,
    },
}

impl Levels {
    /// Creates the levels encoded in `section`. No level may be above `max_level`.
    pub(crate) fn new(section: Option<LevelSection>, max_level: u8) -> Self {
        let source = match section {
            None => Source::Constant(0),
            Some(LevelSection {
                bit_packed: true,
                bytes,
            }) => Source::BitPacked { next: 0, bytes },
            Some(LevelSection {
                bit_packed: false,
                bytes,
            }) => Source::Hybrid {
                decoder: HybridDecoder::new(level_width(max_level)),
                bytes,
            },
        };
        Self { max_level, source }
    }

    /// Creates levels that all equal `level`, which pages don't store.
    pub(crate) fn constant(level: u8, max_level: u8) -> Self {
        Self {
            max_level,
            source: Source::Constant(level),
        }
    }

    /// Returns the rest of the section, after the levels taken so far.
    pub(crate) fn leftover(&self) -> Leftover {
        match &self.source {
            // Nothing can be left over here, because the page's level count determines the number of these levels.
            Source::Constant(_) | Source::BitPacked { .. } => Leftover::Nothing,
            Source::Hybrid { decoder, bytes } => decoder.leftover(bytes),
        }
    }

    /// Returns true if the page stores these levels.
    pub(crate) fn are_stored(&self) -> bool {
        !matches!(self.source, Source::Constant(_))
    }

    /// Returns how many of the section's first `n` levels are the highest level, decoding these levels once more.
    ///
    /// # Errors
    /// Fails with Corrupt if there are fewer levels.
    pub(crate) fn num_highest(&self, n: usize) -> Result<usize> {
        let mut levels = Self {
            max_level: self.max_level,
            source: match &self.source {
                Source::Constant(level) => Source::Constant(*level),
                Source::Hybrid { decoder, bytes } => Source::Hybrid {
                    decoder: HybridDecoder::new(decoder.width()),
                    bytes: bytes.clone(),
                },
                Source::BitPacked { bytes, .. } => Source::BitPacked {
                    next: 0,
                    bytes: bytes.clone(),
                },
            },
        };
        let (mut highest, mut left, mut block) = (0, n, Vec::new());
        while left > 0 {
            let step = left.min(BLOCK_LEVELS);
            highest += levels.skip(step, &mut block)?;
            left -= step;
        }
        Ok(highest)
    }

    /// Appends the next `n` levels.
    pub(crate) fn extend(&mut self, n: usize, out: &mut Vec<u8>) -> Result<()> {
        match &mut self.source {
            Source::Constant(level) => {
                out.resize(out.len() + n, *level);
                Ok(())
            }
            Source::Hybrid { decoder, bytes } => decoder
                .extend_u8(bytes, n, self.max_level, out)
                .map_err(malformed),
            Source::BitPacked { next, bytes } => {
                let from = out.len();
                let width = level_width(self.max_level);
                extend_u8_msb(bytes, *next, width, n, out).map_err(malformed)?;
                *next += n;
                match out.get(from..).and_then(|levels| levels.iter().max()) {
                    Some(&level) if level > self.max_level => Err(Error::corrupt(format!(
                        "level {level} exceeds the highest level of its column, {}",
                        self.max_level
                    ))),
                    _ => Ok(()),
                }
            }
        }
    }

    /// Appends the next `n` levels of a column whose highest level is 1, as bits. Returns the number of ones.
    pub(crate) fn extend_bitmap(
        &mut self,
        n: usize,
        scratch: &mut Vec<u8>,
        out: &mut Bitmap,
    ) -> Result<usize> {
        if let Source::Hybrid { decoder, bytes } = &mut self.source {
            return decoder.extend_bitmap(bytes, n, out).map_err(malformed);
        }
        scratch.clear();
        self.extend(n, scratch)?;
        for &level in scratch.iter() {
            out.append_run(level == 1, 1);
        }
        Ok(scratch.iter().filter(|&&level| level == 1).count())
    }

    /// Skips the next `n` levels, returning the number of zeros.
    pub(crate) fn zeros(&mut self, n: usize, scratch: &mut Vec<u8>) -> Result<usize> {
        if self.max_level == 1 {
            return self.skip(n, scratch).map(|ones| n - ones);
        }
        scratch.clear();
        self.extend(n, scratch)?;
        Ok(n - nesting::count_ge(scratch, 1))
    }

    /// Skips the next `n` levels, returning how many are the highest level.
    pub(crate) fn skip(&mut self, n: usize, scratch: &mut Vec<u8>) -> Result<usize> {
        match &mut self.source {
            Source::Constant(level) => Ok(if *level == self.max_level { n } else { 0 }),
            Source::Hybrid { decoder, bytes } if self.max_level == 1 => {
                decoder.skip_count_ones(bytes, n).map_err(malformed)
            }
            _ => {
                scratch.clear();
                self.extend(n, scratch)?;
                Ok(scratch
                    .iter()
                    .filter(|&&level| level == self.max_level)
                    .count())
            }
        }
    }
}
