//! Builders for byte arrays as views, which are Arrow's BinaryView and Utf8View.
//!
//! A view has 16 bytes and starts with the length. A value of at most 12 bytes follows directly. For a longer value,
//! its first four bytes follow, and then a buffer's number and the value's position in that buffer:
//!
//! ```text
//! | length: u32 | value, followed by zeros: 12 bytes             |   length <= 12
//! | length: u32 | first 4 bytes | buffer: u32 | position: u32    |   length >  12
//! ```
//!
//! Pages and dictionaries become such buffers unchanged, so we do not copy long values, unless a filter left few of
//! them. A [`ViewBuilder`] is the proof that its arrays need no validation. For this, its fields are private, and every
//! way to append creates views into the builder's own buffers. A builder of strings checks the appended values. A
//! failed call leaves the builder unchanged.

mod compact;
mod dictionary;
mod lengths;
mod plain;
mod view;

use std::sync::Arc;

use herringbone_arrow::array::{ArrayRef, BinaryViewArray, StringViewArray};
use herringbone_arrow::buffer::{BooleanBuffer, Buffer, NullBuffer, ScalarBuffer};

use crate::bitmap::Bitmap;
use crate::expand::expand_all;
use crate::filter::retain;
use crate::{Malformed, trim};

pub use dictionary::ViewDictionary;

/// The largest position in a buffer, because Arrow's views store it as a signed number.
const MAX_POSITION: usize = i32::MAX as usize;

const TOO_LARGE: Malformed = Malformed("a page is too large to be pointed into by views");

const TOO_MANY: Malformed = Malformed("an array of views has too many buffers");

/// A BinaryView or Utf8View array under construction.
///
/// Invariants: each long view lies in the buffer that it names (the block, if that is `block_index`), and its first
/// four bytes equal the value's first four bytes. Short views have zeros after the value. If `utf8` is set, each value
/// is valid UTF-8.
#[derive(Debug)]
pub struct ViewBuilder {
    views: Vec<u128>,
    buffers: Vec<Buffer>,
    /// The values that are not stored contiguously in any page, and that become the buffer `block_index`.
    block: Vec<u8>,
    block_index: Option<u32>,
    /// The number of bytes in the page sections from which the views were created.
    referenced: usize,
    /// True if values of the array were dropped, so that its buffers may have many bytes to which no view refers.
    is_thinned: bool,
    utf8: bool,
    /// The length of the last finished array, as an estimate for the next one.
    last_values: usize,
    /// The number of bytes in the last closed block, as an estimate for the next one.
    last_block: usize,
}

impl ViewBuilder {
    /// Creates an empty builder of strings (`utf8`) or of binary values.
    #[must_use]
    pub fn new(utf8: bool) -> Self {
        Self {
            views: Vec::new(),
            buffers: Vec::new(),
            block: Vec::new(),
            block_index: None,
            referenced: 0,
            is_thinned: false,
            utf8,
            last_values: 0,
            last_block: 0,
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
        self.views.len()
    }

    /// Returns true if there are no slots.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.views.is_empty()
    }

    /// Returns the number of bytes in the views, and in the page sections from which they were created. Dictionaries
    /// are not counted.
    #[must_use]
    pub fn bytes(&self) -> usize {
        size_of_val(self.views.as_slice()) + self.referenced
    }

    /// Spreads the last values over nulls. The slots `start..start + slots` are new, and the values for their set bits
    /// in `validity` are the values that were appended last. Null slots become empty values.
    ///
    /// # Errors
    /// Fails with [`Malformed`] if the number of values from `start` on is not the number of set bits.
    pub fn expand(
        &mut self,
        validity: &Bitmap,
        start: usize,
        slots: usize,
    ) -> Result<(), Malformed> {
        expand_all(&mut self.views, validity, start, slots)
    }

    /// Drops the slots from `start` on whose bit is not set. Slot `start + i` belongs to bit `i`. The buffers are
    /// retained until [`Self::finish`], which copies the values if an array uses only a small part of its buffers.
    pub fn retain(&mut self, start: usize, bits: &BooleanBuffer) {
        retain(&mut self.views, start, bits);
        self.is_thinned = true;
    }

    /// Returns the array of everything that was appended since the last call, with `nulls` if present.
    ///
    /// # Errors
    /// Fails with [`Malformed`] if `nulls` and the array differ in length.
    pub fn finish(&mut self, nulls: Option<NullBuffer>) -> Result<ArrayRef, Malformed> {
        if nulls
            .as_ref()
            .is_some_and(|nulls| nulls.len() != self.views.len())
        {
            return Err(Malformed("values and nulls do not agree"));
        }
        self.close_block();
        if std::mem::take(&mut self.is_thinned) {
            self.compact();
        }
        self.referenced = 0;
        self.last_values = self.views.len();
        let mut views = std::mem::take(&mut self.views);
        trim(&mut views);
        let views = ScalarBuffer::from(views);
        let buffers: Arc<[Buffer]> = std::mem::take(&mut self.buffers).into();
        if self.utf8 {
            // SAFETY: by the invariant of this type, each view follows Arrow's layout, lies in its buffer and is
            // valid UTF-8; the nulls have the array's length.
            let array = unsafe { StringViewArray::new_unchecked(views, buffers, nulls) };
            return Ok(Arc::new(array));
        }
        // SAFETY: by the invariant of this type, each view follows Arrow's layout and lies in its buffer; the
        // nulls have the array's length.
        let array = unsafe { BinaryViewArray::new_unchecked(views, buffers, nulls) };
        Ok(Arc::new(array))
    }

    /// Reserves space for `n` more values.
    fn reserve_values(&mut self, n: usize) {
        if self.views.capacity() - self.views.len() < n {
            self.views.reserve(n.max(self.last_values));
        }
    }

    /// Returns the number that `buffer` has, or will have after [`Self::register`].
    fn index_of(&self, buffer: &Buffer) -> Result<u32, Malformed> {
        // We only search the last few buffers, because a dictionary and one or two pages alternate.
        let near = self.buffers.len().saturating_sub(4);
        let mut last = self.buffers.iter().skip(near);
        let known =
            last.position(|known| known.as_ptr() == buffer.as_ptr() && known.len() == buffer.len());
        let index = known.map_or(self.buffers.len(), |found| near + found);
        u32::try_from(index).map_err(|_| TOO_MANY)
    }

    /// Adds `buffer` under the number `index`, which [`Self::index_of`] returned.
    fn register(&mut self, buffer: &Buffer, index: u32) {
        if index as usize == self.buffers.len() {
            self.buffers.push(buffer.clone());
        }
    }

    /// Returns the number of the block, and makes sure that it has room for `bytes` more bytes of values.
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
        // An empty buffer reserves the index until the block is closed.
        self.buffers.push(Buffer::from_vec(Vec::<u8>::new()));
        self.block_index = Some(index);
        self.block.reserve(self.last_block + self.last_block / 16);
        Ok(index)
    }

    /// Turns the block into a buffer like all others.
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
