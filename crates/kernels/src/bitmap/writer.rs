//! Appending many short runs of bits: the word that is being filled stays in a register.

use super::{Bitmap, load_bits, low_bits};

/// A bitmap that bits are appended to; [`finish`](Self::finish) makes them part of it.
pub(crate) struct Writer {
    /// The words of the bitmap, with zeros behind them where more may be written.
    words: Vec<u64>,
    /// Full words.
    full: usize,
    /// The word that is being filled; zeros above the bits that it has.
    last: u64,
    /// Bits that `last` has, fewer than 64.
    used: usize,
    /// Set bits of the full words.
    ones: usize,
}

impl Bitmap {
    /// Takes the bits, with room for `n` more; more than that are dropped.
    #[inline(always)]
    pub(crate) fn write(&mut self, n: usize) -> Writer {
        self.materialise();
        let mut words = std::mem::take(&mut self.words);
        let (full, used) = (self.len / 64, self.len % 64);
        // One word more than the bits need, so that the word behind a full one is there.
        words.resize((self.len + n) / 64 + 1, 0);
        let last = words.get(full).copied().unwrap_or_default();
        Writer {
            words,
            full,
            last,
            used,
            ones: self.ones - last.count_ones() as usize,
        }
    }
}

impl Writer {
    /// Appends the `n` (at most 64) bits of `bits`, which has zeros above them.
    #[inline(always)]
    pub(crate) fn push(&mut self, bits: u64, n: usize) {
        self.last |= bits << self.used;
        let used = self.used + n;
        if used >= 64 {
            if let Some(word) = self.words.get_mut(self.full) {
                *word = self.last;
                self.full += 1;
                self.ones += self.last.count_ones() as usize;
            }
            // Two steps, because a shift by 64 is no shift.
            self.last = bits >> 1 >> (63 - self.used);
        }
        self.used = used % 64;
    }

    /// Appends `n` equal bits.
    #[inline(always)]
    pub(crate) fn push_run(&mut self, bit: bool, mut n: usize) {
        let fill = if bit { u64::MAX } else { 0 };
        if n > 64 {
            n = self.push_words(fill, n);
        }
        self.push(fill & low_bits(n), n);
    }

    /// Appends whole words of `n` equal bits, and returns how many bits are left.
    #[inline(never)]
    fn push_words(&mut self, fill: u64, n: usize) -> usize {
        let head = 64 - self.used;
        self.push(fill & low_bits(head), head);
        let words = (n - head) / 64;
        if let Some(run) = self.words.get_mut(self.full..self.full + words) {
            run.fill(fill);
            self.full += words;
            self.ones += (fill & 1) as usize * words * 64;
        }
        n - head - words * 64
    }

    /// Appends `n` bits of `data` from bit `first` on; bits behind its end are zero.
    #[inline(always)]
    pub(crate) fn push_packed(&mut self, data: &[u8], first: usize, n: usize) {
        let mut done = 0;
        while n - done > 64 {
            self.push(load_bits(data, first + done, 64), 64);
            done += 64;
        }
        self.push(load_bits(data, first + done, n - done), n - done);
    }

    /// Gives the bits back to the bitmap that they were taken from.
    #[inline(always)]
    pub(crate) fn finish(mut self, bitmap: &mut Bitmap) {
        let len = self.full * 64 + self.used;
        if let Some(word) = self.words.get_mut(self.full) {
            *word = self.last;
        }
        self.words.truncate(len.div_ceil(64));
        *bitmap = Bitmap {
            words: self.words,
            len,
            ones: self.ones + self.last.count_ones() as usize,
        };
    }
}
