//! Decodes runs to dictionary entries, in portable Rust.

use std::mem::MaybeUninit;

use super::decode::{GROUP, Values};
use super::loops::Loops;
use crate::Malformed;
use crate::bit_unpack::Unpack;
use crate::bitmap::load_bits;
use crate::cpu::Scalar;

/// The error for an index outside the dictionary.
pub(super) const BEYOND: Malformed = Malformed("an index past the end of the dictionary");

/// The number of indices that we unpack and compare before we look up any of them.
const BLOCK: usize = 128;

/// A dictionary's entries, which are looked up by indices of `width` bits.
pub(super) struct Entries<'a, T> {
    pub(super) width: u8,
    pub(super) dictionary: &'a [T],
}

impl<T: Copy> Entries<'_, T> {
    /// Returns the entry at `index`.
    #[inline(always)]
    pub(super) fn entry(&self, index: usize) -> Result<T, Malformed> {
        self.dictionary.get(index).copied().ok_or(BEYOND)
    }

    /// Implements [`Values::part`].
    #[inline(never)]
    pub(super) fn one_by_one(
        &self,
        bytes: &[u8],
        first: usize,
        out: &mut [MaybeUninit<T>],
    ) -> Result<(), Malformed> {
        let width = usize::from(self.width);
        for (index, to) in (first..).zip(out) {
            let index = load_bits(bytes, index * width, width) as usize;
            *to = MaybeUninit::new(self.entry(index)?);
        }
        Ok(())
    }
}

// SAFETY: both methods write all slots, one after another.
unsafe impl<T: Copy> Values<T> for Entries<'_, T> {
    #[inline(always)]
    fn cpu(&self) -> impl Loops {
        Scalar
    }

    #[inline(always)]
    fn repeated(&self, value: u32) -> Result<T, Malformed> {
        self.entry(value as usize)
    }

    #[inline(always)]
    fn groups(&self, bytes: &[u8], out: &mut [[MaybeUninit<T>; GROUP]]) -> Result<(), Malformed> {
        let mut indices = [MaybeUninit::<u32>::uninit(); BLOCK];
        for (block, out) in out.chunks_mut(BLOCK / GROUP).enumerate() {
            let out = out.as_flattened_mut();
            let indices = &mut indices[..out.len()];
            let at = block * (BLOCK / GROUP) * usize::from(self.width);
            Scalar.unpack(bytes.get(at..).unwrap_or_default(), 0, self.width, indices);
            // SAFETY: `unpack` writes all lanes, and `MaybeUninit<u32>` has the layout of `u32`.
            let indices = unsafe { &*(std::ptr::from_ref(indices) as *const [u32]) };
            let greatest = indices
                .iter()
                .fold(0, |greatest, index| greatest.max(*index));
            self.entry(greatest as usize)?;
            for (to, index) in out.iter_mut().zip(indices) {
                // SAFETY: no index of the block is above the greatest one, which has an entry.
                let entry = unsafe { self.dictionary.get_unchecked(*index as usize) };
                *to = MaybeUninit::new(*entry);
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn part(
        &self,
        bytes: &[u8],
        first: usize,
        out: &mut [MaybeUninit<T>],
    ) -> Result<(), Malformed> {
        self.one_by_one(bytes, first, out)
    }
}
