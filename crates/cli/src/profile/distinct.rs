//! Counts distinct values, exactly for few values and approximately for many.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};

/// The maximum number of distinct values to count exactly.
const EXACT: usize = 4096;

/// The number of hash bits that select a register. The standard error is 1.04 / √2^14, which is 0.8
/// %.
const BITS: u32 = 14;

/// A distinct counter in bounded memory. It uses HyperLogLog by Flajolet and others, corrected for
/// small counts.
#[derive(Debug, Default)]
pub(crate) struct Distinct {
    few: HashSet<u64>,
    /// The longest run of zeros per register, or empty while we still count exactly.
    registers: Vec<u8>,
}

impl Distinct {
    /// Adds a value.
    pub(crate) fn add(&mut self, value: &[u8]) {
        let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one(value);
        if self.registers.is_empty() {
            self.few.insert(hash);
            if self.few.len() <= EXACT {
                return;
            }
            self.registers = vec![0; 1 << BITS];
            for hash in std::mem::take(&mut self.few) {
                self.register(hash);
            }
            return;
        }
        self.register(hash);
    }

    fn register(&mut self, hash: u64) {
        let zeros = (hash << BITS).leading_zeros().min(64 - BITS) as u8 + 1;
        if let Some(register) = self.registers.get_mut((hash >> (64 - BITS)) as usize) {
            *register = zeros.max(*register);
        }
    }

    /// Returns the number of distinct values with a flag, true if it is exact.
    pub(crate) fn count(&self) -> (u64, bool) {
        if self.registers.is_empty() {
            return (self.few.len() as u64, true);
        }
        let registers = self.registers.len() as f64;
        let sum: f64 = self
            .registers
            .iter()
            .map(|register| (-f64::from(*register)).exp2())
            .sum();
        let alpha = 0.7213 / (1.0 + 1.079 / registers);
        let estimate = alpha * registers * registers / sum;
        let empty = self
            .registers
            .iter()
            .filter(|register| **register == 0)
            .count() as f64;
        let estimate = match estimate <= 2.5 * registers && empty > 0.0 {
            true => registers * (registers / empty).ln(),
            false => estimate,
        };
        (estimate.round() as u64, false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_are_exact_and_many_are_close() {
        for count in [0_u64, 1, 4096, 5000, 30_000, 200_000] {
            let mut distinct = Distinct::default();
            for number in (0..count).chain(0..count) {
                distinct.add(&number.to_le_bytes());
            }
            let (found, is_exact) = distinct.count();
            assert_eq!(is_exact, count <= 4096);
            // The limit is four standard errors.
            let error = found.abs_diff(count) as f64 / (count as f64).max(1.0);
            assert!(
                error < if is_exact { 1e-9 } else { 0.033 },
                "{count}: {found}"
            );
        }
    }
}
