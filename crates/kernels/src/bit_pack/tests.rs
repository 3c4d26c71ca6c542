//! Compares packing with a loop that writes one bit at a time, and with unpacking.

use proptest::prelude::*;

use super::*;
use crate::bitmap::load_bits;

const LENGTHS: &[usize] = if cfg!(miri) {
    &[0, 1, 13]
} else {
    &[
        0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 255, 256, 257, 300, 515,
    ]
};

/// Returns numbers without a pattern, in which all bits occur.
fn noise(n: usize, seed: u64) -> Vec<u64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let number = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    std::iter::repeat_with(number).take(n).collect()
}

fn naive(values: &[u64], width: usize) -> Vec<u8> {
    let mut out = vec![0; (values.len() * width).div_ceil(8)];
    for bit in 0..values.len() * width {
        out[bit / 8] |= ((values[bit / width] >> (bit % width) & 1) as u8) << (bit % 8);
    }
    out
}

/// Checks all widths and lengths, both with the portable code and with the code for this processor.
fn check<V: Value + From<u8>>(from: impl Fn(u64) -> V) {
    for width in (0..=V::BITS).filter(|width| !cfg!(miri) || width % 9 < 2) {
        for &n in LENGTHS {
            let numbers = noise(n, (n + 77 * width) as u64);
            let values: Vec<V> = numbers.iter().map(|number| from(*number)).collect();
            let expected = naive(&numbers, width);
            let mut out = vec![7];
            pack(&values, width as u8, &mut out);
            assert_eq!(out[0], 7);
            assert_eq!(out[1..], expected, "width {width}, n {n}");
            if width < V::BITS {
                let mut out = vec![MaybeUninit::new(0xff); n.div_ceil(GROUP) * width];
                scalar::pack(Scalar, &values, width, &mut out);
                // SAFETY: the bytes were initialised before the call, and the kernel writes only initialised
                // bytes.
                let bytes = out.iter().map(|byte| unsafe { byte.assume_init() });
                let padding = std::iter::repeat_n(0, out.len() - expected.len());
                assert!(
                    bytes.eq(expected.into_iter().chain(padding)),
                    "width {width}, n {n}, scalar"
                );
            }
        }
    }
}

#[test]
fn every_width_of_bytes() {
    check(|number| number as u8);
}

#[test]
fn every_width_of_32_bits() {
    check(|number| number as u32);
}

#[test]
fn every_width_of_64_bits() {
    check(|number| number);
}

#[test]
fn example_of_the_specification() {
    let expected = [0b1000_1000, 0b1100_0110, 0b1111_1010];
    let mut out = Vec::new();
    pack_u32(&[0, 1, 2, 3, 4, 5, 6, 7], 3, &mut out);
    assert_eq!(out, expected);
    pack_u8(&[0, 1, 2, 3, 4, 5, 6, 7], 3, &mut out);
    pack_u64(&[0, 1, 2, 3, 4, 5, 6, 7], 3, &mut out);
    assert_eq!(out[3..], expected.repeat(2));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 256 }))]

    #[test]
    fn unpacks_to_the_same(values in prop::collection::vec(any::<u64>(), 0..700), width in 0..=64u8) {
        let bits = usize::from(width);
        let mask = crate::bitmap::low_bits(bits);
        let values: Vec<u64> = values.iter().map(|value| value & mask).collect();
        let mut packed = Vec::new();
        pack_u64(&values, width, &mut packed);
        let out: Vec<u64> =
            (0..values.len()).map(|value| load_bits(&packed, value * bits, bits)).collect();
        prop_assert_eq!(out, values);
    }
}
