//! Split block bloom filters, used to rule out values missing from a column chunk (BloomFilter, "Split Block Bloom
//! Filter").
//!
//! ```text
//! filter = header, block*                    32 bytes per block; a power of two of them if written by this crate
//! block  = 8 words of 32 bits
//! hash   = | selects the block, 32 bits | times 8 odd numbers: one bit of each word, 32 bits |
//! ```
//!
//! A `BloomFilterBuilder` collects value hashes and determines the filter's size.

mod builder;
#[cfg(test)]
mod tests;

pub use builder::BloomFilterBuilder;

use herringbone_format::thrift::CompactWriter;
use herringbone_format::{
    BloomFilterAlgorithm, BloomFilterCompression, BloomFilterHash, BloomFilterHeader,
};
use twox_hash::XxHash64;

/// The number of bytes per block.
pub const BLOCK_BYTES: usize = 32;

/// The specification's factors for selecting bits in a block's words.
const SALT: [u32; 8] = [
    0x47b6_137b,
    0x4497_4d91,
    0x8824_ad5b,
    0xa2b7_289d,
    0x7054_95c7,
    0x2df1_424b,
    0x9efc_4947,
    0x5c6b_fb31,
];

/// Returns a value's hash: XXH64 with seed 0 over the PLAIN value, except that byte arrays are hashed without their
/// length.
#[must_use]
pub fn hash(value: &[u8]) -> u64 {
    XxHash64::oneshot(0, value)
}

/// A filter in memory.
///
/// ```
/// use herringbone_core::bloom_filter::{BloomFilter, hash};
///
/// let mut filter = BloomFilter::new(1024);
/// filter.insert_hash(hash(b"herring"));
/// assert!(filter.check_hash(hash(b"herring")));
/// assert!(!filter.check_hash(hash(b"bone")));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BloomFilter {
    /// The blocks. Usually their number is a power of two, but other writers can choose any number.
    blocks: Vec<[u32; 8]>,
}

impl BloomFilter {
    /// Creates an empty filter of at most `bytes` bytes, rounded down to a power of two from 32 to 2^30.
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        Self::with_blocks(most_blocks(bytes))
    }

    /// Creates an empty filter with `blocks` blocks. This must be a power of two.
    fn with_blocks(blocks: usize) -> Self {
        Self {
            blocks: vec![[0; 8]; blocks],
        }
    }

    /// Creates a filter from the bits after the header in a file. Returns `None` if there are no bits or if they aren't
    /// whole blocks.
    #[must_use]
    pub fn from_bits(bits: &[u8]) -> Option<Self> {
        let (blocks, rest) = bits.as_chunks::<BLOCK_BYTES>();
        if blocks.is_empty() || !rest.is_empty() {
            return None;
        }
        Some(Self {
            blocks: blocks.iter().map(words).collect(),
        })
    }

    /// Returns the number of heap bytes.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        self.blocks.capacity() * BLOCK_BYTES
    }

    /// Returns the byte count of the bits, without the header.
    #[must_use]
    pub(crate) fn num_bytes(&self) -> usize {
        self.blocks.len() * BLOCK_BYTES
    }

    /// Adds the value with this hash.
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) {
        let index = block_of(hash, self.blocks.len());
        if let Some(block) = self.blocks.get_mut(index) {
            for (word, mask) in block.iter_mut().zip(mask(hash)) {
                *word |= mask;
            }
        }
    }

    /// Returns true if the value with this hash might have been added. If this returns false, it certainly wasn't.
    #[must_use]
    pub fn check_hash(&self, hash: u64) -> bool {
        let block = self.blocks.get(block_of(hash, self.blocks.len()));
        block.is_some_and(|block| has_bits(block, hash))
    }

    /// Halves the filter as long as the probability of a false positive is at most `fpp`.
    ///
    /// This works because a hash needs one more bit to select among twice as many blocks. That is, merging each pair of
    /// adjacent blocks gives exactly the filter of half the size.
    pub(crate) fn fold_to(&mut self, fpp: f64) {
        while self.blocks.len() > 1 {
            let folded = || {
                self.blocks
                    .as_chunks()
                    .0
                    .iter()
                    .map(|[a, b]| lay_over(a, b))
            };
            if probability(folded(), self.blocks.len() / 2) > fpp {
                return;
            }
            self.blocks = folded().collect();
        }
    }

    /// Returns the encoded header.
    #[must_use]
    pub fn encode_header(&self) -> Vec<u8> {
        let mut header = CompactWriter::new();
        BloomFilterHeader::new(
            // The cast is lossless, because the byte count is at most 2^30.
            self.num_bytes() as i32,
            BloomFilterAlgorithm::Block,
            BloomFilterHash::Xxhash,
            BloomFilterCompression::Uncompressed,
        )
        .encode(&mut header);
        header.finish()
    }

    /// Appends the bits, to be written after the header.
    pub fn encode_bits(&self, out: &mut Vec<u8>) {
        out.reserve(self.num_bytes());
        for word in self.blocks.iter().flatten() {
            out.extend_from_slice(&word.to_le_bytes());
        }
    }
}

/// Returns the index of the block selected by the upper half of a hash, out of `num_blocks` blocks.
#[inline]
pub fn block_of(hash: u64, num_blocks: usize) -> usize {
    // The cast is lossless, because the result is below the number of blocks, and there are at most 2^26.
    (((hash >> 32) * num_blocks as u64) >> 32) as usize
}

/// Returns true if a block, in its file format, has all bits selected by a hash.
pub fn check_block(block: &[u8; BLOCK_BYTES], hash: u64) -> bool {
    has_bits(&words(block), hash)
}

fn words(bytes: &[u8; BLOCK_BYTES]) -> [u32; 8] {
    let mut block = [0; 8];
    let words = bytes.as_chunks().0.iter();
    block
        .iter_mut()
        .zip(words)
        .for_each(|(to, from)| *to = u32::from_le_bytes(*from));
    block
}

fn has_bits(block: &[u32; 8], hash: u64) -> bool {
    let words = block.iter().zip(mask(hash));
    words.fold(true, |all, (word, mask)| all & (word & mask != 0))
}

/// Returns the largest power-of-two block count that fits in `bytes` bytes, but at least one.
fn most_blocks(bytes: usize) -> usize {
    let blocks = (bytes / BLOCK_BYTES).clamp(1, (1 << 30) / BLOCK_BYTES);
    1 << blocks.ilog2()
}

/// Returns the block bits selected by the lower half of a hash, one per word.
#[inline]
fn mask(hash: u64) -> [u32; 8] {
    SALT.map(|salt| 1 << ((hash as u32).wrapping_mul(salt) >> 27))
}

/// Returns the union of two blocks' bits.
fn lay_over(a: &[u32; 8], b: &[u32; 8]) -> [u32; 8] {
    let mut both = *a;
    both.iter_mut()
        .zip(b)
        .for_each(|(word, other)| *word |= other);
    both
}

/// Returns the probability that a random hash finds all its bits set. For each block, we multiply the shares of set
/// bits in its words, then take the mean over all blocks.
fn probability(blocks: impl Iterator<Item = [u32; 8]>, count: usize) -> f64 {
    let share = |word: u32| f64::from(word.count_ones()) / 32.0;
    let sum: f64 = blocks
        .map(|block| block.map(share).iter().product::<f64>())
        .sum();
    sum / count as f64
}
