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

/// The hash of a byte array. It takes as many steps as there are words, and has one branch for that:
/// lengths are hard to predict.
#[inline(always)]
pub(super) fn bytes(value: &[u8], seed: u64) -> u64 {
    let mut hash = seed ^ (value.len() as u64).wrapping_mul(MULTIPLIER);
    let Some(last) = value.last_chunk::<8>() else {
        let (low, high) = short(value);
        return fold(hash ^ low, MULTIPLIER ^ high);
    };
    for chunk in value.as_chunks::<8>().0 {
        hash = fold(hash ^ u64::from_le_bytes(*chunk), MULTIPLIER);
    }
    fold(hash ^ u64::from_le_bytes(*last), MULTIPLIER)
}

/// The bytes of an array of fewer than 8, in two words.
#[inline(always)]
fn short(value: &[u8]) -> (u64, u64) {
    if let (Some(first), Some(last)) = (value.first_chunk::<4>(), value.last_chunk::<4>()) {
        let words = [*first, *last].map(u32::from_le_bytes);
        return (words[0].into(), words[1].into());
    }
    let at = |index: usize| value.get(index).map_or(0, |byte| u64::from(*byte));
    (at(0) | at(1) << 8 | at(2) << 16, 0)
}

/// Whether two arrays of the same length are equal; made for short ones that are.
#[inline(always)]
pub(super) fn equal(a: &[u8], b: &[u8]) -> bool {
    let (Some(last_a), Some(last_b)) = (a.last_chunk::<8>(), b.last_chunk::<8>()) else {
        return short(a) == short(b);
    };
    let mut differ = u64::from_le_bytes(*last_a) ^ u64::from_le_bytes(*last_b);
    for (a, b) in a.as_chunks::<8>().0.iter().zip(b.as_chunks::<8>().0) {
        differ |= u64::from_le_bytes(*a) ^ u64::from_le_bytes(*b);
    }
    differ == 0
}
