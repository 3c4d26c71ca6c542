//! Split block bloom filters, which say what values are not in a column chunk: BloomFilter, "Split Block Bloom
//! Filter".
//!
//! ```text
//! filter = header, block*                    32 bytes a block; here always a power of two of them
//! block  = 8 words of 32 bits
//! hash   = | chooses the block, 32 bits | times 8 odd numbers: one bit of each word, 32 bits |
//! ```
//!
//! A `BloomFilterBuilder` takes the hashes of values and finds out how large the filter must be.

mod builder;
#[cfg(test)]
mod tests;

pub use builder::BloomFilterBuilder;

use herringbone_format::thrift::CompactWriter;
use herringbone_format::{
    BloomFilterAlgorithm, BloomFilterCompression, BloomFilterHash, BloomFilterHeader,
};
use twox_hash::XxHash64;

/// Bytes of a block.
pub const BLOCK_BYTES: usize = 32;

/// By which the words of a block choose their bits, from the specification.
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

/// The hash of a value: XXH64 with seed 0 of the PLAIN value, byte arrays without their length.
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
    /// A power of two of them, unless another writer chose otherwise.
    blocks: Vec<[u32; 8]>,
}

impl BloomFilter {
    /// An empty filter of at most `bytes` bytes: the next lower power of two, from 32 to 2^30.
    #[must_use]
    pub fn new(bytes: usize) -> Self {
        Self::with_blocks(most_blocks(bytes))
    }

    /// An empty filter of so many blocks, a power of two.
    fn with_blocks(blocks: usize) -> Self {
        Self {
            blocks: vec![[0; 8]; blocks],
        }
    }

    /// The filter with these bits, as they follow the header in a file; `None` where they are no
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

    /// Bytes of the bits, without the header.
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

    /// Whether the value with this hash may have been added; if not, it was not.
    #[must_use]
    pub fn check_hash(&self, hash: u64) -> bool {
        let block = self.blocks.get(block_of(hash, self.blocks.len()));
        block.is_some_and(|block| has_bits(block, hash))
    }

    /// Halves the filter as long as false positives stay at most as likely as `fpp`.
    ///
    /// Hashes choose between the halves of twice as many blocks by one more bit, so a filter of half
    /// the size is this one with its neighbours laid over each other.
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

    /// The header, as it is in a file.
    #[must_use]
    pub fn encode_header(&self) -> Vec<u8> {
        let mut header = CompactWriter::new();
        BloomFilterHeader::new(
            // At most 2^30.
            self.num_bytes() as i32,
            BloomFilterAlgorithm::Block,
            BloomFilterHash::Xxhash,
            BloomFilterCompression::Uncompressed,
        )
        .encode(&mut header);
        header.finish()
    }

    /// Appends the bits, which follow the header in a file.
    pub fn encode_bits(&self, out: &mut Vec<u8>) {
        out.reserve(self.num_bytes());
        for word in self.blocks.iter().flatten() {
            out.extend_from_slice(&word.to_le_bytes());
        }
    }
}

/// Which of so many blocks the upper half of a hash chooses.
#[inline]
pub fn block_of(hash: u64, num_blocks: usize) -> usize {
    // Less than the number of blocks, which is at most 2^26.
    (((hash >> 32) * num_blocks as u64) >> 32) as usize
}

/// Whether a block, as it lies in a file, has the bits of a hash.
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

/// The most blocks, a power of two, that so many bytes have room for; at least one.
fn most_blocks(bytes: usize) -> usize {
    let blocks = (bytes / BLOCK_BYTES).clamp(1, (1 << 30) / BLOCK_BYTES);
    1 << blocks.ilog2()
}

/// The bits of a block that the lower half of a hash chooses, one in each word.
#[inline]
fn mask(hash: u64) -> [u32; 8] {
    SALT.map(|salt| 1 << ((hash as u32).wrapping_mul(salt) >> 27))
}

/// All bits of two blocks.
fn lay_over(a: &[u32; 8], b: &[u32; 8]) -> [u32; 8] {
    let mut both = *a;
    both.iter_mut()
        .zip(b)
        .for_each(|(word, other)| *word |= other);
    both
}

/// How likely a random hash finds all its bits set: the mean over all blocks of the product of the
/// shares of bits set in its words.
fn probability(blocks: impl Iterator<Item = [u32; 8]>, count: usize) -> f64 {
    let share = |word: u32| f64::from(word.count_ones()) / 32.0;
    let sum: f64 = blocks
        .map(|block| block.map(share).iter().product::<f64>())
        .sum();
    sum / count as f64
}
