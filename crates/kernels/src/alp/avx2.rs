//! Decodes eight or four values at a time: unpacks the integers, adds the base, converts, multiplies twice and stores.

use std::arch::x86_64::*;

use super::scalar;
use crate::simd_lanes::Packed;
use crate::simd_lanes::avx2::{Plan32, Plan64};

/// Implements [`AlpFloat::decode`](super::AlpFloat).
#[target_feature(enable = "avx2")]
pub(super) fn f32(run: &Packed<'_>, base: i32, [up, down]: [f32; 2], out: &mut Vec<f32>) {
    let plan = Plan32::new(run);
    let (base, up, down) = (
        _mm256_set1_epi32(base),
        _mm256_set1_ps(up),
        _mm256_set1_ps(down),
    );
    let n = run.n();
    out.reserve(n);
    let spare = out.as_mut_ptr().wrapping_add(out.len());
    let values = |register| {
        let integers = _mm256_add_epi32(plan.unpack(run, register), base);
        _mm256_mul_ps(_mm256_mul_ps(_mm256_cvtepi32_ps(integers), up), down)
    };
    let (registers, rest) = (n / Plan32::LANES, n % Plan32::LANES);
    for register in 0..registers {
        // SAFETY: `registers * LANES <= n` values were reserved after the current length.
        unsafe { _mm256_storeu_ps(spare.add(register * Plan32::LANES), values(register)) };
    }
    // SAFETY: the values of the full registers have been written after the current length.
    unsafe { out.set_len(out.len() + n - rest) };
    let mut last = [0.0; Plan32::LANES];
    // SAFETY: `last` has room for the 32 bytes written.
    unsafe { _mm256_storeu_ps(last.as_mut_ptr(), values(registers)) };
    out.extend_from_slice(&last[..rest]);
}

/// Implements [`AlpFloat::decode`](super::AlpFloat).
#[target_feature(enable = "avx2")]
pub(super) fn f64(run: &Packed<'_>, base: i64, [up, down]: [f64; 2], out: &mut Vec<f64>) {
    if run.width() > Plan64::WIDEST {
        return scalar::f64(run, base, [up, down], out);
    }
    let plan = Plan64::new(run);
    let (base, up, down) = (
        _mm256_set1_epi64x(base),
        _mm256_set1_pd(up),
        _mm256_set1_pd(down),
    );
    let n = run.n();
    out.reserve(n);
    let spare = out.as_mut_ptr().wrapping_add(out.len());
    let values = |register| {
        let integers = _mm256_add_epi64(plan.unpack(run, register), base);
        _mm256_mul_pd(_mm256_mul_pd(to_f64(integers), up), down)
    };
    let (registers, rest) = (n / Plan64::LANES, n % Plan64::LANES);
    for register in 0..registers {
        // SAFETY: `registers * LANES <= n` values were reserved after the current length.
        unsafe { _mm256_storeu_pd(spare.add(register * Plan64::LANES), values(register)) };
    }
    // SAFETY: the values of the full registers have been written after the current length.
    unsafe { out.set_len(out.len() + n - rest) };
    let mut last = [0.0; Plan64::LANES];
    // SAFETY: `last` has room for the 32 bytes written.
    unsafe { _mm256_storeu_pd(last.as_mut_ptr(), values(registers)) };
    out.extend_from_slice(&last[..rest]);
}

/// Converts to the nearest floating-point numbers, for which AVX2 has no instruction.
///
/// The low 32 bits become the mantissa of `2^52 + low`. The high 32 bits, with their sign turned into an offset, become
/// the mantissa of `2^84 + 2^63 + high * 2^32`. Subtracting the constants from the latter is exact, so the sum of the
/// two is rounded only once.
#[inline]
#[target_feature(enable = "avx2")]
fn to_f64(integers: __m256i) -> __m256d {
    const LOW: u64 = 0x4330_0000_0000_0000;
    const HIGH: u64 = 0x4530_0000_8000_0000;
    const BOTH: u64 = 0x4530_0000_8010_0000;
    let set = |bits: u64| _mm256_set1_epi64x(bits.cast_signed());
    let low = _mm256_blend_epi32::<0b0101_0101>(set(LOW), integers);
    let high = _mm256_xor_si256(_mm256_srli_epi64::<32>(integers), set(HIGH));
    let high = _mm256_sub_pd(_mm256_castsi256_pd(high), _mm256_castsi256_pd(set(BOTH)));
    _mm256_add_pd(high, _mm256_castsi256_pd(low))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[target_feature(enable = "avx2")]
    fn convert(integers: [i64; 4]) -> [f64; 4] {
        let mut out = [0.0; 4];
        // SAFETY: both arrays have 32 bytes, which are read and written.
        unsafe {
            let integers = _mm256_loadu_si256(integers.as_ptr().cast());
            _mm256_storeu_pd(out.as_mut_ptr(), to_f64(integers));
        }
        out
    }

    #[test]
    fn converts_every_magnitude_as_rust_does() {
        if crate::cpu::Avx2::detect().is_none() {
            return;
        }
        let mut n = 0x0123_4567_89ab_cdef_i64;
        for i in 0..100_000 {
            n = n
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            let n = [
                n >> (i % 64),
                (1i64 << (i % 64)).wrapping_sub(i64::from(i) % 3),
                0,
                i64::MIN,
            ];
            // SAFETY: the token proves AVX2.
            let out = unsafe { convert(n) };
            assert_eq!(
                out.map(f64::to_bits),
                n.map(|n| (n as f64).to_bits()),
                "{n:?}"
            );
        }
    }
}
