//! Finds the numbers that lie between two bounds, as one bit per number.

use herringbone_arrow::array::OffsetSizeTrait;
use herringbone_arrow::buffer::i256;

use crate::bitmap::word_of_bytes;
#[cfg(target_arch = "x86_64")]
use crate::cpu::Avx512;
use crate::multiversion::multiversion;

#[cfg(target_arch = "x86_64")]
mod avx512;

/// The number of values in a block, in which each value has one bit of a word.
const BLOCK: usize = 64;

/// A number that has a key for comparisons.
pub trait OrderKey: Copy {
    /// The type of the keys, which are ordered as the numbers are.
    type Key: Ord + Copy;

    /// Returns the key of the number.
    fn key(self) -> Self::Key;

    /// Compares one block with dedicated instructions, which return one bit per number. Returns `None` if there are no
    /// such instructions for the type.
    #[cfg(target_arch = "x86_64")]
    #[doc(hidden)]
    fn block_with(_cpu: Avx512, _block: &[Self; 64], _bounds: (Self::Key, Self::Key)) -> Option<u64>
    where
        Self: Sized,
    {
        None
    }
}

macro_rules! integers {
    ($($type:ty)*) => { $(
        impl OrderKey for $type {
            type Key = Self;

            #[inline(always)]
            fn key(self) -> Self {
                self
            }
        }
    )* };
}

integers! { i8 i16 u8 u16 u32 u64 i256 }

macro_rules! integers_of_vectors {
    ($($type:ty, $block:ident);*) => { $(
        impl OrderKey for $type {
            type Key = Self;

            #[inline(always)]
            fn key(self) -> Self {
                self
            }

            #[cfg(target_arch = "x86_64")]
            #[inline(always)]
            fn block_with(_cpu: Avx512, block: &[Self; 64], bounds: (Self, Self)) -> Option<u64> {
                // SAFETY: the token proves that the instructions are available.
                Some(unsafe { avx512::$block(block, bounds) })
            }
        }
    )* };
}

integers_of_vectors! { i32, block_i32; i64, block_i64; i128, block_i128 }

impl OrderKey for f32 {
    type Key = i64;

    #[inline(always)]
    fn key(self) -> i64 {
        float_key(f64::from(self))
    }
}

impl OrderKey for f64 {
    type Key = i64;

    #[inline(always)]
    fn key(self) -> i64 {
        float_key(self)
    }
}

/// Returns a floating-point number's key. All NaNs are one number above all others, and −0 equals 0.
#[inline(always)]
#[must_use]
pub fn float_key(value: f64) -> i64 {
    // Adding 0 turns −0 into 0.
    let value = if value.is_nan() {
        f64::NAN.abs()
    } else {
        value + 0.0
    };
    let bits = value.to_bits().cast_signed();
    // This flips all bits of negative numbers except the sign, so that keys ascend with the numbers.
    bits ^ ((bits >> 63).cast_unsigned() >> 1).cast_signed()
}

/// Returns the bits for all `values`, in words. A bit is set if the key lies between `low` and `high`, both inclusive.
#[must_use]
pub fn between<T: OrderKey>(values: &[T], (low, high): (T::Key, T::Key)) -> Vec<u64> {
    words::<T>(values, Bounds { low, high })
}

/// Returns the first eight bytes of each value as a number that has the same order. Shorter values are padded with
/// zeros. Note that different values may have the same number.
///
/// There must be one more offset than values. The offsets ascend and point into `data`, and bytes past its end count as
/// zeros.
#[must_use]
pub fn first_bytes<O: OffsetSizeTrait>(offsets: &[O], data: &[u8]) -> Vec<u64> {
    #[inline(always)]
    fn inner<O: OffsetSizeTrait>(offsets: &[O], data: &[u8]) -> Vec<u64> {
        let mut firsts = Vec::with_capacity(offsets.len());
        let (mut starts, mut ends) = (offsets, offsets.get(1..).unwrap_or_default());
        // We use no closures, because they would be compiled without the instructions of the enclosing function.
        while let (Some((block, starts_left)), Some((block_ends, ends_left))) = (
            starts.split_first_chunk::<BLOCK>(),
            ends.split_first_chunk::<BLOCK>(),
        ) {
            let mut bytes = [0_u64; BLOCK];
            for (bytes, start) in bytes.iter_mut().zip(block) {
                *bytes = eight_bytes(data, start.as_usize());
            }
            // We clear the bytes after a value, because they belong to the next one. This loop is branch-free, so that
            // compilers vectorise it.
            for ((first, start), end) in bytes.iter_mut().zip(block).zip(block_ends) {
                *first = without_next(*first, start.as_usize(), end.as_usize());
            }
            firsts.extend_from_slice(&bytes);
            (starts, ends) = (starts_left, ends_left);
        }
        for (start, end) in starts.iter().zip(ends) {
            let (start, end) = (start.as_usize(), end.as_usize());
            firsts.push(without_next(eight_bytes(data, start), start, end));
        }
        firsts
    }
    multiversion!(inner<O: OffsetSizeTrait>(offsets: &[O], data: &[u8]) -> Vec<u64>)
}

