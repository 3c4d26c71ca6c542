//! Reads values one after another.

use super::{
    ShapeCache, Wire,
    skip::{SkipError, advance, list_header, read_varint, skip_field, skip_value},
};
use crate::{Error, Result};

/// The header of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// The field's id in its struct.
    pub id: i16,
    /// The wire type of the field's value.
    pub wire: Wire,
}

/// A cursor over bytes of the compact protocol.
///
/// Sizes are checked against the bytes left before they're used, and reading never panics. After an error, the position
/// is at the offending value.
///
/// **Errors** are corrupt, with the byte in the message (`(byte 17)`). After
/// [`with_base_offset`](Self::with_base_offset), they have that byte's offset in the file instead.
#[derive(Debug, Clone)]
pub struct CompactReader<'a> {
    bytes: &'a [u8],
    position: usize,
    max_depth: usize,
    base_offset: Option<u64>,
    ran_out: bool,
    /// True if raw structs are skipped and returned without their bytes.
    skips_raw_structs: bool,
}

impl<'a> CompactReader<'a> {
    /// The maximum nesting depth, regardless of the caller's limit. Needed because skipping is recursive.
    pub const DEPTH_CEILING: usize = 512;

    /// Starts at the first byte. The reader skips at most `max_depth` nested structs and lists.
    #[must_use]
    pub fn new(bytes: &'a [u8], max_depth: usize) -> Self {
        Self {
            bytes,
            position: 0,
            max_depth: max_depth.min(Self::DEPTH_CEILING),
            base_offset: None,
            ran_out: false,
            skips_raw_structs: false,
        }
    }

    /// Sets the bytes' offset in the file, for the location of errors.
    #[must_use]
    pub fn with_base_offset(mut self, offset: u64) -> Self {
        self.base_offset = Some(offset);
        self
    }

    /// Continues at `position`. Every read fails if this is past the end.
    #[must_use]
    pub fn at_position(mut self, position: usize) -> Self {
        self.position = position;
        self
    }

    /// Returns the number of bytes read so far.
    #[must_use]
    #[inline]
    pub fn position(&self) -> usize {
        self.position
    }

    /// Returns the number of bytes left.
    #[must_use]
    #[inline]
    pub fn remaining(&self) -> usize {
        self.bytes.len().saturating_sub(self.position)
    }

    /// Returns true if the last error was running out of bytes. If so, reading might succeed with more bytes.
    #[must_use]
    pub fn ran_out(&self) -> bool {
        self.ran_out
    }

    /// Returns the next field of a struct, or `None` at its end. Pass the previous field's id as `last`, or 0 at the
    /// start of the struct. This method then updates `last`.
    pub fn field(&mut self, last: &mut i16) -> Result<Option<Field>> {
        self.next_field(last, |_| true)
    }

    /// Returns the next field with an id in `ids`, skipping any others. Bit `n` of `ids` stands for the id `n`.
    #[inline]
    pub(crate) fn field_among(&mut self, ids: u64, last: &mut i16) -> Result<Option<Field>> {
        // This is the fast path. Most fields are wanted and have a short header.
        if let Some(&header) = self.bytes.get(self.position)
            && header >= 0x10
            && let Some(wire) = Wire::from_id(header & 0x0f)
        {
            let id = last.wrapping_add(i16::from(header >> 4));
            if is_among(ids, id) {
                self.position += 1;
                *last = id;
                return Ok(Some(Field { id, wire }));
            }
        }
        self.other_field_among(ids, last)
    }

    /// Returns the next field with an id in `ids`. This is the slow path, for when there might be fields to skip.
    #[inline(never)]
    fn other_field_among(&mut self, ids: u64, last: &mut i16) -> Result<Option<Field>> {
        self.next_field(last, |id| is_among(ids, id))
    }

    #[inline]
    fn next_field(
        &mut self,
        last: &mut i16,
        is_wanted: impl Fn(i16) -> bool,
    ) -> Result<Option<Field>> {
        // Footers are long, so this loop is hot and we keep position and id in registers.
        let (bytes, mut position, mut id) = (self.bytes, self.position, *last);
        let error = loop {
            let Some(&header) = bytes.get(position) else {
                break SkipError::ENDS;
            };
            if header == 0 {
                self.position = position + 1;
                return Ok(None);
            }
            let Some(wire) = Wire::from_id(header & 0x0f) else {
                break SkipError::WIRE;
            };
            if header < 0x10 {
                self.position = position;
                id = self.long_field_id()?;
                position = self.position;
            } else if let Some(next) = id.checked_add(i16::from(header >> 4)) {
                id = next;
                position += 1;
            } else {
                self.position = position;
                return Err(self.corrupt("field id of more than 16 bits"));
            }
            if is_wanted(id) {
                self.position = position;
                *last = id;
                return Ok(Some(Field { id, wire }));
            }
            position = match skip_field(bytes, position, wire, self.max_depth, &mut ()) {
                Ok(end) => end,
                Err(error) => break error,
            };
        };
        self.position = position;
        Err(self.skip_error(error))
    }

