//! Encodes by the rules of the format with simple arithmetic, and decodes the result.

use proptest::prelude::*;

use super::*;

fn push_uleb128(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

fn to_zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

/// Encodes values as DELTA_BINARY_PACKED. `unneeded` is the width byte for miniblocks without values.
fn encode(values: &[i64], bits: u32, block: usize, miniblocks: usize, unneeded: u8) -> Vec<u8> {
    let cut = |value: i64| {
        if bits == 32 {
            i64::from(value as i32)
        } else {
            value
        }
    };
    let mut out = Vec::new();
    push_uleb128(&mut out, block as u64);
    push_uleb128(&mut out, miniblocks as u64);
    push_uleb128(&mut out, values.len() as u64);
    push_uleb128(&mut out, to_zigzag(values.first().copied().unwrap_or(0)));
    let per = block / miniblocks;
    let deltas: Vec<i64> = values
        .windows(2)
        .map(|w| cut(w[1].wrapping_sub(w[0])))
        .collect();
    for block in deltas.chunks(block) {
        let least = block.iter().copied().min().unwrap_or(0);
        push_uleb128(&mut out, to_zigzag(least));
        let mut widths = vec![unneeded; miniblocks];
        let mut bodies = Vec::new();
        for (mini, width) in block.chunks(per).zip(&mut widths) {
            let mask = if bits == 32 {
                u64::from(u32::MAX)
            } else {
                u64::MAX
            };
            let raised: Vec<u64> = mini
                .iter()
                .map(|delta| delta.wrapping_sub(least) as u64 & mask)
                .collect();
            *width = raised
                .iter()
                .map(|v| 64 - v.leading_zeros())
                .max()
                .unwrap_or(0) as u8;
            let mut body = vec![0xa5u8; per * usize::from(*width) / 8];
            for (i, value) in raised.iter().enumerate() {
                for bit in 0..usize::from(*width) {
                    let at = i * usize::from(*width) + bit;
                    body[at / 8] &= !(1 << (at % 8));
                    body[at / 8] |= ((value >> bit & 1) as u8) << (at % 8);
                }
            }
            bodies.extend(body);
        }
        out.extend(widths);
        out.extend(bodies);
    }
    out
}

fn check<T: Delta + Into<i64>>(values: &[i64], block: usize, miniblocks: usize, steps: &[usize]) {
    let bits = u32::from(T::BITS);
    let mut data = encode(values, bits, block, miniblocks, 0xff);
    let end = data.len();
    data.extend([1, 2, 3]);
    let mut decoder = DeltaDecoder::<T>::new(&data).unwrap();
    assert_eq!(decoder.total(), values.len());
    assert_eq!(decoder.end(&data).unwrap(), end);
    let (mut out, mut expected, mut at) = (Vec::new(), Vec::new(), 0);
    for (i, step) in steps.iter().cycle().enumerate() {
        let step = (*step).min(values.len() - at);
        if i % 3 == 2 {
            decoder.skip(&data, step).unwrap();
        } else {
            decoder.extend(&data, step, &mut out).unwrap();
            expected.extend_from_slice(&values[at..at + step]);
        }
        at += step;
        if at == values.len() {
            break;
        }
    }
    let out: Vec<i64> = out.into_iter().map(Into::into).collect();
    assert_eq!(out, expected);
    assert_eq!(decoder.end(&data).unwrap(), end);
    assert!(decoder.extend(&data, 1, &mut Vec::new()).is_err());
}

#[test]
fn examples_of_the_specification_at_a_legal_block_size() {
    for values in [&[1, 2, 3, 4, 5][..], &[7, 5, 3, 1, 2, 3, 4, 5], &[], &[42]] {
        check::<i32>(values, 128, 4, &[0, 3]);
        check::<i64>(values, 128, 4, &[0, 3]);
    }
}

#[test]
fn every_width_with_both_types() {
    for width in (0..=64u32).step_by(if cfg!(miri) { 32 } else { 1 }) {
        let mask = if width == 0 {
            0
        } else {
            u64::MAX >> (64 - width)
        };
        let mut state = 0x1234_5678_9abc_def1_u64;
        let mut value = -5i64;
        let values: Vec<i64> = (0..if cfg!(miri) { 150 } else { 700 })
            .map(|_| {
                state = state
                    .wrapping_mul(6364136223846793005)
                    .wrapping_add(1442695040888963407);
                value = value.wrapping_add(((state ^ state >> 33) & mask) as i64);
                value
            })
            .collect();
        check::<i64>(&values, 128, 4, &[700]);
        check::<i64>(&values, 256, 1, &[1, 33, 129]);
        let values: Vec<i64> = values.iter().map(|&v| i64::from(v as i32)).collect();
        check::<i32>(&values, 128, 4, &[700]);
        check::<i32>(&values, 2048, 8, &[1, 33, 129]);
    }
}

#[test]
fn refuses_headers_that_nobody_may_write() {
    let header = |block: u64, miniblocks: u64| {
        let mut out = Vec::new();
        for number in [block, miniblocks, 5, 0] {
            push_uleb128(&mut out, number);
        }
        out.extend([0; 300]);
        out
    };
    for (block, miniblocks) in [(0, 1), (100, 1), (128, 0), (128, 3), (128, 8), (1 << 40, 1)] {
        assert!(DeltaDecoder::<i32>::new(&header(block, miniblocks)).is_err());
    }
    assert!(DeltaDecoder::<i32>::new(&header(256, 2)).is_ok());
    assert!(DeltaDecoder::<i32>::new(&[]).is_err());
    assert!(DeltaDecoder::<i32>::new(&[0xff; 40]).is_err());
}

#[test]
fn cuts_deltas_down_that_are_wider_than_the_type() {
    // The header has 128 values per block, 4 miniblocks, 9 values and a first value of 5. With the least delta 0 and
    // the width 33, each delta is 2^33 - 1, which is -1 in 32 bits.
    let mut data = vec![0x80, 1, 4, 9, 10, 0, 33, 0, 0, 0];
    data.extend([0xff; 200]);
    let mut narrow = Vec::new();
    let mut decoder = DeltaDecoder::<i32>::new(&data).unwrap();
    decoder.extend(&data, 4, &mut narrow).unwrap();
    decoder.extend(&data, 5, &mut narrow).unwrap();
    assert_eq!(narrow, [5, 4, 3, 2, 1, 0, -1, -2, -3]);
    let mut decoder = DeltaDecoder::<i32>::new(&data).unwrap();
    decoder.skip(&data, 8).unwrap();
    narrow.clear();
    decoder.extend(&data, 1, &mut narrow).unwrap();
    assert_eq!(narrow, [-3]);
}

#[test]
fn refuses_widths_above_64_bits_and_bytes_that_end_early() {
    // The header has 128 values per block, 4 miniblocks, 9 values and a first value of 0. The block has the least delta
    // 0 and the width 33.
    let mut data = vec![0x80, 1, 4, 9, 0, 0, 33, 0, 0, 0];
    data.extend([0xff; 700]);
    let mut decoder = DeltaDecoder::<i64>::new(&data).unwrap();
    assert!(decoder.extend(&data, 9, &mut Vec::new()).is_ok());
    let mut too_wide = data.clone();
    too_wide[6] = 65;
    let mut decoder = DeltaDecoder::<i64>::new(&too_wide).unwrap();
    assert!(decoder.extend(&too_wide, 9, &mut Vec::new()).is_err());
    let mut decoder = DeltaDecoder::<i32>::new(&too_wide).unwrap();
    assert!(decoder.extend(&too_wide, 9, &mut Vec::new()).is_err());
    for len in 5..10 + 33 {
        let mut decoder = DeltaDecoder::<i64>::new(&data[..len]).unwrap();
        assert!(
            decoder.extend(&data[..len], 9, &mut Vec::new()).is_err(),
            "{len} bytes"
        );
        assert!(
            DeltaDecoder::<i64>::new(&data[..len])
                .unwrap()
                .end(&data[..len])
                .is_err()
        );
    }
}

proptest! {
    #[test]
    fn any_values_in_any_steps(
        values in prop::collection::vec(prop_oneof![any::<i64>(), -9i64..9], 0..if cfg!(miri) { 50 } else { 900 }),
        shape in prop::sample::select(vec![(128, 4), (128, 1), (256, 4), (384, 12)]),
        steps in prop::collection::vec(1usize..300, 1..5),
    ) {
        check::<i64>(&values, shape.0, shape.1, &steps);
        let values: Vec<i64> = values.iter().map(|&v| i64::from(v as i32)).collect();
        check::<i32>(&values, shape.0, shape.1, &steps);
    }

    #[test]
    fn any_bytes_are_harmless(data in prop::collection::vec(any::<u8>(), 0..200), n in 0usize..500) {
        if let Ok(mut decoder) = DeltaDecoder::<i64>::new(&data) {
            let _ = decoder.end(&data);
            let _ = decoder.clone().skip(&data, n);
            let _ = decoder.extend(&data, n, &mut Vec::new());
        }
        let mut legal = vec![0x80, 1, 4, 0xe7, 7];
        legal.extend(data);
        if let Ok(mut decoder) = DeltaDecoder::<i32>::new(&legal) {
            let _ = decoder.end(&legal);
            let _ = decoder.clone().skip(&legal, n);
            let _ = decoder.extend(&legal, n, &mut Vec::new());
        }
    }
}

/// Decodes with one kernel, in steps that start and end anywhere within miniblocks.
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn decode<T: Delta>(
    data: &[u8],
    extend: impl Fn(&mut DeltaDecoder<T>, &[u8], usize, &mut Vec<T>) -> Result<(), Malformed>,
) -> Vec<T> {
    let mut decoder = DeltaDecoder::new(data).unwrap();
    let mut out = Vec::new();
    for step in [64, 1, 7, 40, 32, 17].into_iter().cycle() {
        let step = step.min(decoder.left());
        if step == 0 {
            return out;
        }
        extend(&mut decoder, data, step, &mut out).unwrap();
    }
    out
}

#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
#[test]
fn kernels_agree() {
    use crate::cpu;
    let bytes = [
        crate::simd_lanes::noise(64 * 256 / 8),
        vec![0xff; 64 * 256 / 8],
    ];
    let widths = (0..=64u8).step_by(if cfg!(miri) { 16 } else { 1 });
    // The last data has the greatest possible sums.
    for (width, noise) in widths.flat_map(|width| bytes.each_ref().map(|bytes| (width, bytes))) {
        // The header has 256 values per block, four miniblocks, 500 values and a first value of 3. Both blocks have the
        // least delta -3.
        let mut data = vec![0x80, 2, 4, 0xf4, 3, 6];
        for _ in 0..2 {
            data.extend([5, width, width, width, width]);
            data.extend(&noise[..256 * usize::from(width) / 8]);
        }
        let expected = decode::<i64>(&data, scalar::i64);
        assert_eq!(expected.len(), 500);
        #[cfg(target_arch = "x86_64")]
        if cpu::Avx2::detect().is_some() {
            // SAFETY: the token proves AVX2.
            let values = decode::<i64>(&data, |d, b, n, o| unsafe { avx2::i64(d, b, n, o) });
            assert_eq!(values, expected, "width {width}");
        }
        #[cfg(target_arch = "x86_64")]
        if cpu::Avx512::detect().is_some() {
            // SAFETY: the token proves AVX-512 F and BW.
            let values = decode::<i64>(&data, |d, b, n, o| unsafe { avx512::i64(d, b, n, o) });
            assert_eq!(values, expected, "width {width}");
        }
        #[cfg(target_arch = "aarch64")]
        if cpu::Neon::detect().is_some() {
            // SAFETY: the token proves NEON.
            let values = decode::<i64>(&data, |d, b, n, o| unsafe { neon::i64(d, b, n, o) });
            assert_eq!(values, expected, "width {width}");
        }
        if width > 32 {
            continue;
        }
        let expected = decode::<i32>(&data, scalar::i32);
        #[cfg(target_arch = "x86_64")]
        if cpu::Avx2::detect().is_some() {
            // SAFETY: the token proves AVX2.
            let values = decode::<i32>(&data, |d, b, n, o| unsafe { avx2::i32(d, b, n, o) });
            assert_eq!(values, expected, "width {width}");
        }
        #[cfg(target_arch = "x86_64")]
        if cpu::Avx512::detect().is_some() {
            // SAFETY: the token proves AVX-512 F and BW.
            let values = decode::<i32>(&data, |d, b, n, o| unsafe { avx512::i32(d, b, n, o) });
            assert_eq!(values, expected, "width {width}");
        }
        #[cfg(target_arch = "aarch64")]
        if cpu::Neon::detect().is_some() {
            // SAFETY: the token proves NEON.
            let values = decode::<i32>(&data, |d, b, n, o| unsafe { neon::i32(d, b, n, o) });
            assert_eq!(values, expected, "width {width}");
        }
    }
}