/// Returns eight bytes of `data` in memory order, with zeros past the end.
#[inline(always)]
fn eight_bytes(data: &[u8], start: usize) -> u64 {
    match data.len().checked_sub(8) {
        // SAFETY: `start + 8 <= data.len()`.
        Some(last) if start <= last => unsafe {
            data.as_ptr().add(start).cast::<u64>().read_unaligned()
        },
        _ => first_of(data.get(start..).unwrap_or_default()).to_be(),
    }
}

/// Converts a value's [`eight_bytes`] to a number, and clears the bytes past the value's end.
#[inline(always)]
fn without_next(bytes: u64, start: usize, end: usize) -> u64 {
    let behind = 8 * 8_u64.saturating_sub(end.wrapping_sub(start) as u64) as u32;
    u64::from_be(bytes)
        .unbounded_shr(behind)
        .unbounded_shl(behind)
}

/// Returns the first eight bytes of one value, in the form that [`first_bytes`] describes.
#[inline]
#[must_use]
pub fn first_of(value: &[u8]) -> u64 {
    if let Some(first) = value.first_chunk() {
        return u64::from_be_bytes(*first);
    }
    match (value.first_chunk::<4>(), value.last_chunk::<4>()) {
        (Some(first), Some(last)) => {
            let high = u64::from(u32::from_be_bytes(*first)) << 32;
            // Some bytes may be in both chunks, but they are the same bytes at the same place.
            high | u64::from(u32::from_be_bytes(*last)) << (8 * (8 - value.len()))
        }
        _ => {
            let mut first = [0; 8];
            for (to, byte) in first.iter_mut().zip(value) {
                *to = *byte;
            }
            u64::from_be_bytes(first)
        }
    }
}

#[derive(Clone, Copy)]
struct Bounds<K> {
    low: K,
    high: K,
}

fn words<T: OrderKey>(values: &[T], bounds: Bounds<T::Key>) -> Vec<u64> {
    #[cfg(target_arch = "x86_64")]
    if let Some(cpu) = Avx512::detect() {
        let (low, high) = (bounds.low, bounds.high);
        let first = values.first_chunk();
        if first.is_some_and(|block| T::block_with(cpu, block, (low, high)).is_some()) {
            // SAFETY: the token proves that the instructions are available.
            return unsafe { words_of_blocks(cpu, values, bounds) };
        }
    }
    multiversion!(portable<T: OrderKey>(values: &[T], bounds: Bounds<T::Key>) -> Vec<u64>)
}

/// Computes the words with [`OrderKey::block_with`], for a type that implements it.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn words_of_blocks<T: OrderKey>(cpu: Avx512, values: &[T], bounds: Bounds<T::Key>) -> Vec<u64> {
    let mut words = Vec::with_capacity(values.len().div_ceil(BLOCK));
    let (blocks, rest) = values.as_chunks::<BLOCK>();
    for block in blocks {
        let bits = T::block_with(cpu, block, (bounds.low, bounds.high));
        words.push(bits.unwrap_or_default());
    }
    words.extend(word_of_rest(rest, bounds));
    words
}

#[inline(always)]
fn portable<T: OrderKey>(values: &[T], bounds: Bounds<T::Key>) -> Vec<u64> {
    let mut words = Vec::with_capacity(values.len().div_ceil(BLOCK));
    let (blocks, rest) = values.as_chunks::<BLOCK>();
    // We use no closure, because it would be compiled without the instructions of the enclosing function.
    for block in blocks {
        // We first compute one byte per number, because compilers turn this into code that uses whole registers.
        let mut is_between = [0_u8; BLOCK];
        for (is_between, value) in is_between.iter_mut().zip(block) {
            let key = value.key();
            *is_between = u8::from(bounds.low <= key) & u8::from(key <= bounds.high);
        }
        words.push(word_of_bytes(&is_between));
    }
    words.extend(word_of_rest(rest, bounds));
    words
}

