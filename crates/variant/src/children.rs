//! Iterates over the values in an object or array.

use herringbone_format::{Error, Result};

use crate::container::{Container, ends_early};
use crate::extent::size_of;
use crate::variant::Variant;

/// An iteration over the values in an object or array, in the order of its offsets.
///
/// The values must not take more bytes in total than the container has, so a level never has more
/// bytes than its parent. This bounds a full walk by depth times byte count, even if hostile
/// offsets point to the same bytes again and again.
#[derive(Debug, Clone)]
pub(crate) struct Children<'a> {
    container: Container<'a>,
    index: u32,
    /// The byte budget for the remaining values.
    bytes_left: usize,
    /// All offsets in ascending order. We sort them when we meet the first value of an unknown
    /// type.
    ascending: Option<Vec<u32>>,
}

impl<'a> Children<'a> {
    pub(crate) fn new(container: Container<'a>) -> Self {
        Self {
            container,
            index: 0,
            bytes_left: container.values_size(),
            ascending: None,
        }
    }

    pub(crate) fn container(&self) -> &Container<'a> {
        &self.container
    }

    /// Returns the name ID of the next value, if this is an object and has another value.
    #[inline]
    pub(crate) fn next_field_id(&self) -> Option<u32> {
        if self.index == self.container.len() || !self.container.is_object() {
            return None;
        }
        self.container.field_id(self.index)
    }

    /// Returns the number of remaining values.
    pub(crate) fn left(&self) -> usize {
        (self.container.len() - self.index) as usize
    }

    /// Returns the next value, or `None` at the end or after an error.
    #[inline]
    pub(crate) fn next(&mut self) -> Result<Option<Variant<'a>>> {
        let metadata = self.container.metadata();
        let bytes = self.next_bytes()?;
        Ok(bytes.map(|bytes| Variant::from_parts(metadata, bytes)))
    }

    /// Returns the bytes of the next value, or `None` at the end or after an error.
    #[inline]
    pub(crate) fn next_bytes(&mut self) -> Result<Option<&'a [u8]>> {
        if self.index == self.container.len() {
            return Ok(None);
        }
        let index = std::mem::replace(&mut self.index, self.container.len());
        let bytes = self.container.bytes_from(index)?;
        let size = match size_of(bytes)? {
            Some(size) => size,
            None => self.size_until_next(index)?,
        };
        let bytes = bytes.get(..size).ok_or_else(ends_early)?;
        self.bytes_left = self.bytes_left.checked_sub(size).ok_or_else(shared)?;
        self.index = index + 1;
        Ok(Some(bytes))
    }

    /// Returns the size of a value of unknown type, which ends where the value stored after it
    /// starts. [`Container`] has a method for this too, but this one keeps the sorted offsets, so
    /// it takes logarithmic time from the second call on.
    #[cold]
    fn size_until_next(&mut self, index: u32) -> Result<usize> {
        let container = &self.container;
        let ascending = self.ascending.get_or_insert_with(|| {
            let offsets = (0..=container.len()).filter_map(|index| container.offset(index));
            let mut offsets: Vec<u32> = offsets.map(|offset| offset as u32).collect();
            offsets.sort_unstable();
            offsets
        });
        let start = container.offset(index).ok_or_else(ends_early)?;
        let next = ascending.partition_point(|offset| *offset as usize <= start);
        let next = ascending.get(next).ok_or_else(ends_early)?;
        Ok(*next as usize - start)
    }
}

#[cold]
fn shared() -> Error {
    Error::corrupt("values of a variant object or array share bytes")
}
