//! Writes values one after another.

use super::Wire;

/// The initial capacity in bytes and in nested structs. This is enough for a page header.
const FIRST_BYTES: usize = 128;
const FIRST_DEPTH: usize = 4;

/// Bytes of the compact protocol under construction. They always have the shortest form.
///
/// Between [`begin_struct`](Self::begin_struct) and [`end_struct`](Self::end_struct), write a [`field`](Self::field)
/// before each value. Lists contain only values.
///
/// ```
/// use herringbone::format::thrift::{CompactWriter, Wire};
///
/// let mut writer = CompactWriter::new();
/// writer.begin_struct();
/// writer.field(1, Wire::I32);
/// writer.integer(-1);
/// writer.end_struct();
/// assert_eq!(writer.finish(), [0x15, 0x01, 0x00]);
/// ```
#[derive(Debug, Clone)]
pub struct CompactWriter {
    bytes: Vec<u8>,
    last: i16,
    outer: Vec<i16>,
}

impl Default for CompactWriter {
    fn default() -> Self {
        Self::new()
    }
}

impl CompactWriter {
    /// Creates an empty writer.
    #[must_use]
    pub fn new() -> Self {
        Self {
            bytes: Vec::with_capacity(FIRST_BYTES),
            last: 0,
            outer: Vec::with_capacity(FIRST_DEPTH),
        }
    }

    /// Returns all written bytes.
    #[must_use]
    pub fn finish(self) -> Vec<u8> {
        self.bytes
    }

    /// Returns the number of bytes written so far.
    #[must_use]
    pub fn position(&self) -> usize {
        self.bytes.len()
    }

    /// Starts a struct.
    pub fn begin_struct(&mut self) {
        self.outer.push(std::mem::take(&mut self.last));
    }

    /// Ends the innermost struct.
    pub fn end_struct(&mut self) {
        self.bytes.push(0);
        self.last = self.outer.pop().unwrap_or_default();
    }

    /// Writes a field's header. You must write the field's value next, unless it's a boolean, whose type already
    /// contains the value.
    pub fn field(&mut self, id: i16, wire: Wire) {
        match i32::from(id) - i32::from(self.last) {
            delta @ 1..=15 => self.bytes.push((delta as u8) << 4 | wire as u8),
            _ => {
                self.bytes.push(wire as u8);
                self.integer(i64::from(id));
            }
        }
        self.last = id;
    }

    /// Writes an integer of 16, 32 or 64 bits.
    pub fn integer(&mut self, value: i64) {
        self.varint(((value << 1) ^ (value >> 63)).cast_unsigned());
    }

    /// Writes an integer of 8 bits, or a boolean in a list (1 for true, 2 for false).
    pub fn byte(&mut self, value: u8) {
        self.bytes.push(value);
    }

    /// Writes a double.
    pub fn double(&mut self, value: f64) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    /// Writes bytes or text, preceded by the length.
    pub fn binary(&mut self, value: &[u8]) {
        self.varint(value.len() as u64);
        self.bytes.extend_from_slice(value);
    }

    /// Writes the header of a list with `size` elements of type `wire`.
    pub fn list(&mut self, wire: Wire, size: usize) {
        if size < 15 {
            self.bytes.push((size as u8) << 4 | wire as u8);
        } else {
            self.bytes.push(0xf0 | wire as u8);
            self.varint(size as u64);
        }
    }

    /// Writes an already encoded value.
    pub fn raw(&mut self, value: &[u8]) {
        self.bytes.extend_from_slice(value);
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }
}
