//! Random numbers for samples.

use super::failure::{Failure, Result};

/// A random number generator. We use a fixed algorithm (SplitMix64 by Steele, Lea and Flood), so
/// that a seed gives the same sample in every version of this command.
#[derive(Debug)]
pub(crate) struct Random(u64);

impl Random {
    /// Creates the sequence for a seed. Without a seed, each call creates another sequence.
    ///
    /// # Errors
    /// Fails with [`Failure::System`] if the system does not supply random bytes.
    pub(crate) fn new(seed: Option<u64>) -> Result<Self> {
        let mut bytes = [0; 8];
        if seed.is_none() {
            getrandom::fill(&mut bytes)
                .map_err(|error| Failure::System(format!("random numbers: {error}")))?;
        }
        Ok(Self(seed.unwrap_or(u64::from_le_bytes(bytes))))
    }

    /// Returns a sequence with a fixed seed, for reproducible results.
    pub(crate) fn repeatable() -> Self {
        Self(0)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Returns a number below `end`. All numbers are equally likely, up to a bias of at most `end`
    /// / 2^64.
    pub(crate) fn below(&mut self, end: u64) -> u64 {
        // The upper half of the product of `end` and 64 random bits is below `end`.
        ((u128::from(self.next()) * u128::from(end)) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expected values are the published first numbers for the seed 1234567.
    #[test]
    fn numbers_of_a_seed() {
        let mut random = Random::new(Some(1_234_567)).unwrap();
        let expected = [
            6_457_827_717_110_365_317,
            3_203_168_211_198_807_973,
            9_817_491_932_198_370_423,
        ];
        for number in expected {
            assert_eq!(random.next(), number);
        }
    }
}
