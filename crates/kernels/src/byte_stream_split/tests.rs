//! Splits values by the definition, and joins them with every kernel.

use super::*;
use crate::simd_lanes::noise;

fn naive_split(values: &[u8], width: usize) -> Vec<u8> {
    (0..width)
        .flat_map(|k| values.iter().copied().skip(k).step_by(width))
        .collect()
}

#[test]
fn example_of_the_specification() {
    let data = [
        0xaa, 0x00, 0xa3, 0xbb, 0x11, 0xb4, 0xcc, 0x22, 0xc5, 0xdd, 0x33, 0xd6,
    ];
    let mut out = Vec::new();
    extend::<u32>(&data, 3, 0, 3, &mut out).unwrap();
    assert_eq!(out, [0xddcc_bbaa, 0x3322_1100, 0xd6c5_b4a3]);
    extend::<u32>(&data, 3, 2, 1, &mut out).unwrap();
    assert_eq!(out[3], 0xd6c5_b4a3);
}

#[test]
fn every_width_and_part_with_every_kernel() {
    let few = |width: &usize| !cfg!(miri) || [3, 8, 12].contains(width);
    for width in (1..=40).chain([64, 100]).filter(few) {
        for values in [0, 1, 15, 16, 31, 32, 33, 64, 100, 131] {
            if cfg!(miri) && values > 33 {
                continue;
            }
            let plain = noise(values * width);
            let data = naive_split(&plain, width);
            for (first, n) in [(0, values), (values / 3, values / 2), (values, 0)] {
                let expected = &plain[first * width..(first + n) * width];
                let mut out = vec![7];
                extend_bytes(&data, values, width, first..first + n, &mut out).unwrap();
                assert_eq!(
                    &out[1..],
                    expected,
                    "width {width}, {n} values from {first}"
                );
                let streams = Streams::new(&data, values, width, first, n).unwrap();
                let mut out = vec![0; n * width];
                // SAFETY: `out` has `n * width` bytes, and the streams were created for this width.
                unsafe { scalar::join(&streams, 0, width, out.as_mut_ptr()) };
                assert_eq!(
                    out, expected,
                    "width {width}, {n} values from {first}, scalar"
                );
                #[cfg(target_arch = "aarch64")]
                if let Some(cpu) = crate::cpu::Neon::detect() {
                    let mut out = vec![0; n * width];
                    // SAFETY: `out` has `n * width` bytes, and the streams were created for this width.
                    unsafe { neon::join(cpu, &streams, width, out.as_mut_ptr()) };
                    assert_eq!(
                        out, expected,
                        "width {width}, {n} values from {first}, NEON"
                    );
                }
                #[cfg(target_arch = "x86_64")]
                if width >= 8 {
                    let mut out = vec![0; n * width];
                    // SAFETY: `out` has `n * width` bytes, the streams were created for this width, and it is 8 or
                    // more.
                    unsafe { sse2::join(&streams, width, out.as_mut_ptr()) };
                    assert_eq!(
                        out, expected,
                        "width {width}, {n} values from {first}, SSE2"
                    );
                }
            }
        }
    }
}

#[test]
fn numbers_of_each_size() {
    let plain = noise(8 * 77);
    let data = naive_split(&plain, 8);
    let mut out = Vec::new();
    extend::<u64>(&data, 77, 5, 70, &mut out).unwrap();
    assert_eq!(crate::plain::bytes(&out), &plain[40..600]);
    let data = naive_split(&plain[..154], 2);
    let mut out = Vec::new();
    extend::<i16>(&data, 77, 0, 77, &mut out).unwrap();
    assert_eq!(crate::plain::bytes(&out), &plain[..154]);
}

#[test]
fn streams_that_end_early_are_errors() {
    let data = [0; 12];
    let mut out = Vec::<u32>::new();
    assert!(extend(&data, 4, 0, 1, &mut out).is_err());
    assert!(extend(&data, 3, 3, 1, &mut out).is_err());
    assert!(extend(&data, 3, usize::MAX, 1, &mut out).is_err());
    assert!(extend(&data, usize::MAX, 0, 1, &mut out).is_err());
    assert!(extend(&data, 3, 3, 0, &mut out).is_ok());
    assert!(out.is_empty());
}

#[test]
fn splits_values_of_every_width() {
    for width in (1..=20).chain([64, 5000]) {
        for values in [0, 1, 15, 16, 17, 100, 511, 513, 1025] {
            if (width > 64 || cfg!(miri)) && values > 17 || cfg!(miri) && width % 7 != 1 {
                continue;
            }
            let plain = noise(values * width);
            let mut out = vec![7];
            split(&plain, width, &mut out);
            assert_eq!(out[0], 7);
            assert_eq!(
                out[1..],
                naive_split(&plain, width),
                "width {width}, {values} values"
            );
        }
    }
    let mut out = Vec::new();
    split(&[1, 2, 3, 4, 5, 6, 7], 3, &mut out);
    assert_eq!(out, [1, 4, 2, 5, 3, 6]);
    split(&[1, 2, 3], 0, &mut out);
    assert_eq!(out.len(), 6);
}
