//! A validity bitmap under construction, which has one bit per slot, least significant bit first.
//!
//! Most nullable columns contain no nulls. So the bitmap is only a length as long as every bit is set, and the first
//! zero bit materialises it. The bits are stored in 64-bit words, which on a little-endian machine already have the
//! layout of an Arrow validity buffer.

use std::ops::Range;

use herringbone_arrow::buffer::{BooleanBuffer, Buffer, NullBuffer};

#[cfg(target_arch = "x86_64")]
use crate::cpu::Bmi2;
use crate::{Malformed, trim};

mod writer;

pub(crate) use writer::Writer;

/// A growing bitmap that costs nothing while all of its bits are set.
///
/// Invariants: if `words` is empty, all `len` bits are set. Otherwise there are exactly as many words as `len` bits
/// need, and the bits after `len` are zero. `ones` counts the set bits.
#[derive(Debug, Clone, Default)]
pub struct Bitmap {
    words: Vec<u64>,
    len: usize,
    ones: usize,
}

/// Returns a word whose lowest `bits` bits are set, for 0 to 64 bits.
#[inline]
pub(crate) fn low_bits(bits: usize) -> u64 {
    debug_assert!(bits <= 64);
    if bits == 0 {
        0
    } else {
        u64::MAX >> (64 - bits)
    }
}

/// Returns `n` (at most 64) bits from `data`, starting at bit `first`. Bits past the end are zero.
#[inline]
pub(crate) fn load_bits(data: &[u8], first: usize, n: usize) -> u64 {
    let (byte, shift) = (first / 8, first % 8);
    let bits = match data.get(byte..).and_then(|rest| rest.first_chunk::<9>()) {
        Some([low @ .., high]) => {
            let low = u64::from_le_bytes(*low) >> shift;
            // We shift in two steps, because a shift by 64 overflows.
            low | (u64::from(*high) << 1 << (63 - shift))
        }
        None => load_bits_near_end(data.get(byte..).unwrap_or_default(), shift),
    };
    bits & low_bits(n)
}

/// Returns the lowest bit of each byte as one word, in which the first byte's bit is the lowest.
#[inline(always)]
pub(crate) fn word_of_bytes(bytes: &[u8; 64]) -> u64 {
    let mut word = 0;
    for (i, bytes) in bytes.as_chunks::<8>().0.iter().enumerate() {
        // The multiplication gathers the bits of eight bytes in the product's highest byte.
        let byte = u64::from_le_bytes(*bytes).wrapping_mul(0x0102_0408_1020_4080) >> 56;
        word |= byte << (8 * i);
    }
    word
}

/// Implements [`load_bits`] for an end of the data that has fewer than nine bytes.
#[inline]
fn load_bits_near_end(rest: &[u8], shift: usize) -> u64 {
    let mut bytes = [0; 8];
    for (to, from) in bytes.iter_mut().zip(rest) {
        *to = *from;
    }
    u64::from_le_bytes(bytes) >> shift
}

/// Returns the bits that are wanted. The words are pairs of bits, and of flags that are set for wanted bits.
pub(crate) fn selected(words: impl Iterator<Item = (u64, u64)>) -> Bitmap {
    #[cfg(target_arch = "x86_64")]
    if Bmi2::detect().is_some() {
        // SAFETY: the token proves that the instructions are available.
        return unsafe { selected_by_pext(words) };
    }
    selected_by(words, selected_bits)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "bmi1,bmi2,lzcnt,popcnt")]
fn selected_by_pext(words: impl Iterator<Item = (u64, u64)>) -> Bitmap {
    selected_by(words, |bits, wanted| {
        std::arch::x86_64::_pext_u64(bits, wanted)
    })
}

#[inline(always)]
fn selected_by(
    words: impl Iterator<Item = (u64, u64)>,
    select: impl Fn(u64, u64) -> u64,
) -> Bitmap {
    let mut selected = Bitmap::new();
    for (bits, wanted) in words {
        selected.append_bits(select(bits, wanted), wanted.count_ones() as usize);
    }
    selected
}

