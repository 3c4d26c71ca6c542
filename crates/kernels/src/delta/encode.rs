//! Writing DELTA_BINARY_PACKED: blocks of 128 values in 4 miniblocks, as all writers have them.

use crate::bit_pack;
use crate::multiversion::multiversion;

/// Values a block.
const BLOCK: usize = 128;
/// Values a miniblock.
const MINIBLOCK: usize = 32;
const MINIBLOCKS: usize = BLOCK / MINIBLOCK;

macro_rules! encode {
    ($(#[$doc:meta])* $name:ident, $inner:ident, $signed:ident, $unsigned:ident, $pack:ident) => {
        $(#[$doc])*
        pub fn $name(values: &[$signed], out: &mut Vec<u8>) {
            multiversion!($inner(values: &[$signed], out: &mut Vec<u8>))
        }

        #[allow(trivial_numeric_casts, reason = "the macro serves several integers")]
        #[inline(always)]
        fn $inner(values: &[$signed], out: &mut Vec<u8>) {
            let first = values.first().copied().unwrap_or_default();
            out.reserve(40 + values.len() * size_of::<$signed>() + values.len() / 8);
            for number in [BLOCK, MINIBLOCKS, values.len()] {
                uleb128(number as u64, out);
            }
            uleb128(zigzag(first.into()), out);
            let behind = values.get(1..).unwrap_or_default();
            for (before, values) in values.chunks(BLOCK).zip(behind.chunks(BLOCK)) {
                let mut deltas = [0; BLOCK];
                for (delta, (a, b)) in deltas.iter_mut().zip(before.iter().zip(values)) {
                    *delta = b.wrapping_sub(*a);
                }
                let n = values.len();
                let least = deltas[..n].iter().fold($signed::MAX, |least, delta| least.min(*delta));
                // What no value is behind is padding: a delta of the least, which takes no bits.
                deltas[n..].fill(least);
                uleb128(zigzag(least.into()), out);
                let mut raised = [0; BLOCK];
                for (raised, delta) in raised.iter_mut().zip(deltas) {
                    *raised = delta.wrapping_sub(least).cast_unsigned();
                }
                let (miniblocks, _) = raised.as_chunks::<MINIBLOCK>();
                let mut widths = [0; MINIBLOCKS];
                for (width, miniblock) in widths.iter_mut().zip(miniblocks) {
                    let bits = miniblock.iter().fold(0, |bits, delta| bits | delta);
                    *width = ($unsigned::BITS - bits.leading_zeros()) as u8;
                }
                out.extend(widths);
                // Miniblocks without values have no width, and so no bytes.
                for (width, miniblock) in widths.into_iter().zip(miniblocks) {
                    bit_pack::$pack(miniblock, width, out);
                }
            }
        }
    };
}
encode!(
    /// Appends `values`, and the header in front of them; differences wrap around in 32 bits.
    encode_i32, inner_i32, i32, u32, pack_u32
);
encode!(
    /// Appends `values`, and the header in front of them; differences wrap around in 64 bits.
    encode_i64, inner_i64, i64, u64, pack_u64
);

/// Appends an unsigned LEB128 number.
#[inline]
fn uleb128(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// The zigzag number of a signed one.
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
        // All deltas are 1: no bits.
        let mut out = vec![0xaa];
        encode_i32(&[1, 2, 3, 4, 5], &mut out);
        assert_eq!(out, [0xaa, 0x80, 1, 4, 5, 2, 2, 0, 0, 0, 0]);
        // Deltas -2 -2 -2 1 1 1 1, raised by 2: 0 0 0 3 3 3 3 in two bits each.
        let mut out = Vec::new();
        encode_i64(&[7, 5, 3, 1, 2, 3, 4, 5], &mut out);
        let expected = [
            0x80, 1, 4, 8, 14, 3, 2, 0, 0, 0, 0xc0, 0x3f, 0, 0, 0, 0, 0, 0,
        ];
        assert_eq!(out, expected);
    }

    #[test]
    fn few_values() {
        let mut out = Vec::new();
        encode_i32(&[], &mut out);
        assert_eq!(out, [0x80, 1, 4, 0, 0]);
        out.clear();
        encode_i64(&[-3], &mut out);
        assert_eq!(out, [0x80, 1, 4, 1, 5]);
    }

    #[test]
    fn extremes_wrap_around() {
        let values = [0, i64::MAX, i64::MIN, i64::MAX, -1, i64::MIN, i64::MIN, 0];
        let mut out = Vec::new();
        encode_i64(&values, &mut out);
        assert_eq!(decode::<i64>(&out), values);
        let values = [0, i32::MAX, i32::MIN, i32::MAX, -1, i32::MIN, i32::MIN, 0];
        out.clear();
        encode_i32(&values, &mut out);
        assert_eq!(decode::<i32>(&out), values);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 256 }))]

        #[test]
        fn values_come_back(values in prop::collection::vec(any::<i64>(), 0..if cfg!(miri) { 50 } else { 400 }), shift in 0..64_u32) {
            let values: Vec<i64> = values.iter().map(|value| value >> shift).collect();
            let mut out = Vec::new();
            encode_i64(&values, &mut out);
            prop_assert_eq!(decode::<i64>(&out), values.clone());
            let short: Vec<i32> = values.iter().map(|value| *value as i32).collect();
            out.clear();
            encode_i32(&short, &mut out);
            prop_assert_eq!(decode::<i32>(&out), short);
        }
    }
}
