//! Decodes runs to their numbers, which are levels with a bound, or dictionary indices.

use std::mem::MaybeUninit;

use super::decode::{GROUP, Values};
use super::limit::Limit;
use super::loops::Loops;
use crate::Malformed;
use crate::bit_unpack::Unpack;

/// The error for a level that the column does not have.
const TOO_GREAT: Malformed = Malformed("a level exceeds the highest level of the column");

/// Levels of at most 8 bits.
pub(super) struct Levels<C> {
    cpu: C,
    width: u8,
    max: u8,
    /// The bound for packed levels, or `None` if all levels of this width are valid.
    limit: Option<Limit>,
}

impl<C: Unpack> Levels<C> {
    #[inline(always)]
    pub(super) fn new(cpu: C, width: u8, max: u8) -> Self {
        let limit = (max < low_byte(width)).then(|| Limit::new(max));
        Self {
            cpu,
            width,
            max,
            limit,
        }
    }

    /// Returns an error if one of the levels is too great.
    #[inline(always)]
    fn check(&self, levels: &[u8]) -> Result<(), Malformed> {
        match self.limit {
            Some(limit) if !limit.holds(levels) => Err(TOO_GREAT),
            _ => Ok(()),
        }
    }
}

/// Returns the greatest number that has `width` (at most 8) bits.
#[inline(always)]
fn low_byte(width: u8) -> u8 {
    ((1_u32 << width) - 1) as u8
}

// SAFETY: `unpack` writes all slots.
unsafe impl<C: Unpack + Loops> Values<u8> for Levels<C> {
    #[inline(always)]
    fn cpu(&self) -> impl Loops {
        self.cpu
    }

    #[inline(always)]
    fn repeated(&self, value: u32) -> Result<u8, Malformed> {
        match u8::try_from(value) {
            Ok(level) if level <= self.max => Ok(level),
            _ => Err(TOO_GREAT),
        }
    }

    #[inline(always)]
    fn groups(&self, bytes: &[u8], out: &mut [[MaybeUninit<u8>; GROUP]]) -> Result<(), Malformed> {
        self.cpu
            .unpack(bytes, 0, self.width, out.as_flattened_mut());
        let Some(limit) = self.limit else {
            return Ok(());
        };
        let mut broken = 0;
        for group in out {
            // SAFETY: `unpack` writes all slots, which have as many bytes as the word.
            let levels = unsafe { group.as_ptr().cast::<u64>().read_unaligned() };
            broken |= limit.broken(levels);
        }
        if broken == 0 { Ok(()) } else { Err(TOO_GREAT) }
    }

    #[inline(always)]
    fn part(
        &self,
        bytes: &[u8],
        first: usize,
        out: &mut [MaybeUninit<u8>],
    ) -> Result<(), Malformed> {
        self.cpu.unpack(bytes, first, self.width, out);
        // SAFETY: `unpack` writes all slots, and `MaybeUninit<u8>` has the layout of `u8`.
        self.check(unsafe { &*(std::ptr::from_ref(out) as *const [u8]) })
    }
}

/// Numbers of at most 32 bits.
pub(super) struct Indices<C> {
    pub(super) cpu: C,
    pub(super) width: u8,
}

// SAFETY: `unpack` writes all slots.
unsafe impl<C: Unpack + Loops> Values<u32> for Indices<C> {
    #[inline(always)]
    fn cpu(&self) -> impl Loops {
        self.cpu
    }

    #[inline(always)]
    fn repeated(&self, value: u32) -> Result<u32, Malformed> {
        Ok(value)
    }

    #[inline(always)]
    fn groups(&self, bytes: &[u8], out: &mut [[MaybeUninit<u32>; GROUP]]) -> Result<(), Malformed> {
        self.part(bytes, 0, out.as_flattened_mut())
    }

    #[inline(always)]
    fn part(
        &self,
        bytes: &[u8],
        first: usize,
        out: &mut [MaybeUninit<u32>],
    ) -> Result<(), Malformed> {
        self.cpu.unpack(bytes, first, self.width, out);
        Ok(())
    }
}
