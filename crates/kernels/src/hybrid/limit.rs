//! Compares the eight bytes of a word with a bound, all at once.

/// A bound with which all bytes of a word are compared at once.
#[derive(Clone, Copy)]
pub(super) struct Limit {
    /// The addend that raises the lower seven bits of a byte above the bound to 128 or more, repeated in every byte.
    add: u64,
    /// All ones if the bound is 128 or more, because a byte above the bound then has its highest bit set.
    high: u64,
}

/// The highest bit of each byte.
const HIGHEST: u64 = u64::from_le_bytes([0x80; 8]);

impl Limit {
    /// Creates a bound that bytes up to `max` are within.
    #[inline(always)]
    pub(super) fn new(max: u8) -> Self {
        Self {
            add: u64::from_le_bytes([127 - (max & 127); 8]),
            high: if max >= 128 { u64::MAX } else { 0 },
        }
    }

    /// Returns a nonzero number if a byte of `word` is above the bound.
    ///
    /// If a byte's lower seven bits exceed the bound's lower seven bits, the addition carries into the highest bit. If
    /// the bound is below 128, a byte with a set highest bit exceeds it, too. If the bound is greater, both are
    /// required.
    #[inline(always)]
    pub(super) fn broken(self, word: u64) -> u64 {
        let carried = (word & !HIGHEST) + self.add;
        ((carried | word) & !self.high | carried & word & self.high) & HIGHEST
    }

    /// Computes [`broken`](Self::broken) for bytes below 128 and a bound below 128.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(super) fn broken_narrow(self, word: u64) -> u64 {
        word.wrapping_add(self.add) & HIGHEST
    }

    /// Returns true if no byte is above the bound.
    #[inline(always)]
    pub(super) fn holds(self, bytes: &[u8]) -> bool {
        let (words, tail) = bytes.as_chunks::<8>();
        let broken = words
            .iter()
            .fold(0, |sum, word| sum | self.broken(u64::from_le_bytes(*word)));
        let mut last = [0; 8];
        for (to, from) in last.iter_mut().zip(tail) {
            *to = *from;
        }
        broken | self.broken(u64::from_le_bytes(last)) == 0
    }
}