/// Returns those bits whose bit in `wanted` is set, packed together from the lowest bit up.
#[inline]
fn selected_bits(bits: u64, wanted: u64) -> u64 {
    /// The maximum number of bits that we move one by one.
    const MAX_MOVED_SINGLY: u32 = 12;
    if wanted == u64::MAX {
        return bits;
    }
    if wanted.count_ones() > MAX_MOVED_SINGLY {
        return moved_bits(bits, wanted);
    }
    let (mut selected, mut left) = (0, wanted);
    for to in 0..wanted.count_ones() {
        selected |= ((bits >> left.trailing_zeros()) & 1) << to;
        left &= left - 1;
    }
    selected
}

/// Computes [`selected_bits`] in six steps, for any `wanted`. Each bit's distance is a sum of powers of two: step `k`
/// moves a bit by `2^k` if its remaining distance is an odd multiple of `2^k`.
fn moved_bits(bits: u64, mut wanted: u64) -> u64 {
    let mut bits = bits & wanted;
    // The unwanted places below each bit, because their number is the distance by which the bit moves.
    let mut below = !wanted << 1;
    for step in 0..6 {
        // The bits that have an odd number of unwanted places below them.
        let odd = (0..6).fold(below, |odd, shift| odd ^ odd << (1 << shift));
        let moving = odd & wanted;
        wanted = (wanted ^ moving) | moving >> (1 << step);
        let moved = bits & moving;
        bits = (bits ^ moved) | moved >> (1 << step);
        below &= !odd;
    }
    bits
}

impl Bitmap {
    /// Creates an empty bitmap, which needs no allocation.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the number of bits in the bitmap.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Returns true if there are no bits.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the number of set bits.
    #[inline]
    pub fn count_set(&self) -> usize {
        self.ones
    }

    /// Returns the number of zero bits, which are nulls if this is a validity bitmap.
    #[inline]
    pub fn null_count(&self) -> usize {
        self.len - self.ones
    }

    /// Returns the number of bytes allocated on the heap.
    pub fn heap_bytes(&self) -> usize {
        self.words.capacity() * size_of::<u64>()
    }

    /// Returns the words, with zeros after the last bit, or `None` while all bits are set.
    #[inline]
    pub fn words(&self) -> Option<&[u64]> {
        (!self.words.is_empty()).then_some(&self.words)
    }

