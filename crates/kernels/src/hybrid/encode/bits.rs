//! Encodes one-bit values, in words of 64.

use super::{GROUP, Values};
use crate::bitmap::load_bits;

/// The `n` bits in `bits` from bit `first` on.
pub(super) struct Bits<'a> {
    pub(super) bits: &'a [u8],
    pub(super) first: usize,
    pub(super) n: usize,
}

impl Bits<'_> {
    /// Returns the values from `at` on, which are at most 64, with zeros after the last one.
    #[inline(always)]
    fn word(&self, at: usize) -> u64 {
        load_bits(self.bits, self.first + at, (self.n - at).min(64))
    }
}

/// Returns a word in which the highest bit is set for each zero byte of `word`. Only the first such byte is reliable:
/// after it, further bits may be set for nonzero bytes.
#[inline(always)]
fn zero_bytes(word: u64) -> u64 {
    const LOWEST: u64 = u64::from_le_bytes([1; 8]);
    const HIGHEST: u64 = u64::from_le_bytes([0x80; 8]);
    word.wrapping_sub(LOWEST) & !word & HIGHEST
}

impl Values for Bits<'_> {
    #[inline(always)]
    fn len(&self) -> usize {
        self.n
    }

    #[inline(always)]
    fn value(&self, at: usize) -> u32 {
        self.word(at) as u32 & 1
    }

    #[inline(always)]
    fn next_equal_group(&self, from: usize) -> usize {
        let whole = self.n - (self.n - from) % GROUP;
        let mut at = from;
        while at < whole {
            let word = self.word(at);
            let equal = zero_bytes(word) | zero_bytes(!word);
            if equal != 0 {
                // The zeros after the last value are not a group, so we end at the last whole group.
                return whole.min(at + equal.trailing_zeros() as usize / GROUP * GROUP);
            }
            at += 64;
        }
        whole
    }

    #[inline(always)]
    fn end_of_run(&self, at: usize) -> usize {
        let flip = if self.value(at) == 0 { 0 } else { u64::MAX };
        let mut at = at;
        while at < self.n {
            let differs = self.word(at) ^ flip;
            if differs != 0 {
                return self.n.min(at + differs.trailing_zeros() as usize);
            }
            at += 64;
        }
        self.n
    }

    fn pack(&self, from: usize, to: usize, _: u8, out: &mut Vec<u8>) {
        let (start, n) = (self.first + from, to - from);
        let bytes = n.div_ceil(8);
        out.reserve(bytes);
        let behind = out.len() + bytes;
        let mut at = start;
        if start.is_multiple_of(8)
            && let Some(whole) = self.bits.get(start / 8..start / 8 + n / 8)
        {
            out.extend_from_slice(whole);
            at += n / 8 * 8;
        }
        while start + n - at >= 64 {
            out.extend_from_slice(&load_bits(self.bits, at, 64).to_le_bytes());
            at += 64;
        }
        let last = load_bits(self.bits, at, start + n - at);
        out.extend(last.to_le_bytes().iter().take(behind - out.len()));
    }
}
