//! Reads value offsets. Objects and arrays share this part of the layout.

use herringbone_format::{Error, Result};

use crate::bytes::read_uint;
use crate::extent::size_of;
use crate::metadata::Metadata;
use crate::types::{ARRAY_LARGE, BASIC_ARRAY, BASIC_OBJECT, OBJECT_LARGE};
use crate::variant::Variant;

/// An object or array. Its IDs and offsets are known to lie within its bytes.
///
/// *Variant Binary Encoding, "Value Data for Object" and "Value Data for Array".*
///
/// ```text
/// header  num_elements  [field_id 0 …]  field_offset 0 … field_offset n  values
/// ```
#[derive(Debug, Clone, Copy)]
pub(crate) struct Container<'a> {
    metadata: Metadata<'a>,
    /// The bytes from the header to the end of the last value.
    bytes: &'a [u8],
    len: u32,
    /// The offset of the field IDs, or of the value offsets if there are no IDs.
    ids_start: u8,
    /// The width of a field ID in bytes, or 0 in arrays.
    id_width: u8,
    offset_width: u8,
    offsets_start: usize,
    values_start: usize,
}

impl<'a> Container<'a> {
    /// Reads the header at the start of `bytes`. It's fine for `bytes` to extend past the value's
    /// end.
    #[inline]
    pub(crate) fn new(metadata: Metadata<'a>, bytes: &'a [u8]) -> Result<Self> {
        Self::try_new(metadata, bytes).ok_or_else(ends_early)
    }

    /// Reads the header as [`Container::new`] does, but returns `None` if the value is neither
    /// object nor array.
    #[inline]
    pub(crate) fn if_any(metadata: Metadata<'a>, bytes: &'a [u8]) -> Result<Option<Self>> {
        match bytes.first() {
            Some(header) if matches!(header & 3, BASIC_OBJECT | BASIC_ARRAY) => {
                Self::new(metadata, bytes).map(Some)
            }
            _ => Ok(None),
        }
    }

    #[inline]
    fn try_new(metadata: Metadata<'a>, bytes: &'a [u8]) -> Option<Self> {
        let header = *bytes.first()?;
        let offset_width = ((header >> 2) & 3) + 1;
        let (large, id_width) = if header & 3 == BASIC_OBJECT {
            (header & OBJECT_LARGE != 0, ((header >> 4) & 3) + 1)
        } else {
            (header & ARRAY_LARGE != 0, 0)
        };
        let size_width = if large { 4 } else { 1 };
        let ids_start = 1 + size_width;
        let len = read_uint(bytes, 1, size_width)?;
        let count = len as usize;
        let ids = count.checked_mul(id_width.into())?;
        let offsets_start = ids.checked_add(ids_start.into())?;
        let offsets = count.checked_add(1)?.checked_mul(offset_width.into())?;
        let values_start = offsets_start.checked_add(offsets)?;
        let mut container = Self {
            metadata,
            bytes,
            len,
            ids_start,
            id_width,
            offset_width,
            offsets_start,
            values_start,
        };
        let size = container.offset(len)?;
        container.bytes = bytes.get(..values_start.checked_add(size)?)?;
        Some(container)
    }

    pub(crate) fn metadata(&self) -> Metadata<'a> {
        self.metadata
    }

    pub(crate) fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }

    #[inline]
    pub(crate) fn len(&self) -> u32 {
        self.len
    }

    #[inline]
    pub(crate) fn is_object(&self) -> bool {
        self.id_width > 0
    }

    /// Returns the name ID of the field at `index`.
    #[inline]
    pub(crate) fn field_id(&self, index: u32) -> Option<u32> {
        let at = (index as usize).checked_mul(self.id_width.into())?;
        read_uint(
            self.bytes,
            at.checked_add(self.ids_start.into())?,
            self.id_width,
        )
    }

    /// Returns the value at `index`, without the bytes after it.
    ///
    /// This takes constant time, unless the value's type is unknown. Such a value can only end
    /// where another value starts, so we have to look at all offsets.
    #[inline]
    pub(crate) fn value(&self, index: u32) -> Result<Variant<'a>> {
        let bytes = self.value_bytes(index)?;
        Ok(Variant::from_parts(self.metadata, bytes))
    }

    /// Returns the bytes of the value at `index`.
    #[inline]
    pub(crate) fn value_bytes(&self, index: u32) -> Result<&'a [u8]> {
        let bytes = self.bytes_from(index)?;
        let size = match size_of(bytes)? {
            Some(size) => size,
            None => self.size_until_next(index)?,
        };
        bytes.get(..size).ok_or_else(ends_early)
    }

    /// Returns all bytes from the start of the value at `index`.
    #[inline]
    pub(crate) fn bytes_from(&self, index: u32) -> Result<&'a [u8]> {
        let start = self
            .offset(index)
            .and_then(|offset| offset.checked_add(self.values_start));
        match start.and_then(|start| self.bytes.get(start..)) {
            Some(bytes) if !bytes.is_empty() => Ok(bytes),
            _ => Err(outside(index)),
        }
    }

    /// Returns the byte count from the start of the value at `index` to the start of the value
    /// stored after it.
    #[cold]
    fn size_until_next(&self, index: u32) -> Result<usize> {
        let start = self.offset(index).ok_or_else(ends_early)?;
        let offsets = (0..=self.len).filter_map(|other| self.offset(other));
        let next = offsets.filter(|offset| *offset > start).min();
        next.map(|next| next - start).ok_or_else(ends_early)
    }

    /// Returns the start of the value at `index`, relative to the first value. For `len`, returns
    /// the end of the last value.
    #[inline]
    pub(crate) fn offset(&self, index: u32) -> Option<usize> {
        let at = (index as usize).checked_mul(self.offset_width.into())?;
        let at = at.checked_add(self.offsets_start)?;
        read_uint(self.bytes, at, self.offset_width).map(|offset| offset as usize)
    }

    /// Returns the total byte count of all values.
    pub(crate) fn values_size(&self) -> usize {
        self.offset(self.len).unwrap_or(0)
    }
}

#[cold]
pub(crate) fn ends_early() -> Error {
    Error::corrupt("a variant value ends early")
}

#[cold]
fn outside(index: u32) -> Error {
    Error::corrupt(format!(
        "value {index} of a variant object or array starts outside of it"
    ))
}
