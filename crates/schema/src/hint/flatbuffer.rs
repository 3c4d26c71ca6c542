//! A minimal flatbuffer reader, covering only what a schema needs.
//!
//! ```text
//! buffer   u32 to the root table
//! table    i32 back to its vtable, values and offsets of its fields
//! vtable   u16 bytes of the vtable, u16 bytes of the table, for each slot a u16: the field's position
//!          in the table, or 0 for an absent field; absent slots at the end are left out
//! vector   u32 number of elements, elements
//! text     u32 number of bytes, UTF-8
//! ```
//!
//! Offsets count from their own position, and forward, except for a vtable's offset. We only check
//! bytes when they are accessed. This makes it cheap to read a few fields of a wide schema, and
//! damage in one field doesn't affect the others.

use std::ops::Range;

/// An offset that points outside the buffer, or text that is not UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Invalid;

impl From<Invalid> for String {
    fn from(_: Invalid) -> Self {
        "it is not a valid flatbuffer".to_owned()
    }
}

type Result<T> = std::result::Result<T, Invalid>;

/// A table. Slots are named by their position in the vtable, as in generated code.
#[derive(Debug, Clone, Copy)]
pub(super) struct Table<'a> {
    bytes: &'a [u8],
    start: usize,
    vtable: &'a [u8],
}

impl<'a> Table<'a> {
    /// Returns the root table of a buffer.
    pub(super) fn root(bytes: &'a [u8]) -> Result<Self> {
        Self::at(bytes, follow(bytes, 0)?)
    }

    fn at(bytes: &'a [u8], start: usize) -> Result<Self> {
        let back = i64::from(i32::from_le_bytes(array(bytes, start)?));
        let vtable = i64::try_from(start).map_err(|_| Invalid)?.checked_sub(back);
        let vtable = vtable.and_then(|start| usize::try_from(start).ok());
        let vtable = bytes.get(vtable.ok_or(Invalid)?..).ok_or(Invalid)?;
        let length = usize::from(u16::from_le_bytes(array(vtable, 0)?));
        Ok(Self {
            bytes,
            start,
            vtable: vtable.get(..length).ok_or(Invalid)?,
        })
    }

    /// Returns a field's position, or `None` if the field is absent.
    fn field(self, slot: u16) -> Result<Option<usize>> {
        let slot = usize::from(slot);
        if slot >= self.vtable.len() {
            return Ok(None);
        }
        match u16::from_le_bytes(array(self.vtable, slot)?) {
            0 => Ok(None),
            offset => Ok(Some(self.start + usize::from(offset))),
        }
    }

    fn scalar<const N: usize>(self, slot: u16) -> Result<Option<[u8; N]>> {
        let at = self.field(slot)?;
        at.map(|at| array(self.bytes, at)).transpose()
    }

    pub(super) fn bool(self, slot: u16) -> Result<bool> {
        Ok(self.u8(slot)? != 0)
    }

    /// Returns a byte, or 0 if it is absent.
    pub(super) fn u8(self, slot: u16) -> Result<u8> {
        Ok(self.scalar(slot)?.map_or(0, u8::from_le_bytes))
    }

    /// Returns a 16-bit integer, or `absent` if it is absent.
    pub(super) fn i16_or(self, slot: u16, absent: i16) -> Result<i16> {
        Ok(self.scalar(slot)?.map_or(absent, i16::from_le_bytes))
    }

    /// Returns a 32-bit integer, or `absent` if it is absent.
    pub(super) fn i32_or(self, slot: u16, absent: i32) -> Result<i32> {
        Ok(self.scalar(slot)?.map_or(absent, i32::from_le_bytes))
    }

    pub(super) fn table(self, slot: u16) -> Result<Option<Self>> {
        let at = self.field(slot)?;
        at.map(|at| Self::at(self.bytes, follow(self.bytes, at)?))
            .transpose()
    }

    /// Returns a text without checking that it is UTF-8.
    pub(super) fn text(self, slot: u16) -> Result<Option<&'a [u8]>> {
        let place = self.place_of_text(slot)?;
        place
            .map(|place| self.bytes.get(place).ok_or(Invalid))
            .transpose()
    }

    /// Returns a text's place in the buffer.
    pub(super) fn place_of_text(self, slot: u16) -> Result<Option<Range<usize>>> {
        let Some(at) = self.field(slot)? else {
            return Ok(None);
        };
        let (length, rest) = vector(self.bytes, at)?;
        let start = self.bytes.len() - rest.len();
        match length <= rest.len() {
            true => Ok(Some(start..start + length)),
            false => Err(Invalid),
        }
    }

    /// Returns a vector of tables, or an empty one if the field is absent.
    pub(super) fn tables(self, slot: u16) -> Result<Tables<'a>> {
        let Some(at) = self.field(slot)? else {
            return Ok(Tables::default());
        };
        let (length, rest) = vector(self.bytes, at)?;
        if length > rest.len() / 4 {
            return Err(Invalid);
        }
        Ok(Tables {
            bytes: self.bytes,
            start: self.bytes.len() - rest.len(),
            length,
        })
    }
}

/// A vector of tables.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Tables<'a> {
    bytes: &'a [u8],
    start: usize,
    length: usize,
}

impl<'a> Tables<'a> {
    pub(super) fn len(self) -> usize {
        self.length
    }

    /// Returns the table at an index. The index must be below [`Self::len`].
    pub(super) fn get(self, index: usize) -> Result<Table<'a>> {
        let at = self.start + 4 * index.min(self.length);
        Table::at(self.bytes, follow(self.bytes, at)?)
    }

    pub(super) fn iter(self) -> impl Iterator<Item = Result<Table<'a>>> {
        (0..self.length).map(move |index| self.get(index))
    }
}

/// Follows the offset at `at` to a vector or text, returning its length and the bytes after the
/// length.
fn vector(bytes: &[u8], at: usize) -> Result<(usize, &[u8])> {
    let rest = bytes.get(follow(bytes, at)?..).ok_or(Invalid)?;
    let (length, rest) = rest.split_first_chunk().ok_or(Invalid)?;
    Ok((u32::from_le_bytes(*length) as usize, rest))
}

/// Follows the offset at `at`. The resulting position might lie outside the buffer.
fn follow(bytes: &[u8], at: usize) -> Result<usize> {
    let offset = u32::from_le_bytes(array(bytes, at)?) as usize;
    at.checked_add(offset).ok_or(Invalid)
}

fn array<const N: usize>(bytes: &[u8], at: usize) -> Result<[u8; N]> {
    let rest = bytes.get(at..).ok_or(Invalid)?;
    rest.first_chunk().copied().ok_or(Invalid)
}
