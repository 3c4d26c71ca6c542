//! Reading values one after the other.

use super::{
    Templates, Wire,
    skip::{Fault, advance, list_header, read_varint, skip_field, skip_value},
};
use crate::{Error, Result};

/// The header of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Field {
    /// The field's id in its struct.
    pub id: i16,
    /// The type of the value that follows.
    pub wire: Wire,
}

/// A position in bytes of the compact protocol.
///
/// No size is believed before the bytes are there, and nothing panics. After an error the position
/// is that of the value which could not be read.
///
/// **Errors** are corrupt with the byte in the message (`(byte 17)`), or at that byte's offset in
/// the file if [`with_base_offset`](Self::with_base_offset) was called.
#[derive(Debug, Clone)]
pub struct CompactReader<'a> {
    bytes: &'a [u8],
    position: usize,
    max_depth: usize,
    base_offset: Option<u64>,
    ran_out: bool,
    /// Raw structs are passed over, and come out without bytes.
    without_raw_structs: bool,
}

impl<'a> CompactReader<'a> {
    /// Deeper nesting than this is an error, whatever the caller allows: skipping recurses.
    pub const DEPTH_CEILING: usize = 512;

    /// Starts at the first byte; skips at most `max_depth` structs and lists in one another.
    #[must_use]
    pub fn new(bytes: &'a [u8], max_depth: usize) -> Self {
        Self {
            bytes,
            position: 0,
            max_depth: max_depth.min(Self::DEPTH_CEILING),
            base_offset: None,
            ran_out: false,
            without_raw_structs: false,
        }
    }

    /// Says where in the file the bytes start, for the place of errors.
    #[must_use]
    pub fn with_base_offset(mut self, offset: u64) -> Self {
        self.base_offset = Some(offset);
        self
    }

    /// Goes on reading at `position`; behind the end, every read is an error.
    #[must_use]
    pub fn at_position(mut self, position: usize) -> Self {
        self.position = position;
        self
    }

    /// Bytes read so far.
    #[must_use]
    #[inline]
    pub fn position(&self) -> usize {
        self.position
    }

    /// Bytes left.
    #[must_use]
    #[inline]
    pub fn remaining(&self) -> usize {
        self.bytes.len().saturating_sub(self.position)
    }

    /// Whether the last error was that the bytes end: with more of them it might succeed.
    #[must_use]
    pub fn ran_out(&self) -> bool {
        self.ran_out
    }

    /// The next field of a struct, or `None` at its end. `last` is the id of the field before,
    /// 0 at the struct's start, and is updated.
    pub fn field(&mut self, last: &mut i16) -> Result<Option<Field>> {
        self.next_field(last, |_| true)
    }

    /// The same, passing over fields whose ids are not in `ids`: a bit each, from bit 0 on.
    #[inline]
    pub(crate) fn field_among(&mut self, ids: u64, last: &mut i16) -> Result<Option<Field>> {
        // Most fields are wanted, and come right where they are read.
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

    /// The same, where a field may have to be passed over.
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
        // Footers are long: position and id stay in registers.
        let (bytes, mut position, mut id) = (self.bytes, self.position, *last);
        let fault = loop {
            let Some(&header) = bytes.get(position) else {
                break Fault::ENDS;
            };
            if header == 0 {
                self.position = position + 1;
                return Ok(None);
            }
            let Some(wire) = Wire::from_id(header & 0x0f) else {
                break Fault::WIRE;
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
                Err(fault) => break fault,
            };
        };
        self.position = position;
        Err(self.fault(fault))
    }

    /// The id behind a field header without a distance; passes the header too.
    fn long_field_id(&mut self) -> Result<i16> {
        let (id, end) = match read_varint(self.bytes, self.position + 1) {
            Ok(read) => read,
            Err(fault) => return Err(self.fault(fault)),
        };
        let Ok(id) = i16::try_from(zigzag(id)) else {
            return Err(self.corrupt("field id of more than 16 bits"));
        };
        self.position = end;
        Ok(id)
    }

    /// Checks that a value has the type `expected`.
    #[inline]
    pub fn expect(&self, wire: Wire, expected: Wire) -> Result<()> {
        if wire == expected {
            Ok(())
        } else {
            Err(self.mismatch(wire, expected))
        }
    }

    /// An integer of any width; `wire` is its type.
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

    /// A boolean field, whose value is its type.
    #[inline]
    pub fn boolean(&self, wire: Wire) -> Result<bool> {
        match wire {
            Wire::BooleanTrue => Ok(true),
            Wire::BooleanFalse => Ok(false),
            other => Err(self.mismatch(other, Wire::BooleanTrue)),
        }
    }

