//! Builds a filter that is as large as it needs to be.

use super::{BloomFilter, most_blocks};
use herringbone_format::{Error, Result};

/// The number of collected hashes at which we remove duplicates for the first time.
const FIRST_LOOK: usize = 1 << 12;

/// A builder that accepts the hashes of values and creates the smallest filter of the required quality.
///
/// If the number of distinct values is given, the bits are set immediately, and if there were fewer values, the filter
/// is halved at the end. Otherwise, the builder retains the distinct hashes, 8 bytes each, until all values are
/// inserted, or until the filter would reach its maximum size.
#[derive(Debug, Clone)]
pub struct BloomFilterBuilder {
    fpp: f64,
    most_blocks: usize,
    seen: Seen,
}

/// The values inserted so far.
#[derive(Debug, Clone)]
enum Seen {
    /// Hashes that may contain duplicates. When there are `look` of them, we remove the duplicates.
    Hashes { hashes: Vec<u64>, look: usize },
    /// The bits of a large enough filter.
    Filter(BloomFilter),
}

impl BloomFilterBuilder {
    /// Creates a builder for a filter of at most `max_bytes` bytes. We round this down to a power of two from 32 to
    /// 2^30.
    ///
    /// The filter's share of false positives is at most `fpp`, as long as `max_bytes` suffices for this. Pass the
    /// expected number of distinct values as `distinct_values` if you know it. If there are more values, false
    /// positives become more frequent.
    ///
    /// # Errors
    ///
    /// Fails with [Argument](herringbone_format::ErrorKind::Argument) if `fpp` is not between 0 and 1.
    pub fn new(distinct_values: Option<u64>, fpp: f64, max_bytes: usize) -> Result<Self> {
        if !(fpp > 0.0 && fpp < 1.0) {
            return Err(Error::argument(format!(
                "the false-positive rate of a bloom filter must be between 0 and 1, not {fpp}"
            )));
        }
        let most_blocks = most_blocks(max_bytes);
        let seen = match distinct_values {
            Some(values) => Seen::Filter(BloomFilter::with_blocks(blocks_for(
                values,
                fpp,
                most_blocks,
            ))),
            None => Seen::Hashes {
                hashes: Vec::new(),
                look: FIRST_LOOK,
            },
        };
        Ok(Self {
            fpp,
            most_blocks,
            seen,
        })
    }

    /// Adds the value with this hash.
    #[inline]
    pub fn insert_hash(&mut self, hash: u64) {
        match &mut self.seen {
            Seen::Filter(filter) => filter.insert_hash(hash),
            Seen::Hashes { hashes, look } => {
                hashes.push(hash);
                if hashes.len() >= *look {
                    self.look_through();
                }
            }
        }
    }

    /// Removes duplicate hashes, and switches to a filter once the filter would reach its maximum size.
    #[cold]
    fn look_through(&mut self) {
        let Seen::Hashes { hashes, look } = &mut self.seen else {
            return;
        };
        hashes.sort_unstable();
        hashes.dedup();
        *look = FIRST_LOOK.max(2 * hashes.len());
        let blocks = blocks_for(hashes.len() as u64, self.fpp, self.most_blocks);
        if blocks == self.most_blocks {
            self.seen = Seen::Filter(filter_of(hashes, blocks));
        }
    }

    /// Returns the number of bytes that the builder holds.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        match &self.seen {
            Seen::Hashes { hashes, .. } => size_of::<u64>() * hashes.capacity(),
            Seen::Filter(filter) => filter.num_bytes(),
        }
    }

    /// Returns the filter.
    #[must_use]
    pub fn finish(self) -> BloomFilter {
        match self.seen {
            Seen::Filter(mut filter) => {
                filter.fold_to(self.fpp);
                filter
            }
            Seen::Hashes { mut hashes, .. } => {
                hashes.sort_unstable();
                hashes.dedup();
                let blocks = blocks_for(hashes.len() as u64, self.fpp, self.most_blocks);
                filter_of(&hashes, blocks)
            }
        }
    }
}

fn filter_of(hashes: &[u64], blocks: usize) -> BloomFilter {
    let mut filter = BloomFilter::with_blocks(blocks);
    hashes.iter().for_each(|hash| filter.insert_hash(*hash));
    filter
}

/// Returns the smallest number of blocks sufficient for `values` distinct values. It is a power of two of at most
/// `most`. The share of false positives does not exceed `fpp`, unless `most` is reached.
fn blocks_for(values: u64, fpp: f64, most: usize) -> usize {
    let mut blocks = 1;
    while blocks < most && expected(values as f64 / blocks as f64) > fpp {
        blocks *= 2;
    }
    blocks
}

/// Returns the expected probability of a false positive if blocks have `values_per_block` values on average.
///
/// The actual number of values per block has a Poisson distribution. If a block has `k` values, each of its bits is
/// unset with a probability of (31/32)^k, and a look-up checks eight bits.
pub(super) fn expected(values_per_block: f64) -> f64 {
    // All bits are set in this case. Besides, the probability of an empty block is too small for a float.
    if values_per_block > 500.0 {
        return 1.0;
    }
    let mut share = (-values_per_block).exp();
    let (mut unset, mut sum) = (1.0_f64, 0.0);
    let last = values_per_block + 12.0 * values_per_block.sqrt() + 20.0;
    let mut values = 0.0;
    while values < last {
        sum += share * (1.0 - unset).powi(8);
        values += 1.0;
        share *= values_per_block / values;
        unset *= 31.0 / 32.0;
    }
    sum
}
