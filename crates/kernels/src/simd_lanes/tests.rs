//! Compares each plan with values that are extracted from the bytes bit by bit.

use super::Packed;

/// Returns a deterministic stream of bytes without short patterns.
pub(crate) fn noise(n: usize) -> Vec<u8> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    (0..n)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state >> 32) as u8
        })
        .collect()
}

fn bit_by_bit(data: &[u8], first: usize, width: usize) -> u64 {
    (0..width).fold(0, |value, i| {
        let bit = first * width + i;
        value | u64::from(data[bit / 8] >> (bit % 8) & 1) << i
    })
}

#[test]
fn values_in_portable_code() {
    for width in (0..=64).step_by(if cfg!(miri) { 13 } else { 1 }) {
        let data = noise(40 * width / 8);
        let run = Packed::new(&data, 3, width, 37).unwrap();
        let expected: Vec<u64> = (3..40).map(|i| bit_by_bit(&data, i, width)).collect();
        let mut values = Vec::new();
        run.for_each(|value| values.push(value));
        assert_eq!(values, expected, "width {width}");
        assert_eq!(Packed::new(&data, 3, width, 38).is_none(), width > 0);
    }
    assert!(Packed::new(&[], usize::MAX, 2, 1).is_none());
    assert!(Packed::new(&[], usize::MAX / 2, 64, 1).is_none());
}

#[cfg(target_arch = "x86_64")]
mod x86_64 {
    use std::arch::x86_64::*;

    use super::{bit_by_bit, noise};
    use crate::cpu;
    use crate::simd_lanes::{Packed, avx2, avx512};

    const N: usize = 45;

    /// Compares all registers of runs that start at each bit and end with the data.
    fn check<const LANES: usize>(
        widest: usize,
        unpack: impl Fn(&Packed<'_>, usize) -> [u64; LANES],
    ) {
        for width in 0..=widest {
            for first in 0..9 {
                let data = noise(((first + N) * width).div_ceil(8));
                let run = Packed::new(&data, first, width, N).unwrap();
                for i in 0..N {
                    let value = unpack(&run, i / LANES)[i % LANES];
                    let expected = bit_by_bit(&data, first + i, width);
                    assert_eq!(value, expected, "width {width}, first {first}, value {i}");
                }
            }
        }
    }

    #[target_feature(enable = "avx512f,avx512bw")]
    fn avx512_32(run: &Packed<'_>, index: usize) -> [u64; 16] {
        let values = avx512::Plan32::new(run).unpack(run, index);
        let mut out = [0u32; 16];
        // SAFETY: `out` has room for the 64 bytes written.
        unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), values) };
        out.map(u64::from)
    }

    #[target_feature(enable = "avx512f,avx512bw")]
    fn avx512_pairs(run: &Packed<'_>, index: usize) -> [u64; 32] {
        let (even, odd) = avx512::PairsPlan::new(run).unpack(run, index);
        let mut out = [[0u32; 16]; 2];
        // SAFETY: each half of `out` has room for the 64 bytes written.
        unsafe {
            _mm512_storeu_si512(out[0].as_mut_ptr().cast(), even);
            _mm512_storeu_si512(out[1].as_mut_ptr().cast(), odd);
        }
        std::array::from_fn(|i| out[i % 2][i / 2].into())
    }

    #[target_feature(enable = "avx512f,avx512bw")]
    fn avx512_64(run: &Packed<'_>, index: usize) -> [u64; 8] {
        let values = avx512::Plan64::new(run).unpack(run, index);
        let mut out = [0u64; 8];
        // SAFETY: `out` has room for the 64 bytes written.
        unsafe { _mm512_storeu_si512(out.as_mut_ptr().cast(), values) };
        out
    }

    #[target_feature(enable = "avx2")]
    fn avx2_32(run: &Packed<'_>, index: usize) -> [u64; 8] {
        let values = avx2::Plan32::new(run).unpack(run, index);
        let mut out = [0u32; 8];
        // SAFETY: `out` has room for the 32 bytes written.
        unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), values) };
        out.map(u64::from)
    }

    #[target_feature(enable = "avx2")]
    fn avx2_64(run: &Packed<'_>, index: usize) -> [u64; 4] {
        let values = avx2::Plan64::new(run).unpack(run, index);
        let mut out = [0u64; 4];
        // SAFETY: `out` has room for the 32 bytes written.
        unsafe { _mm256_storeu_si256(out.as_mut_ptr().cast(), values) };
        out
    }

    #[test]
    fn avx512_unpacks_every_width() {
        if cpu::Avx512::detect().is_none() {
            return;
        }
        // SAFETY: the token proves AVX-512 F and BW.
        check(32, |run, index| unsafe { avx512_32(run, index) });
        // SAFETY: the token proves AVX-512 F and BW.
        check(32, |run, index| unsafe { avx512_pairs(run, index) });
        // SAFETY: the token proves AVX-512 F and BW.
        check(64, |run, index| unsafe { avx512_64(run, index) });
    }

    #[test]
    fn avx2_unpacks_every_width() {
        if cpu::Avx2::detect().is_none() {
            return;
        }
        // SAFETY: the token proves AVX2.
        check(32, |run, index| unsafe { avx2_32(run, index) });
        // SAFETY: the token proves AVX2.
        check(avx2::Plan64::WIDEST, |run, index| unsafe {
            avx2_64(run, index)
        });
    }
}
