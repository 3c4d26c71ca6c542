//! Compares with bytes that are worked out by hand, and makes round trips through the decoder.

use proptest::prelude::*;

use super::*;
use crate::bitmap::Bitmap;
use crate::hybrid::HybridDecoder;

fn bytes(encode: impl FnOnce(&mut Vec<u8>)) -> Vec<u8> {
    // The encoder must not touch existing bytes.
    let mut out = vec![0xaa];
    encode(&mut out);
    assert_eq!(out.remove(0), 0xaa);
    out
}

#[test]
fn short_runs_of_bits_are_runs_on_request() {
    let bits = [0xff, 0xaa];
    let encoded = |runs| bytes(|out| encode_bits(&bits, 0, 16, runs, out));
    assert_eq!(encoded(Runs::Shortest), [2 << 1 | 1, 0xff, 0xaa]);
    assert_eq!(encoded(Runs::Repetitive), [8 << 1, 1, 1 << 1 | 1, 0xaa]);
}

#[test]
fn only_long_runs_are_runs_on_request() {
    let encoded = |n: usize, runs| {
        // There are one group of equal values, `n` other equal values, and 8 more, in two bits each.
        let values = [[1; 8].as_slice(), &vec![3; n], &[2; 8]].concat();
        bytes(|out| encode_u32(&values, 2, runs, out))
    };
    let short = [1 << 1 | 1, 0x55, 0x55, 0xc0, 0x01, 3, 16, 2];
    assert_eq!(encoded(96, Runs::Shortest), short);
    let packed = [
        vec![14 << 1 | 1],
        vec![0x55; 2],
        vec![0xff; 24],
        vec![0xaa; 2],
    ]
    .concat();
    assert_eq!(encoded(96, Runs::Long), packed);
    // 504 values are packed in 63 groups, but 512 values are a run between two groups.
    assert_eq!(encoded(504, Runs::Long).len(), 2 + 2 + 126 + 2);
    let long = [
        1 << 1 | 1,
        0x55,
        0x55,
        0x80,
        0x08,
        3,
        1 << 1 | 1,
        0xaa,
        0xaa,
    ];
    assert_eq!(encoded(512, Runs::Long), long);
}

#[test]
fn a_run_and_packed_groups() {
    // There are 11 × 5 in three bits, then the specification's example, and then 3 values with their padding.
    let values = [[5; 11].as_slice(), &[0, 1, 2, 3, 4, 5, 6, 7], &[1, 2, 3]].concat();
    let expected = [
        11 << 1,
        5,
        2 << 1 | 1,
        0b1000_1000,
        0b1100_0110,
        0b1111_1010,
        0b1101_0001,
        0,
        0,
    ];
    assert_eq!(
        bytes(|out| encode_u32(&values, 3, Runs::Shortest, out)),
        expected
    );
    let levels: Vec<u8> = values.iter().map(|value| *value as u8).collect();
    assert_eq!(
        bytes(|out| encode_u8(&levels, 3, Runs::Shortest, out)),
        expected
    );
}

#[test]
fn runs_of_each_width() {
    assert_eq!(bytes(|out| encode_run(1, 100, 1, out)), [200, 1, 1]);
    assert_eq!(bytes(|out| encode_run(0x1234, 3, 13, out)), [6, 0x34, 0x12]);
    assert_eq!(
        bytes(|out| encode_run(u32::MAX, 8, 32, out)),
        [16, 255, 255, 255, 255]
    );
    assert_eq!(bytes(|out| encode_run(3, 8, 1, out)), [16, 1]);
    assert_eq!(bytes(|out| encode_run(0, 5, 0, out)), [10]);
    assert_eq!(
        bytes(|out| encode_run(1, MAX_REPEATS + 5, 1, out)),
        [0x80, 0x80, 0x80, 0x80, 0x08, 1, 10, 1]
    );
    assert!(bytes(|out| encode_run(0, 0, 8, out)).is_empty());
}

