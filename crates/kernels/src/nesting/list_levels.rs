//! Two bits per level, from which we can compute a list's offsets.

use herringbone_arrow::buffer::{BooleanBuffer, Buffer};

use crate::trim;

/// The levels that concern a list, which are the ones whose repetition level is at most the one of its elements.
/// Columns with equal lists have equal bits.
#[derive(Debug, Default)]
pub struct ListLevels {
    goes_on: Vec<u64>,
    has_element: Vec<u64>,
    /// The incomplete last words of both bit vectors. Each has `fill` bits, which is less than 64.
    partial: (u64, u64),
    fill: usize,
}

impl ListLevels {
    /// Returns the number of levels.
    pub fn len(&self) -> usize {
        64 * self.goes_on.len() + self.fill
    }

    /// Returns true if there are no levels.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Takes all bits. The first buffer has a bit set if a list continues, and the second if an element exists.
    pub fn finish(&mut self) -> (BooleanBuffer, BooleanBuffer) {
        let len = self.len();
        let mut all = std::mem::take(self);
        if all.fill > 0 {
            all.goes_on.push(all.partial.0);
            all.has_element.push(all.partial.1);
        }
        let bits = |mut words: Vec<u64>| {
            trim(&mut words);
            BooleanBuffer::new(Buffer::from_vec(words), 0, len)
        };
        (bits(all.goes_on), bits(all.has_element))
    }

    /// Appends the lowest `n` (at most 64) bits. The bits above them must be zero.
    #[inline(always)]
    pub(super) fn push(&mut self, goes_on: u64, has_element: u64, n: usize) {
        self.partial.0 |= goes_on << self.fill;
        self.partial.1 |= has_element << self.fill;
        if self.fill + n < 64 {
            self.fill += n;
            return;
        }
        self.goes_on.push(self.partial.0);
        self.has_element.push(self.partial.1);
        let taken = 64 - self.fill as u32;
        self.partial = (
            goes_on.checked_shr(taken).unwrap_or(0),
            has_element.checked_shr(taken).unwrap_or(0),
        );
        self.fill = self.fill + n - 64;
    }
}
