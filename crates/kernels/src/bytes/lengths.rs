//! Appends DELTA_LENGTH_BYTE_ARRAY values with unpacked lengths, and values of one fixed width. The bytes stay where
//! they are, or take a single memory copy. The running sums of the lengths are the offsets.

use herringbone_arrow::array::OffsetSizeTrait;

use herringbone_arrow::buffer::Buffer;

use super::offsets::extend_offsets;
use super::{ByteBuilder, ENDS_EARLY, NEGATIVE, OVERFLOW};
use crate::multiversion::multiversion;
use crate::{Malformed, utf8};

/// The fewest bytes for which we borrow a slice of the page. For less data, it is not worth retaining the whole page.
const MIN_LENT: usize = 4096;

/// Returns the sum of `lengths`.
///
/// # Errors
/// Fails with [`Malformed`] if a length is negative.
pub(crate) fn sum_lengths(lengths: &[i32]) -> Result<usize, Malformed> {
    // The sum stays below 2^63, because there are fewer than 2^32 lengths below 2^31.
    if u32::try_from(lengths.len()).is_err() {
        return Err(OVERFLOW);
    }
    let (sum, signs) = sum_and_signs(lengths);
    if signs < 0 {
        return Err(NEGATIVE);
    }
    usize::try_from(sum).map_err(|_| OVERFLOW)
}

/// Returns the sum and the bitwise or of the lengths. The latter is negative if any length is negative.
fn sum_and_signs(lengths: &[i32]) -> (i64, i32) {
    #[inline(always)]
    fn inner(lengths: &[i32]) -> (i64, i32) {
        let (mut sum, mut signs) = (0i64, 0i32);
        for &length in lengths {
            sum = sum.wrapping_add(i64::from(length));
            signs |= length;
        }
        (sum, signs)
    }
    multiversion!(inner(lengths: &[i32]) -> (i64, i32))
}

impl<O: OffsetSizeTrait> ByteBuilder<O> {
    /// Appends values with the given `lengths`, which lie back to back in `page` from `position` on. Returns the
    /// position after them. If the array has no other data, it borrows that part of the page instead of copying it.
    ///
    /// # Errors
    /// Fails with [`Malformed`] if a length is negative, if the page ends early, if the offsets cannot address all
    /// bytes, or if a builder of strings gets invalid UTF-8.
    pub fn append_lengths(
        &mut self,
        lengths: &[i32],
        page: &Buffer,
        position: usize,
    ) -> Result<usize, Malformed> {
        let total = sum_lengths(lengths)?;
        let end = position.checked_add(total).ok_or(ENDS_EARLY)?;
        let values = page.get(position..end).ok_or(ENDS_EARLY)?;
        if total > self.data_room() {
            return Err(OVERFLOW);
        }
        if let Some(start) = self.lent_from(page, position, total) {
            let part = page.slice_with_length(start, end - start);
            return self.append_lent(lengths, part).map(|()| end);
        }
        self.reserve_values(lengths.len());
        let mark = self.mark();
        self.data.extend_from_slice(values);
        // No step wraps, because no length is negative and the sum is a valid offset.
        extend_offsets(mark.data, lengths, None, &mut self.offsets);
        self.seal(&mark, false, Ok(end))
    }

    /// Returns the start of the page slice that can become the data. There is one if the values at `position` are all
    /// the data there is, or directly follow the borrowed data.
    fn lent_from(&self, page: &Buffer, position: usize, total: usize) -> Option<usize> {
        match &self.borrowed {
            None if self.data.is_empty() => (total >= MIN_LENT).then_some(position),
            None => None,
            Some(part) => {
                let start = position.checked_sub(part.len())?;
                std::ptr::eq(page.get(start..)?.as_ptr(), part.as_ptr()).then_some(start)
            }
        }
    }

    /// Replaces the data with `part`, which begins with all the data so far.
    fn append_lent(&mut self, lengths: &[i32], part: Buffer) -> Result<(), Malformed> {
        self.reserve_offsets(lengths.len());
        let before = self.offsets.len();
        extend_offsets(self.data_len(), lengths, None, &mut self.offsets);
        let new = self.offsets.get(before - 1..).unwrap_or_default();
        if self.utf8 && !utf8::are_valid(&part, new) {
            self.offsets.truncate(before);
            return Err(utf8::INVALID);
        }
        self.borrowed = Some(part);
        Ok(())
    }

    /// Appends `bytes` as values of `width` bytes each.
    ///
    /// # Errors
    /// Fails with [`Malformed`] if the byte count is not a multiple of the width, if the offsets cannot address all
    /// bytes, or if a builder of strings gets invalid UTF-8.
    pub fn append_fixed(&mut self, bytes: &[u8], width: usize) -> Result<(), Malformed> {
        if width == 0 || !bytes.len().is_multiple_of(width) {
            return Err(ENDS_EARLY);
        }
        if bytes.len() > self.data_room() {
            return Err(OVERFLOW);
        }
        let n = bytes.len() / width;
        self.reserve_values(n);
        let mark = self.mark();
        let start = self.data.len();
        self.data.extend_from_slice(bytes);
        self.offsets
            .extend((1..=n).map(|i| O::usize_as(start + i * width)));
        self.seal(&mark, false, Ok(()))
    }
}
