//! Comparing the eight bytes of a word with a bound at once.

/// A bound that the bytes of a word are compared with all at once.
#[derive(Clone, Copy)]
pub(super) struct Limit {
    /// In every byte, what takes a byte above the bound to 128 or more, without its highest bit.
    add: u64,
    /// All bits, if the bound is 127 or more, so that a byte above it has its highest bit set.
    high: u64,
}

/// The highest bit of each byte.
const HIGHEST: u64 = u64::from_le_bytes([0x80; 8]);

impl Limit {
    /// The bound that bytes up to `max` keep.
    #[inline(always)]
    pub(super) fn new(max: u8) -> Self {
        Self {
            add: u64::from_le_bytes([127 - (max & 127); 8]),
            high: if max >= 128 { u64::MAX } else { 0 },
        }
    }

    /// Not zero where a byte of `word` is above the bound.
    ///
    /// The lower seven bits of a byte exceed those of the bound where adding carries into the
    /// highest bit. With a bound below 128 a set highest bit is too much as well; with a greater
    /// one, both are needed.
    #[inline(always)]
    pub(super) fn broken(self, word: u64) -> u64 {
        let carried = (word & !HIGHEST) + self.add;
        ((carried | word) & !self.high | carried & word & self.high) & HIGHEST
    }

    /// [`broken`](Self::broken) for bytes below 128 and a bound below 128.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    pub(super) fn broken_narrow(self, word: u64) -> u64 {
        word.wrapping_add(self.add) & HIGHEST
    }

    /// Whether no byte is above the bound.
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
