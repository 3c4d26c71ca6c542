//! Encodes DELTA_BINARY_PACKED in blocks of 4 miniblocks. A block has 128 values, or 512 values if these take fewer
//! bytes. With [`Blocks::FastToRead`], it also has 512 values if these take only few more bytes.
//!
//! Each block has a least difference, and each miniblock has a width. Small blocks adapt to differences that change.
//! But if the differences are similar throughout, large blocks have fewer numbers to store and to read.

use crate::bit_pack;
use crate::multiversion::multiversion;

/// The number of values in a small block.
const SMALL: usize = 128;
/// The number of values in a large block.
const LARGE: usize = 512;

/// The rule for choosing the block size.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blocks {
    /// The block size that takes the fewest bytes.
    Smallest,
    /// Large blocks, which take 0.6 to 0.9 of the time to read. We use them unless they take more than one additional
    /// byte per 40 values.
    FastToRead,
}

/// The number of values for which large blocks may take one additional byte.
const VALUES_OF_A_BYTE: usize = 40;

impl Blocks {
    /// Returns the number of additional bytes that large blocks may take.
    #[inline(always)]
    fn more(self, values: usize) -> usize {
        match self {
            Self::Smallest => 0,
            Self::FastToRead => values / VALUES_OF_A_BYTE,
        }
    }
}

/// The number of miniblocks per block. The number of values in each miniblock is a multiple of 32.
const MINIBLOCKS: usize = 4;