    /// Returns the bytes, with zeros after the last bit, or `None` while all bits are set.
    pub fn as_bytes(&self) -> Option<&[u8]> {
        let words = self.words()?;
        // SAFETY: the words are initialised, bytes need no alignment, and `len` bits need no more bytes than the
        // `len.div_ceil(64)` words have.
        Some(unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), self.len.div_ceil(8)) })
    }

    /// Returns the bit at `index`, or false past the end.
    #[inline]
    pub fn get(&self, index: usize) -> bool {
        self.bits(index, 1) != 0
    }

    /// Returns `n` (at most 64) bits, starting at bit `start`, with zeros past the end.
    #[inline]
    pub fn bits(&self, start: usize, n: usize) -> u64 {
        let n = n.min(64).min(self.len.saturating_sub(start));
        if self.words.is_empty() {
            return low_bits(n);
        }
        let (word, shift) = (start / 64, start % 64);
        let low = self.words.get(word).map_or(0, |bits| bits >> shift);
        // We shift in two steps, because a shift by 64 overflows.
        let high = self
            .words
            .get(word + 1)
            .map_or(0, |bits| bits << 1 << (63 - shift));
        (low | high) & low_bits(n)
    }

    /// Returns the bits from `start` on, as a sequence of words.
    #[inline(always)]
    pub(crate) fn words_from(&self, start: usize) -> WordsFrom<'_> {
        WordsFrom {
            words: self.words.get(start / 64..).unwrap_or_default(),
            shift: start % 64,
            left: self.len.saturating_sub(start),
            all: self.words.is_empty(),
        }
    }

    /// Returns the number of set bits in `range`, which is clipped to the bitmap's length.
    pub fn set_in(&self, range: Range<usize>) -> usize {
        let end = range.end.min(self.len);
        let start = range.start.min(end);
        if start == 0 && end == self.len {
            return self.ones;
        }
        if self.words.is_empty() {
            return end - start;
        }
        count_range(&self.words, start, end)
    }

    /// Appends `n` equal bits.
    #[inline]
    pub fn append_run(&mut self, bit: bool, n: usize) {
        if bit && self.words.is_empty() {
            self.len += n;
            self.ones += n;
            return;
        }
        self.materialise();
        if n <= 64 {
            self.push(if bit { low_bits(n) } else { 0 }, n);
        } else {
            self.push_long_run(bit, n);
        }
        self.ones += if bit { n } else { 0 };
    }

    /// Appends the lowest `n` (at most 64) bits of `bits`. Returns the number of set bits among them.
    #[inline]
    pub fn append_bits(&mut self, bits: u64, n: usize) -> usize {
        let n = n.min(64);
        let bits = bits & low_bits(n);
        let ones = bits.count_ones() as usize;
        if self.words.is_empty() {
            if ones == n {
                self.len += n;
                self.ones += n;
                return n;
            }
            self.materialise();
        }
        self.push(bits, n);
        self.ones += ones;
        ones
    }

    /// Appends `n` bits from `data`, starting at bit `first`. Returns the number of set bits among them.
    ///
    /// # Errors
    /// Fails with [`Malformed`] if `data` has fewer bits. Nothing is appended in that case.
    #[inline]
    pub fn append_packed(
        &mut self,
        data: &[u8],
        first: usize,
        n: usize,
    ) -> Result<usize, Malformed> {
        let end = first.checked_add(n).ok_or(Malformed("too many bits"))?;
        if end.div_ceil(8) > data.len() {
            return Err(Malformed("the bits end early"));
        }
        if n <= 64 {
            return Ok(self.append_bits(load_bits(data, first, n), n));
        }
        let before = self.ones;
        let mut done = 0;
        // If the first bits are all set, the bitmap may remain a mere length.
        while self.words.is_empty() && done < n {
            let step = (n - done).min(64);
            self.append_bits(load_bits(data, first + done, step), step);
            done += step;
        }
        if done < n {
            let mut writer = self.write(n - done);
            writer.push_packed(data, first + done, n - done);
            writer.finish(self);
        }
        Ok(self.ones - before)
    }

    /// Shortens the bitmap to its first `len` bits. This has no effect if the bitmap is not longer.
    pub fn truncate(&mut self, len: usize) {
        if len >= self.len {
            return;
        }
        self.ones = self.set_in(0..len);
        self.len = len;
        if !self.words.is_empty() {
            self.words.truncate(len.div_ceil(64));
            if let Some(last) = self.words.last_mut() {
                *last &= low_bits((len - 1) % 64 + 1);
            }
        }
    }

    /// Appends all bits of another bitmap.
    pub fn append_all(&mut self, bits: &Self) {
        let mut words = bits.words_from(0);
        for first in (0..bits.len).step_by(64) {
            self.append_bits(words.next(64), (bits.len - first).min(64));
        }
    }

    /// Returns the bits whose corresponding bit in `wanted` is set.
    #[must_use]
    pub fn select(&self, wanted: &BooleanBuffer) -> Self {
        let mut bits = self.words_from(0);
        let wanted = wanted.bit_chunks();
        selected(wanted.iter_padded().map(|wanted| (bits.next(64), wanted)))
    }

    /// Returns the bits of `bits` whose corresponding bit in this bitmap is set.
    #[must_use]
    pub fn select_of(&self, bits: &BooleanBuffer) -> BooleanBuffer {
        if self.words.is_empty() {
            return bits.slice(0, bits.len().min(self.len));
        }
        let mut wanted = self.words_from(0);
        let bits = bits.bit_chunks();
        selected(bits.iter_padded().map(|bits| (bits, wanted.next(64)))).finish_boolean()
    }

    /// Removes all bits, but retains the memory.
    pub fn clear(&mut self) {
        self.words.clear();
        self.len = 0;
        self.ones = 0;
    }

    /// Takes the bits as Arrow validity, which leaves an empty bitmap. Returns `None` if there are no nulls.
    pub fn finish(&mut self) -> Option<NullBuffer> {
        let nulls = self.null_count();
        if nulls == 0 {
            self.clear();
            return None;
        }
        let bits = self.finish_boolean();
        // SAFETY: `ones` counts the set bits (invariant of the type), so `nulls` is the number of zero bits.
        Some(unsafe { NullBuffer::new_unchecked(bits, nulls) })
    }

    /// Takes the bits as Arrow booleans, which leaves an empty bitmap.
    pub fn finish_boolean(&mut self) -> BooleanBuffer {
        self.materialise();
        let mut words = std::mem::take(&mut self.words);
        trim(&mut words);
        let len = std::mem::take(&mut self.len);
        self.ones = 0;
        BooleanBuffer::new(Buffer::from_vec(words), 0, len)
    }

    /// Writes out the set bits that have so far been only a length.
    #[inline]
    fn materialise(&mut self) {
        if self.words.is_empty() && self.len > 0 {
            self.materialise_ones();
        }
    }

    #[cold]
    fn materialise_ones(&mut self) {
        self.words.resize(self.len.div_ceil(64), u64::MAX);
        if let Some(last) = self.words.last_mut() {
            *last = low_bits((self.len - 1) % 64 + 1);
        }
    }

    /// Appends `n <= 64` bits to the words, without counting them. The other bits of `bits` must be zero.
    #[inline]
    fn push(&mut self, bits: u64, n: usize) {
        let used = self.len % 64;
        match self.words.last_mut() {
            Some(last) if used > 0 => {
                *last |= bits << used;
                if used + n > 64 {
                    self.words.push(bits >> (64 - used));
                }
            }
            _ if n > 0 => self.words.push(bits),
            _ => {}
        }
        self.len += n;
    }

    /// Appends `n > 64` equal bits to the words, without counting them.
    fn push_long_run(&mut self, bit: bool, n: usize) {
        let fill = if bit { u64::MAX } else { 0 };
        let head = (64 - self.len % 64) % 64;
        self.push(fill & low_bits(head), head);
        let (full, tail) = ((n - head) / 64, (n - head) % 64);
        self.words.resize(self.words.len() + full, fill);
        self.len += full * 64;
        self.push(fill & low_bits(tail), tail);
    }
}

