//! Checks pages that are written by hand according to the layout, and values that are computed with its formula.

use super::*;

/// Encodes one vector from its exponent, factor, base bytes, width, packed values and exceptions.
fn vector(
    [exponent, factor]: [u8; 2],
    base: &[u8],
    width: u8,
    deltas: &[u64],
    exceptions: &[(u16, &[u8])],
) -> Vec<u8> {
    let mut out = vec![exponent, factor];
    out.extend((exceptions.len() as u16).to_le_bytes());
    out.extend(base);
    out.push(width);
    let mut packed = vec![0u8; (deltas.len() * usize::from(width)).div_ceil(8)];
    for (i, delta) in deltas.iter().enumerate() {
        for bit in 0..usize::from(width) {
            let at = i * usize::from(width) + bit;
            packed[at / 8] |= ((delta >> bit & 1) as u8) << (at % 8);
        }
    }
    out.extend(packed);
    out.extend(
        exceptions
            .iter()
            .flat_map(|(position, _)| position.to_le_bytes()),
    );
    out.extend(
        exceptions
            .iter()
            .flat_map(|(_, value)| value.iter().copied()),
    );
    out
}

fn page(log_vector_size: u8, n: i32, vectors: &[Vec<u8>]) -> Vec<u8> {
    let mut out = vec![0, 0, log_vector_size];
    out.extend(n.to_le_bytes());
    let mut offset = vectors.len() * 4;
    for vector in vectors {
        out.extend((offset as u32).to_le_bytes());
        offset += vector.len();
    }
    out.extend(vectors.concat());
    out
}

fn read_all<T: AlpFloat>(data: &[u8]) -> Result<Vec<T>, Malformed> {
    let mut decoder = AlpDecoder::new(data)?;
    let mut out = Vec::new();
    decoder.extend(data, decoder.total(), &mut out)?;
    Ok(out)
}

#[test]
fn factor_and_exception_of_the_worked_example() {
    let nan = f64::from_bits(0x7ff8_0000_dead_beef);
    let base = 3335i64.to_le_bytes();
    let deltas = [11665, 11665, 21665, 0];
    let only = vector([4, 3], &base, 15, &deltas, &[(1, &nan.to_le_bytes())]);
    assert_eq!(only.len(), 31);
    let values = read_all::<f64>(&page(10, 4, &[only])).unwrap();
    assert_eq!(values[0], 1500.0);
    assert_eq!(values[1].to_bits(), nan.to_bits());
    assert_eq!(values[2..], [2500.0, 333.5]);
}

#[test]
fn vectors_in_parts() {
    let vectors: Vec<_> = (0..3i32)
        .map(|v| {
            let deltas: Vec<u64> = (0..if v == 2 { 5 } else { 8 }).map(|i| i * 3).collect();
            let exception = f32::INFINITY.to_le_bytes();
            vector(
                [2, 0],
                &(v * 100 - 50).to_le_bytes(),
                5,
                &deltas,
                &[(4, &exception)],
            )
        })
        .collect();
    let data = page(3, 21, &vectors);
    let expected: Vec<f32> = (0..21i32)
        .map(|i| if i % 8 == 4 { f32::INFINITY } else { 0.0 })
        .enumerate()
        .map(|(i, special)| {
            let (v, i) = (i as i32 / 8, i as i32 % 8);
            if i == 4 {
                special
            } else {
                (v * 100 - 50 + i * 3) as f32 * 1e0 * 1e-2
            }
        })
        .collect();
    assert_eq!(read_all::<f32>(&data).unwrap(), expected);
    for step in 1..10 {
        let mut decoder = AlpDecoder::new(&data).unwrap();
        let (mut out, mut at) = (Vec::new(), 0);
        while at < 21 {
            let n = step.min(21 - at);
            if at % 2 == 0 {
                decoder.extend(&data, n, &mut out).unwrap();
            } else {
                decoder.skip(n).unwrap();
                out.extend_from_slice(&expected[at..at + n]);
            }
            at += n;
        }
        assert_eq!(out, expected, "step {step}");
        assert!(decoder.skip(1).is_err());
    }
}

