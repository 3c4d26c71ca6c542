//! Appends many short runs of bits, and keeps the current word in a register while it does.

use super::{Bitmap, load_bits, low_bits};

/// A bitmap that is open for appending, until [`finish`](Self::finish) returns the bits to it.
pub(crate) struct Writer {
    /// The bitmap's words, followed by zeros for the words that are still to be written.
    words: Vec<u64>,
    /// The number of full words.
    full: usize,
    /// The word that is being filled, with zeros above its bits.
    last: u64,
    /// The number of bits in `last`, which is less than 64.
    used: usize,
    /// The index of the first word whose set bits are not counted in `ones`.
    first: usize,
    ones: usize,
}

impl Bitmap {
    /// Takes the bits out of the bitmap, with room for `n` more bits. Bits beyond this number are dropped.
    #[inline(always)]
    pub(crate) fn write(&mut self, n: usize) -> Writer {
        self.materialise();
        let mut words = std::mem::take(&mut self.words);
        let (full, used) = (self.len / 64, self.len % 64);
        // We need one word more than the bits do, so that a word exists after a full one.
        words.resize((self.len + n) / 64 + 1, 0);
        let last = words.get(full).copied().unwrap_or_default();
        Writer {
            words,
            full,
            last,
            used,
            first: full,
            ones: self.ones - last.count_ones() as usize,
        }
    }
}

impl Writer {
    /// Appends the lowest `n` (at most 64) bits of `bits`. The bits above them must be zero.
    ///
    /// This function has no branch, because the current word's fill level is unpredictable.
    #[inline(always)]
    pub(crate) fn push(&mut self, bits: u64, n: usize) {
        let filled = self.last | bits << self.used;
        if let Some(word) = self.words.get_mut(self.full) {
            *word = filled;
        }
        // We shift in two steps, because a shift by 64 overflows.
        let rest = bits >> 1 >> (63 - self.used);
        let used = self.used + n;
        self.last = if used >= 64 { rest } else { filled };
        self.full += used / 64;
        self.used = used % 64;
    }

    /// Appends `n` equal bits.
    #[inline(always)]
    pub(crate) fn push_run(&mut self, bit: bool, mut n: usize) {
        let fill = if bit { u64::MAX } else { 0 };
        if n > 8 * 64 {
            n = self.push_words(fill, n);
        }
        while n > 64 {
            self.push(fill, 64);
            n -= 64;
        }
        self.push(fill & low_bits(n), n);
    }

    /// Appends `n` equal bits as full words, and returns the number of bits left.
    #[inline(never)]
    fn push_words(&mut self, fill: u64, n: usize) -> usize {
        let head = 64 - self.used;
        self.push(fill & low_bits(head), head);
        let words = (n - head) / 64;
        if let Some(run) = self.words.get_mut(self.full..self.full + words) {
            run.fill(fill);
            self.full += words;
        }
        n - head - words * 64
    }

    /// Appends `n` bits from `data`, starting at bit `first`, with zeros past the end.
    #[inline(always)]
    pub(crate) fn push_packed(&mut self, data: &[u8], first: usize, n: usize) {
        let mut done = 0;
        if n > 64 && first.is_multiple_of(8) {
            done = self.push_bytes(data.get(first / 8..).unwrap_or_default(), n);
        }
        while n - done > 64 {
            self.push(load_bits(data, first + done, 64), 64);
            done += 64;
        }
        self.push(load_bits(data, first + done, n - done), n - done);
    }

    /// Appends full words from the `n` bits at the start of `data`, as far as its bytes reach. Returns the number of
    /// appended bits.
    #[inline(always)]
    fn push_bytes(&mut self, data: &[u8], n: usize) -> usize {
        let (from, _) = data.as_chunks::<8>();
        let from = &from[..from.len().min(n / 64)];
        let Some(to) = self.words.get_mut(self.full..self.full + from.len()) else {
            return 0;
        };
        let mut to = to.iter_mut();
        for bytes in from {
            let bits = u64::from_le_bytes(*bytes);
            if let Some(word) = to.next() {
                *word = self.last | bits << self.used;
            }
            // We shift in two steps, because a shift by 64 overflows.
            self.last = bits >> 1 >> (63 - self.used);
        }
        self.full += from.len();
        from.len() * 64
    }

    /// Returns the bits to the bitmap from which they were taken.
    #[inline(always)]
    pub(crate) fn finish(mut self, bitmap: &mut Bitmap) {
        let len = self.full * 64 + self.used;
        if let Some(word) = self.words.get_mut(self.full) {
            *word = self.last;
        }
        self.words.truncate(len.div_ceil(64));
        let written = self.words.get(self.first..).unwrap_or_default();
        let ones: usize = written.iter().map(|word| word.count_ones() as usize).sum();
        *bitmap = Bitmap {
            len,
            ones: self.ones + ones,
            words: self.words,
        };
    }
}
