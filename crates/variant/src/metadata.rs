//! Reads the dictionary of field names.

use herringbone_format::{Error, Result};

use crate::bytes::{read_uint, utf8};

/// The version of the encoding that we read and write.
pub(crate) const VERSION: u8 = 1;
/// The header bit that declares the names sorted and unique.
pub(crate) const SORTED: u8 = 0x10;
/// The shift of the header bits for the offset width, which is stored minus one.
pub(crate) const OFFSET_WIDTH_SHIFT: u32 = 6;

/// A view over a value's metadata, the dictionary of its field names.
///
/// *Variant Binary Encoding, "Metadata encoding".*
///
/// ```text
/// header  dictionary_size  offset 0 … offset n  names
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Metadata<'a> {
    /// The bytes from the header to the end of the last name.
    bytes: &'a [u8],
    len: u32,
    width: u8,
    /// The offset of the first name.
    names_start: usize,
}

impl<'a> Metadata<'a> {
    /// A dictionary of version 1 without names, declared sorted.
    pub const EMPTY: Metadata<'static> = Metadata {
        bytes: &[VERSION | SORTED, 0, 0],
        len: 0,
        width: 1,
        names_start: 3,
    };

    /// Reads the header, and checks that the offsets and names lie within `bytes`.
    ///
    /// This takes constant time, however many names there are. Each name is checked when you access
    /// it. To check all names up front, use [`Metadata::validate`]. Bytes after the last name are
    /// ignored. Empty bytes count as a dictionary without names, because Spark wrote them next to
    /// nulls.
    ///
    /// # Errors
    ///
    /// Fails with [Corrupt](herringbone_format::ErrorKind::Corrupt) if the bytes end early or if
    /// the first offset is not 0, and with
    /// [Unsupported](herringbone_format::ErrorKind::Unsupported) if the version is not 1.
    pub fn new(bytes: &'a [u8]) -> Result<Self> {
        let Some(&header) = bytes.first() else {
            return Ok(Metadata::EMPTY);
        };
        let version = header & 0x0F;
        if version != VERSION {
            return Err(Error::unsupported(format!(
                "variant metadata of version {version}; only {VERSION} is supported"
            )));
        }
        let width = (header >> OFFSET_WIDTH_SHIFT) + 1;
        let len = read_uint(bytes, 1, width).ok_or_else(ends_early)?;
        let numbers = (len as usize).checked_add(2);
        let numbers = numbers.and_then(|numbers| numbers.checked_mul(width.into()));
        let names_start = numbers.and_then(|bytes| bytes.checked_add(1));
        let mut metadata = Self {
            bytes,
            len,
            width,
            names_start: names_start.ok_or_else(ends_early)?,
        };
        let size = metadata.offset(len).ok_or_else(ends_early)?;
        let end = metadata.names_start.checked_add(size);
        let end = end.ok_or_else(ends_early)?;
        metadata.bytes = bytes.get(..end).ok_or_else(ends_early)?;
        if metadata.offset(0) != Some(0) {
            return Err(Error::corrupt(
                "the first offset of a variant's names is not 0",
            ));
        }
        Ok(metadata)
    }

    /// Returns the metadata's bytes, without any bytes that follow it.
    #[must_use]
    pub fn as_bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// Returns the number of names.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Returns true if there are no names.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns true if the header declares the names sorted and unique. Some writers set this bit
    /// wrongly, so we never rely on it.
    #[must_use]
    pub fn says_sorted(&self) -> bool {
        self.bytes
            .first()
            .is_some_and(|header| header & SORTED != 0)
    }

    /// Returns the name with this ID.
    ///
    /// # Errors
    ///
    /// Fails with [Corrupt](herringbone_format::ErrorKind::Corrupt) if the dictionary does not have
    /// the ID, if the offsets descend, or if the name is not UTF-8.
    #[inline]
    pub fn name(&self, id: u32) -> Result<&'a str> {
        utf8(self.name_bytes(id)?, "field name")
    }

    /// Returns the name with this ID, as bytes.
    #[inline]
    pub(crate) fn name_bytes(&self, id: u32) -> Result<&'a [u8]> {
        self.try_name_bytes(id).ok_or_else(|| self.no_name(id))
    }

    #[inline]
    fn try_name_bytes(&self, id: u32) -> Option<&'a [u8]> {
        if id >= self.len {
            return None;
        }
        let names = self.bytes.get(self.names_start..)?;
        names.get(self.offset(id)?..self.offset(id + 1)?)
    }

    #[cold]
    fn no_name(&self, id: u32) -> Error {
        if id >= self.len {
            Error::corrupt(format!(
                "a variant field has the name ID {id}, but the dictionary has {} names",
                self.len
            ))
        } else {
            Error::corrupt(format!("the offsets of a variant's name {id} are wrong"))
        }
    }

    /// Checks all offsets and names. Every name must be UTF-8.
    ///
    /// # Errors
    ///
    /// Fails for the reasons of [`Metadata::name`].
    pub fn validate(&self) -> Result<()> {
        let names = self.bytes.get(self.names_start..);
        let names = utf8(names.unwrap_or_default(), "field name")?;
        let mut start = 0;
        for id in 0..self.len {
            let end = self.offset(id + 1).unwrap_or(0);
            if names.get(start..end).is_none() {
                return Err(self.no_name(id));
            }
            start = end;
        }
        Ok(())
    }

    /// Returns true if the names might sort differently as UTF-16. This matters because some
    /// writers order an object's fields that way. The two orders only differ between a code point
    /// above U+FFFF and one from U+E000 to U+FFFF.
    pub(crate) fn orders_differ(&self) -> bool {
        let names = self.bytes.get(self.names_start..).unwrap_or_default();
        // We look for the largest byte first, because for most dictionaries this settles the
        // question.
        names.iter().fold(0, |largest, byte| largest.max(*byte)) >= 0xF0
            && names.iter().any(|byte| matches!(byte, 0xEE | 0xEF))
    }

    #[inline]
    fn offset(&self, index: u32) -> Option<usize> {
        let width = usize::from(self.width);
        let at = (index as usize + 1).checked_mul(width)?.checked_add(1)?;
        read_uint(self.bytes, at, self.width).map(|offset| offset as usize)
    }
}

#[cold]
fn ends_early() -> Error {
    Error::corrupt("variant metadata ends early")
}