/// Returns the word for the numbers after the last block, if there are any.
fn word_of_rest<T: OrderKey>(rest: &[T], bounds: Bounds<T::Key>) -> Option<u64> {
    let word = rest.iter().enumerate().fold(0, |bits, (i, value)| {
        let key = value.key();
        bits | u64::from(bounds.low <= key && key <= bounds.high) << i
    });
    (!rest.is_empty()).then_some(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: OrderKey + std::fmt::Debug>(values: &[T], low: T::Key, high: T::Key) {
        for length in [0, 1, 63, 64, 65, 130, values.len()] {
            let values = &values[..length.min(values.len())];
            let words = between(values, (low, high));
            assert_eq!(words, portable(values, Bounds { low, high }));
            assert_eq!(words.len(), values.len().div_ceil(64));
            for (i, value) in values.iter().enumerate() {
                let expected = low <= value.key() && value.key() <= high;
                assert_eq!(
                    words[i / 64] >> (i % 64) & 1 == 1,
                    expected,
                    "{i} {value:?}"
                );
            }
            let behind = values.len() % 64;
            assert!(behind == 0 || words[values.len() / 64] >> behind == 0);
        }
    }

    #[test]
    fn bits_are_those_of_one_comparison_after_the_other() {
        let mixed = |i: u64| i.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
        let wide: Vec<i64> = (0..300).map(|i| mixed(i) as i64 - (1 << 23)).collect();
        check(&wide, -1000, 1 << 22);
        check(&wide, i64::MIN, i64::MAX);
        check(&wide, 5, 4);
        let half: Vec<i32> = wide.iter().map(|value| *value as i32).collect();
        check(&half, -1000, 1 << 22);
        check(&half, i32::MIN, -1);
        // Some upper halves equal the upper halves of the bounds.
        let decimals: Vec<i128> = (0..300)
            .map(|i| (i128::from(mixed(i)) << 43) - (1 << 65) * i128::from(i % 3))
            .collect();
        check(&decimals, -(1 << 64), 1 << 65);
        check(&decimals, (1 << 63) + 5, (3 << 64) - 7);
        check(&decimals, i128::MIN, i128::MAX);
        check(&decimals, 5, 4);
        for i in [0, 7, 200] {
            check(&decimals, decimals[i], decimals[i]);
            check(&decimals, decimals[i] + 1, i128::MAX);
            check(&decimals, i128::MIN, decimals[i] - 1);
        }
        let narrow: Vec<u8> = (0..300).map(|i| mixed(i) as u8).collect();
        check(&narrow, 3, 200);
        let special = [
            f64::NAN,
            -f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            0.0,
            -0.0,
            1.5,
        ];
        let floats: Vec<f64> = (0..300).map(|i| special[mixed(i) as usize % 7]).collect();
        check(&floats, float_key(0.0), float_key(2.0));
        check(&floats, float_key(f64::INFINITY), float_key(f64::NAN));
        let singles: Vec<f32> = floats.iter().map(|value| *value as f32).collect();
        check(&singles, float_key(-1.0), float_key(1.5));
    }

    #[test]
    fn first_bytes_are_those_of_values_one_by_one() {
        // These are whole blocks of values, and some values after them.
        let values = ["", "a", "abcdefgh", "abcdefghi", "abcdefg", "", "z"].repeat(20);
        let mut offsets = vec![0_i32];
        for value in &values {
            offsets.push(offsets.last().unwrap() + value.len() as i32);
        }
        let data = values.concat();
        let expected = values.iter().map(|value| first_of(value.as_bytes()));
        let expected: Vec<u64> = expected.collect();
        assert_eq!(first_bytes(&offsets, data.as_bytes()), expected);
        let wide: Vec<i64> = offsets.iter().map(|offset| i64::from(*offset)).collect();
        assert_eq!(first_bytes(&wide, data.as_bytes()), expected);
        assert_eq!(expected[1], 0x6100_0000_0000_0000);
        assert_eq!(expected[2], expected[3]);
        assert!(expected[4] < expected[3]);
    }

    #[test]
    fn keys_are_ordered_as_numbers() {
        let ascending = [
            f64::NEG_INFINITY,
            -2.0,
            -f64::MIN_POSITIVE,
            0.0,
            1e-300,
            7.0,
            f64::INFINITY,
            f64::NAN,
        ];
        assert!(
            ascending
                .windows(2)
                .all(|pair| float_key(pair[0]) < float_key(pair[1]))
        );
        assert_eq!(float_key(-0.0), float_key(0.0));
        assert_eq!(float_key(-f64::NAN), float_key(f64::NAN));
    }
}
