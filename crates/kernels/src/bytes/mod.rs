//! Builders for byte arrays that are addressed by offsets, which are Arrow's Binary, LargeBinary, Utf8 and LargeUtf8.
//!
//! A [`ByteBuilder`] guarantees that its arrays need no validation. For this, its fields are private, and every method
//! that appends keeps the offsets monotone and inside the data. A builder of strings checks all bytes that a call has
//! appended together (see [`crate::utf8`]). A failed call leaves the builder unchanged.

pub(crate) mod dictionary;
mod encode;
mod delta_byte_array;
mod lengths;
mod offsets;
mod plain;

use std::sync::Arc;

use herringbone_arrow::array::{ArrayRef, GenericBinaryArray, GenericStringArray, OffsetSizeTrait};
use herringbone_arrow::buffer::bit_iterator::BitSliceIterator;
use herringbone_arrow::buffer::{BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};

use crate::bitmap::Bitmap;
use crate::expand::{check_dense, expand_offsets};
use crate::{Malformed, trim, utf8};

pub(crate) use delta_byte_array::DeltaByteArray;
pub use delta_byte_array::delta_byte_array_bytes;
pub use dictionary::ByteDictionary;
pub(crate) use dictionary::likely_values;
pub use encode::{append_byte_arrays, plain_byte_arrays_i32, plain_byte_arrays_i64};
pub(crate) use lengths::sum_lengths;
pub(crate) use plain::value_at;
pub use plain::{fit_plain, skip_plain};

pub(crate) const ENDS_EARLY: Malformed = Malformed("byte array values end early");
pub(crate) const NEGATIVE: Malformed = Malformed("a byte array has a negative length");
pub(crate) const OVERFLOW: Malformed = Malformed("byte array offsets overflow");

/// A Binary or Utf8 array under construction, in which `O` is `i32`, or `i64` for the Large types.
///
/// Invariants: `offsets` starts with 0, never decreases, and ends with the length of the data. If `utf8` is set,
/// each value is valid UTF-8.
#[derive(Debug)]
pub struct ByteBuilder<O> {
    offsets: Vec<O>,
    data: Vec<u8>,
    /// A slice of a page that serves as the data without a copy. In that case `data` is empty.
    borrowed: Option<Buffer>,
    utf8: bool,
    /// The dictionary entries that a lookup found, kept here so that we reuse the allocation.
    found: Vec<dictionary::Entry>,
    /// The length of the last finished array, as an estimate for the next one.
    last_values: usize,
    /// The number of value bytes in the last finished array, as an estimate for the next one.
    last_bytes: usize,
}

impl<O: OffsetSizeTrait> ByteBuilder<O> {
    /// Creates an empty builder of strings (`utf8`) or of binary values.
    #[must_use]
    pub fn new(utf8: bool) -> Self {
        Self {
            offsets: vec![O::usize_as(0)],
            data: Vec::new(),
            borrowed: None,
            utf8,
            found: Vec::new(),
            last_values: 0,
            last_bytes: 0,
        }
    }

    /// Returns true if the values are strings.
    #[must_use]
    pub fn is_utf8(&self) -> bool {
        self.utf8
    }

    /// Returns the number of slots so far, nulls included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Returns true if there are no slots.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the byte count of all values so far, without offsets.
    #[must_use]
    pub fn data_len(&self) -> usize {
        self.borrowed
            .as_ref()
            .map_or(self.data.len(), |part| part.len())
    }

    /// Returns the number of further value bytes that the offsets can address.
    #[must_use]
    pub fn data_room(&self) -> usize {
        Self::max_data().saturating_sub(self.data_len())
    }

