//! Computes running sums, which turn the known lengths of values into offsets.
//!
//! ```text
//! after 7, lengths 3 0 2 4   →   10 10 12 16
//! ```
//!
//! Within a register, the sums take log2(lanes) steps. Each step adds the register to itself, shifted up by 1, 2, 4 and
//! 8 lanes. We add the sum before the register last.

use herringbone_arrow::array::OffsetSizeTrait;

#[cfg(target_arch = "x86_64")]
use crate::cpu::{Avx2, Avx512};

/// Appends the running sums of `lengths`, starting from `start`. If `more` is present, each step adds both lengths.
///
/// There is one offset per length. Sums that `O` cannot represent wrap around.
pub(super) fn extend_offsets<O: OffsetSizeTrait>(
    start: usize,
    lengths: &[i32],
    more: Option<&[i32]>,
    out: &mut Vec<O>,
) {
    let n = more.map_or(lengths.len(), |more| more.len().min(lengths.len()));
    let lengths = lengths.get(..n).unwrap_or_default();
    out.reserve(n);
    #[cfg(target_arch = "x86_64")]
    if !O::IS_LARGE && size_of::<O>() == size_of::<i32>() {
        let to = out.spare_capacity_mut().as_mut_ptr().cast::<i32>();
        let more_at = more.map(<[i32]>::as_ptr);
        let vectors = if Avx512::detect().is_some() {
            // SAFETY: the token proves the instructions; `more` has at least `n` lengths, and memory for `n`
            // offsets of 32 bits is reserved.
            unsafe { avx512(start as i32, lengths, more_at, to) }
        } else if Avx2::detect().is_some() {
            // SAFETY: the token proves the instructions; `more` has at least `n` lengths, and memory for `n`
            // offsets of 32 bits is reserved.
            unsafe { avx2(start as i32, lengths, more_at, to) }
        } else {
            0
        };
        // SAFETY: `vectors` offsets were written.
        unsafe { out.set_len(out.len() + vectors) };
        let start = match vectors {
            0 => start,
            _ => out.last().map_or(start, |last| last.as_usize()),
        };
        let more = more.and_then(|more| more.get(vectors..));
        return scalar(start, lengths.get(vectors..).unwrap_or_default(), more, out);
    }
    scalar(start, lengths, more, out);
}

fn scalar<O: OffsetSizeTrait>(
    start: usize,
    lengths: &[i32],
    more: Option<&[i32]>,
    out: &mut Vec<O>,
) {
    let mut end = start;
    let mut add = |length: usize| {
        end = end.wrapping_add(length);
        O::usize_as(end)
    };
    match more {
        None => out.extend(lengths.iter().map(|&length| add(length as usize))),
        Some(more) => {
            let both = lengths.iter().zip(more);
            out.extend(both.map(|(&a, &b)| add(a as usize + b as usize)));
        }
    }
}

/// Writes the offsets for all full registers of lengths, and returns their number.
///
/// # Safety
/// `more` has at least `lengths.len()` lengths, and `lengths.len()` offsets may be written to `out`.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
unsafe fn avx512(start: i32, lengths: &[i32], more: Option<*const i32>, out: *mut i32) -> usize {
    use std::arch::x86_64::*;

    const LANES: usize = 16;
    let zero = _mm512_setzero_si512();
    let top = _mm512_set1_epi32(LANES as i32 - 1);
    let mut before = _mm512_set1_epi32(start);
    let blocks = lengths.as_chunks::<LANES>().0;
    for (i, block) in blocks.iter().enumerate() {
        // SAFETY: a block is exactly as large as a register.
        let mut sums = unsafe { _mm512_loadu_si512(block.as_ptr().cast()) };
        if let Some(more) = more {
            // SAFETY: `more` has at least `lengths.len()` lengths.
            let more = unsafe { _mm512_loadu_si512(more.add(i * LANES).cast()) };
            sums = _mm512_add_epi32(sums, more);
        }
        sums = _mm512_add_epi32(sums, _mm512_alignr_epi32::<15>(sums, zero));
        sums = _mm512_add_epi32(sums, _mm512_alignr_epi32::<14>(sums, zero));
        sums = _mm512_add_epi32(sums, _mm512_alignr_epi32::<12>(sums, zero));
        sums = _mm512_add_epi32(sums, _mm512_alignr_epi32::<8>(sums, zero));
        let offsets = _mm512_add_epi32(before, sums);
        // We compute this from `sums` and not from `offsets`, so that each register depends on the previous one through
        // only one addition.
        before = _mm512_add_epi32(before, _mm512_permutexvar_epi32(top, sums));
        // SAFETY: there is room for as many offsets as lengths.
        unsafe { _mm512_storeu_si512(out.add(i * LANES).cast(), offsets) };
    }
    blocks.len() * LANES
}

