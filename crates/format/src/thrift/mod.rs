//! Thrift's compact protocol, the encoding of all Parquet metadata.
//!
//! A struct is a list of fields, terminated by a zero byte. Each field has a header with its [`Wire`] type and id, and
//! the id is delta-encoded against the previous id:
//!
//! ```text
//! struct    field* 00
//! field     dddd tttt [id] value    d: id - last id, or 0 and the id follows as a zigzag varint
//!                                   t: wire type; a boolean's value is in its type
//! integer   zigzag varint           i8: the byte itself
//! binary    varint length, bytes
//! list      ssss tttt [size] value* s: size, or 15 and the size follows as a varint
//! map       varint size, [kkkk vvvv, (key value)*]
//! ```
//!
//! [`CompactReader`] borrows the bytes, checking every size against the bytes left. [`CompactWriter`] is its
//! counterpart. Each of the format's structs is only declared once, with the `thrift_struct!` macro generating both
//! directions.

mod shape_cache;
mod reader;
mod skip;
mod structs;
mod value;
mod writer;

#[cfg(test)]
mod tests;

use crate::{Error, Limits, Result};
pub use reader::{CompactReader, Field};
pub(crate) use shape_cache::ShapeCache;
pub(crate) use structs::{count, required, thrift_struct};
pub use value::RawStruct;
pub(crate) use value::{Value, read_union, write_union};
pub use writer::CompactWriter;

/// A value's wire type. The discriminant is its id in the compact protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Wire {
    /// A boolean field with the value true. As a list's element type, this stands for any boolean, one byte each.
    BooleanTrue = 1,
    /// A boolean field with the value false. As a list's element type, this stands for any boolean, one byte each.
    BooleanFalse = 2,
    /// One byte.
    I8 = 3,
    /// A 16-bit integer as a zigzag varint.
    I16 = 4,
    /// A 32-bit integer as a zigzag varint.
    I32 = 5,
    /// A 64-bit integer as a zigzag varint.
    I64 = 6,
    /// Eight bytes, little-endian.
    Double = 7,
    /// Bytes or text, preceded by their length.
    Binary = 8,
    /// Values of one type.
    List = 9,
    /// Values of one type, encoded like a list.
    Set = 10,
    /// Keys and values.
    Map = 11,
    /// Fields up to a zero byte.
    Struct = 12,
    /// Sixteen bytes.
    Uuid = 13,
}

impl Wire {
    /// Returns the type with this number, if there is one.
    #[must_use]
    #[inline]
    pub fn from_id(id: u8) -> Option<Self> {
        Some(match id {
            1 => Self::BooleanTrue,
            2 => Self::BooleanFalse,
            3 => Self::I8,
            4 => Self::I16,
            5 => Self::I32,
            6 => Self::I64,
            7 => Self::Double,
            8 => Self::Binary,
            9 => Self::List,
            10 => Self::Set,
            11 => Self::Map,
            12 => Self::Struct,
            13 => Self::Uuid,
            _ => return None,
        })
    }

    /// Returns true for integers of any width.
    #[must_use]
    #[inline]
    pub fn is_integer(self) -> bool {
        matches!(self, Self::I8 | Self::I16 | Self::I32 | Self::I64)
    }
}

/// Decodes the struct at the start of `bytes`, reading at most `allowed` bytes (the value of the limit named `limit`).
/// Returns the struct with its byte count, or `None` if `bytes` end inside the struct.
pub(crate) fn decode_prefix<T: Value>(
    bytes: &[u8],
    limits: &Limits,
    limit: &'static str,
    allowed: usize,
) -> Result<Option<(T, usize)>> {
    let read = |reader: &mut CompactReader<'_>| T::read(reader, Wire::Struct);
    read_prefix(bytes, limits, limit, allowed, read)
}

/// Decodes a struct with `read`, as [`decode_prefix`] does.
#[inline]
pub(crate) fn read_prefix<T>(
    bytes: &[u8],
    limits: &Limits,
    limit: &'static str,
    allowed: usize,
    read: impl FnOnce(&mut CompactReader<'_>) -> Result<T>,
) -> Result<Option<(T, usize)>> {
    // We return early because page readers often call this before bytes are available, and formatting an error message
    // is slow.
    if bytes.is_empty() && allowed > 0 {
        return Ok(None);
    }
    let window = bytes.get(..allowed).unwrap_or(bytes);
    let mut reader = CompactReader::new(window, limits.schema_depth);
    match read(&mut reader) {
        Ok(value) => Ok(Some((value, reader.position()))),
        Err(error) if !reader.ran_out() => Err(error),
        Err(_) if bytes.len() < allowed => Ok(None),
        Err(_) => Err(Error::limit(limit, allowed as u64 + 1, allowed as u64)),
    }
}

/// Decodes a struct as [`decode_prefix`] does, from bytes that contain all of it.
pub(crate) fn decode_whole<T: Value>(
    bytes: &[u8],
    limits: &Limits,
    limit: &'static str,
    allowed: usize,
    name: &'static str,
) -> Result<(T, usize)> {
    decode_prefix(bytes, limits, limit, allowed)?
        .ok_or_else(|| Error::corrupt(format!("{name} ends early (byte {})", bytes.len())))
}