    /// Returns the full id after a field header without a delta, advancing past both.
    fn long_field_id(&mut self) -> Result<i16> {
        let (id, end) = match read_varint(self.bytes, self.position + 1) {
            Ok(read) => read,
            Err(error) => return Err(self.skip_error(error)),
        };
        let Ok(id) = i16::try_from(zigzag(id)) else {
            return Err(self.corrupt("field id of more than 16 bits"));
        };
        self.position = end;
        Ok(id)
    }

    /// Checks that a value has the `expected` type.
    #[inline]
    pub fn expect(&self, wire: Wire, expected: Wire) -> Result<()> {
        if wire == expected {
            Ok(())
        } else {
            Err(self.mismatch(wire, expected))
        }
    }

    /// Reads an integer of any width. Its type is `wire`.
    #[inline(always)]
    pub fn integer(&mut self, wire: Wire) -> Result<i64> {
        match wire {
            Wire::I16 | Wire::I32 | Wire::I64 => self.varint().map(zigzag),
            Wire::I8 => {
                let [byte] = self.array::<1>()?;
                Ok(i64::from(i8::from_le_bytes([byte])))
            }
            other => Err(self.mismatch(other, Wire::I64)),
        }
    }

    /// Returns a boolean field's value, stored as part of its type.
    #[inline]
    pub fn boolean(&self, wire: Wire) -> Result<bool> {
        match wire {
            Wire::BooleanTrue => Ok(true),
            Wire::BooleanFalse => Ok(false),
            other => Err(self.mismatch(other, Wire::BooleanTrue)),
        }
    }

    /// Reads a boolean in a list. A 1 is true and a 2 is false. Old writers also use 0 for false.
    #[inline]
    pub fn boolean_element(&mut self) -> Result<bool> {
        match self.bytes.get(self.position) {
            Some(1) => {
                self.position += 1;
                Ok(true)
            }
            Some(0 | 2) => {
                self.position += 1;
                Ok(false)
            }
            Some(_) => Err(self.corrupt("boolean that is neither true nor false")),
            None => Err(self.skip_error(SkipError::ENDS)),
        }
    }

    /// Reads a double.
    pub fn double(&mut self) -> Result<f64> {
        self.array().map(f64::from_le_bytes)
    }

