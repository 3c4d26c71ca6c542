//! Content-defined pages.
//!
//! A hash rolls over a column's levels and values, and a page starts at a row whose hash has a rare form. An insertion
//! therefore only changes the pages around it, while later pages start at the same values as before.
//!
//! ```text
//! rows     a b c d | e f g | h i j k | l m
//! rows   x a b c d | e f g | h i j k | l m
//! ```
//!
//! We use a gear hash: each byte shifts it by a bit and adds a number from a table. If each rare hash ended its page,
//! page sizes would vary widely. So a page only ends after eight such hashes, each using another table. FastCDC (Xia et
//! al., 2016) describes the hash, as well as the minimum size before which bytes are skipped.

mod gear;

use std::fmt;

use herringbone_format::{Error, Result};

use gear::{Gears, NUM_TABLES, TABLES};
use herringbone_core::encoding::physical_values::{Slots, Values};
use herringbone_core::levels::DefinitionLevels;

/// The sizes of content-defined pages. Use this if your files are stored with deduplication, so that unchanged rows
/// yield unchanged pages.
///
/// Sizes count value bytes before encoding, without byte array lengths. A BOOLEAN value counts as one byte, and each
/// definition or repetition level as two.
///
/// ```
/// use herringbone::{ContentDefinedChunking, WriteOptions};
///
/// let chunking = ContentDefinedChunking::new()
///     .min_chunk_bytes(64 << 10)
///     .max_chunk_bytes(256 << 10);
/// let options = WriteOptions::new().content_defined_chunking(chunking);
/// assert_eq!(options.content_defined_chunking, Some(chunking));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct ContentDefinedChunking {
    /// The number of bytes before a content-defined boundary can end a page, 256 KiB by default.
    pub min_chunk_bytes: usize,
    /// The number of bytes after which a page ends whatever its content, 1 MiB by default. A row is never split.
    pub max_chunk_bytes: usize,
    /// The trade-off between finding the same pages again and having fewer pages, 0 by default. Each step up doubles
    /// the probability that a page ends, and each step down halves it. Useful values range from -3 to 3.
    pub norm_level: i32,
}

impl Default for ContentDefinedChunking {
    fn default() -> Self {
        Self {
            min_chunk_bytes: 256 << 10,
            max_chunk_bytes: 1 << 20,
            norm_level: 0,
        }
    }
}

impl ContentDefinedChunking {
    /// Returns the default sizes.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the number of bytes before a content-defined boundary can end a page.
    #[must_use]
    pub fn min_chunk_bytes(mut self, min_chunk_bytes: usize) -> Self {
        self.min_chunk_bytes = min_chunk_bytes;
        self
    }

    /// Sets the number of bytes after which a page ends whatever its content.
    #[must_use]
    pub fn max_chunk_bytes(mut self, max_chunk_bytes: usize) -> Self {
        self.max_chunk_bytes = max_chunk_bytes;
        self
    }

    /// Sets the trade-off between finding the same pages again and having fewer pages.
    #[must_use]
    pub fn norm_level(mut self, norm_level: i32) -> Self {
        self.norm_level = norm_level;
        self
    }

    /// Returns the mask for page-ending hashes. All of its bits are 0 in such a hash.
    fn mask(&self) -> Result<u64> {
        let (min, max) = (self.min_chunk_bytes, self.max_chunk_bytes);
        if min >= max {
            return Err(Error::argument(format!(
                "min_chunk_bytes is {min}, and must be less than max_chunk_bytes, which is {max}"
            )));
        }
        // The average size is midway between the two. A page consists of the minimum plus the bytes up to the last of
        // the hashes.
        let bytes_per_hash = (max - min) / 2 / NUM_TABLES;
        let bits = i64::from(bytes_per_hash.checked_ilog2().unwrap_or(0));
        let bits = bits - i64::from(self.norm_level);
        if !(1..=63).contains(&bits) {
            return Err(Error::argument(format!(
                "chunks of {min} to {max} bytes with norm_level {} need a mask of {bits} bits, and it must have 1 to 63; \
                 choose a larger max_chunk_bytes or another norm_level",
                self.norm_level
            )));
        }
        Ok(u64::MAX << (64 - bits))
    }
}

/// A rolling hash of a column's levels and values. It continues across pages and row groups.
#[derive(Clone, Copy)]
pub(crate) struct Chunker {
    min_bytes: usize,
    max_bytes: usize,
    mask: u64,
    tables: &'static [Gears; NUM_TABLES],
    hash: u64,
    /// The number of bytes since the page started.
    num_bytes: usize,
    /// The number of rows with a rare hash since a page last ended by its content.
    num_matches: usize,
    /// True if the hash has been rare since the last row was checked.
    is_match: bool,
}

impl fmt::Debug for Chunker {
    /// Omits the tables.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Chunker")
            .field("hash", &self.hash)
            .field("num_bytes", &self.num_bytes)
            .field("num_matches", &self.num_matches)
            .finish_non_exhaustive()
    }
}

/// The levels of some rows.
pub(crate) struct RowLevels<'a> {
    pub(crate) num_rows: usize,
    /// The repetition levels, one per entry. Empty if the column has no lists.
    pub(crate) rep: &'a [u8],
    pub(crate) def: &'a DefinitionLevels,
    pub(crate) max_def: u8,
}

impl Chunker {
    /// Creates the hash for a column without values.
    ///
    /// # Errors
    /// Fails with `Argument` if the sizes contradict each other or are too close.
    pub(crate) fn new(chunking: &ContentDefinedChunking) -> Result<Self> {
        Ok(Self {
            min_bytes: chunking.min_chunk_bytes,
            max_bytes: chunking.max_chunk_bytes,
            mask: chunking.mask()?,
            tables: &TABLES,
            hash: 0,
            num_bytes: 0,
            num_matches: 0,
            is_match: false,
        })
    }

