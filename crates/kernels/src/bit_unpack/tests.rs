//! Compares unpacking with a loop that reads one bit at a time.

use super::*;

const LENGTHS: &[usize] = if cfg!(miri) {
    &[0, 1, 8, 13]
} else {
    &[
        0, 1, 2, 3, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 40, 63, 64, 65, 100, 127, 128, 129, 300,
    ]
};
const FIRSTS: &[usize] = if cfg!(miri) {
    &[0, 5]
} else {
    &[0, 1, 3, 4, 7, 8, 11, 16, 30, 64, 101]
};

/// Returns bytes without a pattern.
fn noise(len: usize, seed: u64) -> Vec<u8> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let byte = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 24) as u8
    };
    std::iter::repeat_with(byte).take(len).collect()
}

fn bit_lsb(data: &[u8], index: usize) -> u64 {
    u64::from(data[index / 8] >> (index % 8) & 1)
}

fn naive(data: &[u8], first: usize, width: u8, n: usize) -> Vec<u64> {
    let width = usize::from(width);
    let value = |value: usize| {
        (0..width)
            .map(|bit| bit_lsb(data, value * width + bit) << bit)
            .sum()
    };
    (first..first + n).map(value).collect()
}

/// Checks all widths, lengths, first values and alignments of the data, which has no spare bytes.
fn check_all<L: Lane + std::fmt::Debug>(cpu: impl Unpack) {
    let mark = MaybeUninit::new(L::truncate(77));
    for width in (0..=L::BITS).filter(|width| !cfg!(miri) || width % 9 < 2) {
        for &n in LENGTHS {
            for &first in FIRSTS {
                let len = ((first + n) * usize::from(width)).div_ceil(8);
                let alignment = (n + first) % 5;
                let bytes = noise(alignment + len, u64::from(width) + n as u64);
                let data = &bytes[alignment..];
                let mut out = vec![mark; n + 2];
                cpu.unpack(data, first, width, &mut out[1..=n]);
                let expected = naive(data, first, width, n).into_iter().map(L::truncate);
                let expected = [L::truncate(77)]
                    .into_iter()
                    .chain(expected)
                    .chain([L::truncate(77)]);
                // SAFETY: the slots were initialised before the call, and the kernel writes only initialised
                // values.
                let out: Vec<L> = out
                    .iter()
                    .map(|value| unsafe { value.assume_init() })
                    .collect();
                assert!(
                    out.iter().copied().eq(expected),
                    "width {width}, n {n}, first {first}: {out:?}"
                );
                // If there is too little data, the values are unspecified, but the call is still safe.
                cpu.unpack(&data[..len / 2], first, width, &mut vec![mark; n]);
            }
        }
    }
}

fn check_lanes(cpu: impl Unpack) {
    check_all::<u8>(cpu);
    check_all::<u32>(cpu);
}

#[test]
fn scalar_unpacks_every_lane() {
    check_lanes(Scalar);
}

#[cfg(target_arch = "x86_64")]
#[test]
fn avx2_unpacks_every_lane() {
    Avx2::detect().into_iter().for_each(check_lanes);
}

#[cfg(target_arch = "x86_64")]
#[test]
fn avx512_unpacks_every_lane() {
    Avx512::detect().into_iter().for_each(check_lanes);
}

#[cfg(target_arch = "aarch64")]
#[test]
fn neon_unpacks_every_lane() {
    Neon::detect().into_iter().for_each(check_lanes);
}

#[test]
fn scalar_unpacks_most_significant_bit_first() {
    for width in 0..=8_u8 {
        for &n in LENGTHS {
            let data = noise((n * usize::from(width)).div_ceil(8), 3);
            let bit = |index: usize| data[index / 8] >> (7 - index % 8) & 1;
            let first = n / 3;
            let expected: Vec<u8> = (first..n)
                .map(|value| {
                    let bits = (0..usize::from(width)).map(|i| bit(value * usize::from(width) + i));
                    bits.fold(0, |sum, bit| sum << 1 | bit)
                })
                .collect();
            let mut out = Vec::new();
            assert_eq!(
                extend_u8_msb(&data, first, width, n - first, &mut out),
                Ok(())
            );
            assert_eq!(out, expected);
            assert!(extend_u8_msb(&data, first, width, n + 9, &mut out).is_err() || width == 0);
        }
    }
}

#[test]
fn scalar_example_of_the_specification() {
    // These are the numbers 0 to 7 in three bits each, as 10001000 11000110 11111010.
    let data = [0b1000_1000, 0b1100_0110, 0b1111_1010];
    let mut values = [MaybeUninit::new(0_u8); 8];
    Scalar.unpack(&data, 0, 3, &mut values);
    // SAFETY: all values were initialised above.
    let values = values.map(|value| unsafe { value.assume_init() });
    assert_eq!(values, [0, 1, 2, 3, 4, 5, 6, 7]);
    // Packed most significant bit first, they are 00000101 00111001 01110111.
    let data = [0b0000_0101, 0b0011_1001, 0b0111_0111];
    let mut out = Vec::new();
    assert_eq!(extend_u8_msb(&data, 0, 3, 8, &mut out), Ok(()));
    assert_eq!(out, [0, 1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn scalar_hostile_arguments_are_errors() {
    let mut out = Vec::new();
    assert!(extend_u8_msb(&[0; 64], 0, 9, 1, &mut out).is_err());
    assert!(extend_u8_msb(&[0; 64], usize::MAX, 1, 1, &mut out).is_err());
    assert!(extend_u8_msb(&[0; 64], usize::MAX / 2, 8, 1, &mut out).is_err());
    assert!(extend_u8_msb(&[], 0, 1, 1, &mut out).is_err());
    assert!(out.is_empty());
}