    /// A boolean in a list: 1 is true; 2, and 0 with old writers, is false.
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
            None => Err(self.fault(Fault::ENDS)),
        }
    }

    /// A double.
    pub fn double(&mut self) -> Result<f64> {
        self.array().map(f64::from_le_bytes)
    }

    /// Bytes with their length.
    #[inline]
    pub fn binary(&mut self) -> Result<&'a [u8]> {
        let bytes = read_varint(self.bytes, self.position).and_then(|(length, start)| {
            let length = usize::try_from(length).map_err(|_| Fault::ENDS)?;
            let end = advance(self.bytes, start, length)?;
            Ok((self.bytes.get(start..end).unwrap_or_default(), end))
        });
        match bytes {
            Ok((bytes, end)) => {
                self.position = end;
                Ok(bytes)
            }
            Err(fault) => Err(self.fault(fault)),
        }
    }

    /// Text with its length.
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

    /// Type and number of a list's elements. There are at least as many bytes left as elements.
    /// The type of an empty list is not looked at and said to be `Struct`.
    #[inline]
    pub fn list(&mut self) -> Result<(Wire, usize)> {
        match list_header(self.bytes, self.position) {
            Ok((_, size, end)) if size > self.bytes.len().saturating_sub(end) => {
                Err(self.fault(Fault::ENDS))
            }
            Ok((wire, size, end)) => {
                self.position = end;
                Ok((wire.unwrap_or(Wire::Struct), size))
            }
            Err(fault) => Err(self.fault(fault)),
        }
    }

    /// Passes over a value. Here a boolean is a field, which takes no bytes.
    #[inline]
    pub fn skip(&mut self, wire: Wire) -> Result<()> {
        match skip_value(self.bytes, self.position, wire, self.max_depth, &mut ()) {
            Ok(end) => {
                self.position = end;
                Ok(())
            }
            Err(fault) => Err(self.fault(fault)),
        }
    }

    /// The next field of a struct, inner `None` at its end; outer `None` where something is wrong with it, or where its id is
    /// not told by its distance from the last one.
    pub(crate) fn short_field(&mut self, last: &mut i16) -> Option<Option<Field>> {
        let header = *self.bytes.get(self.position)?;
        let is_short = header == 0 || header >= 0x10;
        self.field(last).ok().filter(|_| is_short)
    }

    /// What was noted of a struct that the one here is built like, or else `note` of it; `None` where it cannot be passed over,
    /// or others are seldom alike.
    #[inline]
    pub(crate) fn like_others<'t, T>(
        &self,
        others: &'t mut Templates<T>,
        note: impl FnOnce(Self) -> T,
    ) -> Option<&'t T> {
        let note = || note(self.clone());
        let like = others.like(self.bytes, self.position, self.max_depth, note);
        like.ok().flatten().map(|(_, noted)| noted)
    }

    /// The integer that starts so many bytes behind this position, of 16 bits or more.
    #[inline]
    pub(crate) fn varint_behind(&self, bytes: usize) -> Option<i64> {
        let integer = read_varint(self.bytes, self.position.checked_add(bytes)?);
        integer.ok().map(|(integer, _)| zigzag(integer))
    }

    /// Passes over a struct that is likely to be like others before it.
    #[inline]
    pub(crate) fn skip_struct_like(&mut self, others: &mut Templates) -> Result<()> {
        match others.skip_struct(self.bytes, self.position, self.max_depth) {
            Ok(end) => {
                self.position = end;
                Ok(())
            }
            Err(fault) => Err(self.fault(fault)),
        }
    }

    /// From here on, [`Self::raw_struct`] gives no bytes.
    pub(crate) fn pass_over_raw_structs(&mut self) {
        self.without_raw_structs = true;
    }

    /// The bytes of a struct, its final zero included.
    pub fn raw_struct(&mut self) -> Result<&'a [u8]> {
        let start = self.position;
        self.skip(Wire::Struct)?;
        if self.without_raw_structs {
            return Ok(&[]);
        }
        Ok(self.bytes.get(start..self.position).unwrap_or_default())
    }

    /// An error of the file at this position.
    #[cold]
    pub fn corrupt(&self, message: impl Into<String>) -> Error {
        self.place(Error::corrupt, message.into())
    }

    /// Something valid at this position that this version does not know.
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
    fn fault(&mut self, fault: Fault) -> Error {
        self.ran_out = fault == Fault::ENDS;
        if fault == Fault::DEPTH {
            let (allowed, position) = (self.max_depth as u64, self.position as u64);
            let error = Error::limit("schema_depth", allowed + 1, allowed);
            return match self.base_offset {
                Some(base) => error.at_offset(base.saturating_add(position)),
                None => error,
            };
        }
        self.corrupt(fault.message())
    }

    #[cold]
    fn mismatch(&self, found: Wire, expected: Wire) -> Error {
        self.corrupt(format!("thrift type {found:?} where {expected:?} belongs"))
    }

    #[inline(always)]
    fn varint(&mut self) -> Result<u64> {
        match read_varint(self.bytes, self.position) {
            Ok((value, end)) => {
                self.position = end;
                Ok(value)
            }
            Err(fault) => Err(self.fault(fault)),
        }
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let rest = self.bytes.get(self.position..).unwrap_or_default();
        match rest.first_chunk::<N>() {
            Some(array) => {
                self.position += N;
                Ok(*array)
            }
            None => Err(self.fault(Fault::ENDS)),
        }
    }
}

/// Whether `ids` has this one: a bit each, from bit 0 on.
#[inline]
fn is_among(ids: u64, id: i16) -> bool {
    u32::try_from(id).is_ok_and(|id| id < u64::BITS && ids >> id & 1 == 1)
}

/// Undoes the zigzag: 0, -1, 1, -2, …
#[inline]
fn zigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}