#[test]
fn every_width_with_every_kernel() {
    let noise = crate::simd_lanes::noise(8 * 64);
    let numbers: Vec<u64> = noise
        .as_chunks()
        .0
        .iter()
        .map(|bytes| u64::from_le_bytes(*bytes))
        .collect();
    for width in (0..=64u8).step_by(if cfg!(miri) { 13 } else { 1 }) {
        let mask = if width == 0 {
            0
        } else {
            u64::MAX >> (64 - width)
        };
        let deltas: Vec<u64> = numbers.iter().map(|n| n & mask).collect();
        let (base, powers) = (-77_777i64, f64::powers(3, 14).unwrap());
        let only = vector([14, 3], &base.to_le_bytes(), width, &deltas, &[]);
        let expected: Vec<u64> = deltas
            .iter()
            .map(|d| (base.wrapping_add(*d as i64) as f64 * 1e3 * 1e-14).to_bits())
            .collect();
        let values = read_all::<f64>(&page(6, 64, std::slice::from_ref(&only))).unwrap();
        assert!(
            values
                .iter()
                .map(|v| v.to_bits())
                .eq(expected.iter().copied()),
            "width {width}"
        );
        if width == 0 {
            continue;
        }
        let run = Packed::new(&only[13..], 3, usize::from(width), 59).unwrap();
        let check = |values: Vec<f64>| {
            let bits = values.iter().map(|v| v.to_bits());
            assert!(bits.eq(expected[3..62].iter().copied()), "width {width}");
        };
        let mut out = Vec::new();
        scalar::f64(&run, base, powers, &mut out);
        check(out);
        #[cfg(target_arch = "x86_64")]
        if crate::cpu::Avx2::detect().is_some() {
            let mut out = Vec::new();
            // SAFETY: the token proves AVX2.
            unsafe { avx2::f64(&run, base, powers, &mut out) };
            check(out);
        }
    }
    for width in 1..=32u8 {
        let deltas: Vec<u64> = numbers
            .iter()
            .map(|n| n & (u64::MAX >> (64 - width)))
            .collect();
        let (base, powers) = (i32::MIN + 9, f32::powers(2, 5).unwrap());
        let only = vector([5, 2], &base.to_le_bytes(), width, &deltas, &[]);
        let expected: Vec<f32> = deltas
            .iter()
            .map(|d| base.wrapping_add(*d as i32) as f32 * 1e2 * 1e-5)
            .collect();
        let values = read_all::<f32>(&page(6, 64, std::slice::from_ref(&only))).unwrap();
        assert_eq!(values, expected, "width {width}");
        let run = Packed::new(&only[9..], 3, usize::from(width), 59).unwrap();
        let mut out = Vec::new();
        scalar::f32(&run, base, powers, &mut out);
        assert_eq!(out, expected[3..62]);
        #[cfg(target_arch = "x86_64")]
        if crate::cpu::Avx2::detect().is_some() {
            let mut out = Vec::new();
            // SAFETY: the token proves AVX2.
            unsafe { avx2::f32(&run, base, powers, &mut out) };
            assert_eq!(out, expected[3..62]);
        }
    }
}

#[test]
fn refuses_what_nobody_may_write() {
    let zero = 0i64.to_le_bytes();
    let good = vector([14, 3], &zero, 4, &[1; 8], &[(7, &zero)]);
    let data = page(3, 8, std::slice::from_ref(&good));
    assert!(read_all::<f64>(&data).is_ok());
    for len in 0..data.len() {
        assert!(read_all::<f64>(&data[..len]).is_err(), "{len} bytes");
    }
    // These are the positions of bytes in the page, each with an invalid value. They are the modes, the vector size,
    // the count, the offset, the exponent, the factor, the width and the exception position.
    let bad = [
        (0, 1),
        (1, 1),
        (2, 2),
        (2, 16),
        (6, 0x80),
        (3, 9),
        (7, 3),
        (7, 200),
        (11, 19),
    ];
    let vector = [(12, 15), (23, 65), (28, 8)];
    for (at, byte) in bad.into_iter().chain(vector) {
        let mut data = data.clone();
        data[at] = byte;
        assert!(read_all::<f64>(&data).is_err(), "byte {at} is {byte}");
    }
    assert!(read_all::<f64>(&page(10, 0, &[])).unwrap().is_empty());
}

proptest::proptest! {
    #[test]
    fn any_bytes_are_harmless(
        header in proptest::sample::select(vec![3u8, 4, 10, 15]),
        n in 0i32..5000,
        body in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..300),
    ) {
        let mut data = vec![0, 0, header];
        data.extend(n.to_le_bytes());
        data.extend(4u32.to_le_bytes());
        data.extend(body);
        drop(read_all::<f32>(&data));
        drop(read_all::<f64>(&data));
    }
}
