//! Compares expansion with its definition, which walks the slots and takes the next value at each set bit.

use herringbone_arrow::buffer::{IntervalDayTime, i256};

use super::*;

/// A small generator that is deterministic, so that failures repeat.
pub(super) struct Random(pub(super) u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        self.0 >> 33
    }
}

const LENGTHS: &[usize] = if cfg!(miri) {
    &[7, 130]
} else {
    &[
        0, 1, 2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 100, 127, 128, 129, 200, 777,
    ]
};

/// The number of pairs of a base and a start that we try.
const STARTS: usize = if cfg!(miri) { 2 } else { 5 };

/// Returns bitmaps of `start + n` bits. About `percent` of the bits are set, in runs or mixed.
fn bitmaps(start: usize, n: usize) -> Vec<Bitmap> {
    let mut random = Random(n as u64 * 31 + start as u64);
    let mut bitmaps = Vec::new();
    for percent in [0, 10, 50, 90, 100] {
        let mut bitmap = Bitmap::new();
        (0..start + n).for_each(|_| bitmap.append_run(random.next() % 100 < percent, 1));
        bitmaps.push(bitmap);
    }
    let mut runs = Bitmap::new();
    while runs.len() < start + n {
        runs.append_run(random.next() & 1 == 0, random.next() as usize % 150);
    }
    bitmaps.push(runs);
    bitmaps
}

fn check_expand<T>(cpu: impl Expand, make: impl Fn(u64) -> T)
where
    T: Copy + Default + PartialEq + std::fmt::Debug + 'static,
{
    for &n in LENGTHS {
        for (base, start) in [(3, 1), (0, 63), (0, 0), (5, 64), (1, 70)]
            .into_iter()
            .take(STARTS)
        {
            for validity in bitmaps(start, n) {
                let before: Vec<T> = (0..base as u64).map(|i| make(1000 + i)).collect();
                let (mut out, mut expected) = (before.clone(), before);
                let mut value = 1;
                for slot in start..start + n {
                    if validity.get(slot) {
                        out.push(make(value));
                        expected.push(make(value));
                        value += 1;
                    } else {
                        expected.push(T::default());
                    }
                }
                expand_with(cpu, &mut out, base, &validity, start..start + n);
                assert_eq!(out, expected, "n {n}, start {start}");
            }
        }
    }
}

/// Checks slots that are filled from unaligned bytes.
fn check_spread<T>(cpu: impl Expand, make: impl Fn(u64) -> T)
where
    T: Plain + PartialEq + std::fmt::Debug,
{
    for &n in LENGTHS {
        for start in [0, 1, 63, 64, 70].into_iter().take(STARTS) {
            for validity in bitmaps(start, n) {
                let (mut bytes, mut expected) = (vec![0], Vec::new());
                for slot in start..start + n {
                    let value = make(slot as u64 + 1);
                    let valid = validity.get(slot);
                    expected.push(if valid { value } else { T::default() });
                    if valid {
                        bytes.extend_from_slice(crate::plain::bytes(&[value]));
                    }
                }
                let mut out = Vec::<T>::with_capacity(n);
                cpu.spread(
                    &bytes[1..],
                    &mut out.spare_capacity_mut()[..n],
                    &validity,
                    start,
                );
                // SAFETY: all slots are written, as the comparison under Miri proves.
                unsafe { out.set_len(n) };
                assert_eq!(out, expected, "n {n}, start {start}");
            }
        }
    }
}

#[test]
fn scalar_spread_needs_a_value_for_each_bit() {
    let mut validity = Bitmap::new();
    validity.append_bits(0b1011, 4);
    let mut out = vec![9_i16];
    assert!(!spread(&[1, 0, 2, 0, 3], &validity, 0, 4, &mut out));
    assert_eq!(out, [9]);
    assert!(spread(&[1, 0, 2, 0, 3, 0, 4], &validity, 0, 6, &mut out));
    assert_eq!(out, [9, 1, 2, 0, 3, 0, 0]);
}

fn check_widths(cpu: impl Expand) {
    check_spread(cpu, |i| i as u8);
    check_spread(cpu, |i| i as i16);
    check_spread(cpu, |i| i as f32);
    check_spread(cpu, |i| i as i64);
    check_spread(cpu, |i| i128::from(i) << 64 | i128::from(i));
    check_expand(cpu, |i| i as u8);
    check_expand(cpu, |i| i as i16);
    check_expand(cpu, |i| i as u32);
    check_expand(cpu, |i| i as f64);
    check_expand(cpu, |i| IntervalDayTime::new(i as i32, 7));
    check_expand(cpu, |i| u128::from(i) << 64 | u128::from(i));
    check_expand(cpu, |i| i256::from_parts(u128::from(i), i128::from(i)));
    check_expand(cpu, |i| [i as u8, 2, 3]);
    check_expand(cpu, |i| [i as u8, 2, 3, 4]);
    check_offsets(cpu);
}

#[test]
fn scalar_expand_of_every_width() {
    check_widths(Scalar);
}

#[cfg(target_arch = "x86_64")]
#[test]
fn avx2_expand_of_every_width() {
    Avx2::detect().into_iter().for_each(check_widths);
}

#[cfg(target_arch = "x86_64")]
#[test]
fn avx512_expand_of_every_width() {
    Avx512::detect().into_iter().for_each(check_widths);
}

