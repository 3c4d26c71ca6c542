//! Creates views of values with known lengths. DELTA_LENGTH_BYTE_ARRAY values and values of one fixed width point into
//! their page. DELTA_BYTE_ARRAY values point into a block that the builder owns, because they are not contiguous in the
//! page.

use herringbone_arrow::buffer::Buffer;

use super::view::{any_is_long, view, view_of};
use super::{MAX_POSITION, TOO_LARGE, ViewBuilder};
use crate::bytes::{DeltaByteArray, ENDS_EARLY, sum_lengths};
use crate::{Malformed, utf8};

impl ViewBuilder {
    /// Appends views of values with the given `lengths`, which lie back to back in `page` from `position` on. Returns
    /// the position after them.
    ///
    /// # Errors
    /// Fails with [`Malformed`] if a length is negative, if values end early, if a builder of strings gets invalid
    /// UTF-8, or if the page exceeds 2 GiB.
    pub fn append_lengths(
        &mut self,
        lengths: &[i32],
        page: &Buffer,
        position: usize,
    ) -> Result<usize, Malformed> {
        let taken = sum_lengths(lengths)?;
        let end = position.checked_add(taken).ok_or(ENDS_EARLY)?;
        self.append_section(lengths.iter().copied(), page, position, end)?;
        Ok(end)
    }

    /// Appends views of values with `width` bytes each, from `position` to `end` of `page`.
    ///
    /// # Errors
    /// Fails as [`Self::append_lengths`] describes, and if the section's length is not a multiple of the width.
    pub fn append_fixed(
        &mut self,
        page: &Buffer,
        position: usize,
        end: usize,
        width: usize,
    ) -> Result<(), Malformed> {
        let taken = end.checked_sub(position).ok_or(ENDS_EARLY)?;
        let length = i32::try_from(width).map_err(|_| TOO_LARGE)?;
        if width == 0 || !taken.is_multiple_of(width) {
            return Err(ENDS_EARLY);
        }
        let lengths = std::iter::repeat_n(length, taken / width);
        self.append_section(lengths, page, position, end)
    }

    /// Appends views of values whose `lengths` add up to the bytes from `position` to `end` of `page`. No length may be
    /// negative.
    fn append_section(
        &mut self,
        lengths: impl ExactSizeIterator<Item = i32> + Clone,
        page: &Buffer,
        position: usize,
        end: usize,
    ) -> Result<(), Malformed> {
        if page.len() > MAX_POSITION {
            return Err(TOO_LARGE);
        }
        let section = page.get(position..end).ok_or(ENDS_EARLY)?;
        if self.utf8 && !utf8::are_valid_lengths(section, lengths.clone()) {
            return Err(utf8::INVALID);
        }
        let index = self.index_of(page)?;
        if self.view_lengths(lengths, page, index, position) {
            self.register(page, index);
        }
        self.referenced += section.len();
        Ok(())
    }

    /// Appends values that are given by the lengths of their `prefixes` and `suffixes`. The suffixes lie back to back
    /// in `bytes`. Returns the number of bytes that the suffixes took. `previous` is the value before the first one,
    /// and is then set to the last one.
    ///
    /// # Errors
    /// Fails as [`crate::bytes::ByteBuilder::append_delta_byte_array`] describes, and if there are more than 2 GiB of
    /// values.
    pub fn append_delta_byte_array(
        &mut self,
        prefixes: &[i32],
        suffixes: &[i32],
        bytes: &[u8],
        previous: &mut Vec<u8>,
    ) -> Result<usize, Malformed> {
        let coded = DeltaByteArray::new(prefixes, suffixes, bytes, previous)?;
        let (total, taken) = (coded.total, coded.taken());
        let index = self.open_block(total)?;
        let start = self.block.len();
        coded.append_to(&mut self.block);
        // No sum overflows, because no length is negative and the sum of all of them fits into 31 bits.
        let lengths = prefixes
            .iter()
            .zip(suffixes)
            .map(|(prefix, suffix)| prefix + suffix);
        let values = self.block.get(start..).unwrap_or_default();
        if self.utf8 && !utf8::are_valid_lengths(values, lengths.clone()) {
            self.block.truncate(start);
            return Err(utf8::INVALID);
        }
        let block = std::mem::take(&mut self.block);
        self.view_lengths(lengths.clone(), &block, index, start);
        self.block = block;
        if let (Some(prefix), Some(suffix)) = (prefixes.last(), suffixes.last()) {
            let last = prefix + suffix;
            let from = self.block.len().saturating_sub(last as usize);
            previous.clear();
            previous.extend_from_slice(self.block.get(from..).unwrap_or_default());
        }
        self.referenced += total;
        Ok(taken)
    }

    /// Appends views of values that lie in `page` from `start` on. The page is or becomes buffer `index`. Returns true
    /// if a value was too long to fit into its view. The caller guarantees that no length is negative, and that all
    /// values end within the page and below 2 GiB.
    fn view_lengths(
        &mut self,
        lengths: impl ExactSizeIterator<Item = i32>,
        page: &[u8],
        index: u32,
        start: usize,
    ) -> bool {
        self.reserve_values(lengths.len());
        let first = self.views.len();
        let (mut at, mut all, mut made) = (start, 0, 0);
        // If a value starts before this position, the 12 bytes from its start on lie in the page.
        let wide_end = page.len().saturating_sub(11);
        let slots = self.views.spare_capacity_mut().iter_mut();
        for (slot, length) in slots.zip(lengths) {
            let length = length as u32;
            let view = if at < wide_end {
                // SAFETY: `at + 12 <= page.len()`.
                let head = unsafe { page.as_ptr().add(at).cast::<[u8; 12]>().read() };
                view(with_length(&head, length), length, index, at as u32)
            } else {
                let value = page.get(at..at + length as usize);
                view_of(value.unwrap_or_default(), index, at as u32)
            };
            slot.write(view);
            all |= length;
            at += length as usize;
            made += 1;
        }
        // SAFETY: `made` views were written after the last one. Each lies within the page, which is or becomes the
        // buffer that they name.
        unsafe { self.views.set_len(first + made) };
        any_is_long(self.views.get(first..).unwrap_or_default(), all)
    }
}

/// Returns the length, followed by the first 12 bytes from a value's start on. We assemble this from numbers, because
/// bytes that we combine in memory would have to be stored before they could be loaded.
#[inline(always)]
fn with_length(head: &[u8; 12], length: u32) -> u128 {
    let [a, b, c, d, rest @ ..] = *head;
    let first = u64::from(u32::from_le_bytes([a, b, c, d]));
    let rest = u64::from_le_bytes(rest);
    u128::from(u64::from(length) | first << 32) | u128::from(rest) << 64
}
