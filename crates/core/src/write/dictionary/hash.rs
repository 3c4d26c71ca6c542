//! Hashes for the tables of dictionaries, seeded once a process: nobody can prepare values that
//! collide.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::OnceLock;

const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

/// The seed of this process.
pub(super) fn seed() -> u64 {
    static SEED: OnceLock<u64> = OnceLock::new();
    *SEED.get_or_init(|| RandomState::new().build_hasher().finish() | 1)
}

/// The halves of a product, mixed: each bit of the result depends on all bits of the factors.
#[inline(always)]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product as u64) ^ (product >> 64) as u64
}

/// The hash of a number.
#[inline(always)]
pub(super) fn number(value: u64, seed: u64) -> u64 {
    fold(value ^ seed, MULTIPLIER)
}

#[inline(always)]
fn word(bytes: &[u8]) -> u64 {
    bytes
        .first_chunk::<8>()
        .map_or(0, |b| u64::from_le_bytes(*b))
}

#[inline(always)]
fn half(bytes: &[u8]) -> u64 {
    bytes
        .first_chunk::<4>()
        .map_or(0, |b| u64::from(u32::from_le_bytes(*b)))
}

/// The hash of a byte array.
#[inline]
pub(super) fn bytes(value: &[u8], seed: u64) -> u64 {
    let length = value.len();
    let last = |n: usize| value.get(length - n..).unwrap_or_default();
    let mut hash = seed ^ (length as u64).wrapping_mul(MULTIPLIER);
    let (low, high) = match length {
        17.. => {
            for pair in value.as_chunks::<16>().0 {
                let (low, high) = pair.split_at(8);
                hash = fold(word(low) ^ hash, word(high) ^ MULTIPLIER);
            }
            (word(last(16)), word(last(8)))
        }
        8.. => (word(value), word(last(8))),
        4.. => (half(value), half(last(4))),
        0 => (0, 0),
        _ => {
            let at = |index: usize| u64::from(value.get(index).copied().unwrap_or(0));
            (at(0) | at(length / 2) << 8 | at(length - 1) << 16, 0)
        }
    };
    fold(low ^ hash, high ^ seed)
}