#[cfg(target_arch = "aarch64")]
#[test]
fn neon_expand_of_every_width() {
    Neon::detect().into_iter().for_each(check_widths);
}

#[test]
fn scalar_expand_of_a_default_that_is_not_zero() {
    #[derive(Clone, Copy, PartialEq, Debug)]
    struct Odd(u32);
    impl Default for Odd {
        fn default() -> Self {
            Self(7)
        }
    }
    check_expand(Scalar, |i| Odd(i as u32));
    #[cfg(target_arch = "x86_64")]
    Avx512::detect()
        .into_iter()
        .for_each(|cpu| check_expand(cpu, |i| Odd(i as u32)));
    #[cfg(target_arch = "aarch64")]
    Neon::detect()
        .into_iter()
        .for_each(|cpu| check_expand(cpu, |i| Odd(i as u32)));
}

#[test]
fn scalar_spread_bits_of_booleans() {
    for &n in LENGTHS {
        for (first, start) in [(0, 0), (3, 1), (70, 63)] {
            for validity in bitmaps(start, n) {
                let mut random = Random(n as u64);
                let (mut packed, mut expected) = (Bitmap::new(), vec![true]);
                packed.append_run(false, first);
                for slot in start..start + n {
                    let bit = random.next() & 3 > 0;
                    let valid = validity.get(slot);
                    if valid {
                        packed.append_run(bit, 1);
                    }
                    expected.push(valid && bit);
                }
                let packed = packed.finish_boolean();
                let mut out = Bitmap::new();
                out.append_run(true, 1);
                spread_bits(packed.values(), first, &validity, start, n, &mut out);
                let ones = expected.iter().filter(|bit| **bit).count();
                assert_eq!((out.len(), out.count_set()), (n + 1, ones));
                assert!(out.finish_boolean().iter().eq(expected));
            }
        }
    }
}

fn check_offsets(cpu: impl Expand) {
    for &n in LENGTHS {
        for (base, start) in [(0, 0), (1, 1), (3, 63), (1, 64)] {
            for validity in bitmaps(start, n) {
                let before: Vec<i32> = (0..base).map(|i| i * 2).collect();
                let (mut out, mut expected) = (before.clone(), before);
                let mut offset = out.last().copied().unwrap_or_default();
                for slot in start..start + n {
                    if validity.get(slot) {
                        offset += 3;
                        out.push(offset);
                    }
                    expected.push(offset);
                }
                let mut wide: Vec<i64> = out.iter().map(|offset| i64::from(*offset)).collect();
                expand_offsets_with(cpu, &mut out, base as usize, &validity, start..start + n);
                assert_eq!(out, expected, "n {n}, start {start}");
                expand_offsets_with(cpu, &mut wide, base as usize, &validity, start..start + n);
                assert!(
                    wide.iter()
                        .copied()
                        .eq(expected.iter().map(|offset| i64::from(*offset)))
                );
            }
        }
    }
}

#[test]
fn scalar_expand_bits_of_booleans() {
    for &n in LENGTHS {
        for (base, start) in [(0, 0), (3, 1), (64, 63)] {
            for validity in bitmaps(start, n) {
                let (mut out, mut expected) = (Bitmap::new(), Vec::new());
                let mut random = Random(n as u64);
                for slot in 0..base + n {
                    let bit = random.next() & 3 > 0;
                    let valid = slot < base || validity.get(start + slot - base);
                    if valid {
                        out.append_run(bit, 1);
                    }
                    expected.push(valid && bit);
                }
                expand_bits(&mut out, base, &validity, start, n);
                assert!(out.finish_boolean().iter().eq(expected));
            }
        }
    }
}

#[test]
fn scalar_wrong_numbers_of_values_are_mended() {
    let mut validity = Bitmap::new();
    validity.append_bits(0b01_0110, 6);
    let mut few = vec![9, 1];
    expand(&mut few, 1, &validity, 0, 6);
    assert_eq!(few, [9, 0, 1, 0, 0, 0, 0]);
    let mut many = vec![9, 1, 2, 3, 4, 5];
    expand(&mut many, 1, &validity, 0, 6);
    assert_eq!(many, [9, 0, 1, 2, 0, 3, 0]);
    let mut behind = vec![1, 2, 3];
    expand(&mut behind, 0, &validity, 4, 10);
    assert_eq!(behind, [1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn set_bits_of_a_mask_take_the_next_bits() {
    let mut random = Random(7);
    for &len in LENGTHS {
        for offset in [0, 3, 64] {
            let mut bits = |len: usize| -> BooleanBuffer {
                let bits: Vec<bool> = (0..len).map(|_| random.next().is_multiple_of(3)).collect();
                bits.into()
            };
            let mask = bits(offset + len).slice(offset, len);
            let bits = bits(offset + mask.count_set_bits()).slice(offset, mask.count_set_bits());
            let mut next = bits.iter();
            let expected: Vec<bool> = mask
                .iter()
                .map(|is_set| is_set && next.next().unwrap())
                .collect();
            assert_eq!(
                deposit_bits(&bits, &mask),
                expected.into(),
                "{len} bits from {offset}"
            );
        }
    }
    let mask = BooleanBuffer::from(vec![true, false, true, true]);
    let expected = BooleanBuffer::from(vec![true, false, false, false]);
    assert_eq!(deposit_bits(&vec![true].into(), &mask), expected);
}
