//! Hash functions for dictionary tables. They are seeded once per process, so that an attacker cannot prepare values
//! that collide.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::OnceLock;

const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

/// Returns the seed that this process uses.
pub fn seed() -> u64 {
    static SEED: OnceLock<u64> = OnceLock::new();
    *SEED.get_or_init(|| RandomState::new().build_hasher().finish() | 1)
}

/// Combines the halves of a product, so that each bit of the result depends on all bits of the factors.
#[inline(always)]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ (product >> 64) as u64
}

/// Returns the hash of a number.
#[inline(always)]
pub fn number(value: u64, seed: u64) -> u64 {
    fold(value ^ seed, MULTIPLIER)
}

/// Returns the hash of a byte array, whose upper half is of better quality than the lower half.
#[inline(always)]
pub(crate) fn bytes(value: &[u8], seed: u64) -> u64 {
    // Since the other factors are derived from the seed, arrays that differ in a few bytes may have neighbouring
    // hashes. This multiplier separates them.
    product_of_bytes(value, seed).wrapping_mul(MULTIPLIER)
}

/// Multiplies the words of a byte array with factors derived from the seed. Arrays of up to 32 bytes need no loop,
/// because processors predict the number of iterations badly.
#[inline(always)]
fn product_of_bytes(value: &[u8], seed: u64) -> u64 {
    let mut hash = seed.wrapping_add(value.len() as u64);
    // No factor may be predictable, because an attacker could make it zero.
    let key = seed.rotate_left(32) ^ MULTIPLIER;
    let (Some(first), Some(last)) = (value.first_chunk::<16>(), value.last_chunk::<16>()) else {
        let (low, high) = short(value);
        return fold(hash ^ low, key ^ high);
    };
    if value.len() <= 32 {
        let ((a, b), (c, d)) = (words(first), words(last));
        // The last half has its own factors, so that an attacker cannot predict halves whose products cancel each
        // other.
        let other = seed.wrapping_mul(MULTIPLIER);
        return fold(hash ^ a, key ^ b) ^ fold(other ^ c, other.rotate_left(32) ^ d);
    }
    for chunk in value.as_chunks::<16>().0 {
        let (low, high) = words(chunk);
        hash = fold(hash ^ low, key ^ high);
    }
    let (low, high) = words(last);
    fold(hash ^ low, key ^ high)
}

/// Returns 16 bytes as two words.
#[inline(always)]
fn words(bytes: &[u8; 16]) -> (u64, u64) {
    let both = u128::from_le_bytes(*bytes);
    (both as u64, (both >> 64) as u64)
}

/// Returns the bytes of an array of fewer than 16 bytes, in two words.
#[inline(always)]
fn short(value: &[u8]) -> (u64, u64) {
    if let (Some(first), Some(last)) = (value.first_chunk::<8>(), value.last_chunk::<8>()) {
        return (u64::from_le_bytes(*first), u64::from_le_bytes(*last));
    }
    if let (Some(first), Some(last)) = (value.first_chunk::<4>(), value.last_chunk::<4>()) {
        let words = [*first, *last].map(u32::from_le_bytes);
        return (words[0].into(), words[1].into());
    }
    let at = |index: usize| value.get(index).map_or(0, |byte| u64::from(*byte));
    (at(0) | at(1) << 8 | at(2) << 16, 0)
}

/// Returns true if two arrays of equal length are equal. This is optimised for arrays that are short and equal.
#[inline(always)]
pub(crate) fn equal(a: &[u8], b: &[u8]) -> bool {
    let (Some(first_a), Some(first_b)) = (a.first_chunk::<16>(), b.first_chunk::<16>()) else {
        return short(a) == short(b);
    };
    let (Some(last_a), Some(last_b)) = (a.last_chunk::<16>(), b.last_chunk::<16>()) else {
        return false;
    };
    let differ = |a: &[u8; 16], b: &[u8; 16]| u128::from_le_bytes(*a) ^ u128::from_le_bytes(*b);
    differ(first_a, first_b) | differ(last_a, last_b) == 0 && (a.len() <= 32 || a == b)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the number of places that we probe to find all of these values, for the worst of many seeds. The table
    /// has at least four times as many places as values.
    fn most_looks(values: &[String]) -> usize {
        let places = (4 * values.len()).next_power_of_two();
        let looks = |seed: u64| {
            let mut is_taken = vec![false; places];
            let mut looks = 0;
            for value in values {
                let hash = (bytes(value.as_bytes(), seed) >> 32) as usize % places;
                let free = (hash..).position(|at| !is_taken[at % places]).unwrap();
                is_taken[(hash + free) % places] = true;
                looks += free + 1;
            }
            looks
        };
        let seeds = if cfg!(miri) { 1..20 } else { 1..2000_u64 };
        let seeds = seeds.map(|seed| seed.wrapping_mul(0xd134_2543_de82_ef95) | 1);
        seeds.map(looks).max().unwrap()
    }

    /// Checks that halves with equal or swapped words do not cancel each other.
    #[test]
    fn nobody_knows_arrays_of_the_same_hash() {
        let seed = 0x1234_5678_9abc_def1;
        let mut hashes = Vec::new();
        for i in 1..=100_u64 {
            let (a, b) = (i.wrapping_mul(MULTIPLIER), i << 40 | 7);
            for words in [
                [a, b, a, b],
                [a, b, b, a],
                [a, b, b, a.rotate_right(1)],
                [a, b, b.rotate_right(1), a],
            ] {
                let array: Vec<u8> = words.into_iter().flat_map(u64::to_le_bytes).collect();
                hashes.push(bytes(&array, seed));
            }
        }
        for len in 0..=100 {
            hashes.push(bytes(&vec![0; len], seed));
        }
        let num_arrays = hashes.len();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), num_arrays);
    }

    #[test]
    fn no_seed_puts_values_side_by_side_that_differ_in_few_bytes() {
        let words = (0..50).map(|i| format!("word{i}"));
        let keys = (0..200).map(|i| format!("Clerk#{i:09}"));
        let urls = (0..200).map(|i| format!("https://example.com/{i:03}"));
        let letters = ('a'..='z').map(String::from);
        let all: [Vec<String>; 4] = [
            words.collect(),
            keys.collect(),
            urls.collect(),
            letters.collect(),
        ];
        for values in all {
            // With random hashes, we expect 1.13 probes per value if a quarter of the places is taken.
            let (looks, len) = (most_looks(&values), values.len());
            assert!(looks <= 2 * len, "{looks} for {len}, such as {}", values[0]);
        }
    }
}