/// The bits of a [`Bitmap`] from some position on, as words.
pub(crate) struct WordsFrom<'a> {
    /// The remaining words. The next bit is bit `shift` in the first one.
    words: &'a [u64],
    shift: usize,
    /// The number of bits that have not been taken yet.
    left: usize,
    /// True if all bits are set, so that there are no words.
    all: bool,
}

impl WordsFrom<'_> {
    /// Returns the next `n` (at most 64) bits, with zeros past the end. Only the last call may request fewer than 64.
    #[inline(always)]
    pub(crate) fn next(&mut self, n: usize) -> u64 {
        let there = n.min(self.left);
        self.left -= there;
        if self.all {
            return low_bits(there);
        }
        let Some((first, rest)) = self.words.split_first() else {
            return 0;
        };
        self.words = rest;
        // We shift in two steps, because a shift by 64 overflows.
        let high = rest
            .first()
            .map_or(0, |next| next << 1 << (63 - self.shift));
        (first >> self.shift | high) & low_bits(there)
    }
}

/// Counts the set bits of `words` in `start..end`.
fn count_range(words: &[u64], start: usize, end: usize) -> usize {
    if start == end {
        return 0;
    }
    let (first, last) = (start / 64, (end - 1) / 64);
    let head = u64::MAX << (start % 64);
    let tail = low_bits((end - 1) % 64 + 1);
    let words = words.get(first..=last).unwrap_or_default();
    match words {
        [] => 0,
        [only] => (only & head & tail).count_ones() as usize,
        [low, middle @ .., high] => {
            let middle: usize = middle.iter().map(|word| word.count_ones() as usize).sum();
            (low & head).count_ones() as usize + middle + (high & tail).count_ones() as usize
        }
    }
}

#[cfg(test)]
mod tests;
