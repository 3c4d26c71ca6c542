//! Builds a bloom filter of the right size without knowing the number of values up front.

use super::{BloomFilter, most_blocks};
use herringbone_format::{Error, Result};

/// The number of hashes to collect before removing duplicates for the first time.
const FIRST_LOOK: usize = 1 << 12;

/// A builder that collects value hashes and creates the smallest filter with the requested false positive rate.
///
/// If you know the number of distinct values, bits are set immediately, and the filter is halved at the end if there
/// turn out to be fewer values. Otherwise, the builder retains the distinct hashes at 8 bytes each, until all values
/// are inserted or the filter would reach its maximum size.
#[derive(Debug, Clone)]
pub struct BloomFilterBuilder {
    fpp: f64,
    most_blocks: usize,
    seen: Seen,
}

/// The values inserted so far.
#[derive(Debug, Clone)]
enum Seen {
    /// Hashes, possibly with duplicates. Once there are `look` hashes, we remove the duplicates.
    Hashes { hashes: Vec<u64>, look: usize },
    /// A large enough filter, whose bits we set directly.
    Filter(BloomFilter),
}

impl BloomFilterBuilder {
    /// Creates a builder for a filter of at most `max_bytes` bytes, rounded down to a power of two from 32 to 2^30.
    ///
    /// The filter's false positive rate is at most `fpp`, as long as `max_bytes` suffices. Pass the expected number of
    /// distinct values as `distinct_values` if you know it. If there turn out to be more, false positives become more
    /// frequent.
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

    /// Removes duplicate hashes, switching to a filter once it would reach its maximum size.
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

    /// Returns the number of bytes held by the builder.
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

/// Returns the smallest number of blocks for `values` distinct values, a power of two of at most `most`. The false
/// positive rate stays within `fpp` unless `most` is reached.
fn blocks_for(values: u64, fpp: f64, most: usize) -> usize {
    let mut blocks = 1;
    while blocks < most && expected(values as f64 / blocks as f64) > fpp {
        blocks *= 2;
    }
    blocks
}

/// Returns the expected probability of a false positive if blocks have `values_per_block` values on average.
///
/// The actual number of values per block has a Poisson distribution. In a block with `k` values, each bit is unset with
/// probability (31/32)^k, and a look-up checks eight bits.
pub(super) fn expected(values_per_block: f64) -> f64 {
    // In practice all bits are set here. For much larger numbers, the probability of an empty block would also
    // underflow.
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
