//! Writing ALP: exponents and factors are looked for once, and then only chosen among.
//!
//! All pairs are tried on samples of the first values that come; those that are the best for some
//! sample are kept. For each vector a few of its values tell which of these it is written with. A
//! value whose bits do not come back is an exception: NaNs, infinities, -0, and what has too many
//! digits. Numbers that are no decimals can take more bytes than PLAIN.

use super::AlpFloat;

mod number;
#[cfg(test)]
mod tests;

pub use number::AlpEncode;

/// Values a vector, as the format recommends.
const LOG_VECTOR_SIZE: u8 = 10;
const VECTOR: usize = 1 << LOG_VECTOR_SIZE;
/// Vectors that all pairs are tried on, and values of each.
const SAMPLED_VECTORS: usize = 8;
const SAMPLED_VALUES: usize = 64;
/// Pairs that are kept.
const MAX_PRESETS: usize = 5;
/// Values of a vector that the kept pairs are tried on.
const TRIED_VALUES: usize = 32;

/// An exponent and a factor, which is not greater.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pair {
    pub(super) exponent: u8,
    pub(super) factor: u8,
}

/// What values become with one pair.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fit<I> {
    /// The least of the integers; what it is if there are only exceptions does not matter.
    least: I,
    /// Bits of the others above it.
    width: u8,
    exceptions: usize,
}

/// An encoder for the pages of one column chunk.
#[derive(Debug, Clone)]
pub struct AlpEncoder<T: AlpEncode> {
    /// Empty until values were seen that are worth it.
    presets: Vec<Pair>,
    /// Integers of the vector that is written.
    integers: Vec<T::Integer>,
    /// Sampled values.
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
    /// An encoder that has not seen any values.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Appends a page of `values`, fewer than 2^31 of them, of fewer than 2^32 bytes in all.
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

    /// Keeps the pairs that are the best for samples of `values`, the most frequent ones first.
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

    /// The kept pair that is the best for `vector`.
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
        // The first of equal ones is the most frequent one, and the last of them is taken.
        let best = self.best(presets.iter().rev().copied());
        self.presets = presets;
        best.map_or(only, |(pair, _)| pair)
    }

    /// Takes at most `n` values of `vector`, all over it.
    fn sample(&mut self, vector: &[T], n: usize) {
        let step = vector.len().div_ceil(n).max(1);
        self.sample.clear();
        self.sample.extend(vector.iter().step_by(step));
    }

    /// The last of the pairs with which the sample takes the fewest bits, and its exceptions.
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