    /// Hashes the next rows and returns the rows that start pages, counted from the first.
    pub(crate) fn page_starts(&mut self, levels: &RowLevels<'_>, slots: &Slots<'_>) -> Vec<usize> {
        let (values, keys) = match slots {
            Slots::Values(values) => (values, None),
            Slots::Keyed { keys, values } => (values, Some(*keys)),
        };
        let at = |slot: usize| match keys {
            None => slot,
            Some(keys) => keys.get(slot).map_or(usize::MAX, |key| *key as usize),
        };
        match values {
            Values::Boolean { bits, first, .. } => self.starts(levels, |it, slot| {
                let bit = first.saturating_add(at(slot));
                it.roll(&[bits.get(bit / 8).map_or(0, |byte| byte >> (bit % 8) & 1)]);
            }),
            Values::Int32(values) => self.starts(levels, |it, slot| {
                it.roll(
                    &values
                        .get(at(slot))
                        .map_or([0; 4], |value| value.to_le_bytes()),
                );
            }),
            Values::Int64(values) => self.starts(levels, |it, slot| {
                it.roll(
                    &values
                        .get(at(slot))
                        .map_or([0; 8], |value| value.to_le_bytes()),
                );
            }),
            Values::Float(values) => self.starts(levels, |it, slot| {
                it.roll(
                    &values
                        .get(at(slot))
                        .map_or([0; 4], |value| value.to_le_bytes()),
                );
            }),
            Values::Double(values) => self.starts(levels, |it, slot| {
                it.roll(
                    &values
                        .get(at(slot))
                        .map_or([0; 8], |value| value.to_le_bytes()),
                );
            }),
            Values::Fixed { bytes, width } => self.starts(levels, |it, slot| {
                let start = at(slot).saturating_mul(*width);
                let value = bytes.get(start..start.saturating_add(*width));
                it.roll(value.unwrap_or_default());
            }),
            Values::ByteArray(values) => self.starts(levels, |it, slot| {
                it.roll(values.get(at(slot)).copied().unwrap_or_default());
            }),
        }
    }

    /// Hashes the rows, using `roll_value` for each slot's value.
    fn starts(
        &mut self,
        levels: &RowLevels<'_>,
        roll_value: impl Fn(&mut Self, usize),
    ) -> Vec<usize> {
        let mut starts = Vec::new();
        let (mut row, mut slot) = (0, 0);
        for entry in 0..levels.rep.len().max(levels.num_rows) {
            let has_value = match levels.def {
                DefinitionLevels::None => true,
                DefinitionLevels::Validity(nulls) => {
                    let is_valid = nulls.as_ref().is_none_or(|nulls| nulls.is_valid(entry));
                    self.roll_level(u8::from(is_valid));
                    is_valid
                }
                DefinitionLevels::Bytes(def) => {
                    let level = def.get(entry).copied().unwrap_or_default();
                    self.roll_level(level);
                    level == levels.max_def
                }
            };
            let rep = levels.rep.get(entry).copied();
            if let Some(rep) = rep {
                self.roll_level(rep);
            }
            if has_value {
                roll_value(self, slot);
                slot += 1;
            }
            if rep.is_none_or(|rep| rep == 0) {
                if self.begins_page() {
                    starts.push(row);
                }
                row += 1;
            }
        }
        starts
    }

    fn roll_level(&mut self, level: u8) {
        self.roll(&[level, 0]);
    }

    fn roll(&mut self, bytes: &[u8]) {
        self.num_bytes = self.num_bytes.saturating_add(bytes.len());
        if self.num_bytes < self.min_bytes {
            return;
        }
        let Some(gears) = self.tables.get(self.num_matches) else {
            return;
        };
        for byte in bytes {
            self.hash = (self.hash << 1).wrapping_add(gears[usize::from(*byte)]);
            self.is_match |= self.hash & self.mask == 0;
        }
    }

    /// Returns true if the last hashed row starts a page.
    fn begins_page(&mut self) -> bool {
        if std::mem::take(&mut self.is_match) {
            self.num_matches += 1;
        }
        let ends_by_content = self.num_matches == NUM_TABLES;
        if ends_by_content {
            self.num_matches = 0;
        }
        let begins = ends_by_content || self.num_bytes >= self.max_bytes;
        if begins {
            self.num_bytes = 0;
        }
        begins
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The C++ library of Arrow counts the bits as the logarithm of an eighth of half the difference, rounded down, minus
    /// the level. The first rows are the sizes that it has by default.
    #[test]
    fn masks_have_the_bits_that_arrow_computes() {
        for (min, max, norm_level, bits) in [
            (256 << 10, 1 << 20, 0, Some(15)),
            (256 << 10, 1 << 20, 1, Some(14)),
            (256 << 10, 1 << 20, -2, Some(17)),
            (256 << 10, 1 << 20, 15, None),
            (0, 1 << 16, 0, Some(12)),
            (1000, 1000 + 2 * 8 * 64, 0, Some(6)),
            (1000, 1000 + 2 * 8 * 64 - 1, 0, Some(5)),
            (1000, 1001, 0, None),
            (1000, 1000, 0, None),
        ] {
            let chunking = ContentDefinedChunking::new()
                .min_chunk_bytes(min)
                .max_chunk_bytes(max)
                .norm_level(norm_level);
            let mask = chunking.mask().ok();
            let found = mask.map(|mask| (mask.leading_ones(), mask.count_ones()));
            assert_eq!(
                found,
                bits.map(|bits| (bits, bits)),
                "{min} {max} {norm_level}"
            );
        }
    }
}
