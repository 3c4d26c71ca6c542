//! Looks up byte arrays as vectors, so that only two branches depend on the length, at 32 and at 64 bytes.
//!
//! The vector bytes past an array's end are filled from a secret, so arrays of different lengths have different
//! vectors. Each 16 bytes then pass through rounds of AES, with keys that only the process knows. Therefore an attacker
//! cannot prepare arrays with equal hashes.

use std::arch::x86_64::*;
use std::hash::{BuildHasher, RandomState};
use std::sync::OnceLock;

use super::{Bucket, first_place, key, scalar};
use crate::hash;

/// Random bytes that only this process knows.
struct Secret {
    /// The bytes that follow an array's end.
    padding: [u8; 64],
    /// The keys of the AES rounds.
    first: [u8; 32],
    second: [u8; 32],
    last: [u8; 16],
}

impl Secret {
    fn of_process() -> &'static Self {
        static SECRET: OnceLock<Secret> = OnceLock::new();
        SECRET.get_or_init(|| {
            let random = RandomState::new();
            let byte = |at: usize| random.hash_one(at) as u8;
            Self {
                padding: std::array::from_fn(byte),
                first: std::array::from_fn(|at| byte(64 + at)),
                second: std::array::from_fn(|at| byte(96 + at)),
                last: std::array::from_fn(|at| byte(128 + at)),
            }
        })
    }
}

/// Implements [`super::ByteArrayTable::find_known`].
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,bmi2,aes,vaes")]
pub(super) fn find_known<'a, 'b>(
    places: &[Bucket],
    plain: &[u8],
    seed: u64,
    values: &mut impl Iterator<Item = (&'a [u8], &'b mut u32)>,
) -> Option<(&'a [u8], u64, &'b mut u32)> {
    let secret = Secret::of_process();
    for (value, index) in values {
        let found = match value.len() {
            0..=32 => find_32(places, plain, secret, value),
            33..=64 => find_64(places, plain, secret, value),
            _ => scalar::find(places, plain, seed, value),
        };
        match found {
            Ok(known) => *index = known,
            Err(hash) => return Some((value, hash, index)),
        }
    }
    None
}

/// Returns the hash of a value of any length.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,bmi2,aes,vaes")]
pub(super) fn hash(value: &[u8], seed: u64) -> u64 {
    let secret = Secret::of_process();
    match value.len() {
        0..=32 => hash_32(secret, load_32(secret, value)),
        33..=64 => hash_64(secret, load_64(secret, value)),
        _ => hash::bytes(value, seed),
    }
}

macro_rules! find {
    ($find:ident, load $load:ident, hash $hash:ident, differ $differ:expr) => {
        /// Returns the index of `value`, or its hash as the error if it is not in the table.
        #[inline]
        #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,bmi2,aes,vaes")]
        fn $find(
            places: &[Bucket],
            plain: &[u8],
            secret: &Secret,
            value: &[u8],
        ) -> Result<u32, u64> {
            let vector = $load(secret, value);
            let hash = $hash(secret, vector);
            let key = key(hash, value.len());
            let mask = places.len().wrapping_sub(1);
            let mut at = first_place(key);
            // The loop also ends if the table is empty, because then it has no places.
            while let Some(place) = places.get(at & mask) {
                if place.key == key {
                    if let Some(known) = place.array(value.len(), plain)
                        && $differ(vector, $load(secret, known)) == 0
                    {
                        return Ok(place.index);
                    }
                } else if place.key == 0 {
                    break;
                }
                at += 1;
            }
            Err(hash)
        }
    };
}
find!(find_32, load load_32, hash hash_32, differ _mm256_cmpneq_epi64_mask);
find!(find_64, load load_64, hash hash_64, differ _mm512_cmpneq_epi64_mask);

/// Loads the first 32 bytes of an array, followed by padding.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn load_32(secret: &Secret, array: &[u8]) -> __m256i {
    let there = _bzhi_u32(u32::MAX, array.len().min(32) as u32);
    // SAFETY: the padding has 64 bytes; only bytes within the array are loaded.
    unsafe {
        let padding = _mm256_loadu_si256(secret.padding.as_ptr().cast());
        _mm256_mask_loadu_epi8(padding, there, array.as_ptr().cast())
    }
}

/// Loads the first 64 bytes of an array, followed by padding.
#[inline]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,bmi2")]
fn load_64(secret: &Secret, array: &[u8]) -> __m512i {
    let there = _bzhi_u64(u64::MAX, array.len().min(64) as u32);
    // SAFETY: the padding has 64 bytes; only bytes within the array are loaded.
    unsafe {
        let padding = _mm512_loadu_si512(secret.padding.as_ptr().cast());
        _mm512_mask_loadu_epi8(padding, there, array.as_ptr().cast())
    }
}

/// Hashes two times 16 bytes.
///
/// `low` enters again after the second round, so that arrays which are equal after the first round do not stay equal. A
/// round spreads a byte over four bytes, and `high` enters after the first round. So it takes four rounds until each
/// bit of the hash depends on all bytes.
#[inline]
#[target_feature(enable = "avx512f,avx512vl,aes")]
fn hash_32(secret: &Secret, bytes: __m256i) -> u64 {
    // SAFETY: the keys have 32 and 16 bytes.
    let (first, second, last) = unsafe {
        (
            _mm_loadu_si128(secret.first.as_ptr().cast()),
            _mm_loadu_si128(secret.second.as_ptr().cast()),
            _mm_loadu_si128(secret.last.as_ptr().cast()),
        )
    };
    let (low, high) = (
        _mm256_castsi256_si128(bytes),
        _mm256_extracti128_si256(bytes, 1),
    );
    let mixed = _mm_aesenc_si128(_mm_xor_si128(low, first), high);
    let mixed = _mm_aesenc_si128(mixed, _mm_xor_si128(low, second));
    let mixed = _mm_aesenc_si128(mixed, last);
    _mm_cvtsi128_si64(_mm_aesenc_si128(mixed, first)).cast_unsigned()
}

/// Hashes four times 16 bytes. This mixes each block of the lower half with one of the upper half, and then hashes the
/// two results.
#[inline]
#[target_feature(enable = "avx512f,avx512vl,aes,vaes")]
fn hash_64(secret: &Secret, bytes: __m512i) -> u64 {
    // SAFETY: each of the two keys has 32 bytes.
    let (first, second) = unsafe {
        (
            _mm256_loadu_si256(secret.first.as_ptr().cast()),
            _mm256_loadu_si256(secret.second.as_ptr().cast()),
        )
    };
    let (low, high) = (
        _mm512_castsi512_si256(bytes),
        _mm512_extracti64x4_epi64(bytes, 1),
    );
    let mixed = _mm256_aesenc_epi128(_mm256_xor_si256(low, first), high);
    let mixed = _mm256_aesenc_epi128(mixed, _mm256_xor_si256(low, second));
    hash_32(secret, mixed)
}