macro_rules! encode {
    ($(#[$doc:meta])* $name:ident, $signed:ident, $unsigned:ident, $pack:ident) => {
        $(#[$doc])*
        pub fn $name(values: &[$signed], blocks: Blocks, out: &mut Vec<u8>) {
            use $signed::append;
            multiversion!(append(values: &[$signed], blocks: Blocks, out: &mut Vec<u8>))
        }

        #[allow(trivial_numeric_casts, reason = "the macro serves several integers")]
        mod $signed {
            use super::*;

            #[inline(always)]
            pub(super) fn append(values: &[$signed], blocks: Blocks, out: &mut Vec<u8>) {
                let small = bytes::<SMALL>(values) + blocks.more(values.len());
                match bytes::<LARGE>(values) < small {
                    true => append_blocks::<LARGE>(values, out),
                    false => append_blocks::<SMALL>(values, out),
                }
            }

            /// The differences in a block.
            struct Block<const VALUES: usize> {
                /// The least difference, as a zigzag number.
                least: u64,
                /// All differences, minus the least one.
                raised: [$unsigned; VALUES],
                widths: [u8; MINIBLOCKS],
            }

            impl<const VALUES: usize> Block<VALUES> {
                /// Computes the block for at least one value. `before` contains the value that precedes each of
                /// `values`.
                #[inline(always)]
                fn new(before: &[$signed], values: &[$signed]) -> Self {
                    let mut deltas = [0; VALUES];
                    for (delta, (a, b)) in deltas.iter_mut().zip(before.iter().zip(values)) {
                        *delta = b.wrapping_sub(*a);
                    }
                    let n = values.len();
                    let there = deltas[..n].iter();
                    let least = there.fold($signed::MAX, |least, delta| least.min(*delta));
                    // Slots past the last value are padding. They repeat the least delta, so that they take no bits.
                    deltas[n..].fill(least);
                    let mut raised = [0; VALUES];
                    for (raised, delta) in raised.iter_mut().zip(deltas) {
                        *raised = delta.wrapping_sub(least).cast_unsigned();
                    }
                    let mut widths = [0; MINIBLOCKS];
                    let miniblocks = raised.chunks_exact(VALUES / MINIBLOCKS);
                    for (width, miniblock) in widths.iter_mut().zip(miniblocks) {
                        let bits = miniblock.iter().fold(0, |bits, delta| bits | delta);
                        *width = ($unsigned::BITS - bits.leading_zeros()) as u8;
                    }
                    let least = zigzag(least.into());
                    Self { least, raised, widths }
                }
            }

            /// Returns the number of bytes that the values take in blocks of `VALUES` values.
            #[inline(always)]
            pub(super) fn bytes<const VALUES: usize>(values: &[$signed]) -> usize {
                let mut bytes = 0;
                let behind = values.get(1..).unwrap_or_default();
                for (before, values) in values.chunks(VALUES).zip(behind.chunks(VALUES)) {
                    let block = Block::<VALUES>::new(before, values);
                    let width: usize = block.widths.iter().map(|width| usize::from(*width)).sum();
                    bytes += uleb128_bytes(block.least) + MINIBLOCKS;
                    bytes += width * (VALUES / MINIBLOCKS / 8);
                }
                bytes
            }

            #[inline(always)]
            pub(super) fn append_blocks<const VALUES: usize>(values: &[$signed], out: &mut Vec<u8>) {
                let first = values.first().copied().unwrap_or_default();
                out.reserve(40 + values.len() * size_of::<$signed>() + values.len() / 8);
                for number in [VALUES, MINIBLOCKS, values.len()] {
                    uleb128(number as u64, out);
                }
                uleb128(zigzag(first.into()), out);
                let behind = values.get(1..).unwrap_or_default();
                for (before, values) in values.chunks(VALUES).zip(behind.chunks(VALUES)) {
                    let block = Block::<VALUES>::new(before, values);
                    uleb128(block.least, out);
                    out.extend(block.widths);
                    // Miniblocks without values have a width of 0, and so they have no bytes.
                    let miniblocks = block.raised.chunks_exact(VALUES / MINIBLOCKS);
                    for (width, miniblock) in block.widths.into_iter().zip(miniblocks) {
                        bit_pack::$pack(miniblock, width, out);
                    }
                }
            }
        }
    };
}
encode!(
    /// Appends the header and then `values`, whose differences wrap around in 32 bits.
    encode_i32, i32, u32, pack_u32
);
encode!(
    /// Appends the header and then `values`, whose differences wrap around in 64 bits.
    encode_i64, i64, u64, pack_u64
);

/// Returns the size in bytes of an unsigned LEB128 number.
#[inline(always)]
fn uleb128_bytes(value: u64) -> usize {
    let bits = u64::BITS - (value | 1).leading_zeros();
    bits.div_ceil(7) as usize
}

/// Appends an unsigned LEB128 number.
#[inline]
fn uleb128(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Converts a signed number to a zigzag number.
#[inline]
fn zigzag(value: i64) -> u64 {
    (value << 1 ^ value >> 63).cast_unsigned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::delta::{Delta, DeltaDecoder};

    fn decode<T: Delta>(data: &[u8]) -> Vec<T> {
        let mut decoder = DeltaDecoder::<T>::new(data).unwrap();
        let mut out = Vec::new();
        decoder.extend(data, decoder.total(), &mut out).unwrap();
        assert_eq!(decoder.end(data), Ok(data.len()));
        out
    }

    #[test]
    fn examples_of_the_specification() {
        // All deltas are 1, and so is the least delta, so they take no bits.
        let mut out = vec![0xaa];
        encode_i32(&[1, 2, 3, 4, 5], Blocks::Smallest, &mut out);
        assert_eq!(out, [0xaa, 0x80, 1, 4, 5, 2, 2, 0, 0, 0, 0]);
        // The deltas are -2 -2 -2 1 1 1 1. Raised by 2, they are 0 0 0 3 3 3 3, in two bits each.
        let mut out = Vec::new();
        encode_i64(&[7, 5, 3, 1, 2, 3, 4, 5], Blocks::Smallest, &mut out);
        let expected = [
            0x80, 1, 4, 8, 14, 3, 2, 0, 0, 0, 0xc0, 0x3f, 0, 0, 0, 0, 0, 0,
        ];
        assert_eq!(out, expected);
    }

    /// Checks the block size in the header, which is `80 04` for 512 values and `80 01` for 128 values.
    #[test]
    fn blocks_are_large_unless_that_takes_more_bytes() {
        let random = |at: u64| (at + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 44;
        let alike: Vec<i64> = (0..3073).map(|at| random(at) as i64).collect();
        let changing: Vec<i64> = (0..3073)
            .map(|at| random(at) as i64 >> (at / 32 % 16))
            .collect();
        // One of four small miniblocks, or one of eight, takes three bits less per value. In these cases large blocks
        // take one more byte per 17 values, or per 80 values, than small blocks.
        let with_period = |period: u64| {
            let mut values = vec![0];
            for at in 0..3072 {
                let narrow = if at % period < 32 { 3 } else { 0 };
                values.push(values[at as usize] + (random(at) >> narrow) as i64);
            }
            values
        };
        let (less_alike, nearly_alike) = (with_period(128), with_period(256));
        let (smallest, fast) = (Blocks::Smallest, Blocks::FastToRead);
        for (values, blocks, large) in [
            (&alike, smallest, true),
            (&alike, fast, true),
            (&nearly_alike, smallest, false),
            (&nearly_alike, fast, true),
            (&less_alike, fast, false),
            (&changing, fast, false),
        ] {
            let mut out = Vec::new();
            encode_i64(values, blocks, &mut out);
            assert_eq!(out[..2] == [0x80, 4], large);
            assert_eq!(decode::<i64>(&out), *values);
            let short: Vec<i32> = values.iter().map(|value| *value as i32).collect();
            let mut out = Vec::new();
            encode_i32(&short, blocks, &mut out);
            assert_eq!(out[..2] == [0x80, 4], large);
            assert_eq!(decode::<i32>(&out), short);
            let lens: &[usize] = match cfg!(miri) {
                true => &[0, 2, 130],
                false => &[0, 1, 2, 128, 129, 130, 513, 3000],
            };
            for &len in lens {
                let values = &values[..len];
                let of = |append: fn(&[i64], &mut Vec<u8>)| {
                    let mut out = Vec::new();
                    append(values, &mut out);
                    // This excludes the header, which consists of numbers of 2, 1 and 1 to 2 bytes, and of the first
                    // value.
                    let first = values.first().copied().unwrap_or_default();
                    out.len()
                        - 3
                        - [len as u64, zigzag(first)]
                            .map(uleb128_bytes)
                            .iter()
                            .sum::<usize>()
                };
                assert_eq!(
                    i64::bytes::<SMALL>(values),
                    of(i64::append_blocks::<SMALL>),
                    "{len}"
                );
                assert_eq!(
                    i64::bytes::<LARGE>(values),
                    of(i64::append_blocks::<LARGE>),
                    "{len}"
                );
            }
        }
    }

    #[test]
    fn few_values() {
        let mut out = Vec::new();
        encode_i32(&[], Blocks::Smallest, &mut out);
        assert_eq!(out, [0x80, 1, 4, 0, 0]);
        out.clear();
        encode_i64(&[-3], Blocks::Smallest, &mut out);
        assert_eq!(out, [0x80, 1, 4, 1, 5]);
    }

    #[test]
    fn extremes_wrap_around() {
        let values = [0, i64::MAX, i64::MIN, i64::MAX, -1, i64::MIN, i64::MIN, 0];
        let mut out = Vec::new();
        encode_i64(&values, Blocks::Smallest, &mut out);
        assert_eq!(decode::<i64>(&out), values);
        let values = [0, i32::MAX, i32::MIN, i32::MAX, -1, i32::MIN, i32::MIN, 0];
        out.clear();
        encode_i32(&values, Blocks::Smallest, &mut out);
        assert_eq!(decode::<i32>(&out), values);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 256 }))]

        #[test]
        fn values_come_back(values in prop::collection::vec(any::<i64>(), 0..if cfg!(miri) { 50 } else { 400 }), shift in 0..64_u32) {
            let values: Vec<i64> = values.iter().map(|value| value >> shift).collect();
            let mut out = Vec::new();
            encode_i64(&values, Blocks::Smallest, &mut out);
            prop_assert_eq!(decode::<i64>(&out), values.clone());
            let short: Vec<i32> = values.iter().map(|value| *value as i32).collect();
            out.clear();
            encode_i32(&short, Blocks::Smallest, &mut out);
            prop_assert_eq!(decode::<i32>(&out), short);
        }
    }
}
