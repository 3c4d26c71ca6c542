//! Byte arrays behind offsets: Arrow's Binary, LargeBinary, Utf8 and LargeUtf8 under construction.
//!
//! A [`ByteBuilder`] is the proof that its arrays need no validation: its fields are private, every
//! way to append keeps the offsets monotone and inside the data, and a builder of strings checks
//! what was appended once, over the whole part (see [`crate::utf8`]). A call that fails leaves the
//! builder as it was.

mod dictionary;
mod encode;
mod front_coded;
mod lengths;
mod plain;

use std::sync::Arc;

use herringbone_arrow::array::{ArrayRef, GenericBinaryArray, GenericStringArray, OffsetSizeTrait};
use herringbone_arrow::buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};

use crate::bitmap::Bitmap;
use crate::expand::expand_offsets;
use crate::{Malformed, utf8};

pub use dictionary::ByteDictionary;
pub(crate) use dictionary::likely_values;
pub use encode::{plain_byte_arrays_i32, plain_byte_arrays_i64};
pub(crate) use front_coded::expand_front_coded;
pub use front_coded::front_coded_bytes;
pub(crate) use lengths::sum_lengths;
pub(crate) use plain::value_at;
pub use plain::{fit_plain, skip_plain};

pub(crate) const ENDS_EARLY: Malformed = Malformed("byte array values end early");
pub(crate) const NEGATIVE: Malformed = Malformed("a byte array has a negative length");
pub(crate) const OVERFLOW: Malformed = Malformed("byte array offsets overflow");

/// A Binary or Utf8 array under construction; `O` is `i32`, or `i64` for the Large types.
///
/// Invariants: `offsets` starts with 0, never goes down, and ends with `data.len()`; with `utf8` each
/// value is valid UTF-8.
#[derive(Debug)]
pub struct ByteBuilder<O> {
    offsets: Vec<O>,
    data: Vec<u8>,
    utf8: bool,
    /// Looked-up entries of a dictionary, kept for its allocation.
    found: Vec<dictionary::Entry>,
    /// What the last finished array took, as an estimate for the next one.
    last_values: usize,
    last_bytes: usize,
}

impl<O: OffsetSizeTrait> ByteBuilder<O> {
    /// An empty builder of strings (`utf8`) or of binary values.
    #[must_use]
    pub fn new(utf8: bool) -> Self {
        Self {
            offsets: vec![O::usize_as(0)],
            data: Vec::new(),
            utf8,
            found: Vec::new(),
            last_values: 0,
            last_bytes: 0,
        }
    }

    /// Whether the values are strings.
    #[must_use]
    pub fn is_utf8(&self) -> bool {
        self.utf8
    }

    /// Slots so far, nulls included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there are no slots.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of all values so far, without offsets.
    #[must_use]
    pub fn data_len(&self) -> usize {
        self.data.len()
    }

    /// Bytes of values that the offsets can still address.
    #[must_use]
    pub fn data_room(&self) -> usize {
        Self::max_data().saturating_sub(self.data.len())
    }

    /// Bytes of values and offsets so far.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.data.len() + size_of_val(self.offsets.as_slice())
    }

    /// Spreads the last values over nulls: slots `start..start + slots` are new, and the values of
    /// their set bits in `validity` are the ones appended last. Null slots become empty values.
    ///
    /// **Errors**: fewer values, or another number of slots, than the bitmap says.
    pub fn expand(
        &mut self,
        validity: &Bitmap,
        start: usize,
        slots: usize,
    ) -> Result<(), Malformed> {
        let values = validity.set_in(start..start + slots);
        if start.checked_add(values) != Some(self.len()) {
            return Err(Malformed("values and validity do not agree"));
        }
        expand_offsets(&mut self.offsets, start + 1, validity, start, slots);
        Ok(())
    }

    /// The array of everything appended since the last call, with `nulls` where there are any.
    ///
    /// **Errors**: `nulls` of another length than the array.
    pub fn finish(&mut self, nulls: Option<NullBuffer>) -> Result<ArrayRef, Malformed> {
        if nulls
            .as_ref()
            .is_some_and(|nulls| nulls.len() != self.len())
        {
            return Err(Malformed("values and nulls do not agree"));
        }
        self.last_values = self.len();
        self.last_bytes = self.data.len();
        let offsets = std::mem::replace(&mut self.offsets, vec![O::usize_as(0)]);
        let mut data = std::mem::take(&mut self.data);
        if data.capacity() - data.len() > data.len() / 4 + 4096 {
            data.shrink_to_fit();
        }
        // SAFETY: by the invariant of this type the offsets start with 0 and never go down.
        let offsets = unsafe { OffsetBuffer::new_unchecked(ScalarBuffer::from(offsets)) };
        let data = Buffer::from_vec(data);
        if self.utf8 {
            // SAFETY: by the invariant the last offset is the length of the data and each value is
            // valid UTF-8; the nulls have the array's length.
            let array = unsafe { GenericStringArray::new_unchecked(offsets, data, nulls) };
            return Ok(Arc::new(array));
        }
        // SAFETY: the last offset is the length of the data; the nulls have the array's length.
        let array = unsafe { GenericBinaryArray::new_unchecked(offsets, data, nulls) };
        Ok(Arc::new(array))
    }

    /// The largest length of `data` that an offset can say.
    fn max_data() -> usize {
        if O::IS_LARGE {
            i64::MAX as usize
        } else {
            i32::MAX as usize
        }
    }

    /// Prepares for `n` more values of unknown total length.
    fn reserve_values(&mut self, n: usize) {
        if self.offsets.capacity() - self.offsets.len() < n {
            self.offsets.reserve(n.max(self.last_values));
        }
        if self.data.capacity() == 0 && self.last_bytes > 0 {
            self.data.reserve(self.last_bytes + self.last_bytes / 16);
        }
    }

    /// Where the builder stands, to go back there after an error.
    fn mark(&self) -> Mark {
        Mark {
            offsets: self.offsets.len(),
            data: self.data.len(),
        }
    }

    /// Drops everything appended since `mark`.
    fn rewind(&mut self, mark: &Mark) {
        self.offsets.truncate(mark.offsets);
        self.data.truncate(mark.data);
    }

    /// Ends a call that appended since `mark`: checks the new values, or drops them after an error.
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
