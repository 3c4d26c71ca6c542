//! Decodes runs to dictionary entries with NEON: eight indices are unpacked into two registers, compared and looked up.

use std::arch::aarch64::*;
use std::mem::MaybeUninit;

use super::HybridDecoder;
use super::decode::{GROUP, Values};
use super::gather::{BEYOND, Entries};
use super::loops::Loops;
use crate::Malformed;
use crate::bit_unpack::neon::Plan;
use crate::cpu::{Neon, Scalar};

/// Appends the entries of the next `n` indices.
pub(super) fn extend<T: Copy>(
    cpu: Neon,
    entries: Entries<'_, T>,
    decoder: &mut HybridDecoder,
    data: &[u8],
    n: usize,
    out: &mut Vec<T>,
) -> Result<(), Malformed> {
    if entries.dictionary.is_empty() || entries.width == 0 {
        return Scalar.extend(&entries, decoder, data, n, out);
    }
    cpu.extend(&ByVectors::new(cpu, entries), decoder, data, n, out)
}

/// Entries looked up by indices of 1 to 32 bits.
pub(super) struct ByVectors<'a, T> {
    cpu: Neon,
    entries: Entries<'a, T>,
    plan: Plan,
    /// The last index.
    last: u32,
}

impl<'a, T: Copy> ByVectors<'a, T> {
    /// Creates the lookup for a dictionary that is not empty, and a width that is not zero.
    #[inline(always)]
    pub(super) fn new(cpu: Neon, entries: Entries<'a, T>) -> Self {
        let last = entries.dictionary.len() - 1;
        Self {
            cpu,
            // SAFETY: the token proves that the instructions are available.
            plan: unsafe { Plan::new(entries.width) },
            entries,
            last: u32::try_from(last).unwrap_or(u32::MAX),
        }
    }
}

// SAFETY: both methods write all slots, one after another.
unsafe impl<T: Copy> Values<T> for ByVectors<'_, T> {
    #[inline(always)]
    fn cpu(&self) -> impl Loops {
        self.cpu
    }

    #[inline(always)]
    fn repeated(&self, value: u32) -> Result<T, Malformed> {
        self.entries.entry(value as usize)
    }

    #[inline(always)]
    fn groups(&self, bytes: &[u8], out: &mut [[MaybeUninit<T>; GROUP]]) -> Result<(), Malformed> {
        let step = usize::from(self.entries.width);
        let whole = self.plan.groups(bytes.len(), out.len());
        let (vectors, rest) = out.split_at_mut(whole);
        let mut at = bytes.as_ptr();
        for out in vectors {
            // SAFETY: the token proves that the instructions are available, and the group is one of those that the plan
            // may load.
            let (indices, greatest) = unsafe { indices(&self.plan, at) };
            at = at.wrapping_add(step);
            if greatest > self.last {
                return Err(BEYOND);
            }
            // SAFETY: no index is above the last one of the dictionary.
            unsafe { look_up(indices, self.entries.dictionary, out) };
        }
        if rest.is_empty() {
            return Ok(());
        }
        let bytes = bytes.get(whole * step..).unwrap_or_default();
        self.entries.one_by_one(bytes, 0, rest.as_flattened_mut())
    }

    #[inline(always)]
    fn part(
        &self,
        bytes: &[u8],
        first: usize,
        out: &mut [MaybeUninit<T>],
    ) -> Result<(), Malformed> {
        self.entries.one_by_one(bytes, first, out)
    }
}

/// Returns eight indices, two in each word, and the greatest of them.
///
/// # Safety
/// See [`Plan::values`].
#[inline]
#[target_feature(enable = "neon")]
unsafe fn indices(plan: &Plan, bytes: *const u8) -> ([u64; 4], u32) {
    // SAFETY: the caller's contract.
    let [low, high] = unsafe { plan.values(bytes) };
    let greatest = vmaxvq_u32(vmaxq_u32(low, high));
    let (low, high) = (vreinterpretq_u64_u32(low), vreinterpretq_u64_u32(high));
    let words = [
        vgetq_lane_u64::<0>(low),
        vgetq_lane_u64::<1>(low),
        vgetq_lane_u64::<0>(high),
        vgetq_lane_u64::<1>(high),
    ];
    (words, greatest)
}

/// Writes the entries of eight indices.
///
/// # Safety
/// Every index is below `dictionary.len()`.
#[inline(always)]
unsafe fn look_up<T: Copy>(words: [u64; 4], dictionary: &[T], out: &mut [MaybeUninit<T>; GROUP]) {
    let (pairs, _) = out.as_chunks_mut::<2>();
    for (pair, word) in pairs.iter_mut().zip(words) {
        let [low, high] = [word as u32, (word >> 32) as u32];
        // SAFETY: the caller promises that both indices are inside the dictionary.
        unsafe {
            pair[0].write(*dictionary.get_unchecked(low as usize));
            pair[1].write(*dictionary.get_unchecked(high as usize));
        }
    }
}