#[test]
fn no_values_and_no_bits() {
    for width in 0..=32 {
        assert!(bytes(|out| encode_u32(&[], width, Runs::Shortest, out)).is_empty());
    }
    assert!(bytes(|out| encode_bits(&[], 0, 0, Runs::Shortest, out)).is_empty());
    assert_eq!(
        bytes(|out| encode_u32(&[0; 20], 0, Runs::Shortest, out)),
        [40]
    );
}

#[test]
fn bits_behind_the_last_are_zeros() {
    // There are 36 ones from bit 3 on, then 0 0 1 1. Bits follow that do not belong to the values.
    let bits = [0xff, 0xff, 0xff, 0xff, 0b0111_1111, 0b1111_1110, 0xff];
    let ones = [36 << 1, 1];
    assert_eq!(
        bytes(|out| encode_bits(&bits, 3, 36, Runs::Shortest, out)),
        ones
    );
    assert_eq!(
        bytes(|out| encode_bits(&bits, 3, 40, Runs::Shortest, out)),
        [36 << 1, 1, 1 << 1 | 1, 0b1100]
    );
}

#[test]
fn short_runs_are_packed_where_that_is_shorter() {
    // There are alternating runs of fifteen equal bits. Packed, they take one bit per value, but each run would take
    // two bytes.
    let runs: Vec<u32> = (0..300).map(|i| i / 15 % 2).collect();
    let packed = bytes(|out| encode_u32(&runs, 1, Runs::Shortest, out));
    assert_eq!(packed.len(), 1 + 300_usize.div_ceil(8));
    // With three bits each, the runs are shorter.
    let packed = bytes(|out| encode_u32(&runs, 3, Runs::Shortest, out));
    assert_eq!(packed.len(), 20 * 2);
}

#[test]
fn a_run_saves_two_bytes_at_least() {
    let others = [0, 1, 2, 3, 4, 5, 6, 7];
    let encoded = |values: &[u32], width| {
        let runs = bytes(|out| encode_u32(values, width, Runs::Shortest, out));
        runs.len()
    };
    let between = [&others, [3; 8].as_slice(), &others].concat();
    // Packed, eight values of five bits take five bytes. A run and one more header take three bytes in all.
    assert_eq!(encoded(&between, 5), (1 + 5) + 2 + (1 + 5));
    assert_eq!(encoded(&between, 4), 1 + 3 * 4);
    // Before other values, a run neither saves nor costs a header.
    let in_front = [[3; 8].as_slice(), &others].concat();
    assert_eq!(encoded(&in_front, 4), 2 + (1 + 4));
    assert_eq!(encoded(&in_front, 3), 1 + 2 * 3);
}

#[test]
fn long_packed_runs_are_split() {
    let n = if cfg!(miri) { 100 } else { MAX_GROUPS * 8 + 11 };
    let levels: Vec<u8> = (0..n).map(|i| i as u8 & 1).collect();
    let runs = bytes(|out| encode_u8(&levels, 1, Runs::Shortest, out));
    let mut out = Vec::new();
    let mut decoder = HybridDecoder::new(1);
    assert_eq!(decoder.extend_u8(&runs, n, 1, &mut out), Ok(()));
    assert_eq!(out, levels);
    assert!(runs.len() <= n.div_ceil(8) + 5);
}

/// Returns the size of the runs that a simple encoder makes. It ends packing whenever eight values are equal, and
/// counts the bytes that such a run has to save as part of its size.
fn plain_bytes(values: &[u32], width: usize) -> usize {
    let (mut bytes, mut at, mut packed) = (0, 0, 0);
    while at < values.len() {
        let equal = values[at..]
            .iter()
            .take_while(|value| **value == values[at])
            .count();
        if equal >= 8 || at + equal == values.len() && packed == 0 {
            bytes += 1 + usize::from(equal >= 64) + width.div_ceil(8) + MIN_SAVED;
            at += equal;
            packed = 0;
        } else {
            bytes += width + usize::from(packed % 63 == 0);
            packed += 1;
            at += 8;
        }
    }
    bytes
}