/// Writes the offsets for all full registers of lengths, and returns their number.
///
/// # Safety
/// `more` has at least `lengths.len()` lengths, and `lengths.len()` offsets may be written to `out`.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
unsafe fn avx2(start: i32, lengths: &[i32], more: Option<*const i32>, out: *mut i32) -> usize {
    use std::arch::x86_64::*;

    const LANES: usize = 8;
    let top = _mm256_set1_epi32(LANES as i32 - 1);
    let top_of_low = _mm256_set1_epi32(LANES as i32 / 2 - 1);
    let mut before = _mm256_set1_epi32(start);
    let blocks = lengths.as_chunks::<LANES>().0;
    for (i, block) in blocks.iter().enumerate() {
        // SAFETY: a block is exactly as large as a register.
        let mut sums = unsafe { _mm256_loadu_si256(block.as_ptr().cast()) };
        if let Some(more) = more {
            // SAFETY: `more` has at least `lengths.len()` lengths.
            let more = unsafe { _mm256_loadu_si256(more.add(i * LANES).cast()) };
            sums = _mm256_add_epi32(sums, more);
        }
        // The shifts stay within the halves of the register, so we then add the sum of the low half to the high half.
        sums = _mm256_add_epi32(sums, _mm256_slli_si256::<4>(sums));
        sums = _mm256_add_epi32(sums, _mm256_slli_si256::<8>(sums));
        let low = _mm256_permutevar8x32_epi32(sums, top_of_low);
        let low = _mm256_blend_epi32::<0b1111_0000>(_mm256_setzero_si256(), low);
        sums = _mm256_add_epi32(sums, low);
        let offsets = _mm256_add_epi32(before, sums);
        before = _mm256_add_epi32(before, _mm256_permutevar8x32_epi32(sums, top));
        // SAFETY: there is room for as many offsets as lengths.
        unsafe { _mm256_storeu_si256(out.add(i * LANES).cast(), offsets) };
    }
    blocks.len() * LANES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_run_over_registers_and_what_is_behind_them() {
        let all = (0..70).chain([1000]);
        for n in all.step_by(if cfg!(miri) { 17 } else { 1 }) {
            let lengths: Vec<i32> = (0..n).map(|i| (i * 7 + i * i) % 91).collect();
            let more: Vec<i32> = (0..n).map(|i| (i * 5) % 17).collect();
            let sum = |all: &[i32], i: usize| all[..=i].iter().sum::<i32>();
            let mut alone = vec![1, 2];
            extend_offsets(9, &lengths, None, &mut alone);
            let mut both = Vec::<i64>::new();
            extend_offsets(9, &lengths, Some(&more), &mut both);
            let mut narrow = Vec::<i32>::new();
            extend_offsets(9, &lengths, Some(&more), &mut narrow);
            assert_eq!(alone.len(), lengths.len() + 2);
            for i in 0..lengths.len() {
                assert_eq!(alone[i + 2], 9 + sum(&lengths, i));
                assert_eq!(both[i], i64::from(9 + sum(&lengths, i) + sum(&more, i)));
                assert_eq!(i64::from(narrow[i]), both[i]);
            }
        }
    }
}
