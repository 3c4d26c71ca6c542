//! Choices made by the fuzzer, as the twin of `tests/src/random.rs` that is driven by bytes.

/// A source of numbers that first takes the fuzzer's bytes, and after their end those of a
/// generator seeded by them.
pub struct Random {
    bytes: std::vec::IntoIter<u8>,
    state: u64,
}

impl Random {
    /// Creates the source from these bytes.
    pub fn new(bytes: &[u8]) -> Self {
        Self {
            state: bytes.len() as u64,
            bytes: Vec::from(bytes).into_iter(),
        }
    }

    /// Returns the next 64 bits, for which we take at most two input bytes, so that choices do not
    /// run out. Values may repeat.
    pub fn next(&mut self) -> u64 {
        for byte in self.bytes.by_ref().take(2) {
            self.state = self.state << 8 ^ self.state >> 56 ^ u64::from(byte);
        }
        // splitmix64
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below `n`. If `n` is at most 256, this is the next byte itself, so that a
    /// changed byte changes one choice.
    pub fn below(&mut self, n: usize) -> usize {
        match self.bytes.next() {
            Some(byte) if n <= 256 => usize::from(byte) % n,
            Some(byte) => (self.next() ^ u64::from(byte)) as usize % n,
            None => (self.next() % n as u64) as usize,
        }
    }

    /// Returns one of several values.
    pub fn pick<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())].clone()
    }
}