/// Generates values in runs of all lengths.
fn values() -> impl Strategy<Value = Vec<u32>> {
    let length = prop_oneof![1..4_usize, 5..40_usize, 1..400_usize];
    let run = (any::<u32>(), length, any::<bool>()).prop_map(|(value, n, mixed)| {
        let value = |i: u32| value.wrapping_add(if mixed { i * i } else { 0 });
        (0..n as u32).map(value).collect::<Vec<_>>()
    });
    prop::collection::vec(run, 0..if cfg!(miri) { 4 } else { 20 }).prop_map(|runs| runs.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 400 }))]

    #[test]
    fn indices_come_back(values in values(), width in 0..=32_u8) {
        let mask = crate::bitmap::low_bits(width.into()) as u32;
        let values: Vec<u32> = values.iter().map(|value| value & mask).collect();
        let runs = bytes(|out| encode_u32(&values, width, Runs::Shortest, out));
        let mut decoder = HybridDecoder::new(width);
        let mut out = Vec::new();
        prop_assert_eq!(decoder.extend_u32(&runs, values.len(), &mut out), Ok(()));
        prop_assert_eq!(&out, &values);
        prop_assert!(width == 0 || runs.len() <= plain_bytes(&values, width.into()) + 4);
        // Less than a group is left, and there is no further run.
        prop_assert!(width == 0 || decoder.skip(&runs, 8).is_err());
    }

    #[test]
    fn levels_come_back(values in values(), width in 1..=8_u8) {
        let max = ((1_u32 << width) - 1) as u8;
        let levels: Vec<u8> = values.iter().map(|value| *value as u8 & max).collect();
        let runs = bytes(|out| encode_u8(&levels, width, Runs::Shortest, out));
        let numbers: Vec<u32> = levels.iter().map(|level| (*level).into()).collect();
        prop_assert_eq!(&runs, &bytes(|out| encode_u32(&numbers, width, Runs::Shortest, out)));
        let mut out = Vec::new();
        prop_assert_eq!(HybridDecoder::new(width).extend_u8(&runs, levels.len(), max, &mut out), Ok(()));
        prop_assert_eq!(out, levels);
    }

    #[test]
    fn bits_come_back(values in values(), first in 0..70_usize, dirt in any::<u8>()) {
        let n = values.len();
        let mut bits = vec![dirt; (first + n).div_ceil(8)];
        for (i, value) in values.iter().enumerate() {
            let at = first + i;
            bits[at / 8] = bits[at / 8] & !(1 << (at % 8)) | (*value as u8 & 1) << (at % 8);
        }
        let runs = bytes(|out| encode_bits(&bits, first, n, Runs::Shortest, out));
        let numbers: Vec<u32> = values.iter().map(|value| value & 1).collect();
        prop_assert_eq!(&runs, &bytes(|out| encode_u32(&numbers, 1, Runs::Shortest, out)));
        for runs in [Runs::Long, Runs::Repetitive] {
            let encoded = bytes(|out| encode_u32(&numbers, 1, runs, out));
            prop_assert_eq!(&encoded, &bytes(|out| encode_bits(&bits, first, n, runs, out)));
        }
        let repetitive = bytes(|out| encode_bits(&bits, first, n, Runs::Repetitive, out));
        let long = bytes(|out| encode_bits(&bits, first, n, Runs::Long, out));
        for runs in [runs, repetitive, long] {
            let mut out = Bitmap::new();
            prop_assert!(HybridDecoder::new(1).extend_bitmap(&runs, n, &mut out).is_ok());
            prop_assert!((0..n).all(|i| u32::from(out.get(i)) == numbers[i]));
        }
    }
}
