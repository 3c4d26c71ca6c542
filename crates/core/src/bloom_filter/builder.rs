//! Making a filter that is as large as it must be.

use super::{BloomFilter, most_blocks};
use herringbone_format::{Error, Result};

/// How many hashes are collected before the first look at how many are different.
const FIRST_LOOK: usize = 1 << 12;

/// Takes the hashes of values and makes the smallest filter that is as good as asked.
///
/// When it was told how many different values to expect, the bits are set right away and the filter
/// is halved in the end if there were fewer. Otherwise it keeps the different hashes, 8 bytes each,
/// until it has seen all of them, or so many that the filter is as large as it may become.
#[derive(Debug, Clone)]
pub struct BloomFilterBuilder {
    fpp: f64,
    most_blocks: usize,
    seen: Seen,
}

/// What was inserted.
#[derive(Debug, Clone)]
enum Seen {
    /// Hashes, some of them perhaps more than once; at `look` of them they are looked through.
    Hashes { hashes: Vec<u64>, look: usize },
    /// Bits of a filter that is large enough.
    Filter(BloomFilter),
}

impl BloomFilterBuilder {
    /// A builder of a filter of at most `max_bytes` bytes (the next lower power of two, from 32 to
    /// 2^30) that takes at most the share `fpp` of other values for its own, as far as `max_bytes`
    /// allow.
    ///
    /// `distinct_values` is how many different values will come, if that is known; more may come,
    /// at the cost of more false positives.
    ///
    /// # Errors
    ///
    /// Argument: `fpp` is not between 0 and 1.
    pub fn new(distinct_values: Option<u64>, fpp: f64, max_bytes: usize) -> Result<Self> {
        if !(fpp > 0.0 && fpp < 1.0) {
            return Err(Error::argument(format!(
                "the share of false positives of a bloom filter is between 0 and 1, not {fpp}"
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

    /// Drops what was collected twice, and goes over to bits if they are fewer.
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

    /// Bytes held.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        match &self.seen {
            Seen::Hashes { hashes, .. } => size_of::<u64>() * hashes.capacity(),
            Seen::Filter(filter) => filter.num_bytes(),
        }
    }

    /// The filter.
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

/// The least power of two of blocks, up to `most`, with which false positives are at most as likely
/// as `fpp` after so many different values.
fn blocks_for(values: u64, fpp: f64, most: usize) -> usize {
    let mut blocks = 1;
    while blocks < most && expected(values as f64 / blocks as f64) > fpp {
        blocks *= 2;
    }
    blocks
}

/// How likely false positives are to be expected, with so many values a block on average.
///
/// How many values a block really gets is distributed like Poisson's; with `k` of them, a bit of it
/// is not set with a probability of (31/32)^k, and a hash asks for eight bits.
pub(super) fn expected(values_per_block: f64) -> f64 {
    // All bits are set by then, and the probability of an empty block is too small for a float.
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
