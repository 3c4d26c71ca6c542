//! Byte arrays as views: Arrow's BinaryView and Utf8View under construction.
//!
//! A view is 16 bytes: the length, and behind it the value itself if it has at most 12 bytes, or else
//! its first four bytes, the number of a buffer and the value's place in that buffer:
//!
//! ```text
//! | length: u32 | value, zeros behind it: 12 bytes               |   length <= 12
//! | length: u32 | first 4 bytes | buffer: u32 | position: u32    |   length >  12
//! ```
//!
//! Pages and dictionaries become such buffers as they are, so that long values are never copied. A
//! [`ViewBuilder`] is the proof that its arrays need no validation: its fields are private, every way
//! to append makes views that lie in the builder's own buffers, and a builder of strings checks what
//! was appended. A call that fails leaves the builder as it was.

mod dictionary;
mod lengths;
mod plain;
mod view;

use std::sync::Arc;

use herringbone_arrow::array::{ArrayRef, BinaryViewArray, StringViewArray};
use herringbone_arrow::buffer::{BooleanBuffer, Buffer, NullBuffer, ScalarBuffer};

use crate::bitmap::Bitmap;
use crate::expand::expand;
use crate::filter::retain;
use crate::{Malformed, trim};

pub use dictionary::ViewDictionary;

/// The largest position in a buffer: Arrow's views hold it as a signed number.
const MAX_POSITION: usize = i32::MAX as usize;

const TOO_LARGE: Malformed = Malformed("a page is too large to be pointed into by views");

const TOO_MANY: Malformed = Malformed("an array of views has too many buffers");

/// A BinaryView or Utf8View array under construction.
///
/// Invariants: each long view lies in the buffer that it names (the block, if that is `block_index`),
/// and its first four bytes are the value's; short views have zeros behind the value. With `utf8`
/// each value is valid UTF-8.
#[derive(Debug)]
pub struct ViewBuilder {
    views: Vec<u128>,
    buffers: Vec<Buffer>,
    /// Values that no page holds as they are, as the buffer `block_index`.
    block: Vec<u8>,
    block_index: Option<u32>,
    /// Bytes of the parts of pages that the views were made from.
    referenced: usize,
    utf8: bool,
    /// What the last finished array took, as an estimate for the next one.
    last_values: usize,
    last_block: usize,
}

impl ViewBuilder {
    /// An empty builder of strings (`utf8`) or of binary values.
    #[must_use]
    pub fn new(utf8: bool) -> Self {
        Self {
            views: Vec::new(),
            buffers: Vec::new(),
            block: Vec::new(),
            block_index: None,
            referenced: 0,
            utf8,
            last_values: 0,
            last_block: 0,
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
        self.views.len()
    }

    /// Whether there are no slots.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.views.is_empty()
    }

    /// Bytes of views, and of the parts of pages that they were made from; dictionaries not counted.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of_val(self.views.as_slice()) + self.referenced
    }

    /// Spreads the last values over nulls: slots `start..start + slots` are new, and the values of
    /// their set bits in `validity` are the ones appended last. Null slots become empty values.
    ///
    /// **Errors**: not as many values as the bitmap says.
    pub fn expand(
        &mut self,
        validity: &Bitmap,
        start: usize,
        slots: usize,
    ) -> Result<(), Malformed> {
        let values = validity.set_in(start..start.saturating_add(slots));
        if start.checked_add(values) != Some(self.views.len()) {
            return Err(Malformed("values and validity do not agree"));
        }
        expand(&mut self.views, start, validity, start, slots);
        Ok(())
    }

    /// Drops those of the slots from `start` on whose bit is not set: slot `start + i` belongs to bit `i`. The buffers
    /// stay.
    pub fn retain(&mut self, start: usize, bits: &BooleanBuffer) {
        retain(&mut self.views, start, bits);
    }

    /// The array of everything appended since the last call, with `nulls` where there are any.
    ///
    /// **Errors**: `nulls` of another length than the array.
    pub fn finish(&mut self, nulls: Option<NullBuffer>) -> Result<ArrayRef, Malformed> {
        if nulls
            .as_ref()
            .is_some_and(|nulls| nulls.len() != self.views.len())
        {
            return Err(Malformed("values and nulls do not agree"));
        }
        self.close_block();
        self.referenced = 0;
        self.last_values = self.views.len();
        let mut views = std::mem::take(&mut self.views);
        trim(&mut views);
        let views = ScalarBuffer::from(views);
        let buffers: Arc<[Buffer]> = std::mem::take(&mut self.buffers).into();
        if self.utf8 {
            // SAFETY: by the invariant of this type each view is made as Arrow says, lies in its
            // buffer and is valid UTF-8; the nulls have the array's length.
            let array = unsafe { StringViewArray::new_unchecked(views, buffers, nulls) };
            return Ok(Arc::new(array));
        }
        // SAFETY: by the invariant of this type each view is made as Arrow says and lies in its
        // buffer; the nulls have the array's length.
        let array = unsafe { BinaryViewArray::new_unchecked(views, buffers, nulls) };
        Ok(Arc::new(array))
    }

    /// Prepares for `n` more values.
    fn reserve_values(&mut self, n: usize) {
        if self.views.capacity() - self.views.len() < n {
            self.views.reserve(n.max(self.last_values));
        }
    }

    /// The number that `buffer` has, or will have after [`Self::register`].
    fn index_of(&self, buffer: &Buffer) -> Result<u32, Malformed> {
        // A dictionary and a page or two take turns; further back nothing is looked for.
        let near = self.buffers.len().saturating_sub(4);
        let mut last = self.buffers.iter().skip(near);
        let known =
            last.position(|known| known.as_ptr() == buffer.as_ptr() && known.len() == buffer.len());
        let index = known.map_or(self.buffers.len(), |found| near + found);
        u32::try_from(index).map_err(|_| TOO_MANY)
    }

    /// Keeps `buffer` as number `index`, as [`Self::index_of`] said.
    fn register(&mut self, buffer: &Buffer, index: u32) {
        if index as usize == self.buffers.len() {
            self.buffers.push(buffer.clone());
        }
    }

    /// The number of the block, with room for `bytes` more bytes of values.
    fn open_block(&mut self, bytes: usize) -> Result<u32, Malformed> {
        if bytes > MAX_POSITION {
            return Err(TOO_LARGE);
        }
        if self.block.len() > MAX_POSITION - bytes {
            self.close_block();
        }
        if let Some(index) = self.block_index {
            return Ok(index);
        }
        let index = u32::try_from(self.buffers.len()).map_err(|_| TOO_MANY)?;
        // An empty buffer keeps the place until the block is closed.
        self.buffers.push(Buffer::from_vec(Vec::<u8>::new()));
        self.block_index = Some(index);
        self.block.reserve(self.last_block + self.last_block / 16);
        Ok(index)
    }

    /// Makes the block a buffer like the others.
    fn close_block(&mut self) {
        let mut block = std::mem::take(&mut self.block);
        trim(&mut block);
        if let Some(index) = self.block_index.take()
            && let Some(place) = self.buffers.get_mut(index as usize)
        {
            self.last_block = block.len();
            *place = Buffer::from_vec(block);
        }
    }
}

#[cfg(test)]
mod tests;
