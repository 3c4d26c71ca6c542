//! Encodes the specification's worked example, and makes round trips through the decoder.

use proptest::prelude::*;

use super::*;
use crate::alp::AlpDecoder;

fn round_trip<T: AlpEncode>(encoder: &mut AlpEncoder<T>, values: &[T]) -> (usize, Vec<T>) {
    let mut data = Vec::new();
    encoder.encode(values, &mut data);
    let mut decoder = AlpDecoder::<T>::new(&data).unwrap();
    assert_eq!(decoder.total(), values.len());
    let mut out = Vec::new();
    decoder.extend(&data, values.len(), &mut out).unwrap();
    assert_eq!(crate::plain::bytes(&out), crate::plain::bytes(values));
    (data.len(), out)
}

#[test]
fn worked_example() {
    let nan = f64::from_bits(0x7ff8_0000_dead_beef);
    let pair = Pair {
        exponent: 4,
        factor: 3,
    };
    let mut out = Vec::new();
    AlpEncoder::new().write(&[1500.0, nan, 2500.0, 333.5], pair, &mut out);
    let mut expected = vec![4, 3, 1, 0];
    expected.extend(3335_i64.to_le_bytes());
    expected.push(15);
    let packed = 11665_u64 | 11665 << 15 | 21665 << 30;
    expected.extend(packed.to_le_bytes());
    expected.extend([1, 0]);
    expected.extend(nan.to_le_bytes());
    assert_eq!(out, expected);
    assert_eq!(out.len(), 31);
}

#[test]
fn no_values_and_only_exceptions() {
    let mut encoder = AlpEncoder::<f32>::new();
    let mut out = Vec::new();
    encoder.encode(&[], &mut out);
    assert_eq!(out, [0, 0, 10, 0, 0, 0, 0]);
    let odd = [f32::NAN, -f32::NAN, f32::INFINITY, f32::NEG_INFINITY, -0.0];
    let (bytes, _) = round_trip(&mut encoder, &odd);
    assert_eq!(bytes, 7 + 4 + 9 + 5 * 6);
    // The encoder still searches for pairs, because no value compressed.
    assert!(encoder.presets.is_empty());
    let (bytes, _) = round_trip(&mut encoder, &[0.5, 1.5, 2.5]);
    assert!(bytes <= 7 + 4 + 9 + 2);
}

#[test]
fn decimals_take_few_bits() {
    let n = if cfg!(miri) { 40 } else { 5000 };
    let prices: Vec<f64> = (0..n)
        .map(|i| f64::from(i * 7919 % 10_000) / 100.0)
        .collect();
    let (bytes, _) = round_trip(&mut AlpEncoder::new(), &prices);
    assert!(bytes <= 7 + prices.len() * 14 / 8 + prices.len().div_ceil(VECTOR) * 18);
    // Whole numbers in every other vector need fewer bits, if the encoder chooses another pair for them.
    let whole = |i: usize| (i / VECTOR).is_multiple_of(2);
    let mixed = prices.iter().enumerate();
    let mixed = mixed.map(|(i, price)| if whole(i) { price.round() } else { *price });
    let mixed: Vec<f64> = mixed.collect();
    let (mixed_bytes, _) = round_trip(&mut AlpEncoder::new(), &mixed);
    assert!(mixed_bytes + prices.len() * 3 * 6 / 5 / 8 <= bytes);
    let prices: Vec<f32> = prices.iter().map(|price| *price as f32).collect();
    let (bytes, _) = round_trip(&mut AlpEncoder::new(), &prices);
    // With this precision, two multiplications do not restore all values.
    assert!(bytes <= prices.len() * 3);
}

#[test]
fn extremes() {
    let values = [
        i64::MAX as f64,
        i64::MIN as f64,
        0.0,
        f64::MAX,
        f64::MIN_POSITIVE,
        9_007_199_254_740_993.0,
        -1e-18,
    ];
    round_trip(&mut AlpEncoder::new(), &values);
    let values = values.map(|value| value as f32);
    round_trip(&mut AlpEncoder::new(), &values);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 2 } else { 64 }))]

    #[test]
    fn every_bit_comes_back(
        bits in prop::collection::vec(any::<u64>(), 0..if cfg!(miri) { 8 } else { 2500 }),
        decimals in any::<i16>(),
    ) {
        let mut encoder = AlpEncoder::new();
        let doubles: Vec<f64> = bits.iter().map(|bits| f64::from_bits(*bits)).collect();
        round_trip(&mut encoder, &doubles);
        let step = f64::from(decimals) / 1e3;
        let doubles: Vec<f64> = bits.iter().map(|bits| (bits % 1000) as f64 * step).collect();
        round_trip(&mut encoder, &doubles);
        let mut encoder = AlpEncoder::new();
        let floats: Vec<f32> = bits.iter().map(|bits| f32::from_bits(*bits as u32)).collect();
        round_trip(&mut encoder, &floats);
        let floats: Vec<f32> = doubles.iter().map(|double| *double as f32).collect();
        round_trip(&mut encoder, &floats);
    }
}