    /// Returns the byte count of all values and offsets so far.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.data_len() + size_of_val(self.offsets.as_slice())
    }

    /// Returns true if the data is a slice of a page. Note that such a slice retains the whole page.
    #[must_use]
    pub fn borrows_page(&self) -> bool {
        self.borrowed.is_some()
    }

    /// Spreads the values from `start` on over the slots `start..start + slots`. Each set bit of `validity` takes one
    /// value, and null slots become empty values.
    ///
    /// # Errors
    /// Fails with [`Malformed`] if the number of values from `start` on differs from the number of set bits.
    pub fn expand(
        &mut self,
        validity: &Bitmap,
        start: usize,
        slots: usize,
    ) -> Result<(), Malformed> {
        check_dense(self.len(), validity, start, slots)?;
        expand_offsets(&mut self.offsets, start + 1, validity, start, slots);
        Ok(())
    }

    /// Drops the slots from `start` on whose bit is not set. Slot `start + i` belongs to bit `i`.
    ///
    /// # Errors
    /// Fails with [`Malformed`] if the number of slots from `start` on differs from the number of bits.
    pub fn retain(&mut self, start: usize, bits: &BooleanBuffer) -> Result<(), Malformed> {
        if start.checked_add(bits.len()) != Some(self.len()) {
            return Err(Malformed("slots and selection do not agree"));
        }
        if let Some(part) = self.borrowed.take() {
            self.data.extend_from_slice(&part);
        }
        // The offsets stay ascending, because each run of values moves down by the number of bytes that were dropped
        // before it.
        let (mut slots, mut end) = (start, self.offsets[start].as_usize());
        for (first, last) in BitSliceIterator::new(bits.values(), bits.offset(), bits.len()) {
            let (first, last) = (start + first, start + last);
            let from = self.offsets[first].as_usize();
            let run = from..self.offsets[last].as_usize();
            let (moved, length) = (from - end, run.len());
            self.data.copy_within(run, end);
            for slot in first + 1..=last {
                slots += 1;
                self.offsets[slots] = O::usize_as(self.offsets[slot].as_usize() - moved);
            }
            end += length;
        }
        self.offsets.truncate(slots + 1);
        self.data.truncate(end);
        Ok(())
    }

    /// Returns the array of everything that was appended since the last call, with `nulls` if present.
    ///
    /// # Errors
    /// Fails with [`Malformed`] if `nulls` and the array differ in length.
    pub fn finish(&mut self, nulls: Option<NullBuffer>) -> Result<ArrayRef, Malformed> {
        if nulls
            .as_ref()
            .is_some_and(|nulls| nulls.len() != self.len())
        {
            return Err(Malformed("values and nulls do not agree"));
        }
        self.last_values = self.len();
        let mut offsets = std::mem::replace(&mut self.offsets, vec![O::usize_as(0)]);
        trim(&mut offsets);
        let data = self.take_data();
        // SAFETY: by the invariant of this type, the offsets start with 0 and never decrease.
        let offsets = unsafe { OffsetBuffer::new_unchecked(ScalarBuffer::from(offsets)) };
        if self.utf8 {
            // SAFETY: by the invariant, the last offset is the length of the data and each value is valid UTF-8;
            // the nulls have the array's length.
            let array = unsafe { GenericStringArray::new_unchecked(offsets, data, nulls) };
            return Ok(Arc::new(array));
        }
        // SAFETY: the last offset is the length of the data; the nulls have the array's length.
        let array = unsafe { GenericBinaryArray::new_unchecked(offsets, data, nulls) };
        Ok(Arc::new(array))
    }

    fn take_data(&mut self) -> Buffer {
        self.last_bytes = self.data_len();
        if let Some(part) = self.borrowed.take() {
            return part;
        }
        let mut data = std::mem::take(&mut self.data);
        trim(&mut data);
        Buffer::from_vec(data)
    }

    /// Returns the largest data length that an offset can represent.
    fn max_data() -> usize {
        if O::IS_LARGE {
            i64::MAX as usize
        } else {
            i32::MAX as usize
        }
    }

    /// Reserves space for `n` more values of unknown total length, in memory that the builder owns. If the data was
    /// borrowed, this copies it there.
    fn reserve_values(&mut self, n: usize) {
        self.reserve_offsets(n);
        let part = self.borrowed.take();
        if self.data.capacity() == 0 {
            let so_far = part.as_ref().map_or(0, |part| part.len());
            let expected = match self.last_bytes {
                // We know nothing except that more values follow.
                0 => 2 * so_far,
                last => (last + last / 16).max(so_far),
            };
            self.data.reserve(expected);
        }
        if let Some(part) = part {
            self.data.extend_from_slice(&part);
        }
    }

    fn reserve_offsets(&mut self, n: usize) {
        if self.offsets.capacity() - self.offsets.len() < n {
            self.offsets.reserve(n.max(self.last_values));
        }
    }

    /// Returns the current state, which [`Self::rewind`] restores after an error.
    fn mark(&self) -> Mark {
        Mark {
            offsets: self.offsets.len(),
            data: self.data.len(),
        }
    }

    /// Drops everything that was appended since `mark`.
    fn rewind(&mut self, mark: &Mark) {
        self.offsets.truncate(mark.offsets);
        self.data.truncate(mark.data);
    }

    /// Ends a call that appended values since `mark`. It checks the new values, and drops them after an error.
    fn seal<T>(
        &mut self,
        mark: &Mark,
        checked: bool,
        outcome: Result<T, Malformed>,
    ) -> Result<T, Malformed> {
        let outcome = outcome.and_then(|value| {
            let new = self.offsets.get(mark.offsets - 1..).unwrap_or_default();
            if self.utf8 && !checked && !utf8::are_valid(&self.data, new) {
                return Err(utf8::INVALID);
            }
            Ok(value)
        });
        if outcome.is_err() {
            self.rewind(mark);
        }
        outcome
    }
}

/// A state of a [`ByteBuilder`].
#[derive(Debug)]
struct Mark {
    offsets: usize,
    data: usize,
}

#[cfg(test)]
pub(crate) mod tests;