    /// Reads bytes preceded by their length.
    #[inline]
    pub fn binary(&mut self) -> Result<&'a [u8]> {
        let bytes = read_varint(self.bytes, self.position).and_then(|(length, start)| {
            let length = usize::try_from(length).map_err(|_| SkipError::ENDS)?;
            let end = advance(self.bytes, start, length)?;
            Ok((self.bytes.get(start..end).unwrap_or_default(), end))
        });
        match bytes {
            Ok((bytes, end)) => {
                self.position = end;
                Ok(bytes)
            }
            Err(error) => Err(self.skip_error(error)),
        }
    }

    /// Reads text preceded by its length.
    #[inline]
    pub fn string(&mut self) -> Result<&'a str> {
        let start = self.position;
        let bytes = self.binary()?;
        match std::str::from_utf8(bytes) {
            Ok(text) => Ok(text),
            Err(_) => {
                self.position = start;
                Err(self.corrupt("text that is not UTF-8"))
            }
        }
    }

    /// Reads the type and number of list elements. There are always at least as many bytes left as elements, so you can
    /// trust the number that far. An empty list's type is ignored and returned as `Struct`.
    #[inline]
    pub fn list(&mut self) -> Result<(Wire, usize)> {
        match list_header(self.bytes, self.position) {
            Ok((_, size, end)) if size > self.bytes.len().saturating_sub(end) => {
                Err(self.skip_error(SkipError::ENDS))
            }
            Ok((wire, size, end)) => {
                self.position = end;
                Ok((wire.unwrap_or(Wire::Struct), size))
            }
            Err(error) => Err(self.skip_error(error)),
        }
    }

    /// Skips a value. This assumes that a boolean is a field and takes zero bytes.
    #[inline]
    pub fn skip(&mut self, wire: Wire) -> Result<()> {
        match skip_value(self.bytes, self.position, wire, self.max_depth, &mut ()) {
            Ok(end) => {
                self.position = end;
                Ok(())
            }
            Err(error) => Err(self.skip_error(error)),
        }
    }

    /// Returns the next field of a struct, or the inner `None` at its end. Returns the outer `None` if the field is
    /// invalid or its header contains the full id instead of a delta.
    pub(crate) fn short_field(&mut self, last: &mut i16) -> Option<Option<Field>> {
        let header = *self.bytes.get(self.position)?;
        let is_short = header == 0 || header >= 0x10;
        self.field(last).ok().filter(|_| is_short)
    }

    /// Returns the value cached in `cache` for the shape of the struct at this position. If the shape is new, `value`
    /// makes the value from this struct. Returns `None` if the struct cannot be skipped or if structs rarely have the
    /// same structure.
    #[inline]
    pub(crate) fn cached_by_shape<'t, T>(
        &self,
        cache: &'t mut ShapeCache<T>,
        value: impl FnOnce(Self) -> T,
    ) -> Option<&'t T> {
        let value = || value(self.clone());
        let cached = cache.get_or_insert(self.bytes, self.position, self.max_depth, value);
        cached.ok().flatten().map(|(_, value)| value)
    }

    /// Reads an integer of 16 bits or more, at this offset from the position.
    #[inline]
    pub(crate) fn varint_at(&self, offset: usize) -> Option<i64> {
        let integer = read_varint(self.bytes, self.position.checked_add(offset)?);
        integer.ok().map(|(integer, _)| zigzag(integer))
    }

    /// Skips a struct likely to have the structure of an earlier one.
    #[inline]
    pub(crate) fn skip_struct_cached(&mut self, cache: &mut ShapeCache) -> Result<()> {
        match cache.skip_struct(self.bytes, self.position, self.max_depth) {
            Ok(end) => {
                self.position = end;
                Ok(())
            }
            Err(error) => Err(self.skip_error(error)),
        }
    }

    /// Makes [`Self::raw_struct`] return empty slices from now on.
    pub(crate) fn skip_raw_structs(&mut self) {
        self.skips_raw_structs = true;
    }

    /// Returns the bytes of a struct, including the final zero.
    pub fn raw_struct(&mut self) -> Result<&'a [u8]> {
        let start = self.position;
        self.skip(Wire::Struct)?;
        if self.skips_raw_structs {
            return Ok(&[]);
        }
        Ok(self.bytes.get(start..self.position).unwrap_or_default())
    }

    /// Creates an error for corrupt bytes at this position.
    #[cold]
    pub fn corrupt(&self, message: impl Into<String>) -> Error {
        self.place(Error::corrupt, message.into())
    }

    /// Creates an error for something at this position that is valid but unknown to this version.
    #[cold]
    pub fn unsupported(&self, message: impl Into<String>) -> Error {
        self.place(Error::unsupported, message.into())
    }

    fn place(&self, error: impl FnOnce(String) -> Error, message: String) -> Error {
        let position = self.position;
        match self.base_offset {
            Some(base) => error(message).at_offset(base.saturating_add(position as u64)),
            None => error(format!("{message} (byte {position})")),
        }
    }

    #[cold]
    fn skip_error(&mut self, error: SkipError) -> Error {
        self.ran_out = error == SkipError::ENDS;
        if error == SkipError::DEPTH {
            let (allowed, position) = (self.max_depth as u64, self.position as u64);
            let error = Error::limit("schema_depth", allowed + 1, allowed);
            return match self.base_offset {
                Some(base) => error.at_offset(base.saturating_add(position)),
                None => error,
            };
        }
        self.corrupt(error.message())
    }

    #[cold]
    fn mismatch(&self, found: Wire, expected: Wire) -> Error {
        self.corrupt(format!(
            "expected thrift type {expected:?}, found {found:?}"
        ))
    }

    #[inline(always)]
    fn varint(&mut self) -> Result<u64> {
        match read_varint(self.bytes, self.position) {
            Ok((value, end)) => {
                self.position = end;
                Ok(value)
            }
            Err(error) => Err(self.skip_error(error)),
        }
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let rest = self.bytes.get(self.position..).unwrap_or_default();
        match rest.first_chunk::<N>() {
            Some(array) => {
                self.position += N;
                Ok(*array)
            }
            None => Err(self.skip_error(SkipError::ENDS)),
        }
    }
}

/// Returns true if `ids` contains this id. Bit `n` stands for the id `n`.
#[inline]
fn is_among(ids: u64, id: i16) -> bool {
    u32::try_from(id).is_ok_and(|id| id < u64::BITS && ids >> id & 1 == 1)
}

/// Decodes a zigzag number. That is, 0, 1, 2, 3 stand for 0, -1, 1, -2.
#[inline]
fn zigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}
