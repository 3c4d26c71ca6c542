//! Encodes ALP. We search all pairs of an exponent and a factor only once, and each vector then chooses among a few of
//! them.
//!
//! The search tries all pairs on samples from the first values, and retains each sample's best pair. Later, a few
//! values of each vector decide with which of these pairs we write it. A value whose bits would not be restored becomes
//! an exception. This applies to NaNs, infinities, -0 and values with too many digits. Note that numbers which are not
//! decimals can take more bytes than PLAIN.

use super::AlpFloat;

mod number;
#[cfg(test)]
mod tests;

pub use number::AlpEncode;

/// The binary logarithm of the number of values per vector, as the format recommends.
const LOG_VECTOR_SIZE: u8 = 10;
/// The number of values per vector.
const VECTOR: usize = 1 << LOG_VECTOR_SIZE;
/// The number of vectors on which we try all pairs.
const SAMPLED_VECTORS: usize = 8;
/// The number of values per sampled vector on which we try all pairs.
const SAMPLED_VALUES: usize = 64;
/// The maximum number of retained pairs.
const MAX_PRESETS: usize = 5;
/// The number of values per vector on which we try the retained pairs.
const TRIED_VALUES: usize = 32;

/// An exponent, and a factor that is at most as large.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair {
    pub(super) exponent: u8,
    pub(super) factor: u8,
}

/// The result of encoding values with one pair.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fit<I> {
    /// The smallest integer, which is arbitrary if all values are exceptions.
    least: I,
    /// The number of bits that the integers take after we subtract the smallest one.
    width: u8,
    exceptions: usize,
}

/// An encoder for the pages of one column chunk.
#[derive(Debug, Clone)]
pub struct AlpEncoder<T: AlpEncode> {
    /// The retained pairs, which are empty until we see values that compress with some pair.
    presets: Vec<Pair>,
    /// The integers of the current vector.
    integers: Vec<T::Integer>,
    /// The sampled values.
    sample: Vec<T>,
}

impl<T: AlpEncode> Default for AlpEncoder<T> {
    fn default() -> Self {
        Self {
            presets: Vec::new(),
            integers: Vec::new(),
            sample: Vec::new(),
        }
    }
}

impl<T: AlpEncode> AlpEncoder<T> {
    /// Creates an encoder without retained pairs.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a page of `values`. There must be fewer than 2^31 values, with fewer than 2^32 bytes in total.
    pub fn encode(&mut self, values: &[T], out: &mut Vec<u8>) {
        if self.presets.is_empty() {
            self.find_presets(values);
        }
        out.extend([0, 0, LOG_VECTOR_SIZE]);
        out.extend((values.len() as i32).to_le_bytes());
        let offsets = out.len();
        let vectors = values.len().div_ceil(VECTOR);
        out.resize(offsets + vectors * 4, 0);
        for (i, vector) in values.chunks(VECTOR).enumerate() {
            let offset = (out.len() - offsets) as u32;
            let slot = offsets + i * 4;
            out[slot..slot + 4].copy_from_slice(&offset.to_le_bytes());
            let pair = self.choose(vector);
            self.write(vector, pair, out);
        }
    }

    /// Retains the pairs that are best for samples from `values`, and puts the most frequent ones first.
    fn find_presets(&mut self, values: &[T]) {
        let vectors = values.len().div_ceil(VECTOR);
        let step = vectors.div_ceil(SAMPLED_VECTORS).max(1);
        let mut votes: Vec<(Pair, usize)> = Vec::new();
        for vector in values.chunks(VECTOR).step_by(step) {
            self.sample(vector, SAMPLED_VALUES);
            let pairs = (0..=T::MAX_EXPONENT)
                .flat_map(|exponent| (0..=exponent).map(move |factor| Pair { exponent, factor }));
            let Some((pair, exceptions)) = self.best(pairs) else {
                continue;
            };
            if exceptions == self.sample.len() {
                continue;
            }
            match votes.iter_mut().find(|(other, _)| *other == pair) {
                Some((_, votes)) => *votes += 1,
                None => votes.push((pair, 1)),
            }
        }
        votes.sort_by_key(|(_, votes)| std::cmp::Reverse(*votes));
        let kept = votes.into_iter().take(MAX_PRESETS);
        self.presets.extend(kept.map(|(pair, _)| pair));
    }

    /// Returns the best retained pair for `vector`.
    fn choose(&mut self, vector: &[T]) -> Pair {
        let only = self.presets.first().copied().unwrap_or(Pair {
            exponent: 0,
            factor: 0,
        });
        if self.presets.len() <= 1 {
            return only;
        }
        self.sample(vector, TRIED_VALUES);
        let presets = std::mem::take(&mut self.presets);
        // We try the pairs in reverse order, because the last one wins a tie, and this should be the most frequent
        // pair.
        let best = self.best(presets.iter().rev().copied());
        self.presets = presets;
        best.map_or(only, |(pair, _)| pair)
    }

    /// Samples at most `n` values that are spread evenly over `vector`.
    fn sample(&mut self, vector: &[T], n: usize) {
        let step = vector.len().div_ceil(n).max(1);
        self.sample.clear();
        self.sample.extend(vector.iter().step_by(step));
    }

    /// Returns the pair with which the sample takes the fewest bits, and its number of exceptions. The last pair wins a
    /// tie.
    fn best(&mut self, pairs: impl Iterator<Item = Pair>) -> Option<(Pair, usize)> {
        self.integers.resize(VECTOR, T::Integer::default());
        let mut best = None;
        let mut fewest = usize::MAX;
        for pair in pairs {
            let fit = T::fit(&self.sample, pair, &mut self.integers);
            let exception_bits = 8 * (size_of::<u16>() + size_of::<T>());
            let bits = self.sample.len() * usize::from(fit.width) + fit.exceptions * exception_bits;
            if bits <= fewest {
                fewest = bits;
                best = Some((pair, fit.exceptions));
            }
        }
        best
    }

    /// Appends one vector.
    fn write(&mut self, values: &[T], pair: Pair, out: &mut Vec<u8>) {
        self.integers.resize(VECTOR, T::Integer::default());
        let fit = T::fit(values, pair, &mut self.integers);
        out.extend([pair.exponent, pair.factor]);
        out.extend((fit.exceptions as u16).to_le_bytes());
        let positions = if fit.exceptions > 0 {
            T::replace_exceptions(values, pair, &mut self.integers)
        } else {
            Vec::new()
        };
        let integers = self.integers.get(..values.len()).unwrap_or_default();
        T::pack(integers, fit, out);
        out.extend(positions.iter().flat_map(|at| at.to_le_bytes()));
        for at in positions {
            out.extend_from_slice(crate::plain::bytes(&values[usize::from(at)..][..1]));
        }
    }
}
