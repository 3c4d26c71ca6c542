//! Skips values without decoding them.
//!
//! Indexing a footer mostly consists of skipping values, so this is a hot path. We keep the position in registers:
//! functions take and return it, and errors are plain numbers. Pass a [`SkipTrace`] to learn which bits determine a
//! value's end. The trace `()` records nothing and costs nothing.

use super::Wire;

/// A receiver for the bytes that determine a skipped value's end. Unreported bytes, such as text and doubles, weren't
/// examined.
pub(super) trait SkipTrace {
    /// Reports headers, sizes and lengths, where all bits matter.
    fn all_bits(&mut self, from: usize, to: usize);
    /// Reports integers, where only each byte's high bit matters.
    fn high_bits(&mut self, from: usize, to: usize);
}

impl SkipTrace for () {
    #[inline]
    fn all_bits(&mut self, _: usize, _: usize) {}
    #[inline]
    fn high_bits(&mut self, _: usize, _: usize) {}
}

/// The reason for failing to skip a value. It's one word wide like the position, so that a `Result` of the two is
/// returned in registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SkipError(usize);

impl SkipError {
    /// The bytes end inside the value.
    pub(super) const ENDS: Self = Self(0);
    /// Structs or lists are nested beyond the limit.
    pub(super) const DEPTH: Self = Self(1);
    /// A wire type does not exist.
    pub(super) const WIRE: Self = Self(2);
    /// A varint has more than ten bytes.
    pub(super) const VARINT: Self = Self(3);
    /// A list or map size exceeds 32 bits.
    pub(super) const SIZE: Self = Self(4);

    /// Returns the message.
    pub(super) fn message(self) -> &'static str {
        match self {
            Self::ENDS => "metadata ends early",
            Self::WIRE => "unknown thrift type",
            Self::VARINT => "varint of more than ten bytes",
            Self::SIZE => "list of more than 2^31 elements",
            _ => "thrift values are nested too deeply",
        }
    }
}

/// Returns the end of the value at `position`.
pub(super) fn skip_value(
    bytes: &[u8],
    position: usize,
    wire: Wire,
    depth: usize,
    trace: &mut impl SkipTrace,
) -> Result<usize, SkipError> {
    match wire {
        Wire::BooleanTrue | Wire::BooleanFalse => Ok(position),
        Wire::I8 => advance(bytes, position, 1),
        Wire::I16 | Wire::I32 | Wire::I64 => skip_varint(bytes, position, trace),
        Wire::Double => advance(bytes, position, 8),
        Wire::Binary => skip_binary(bytes, position, trace),
        Wire::List | Wire::Set => skip_list(bytes, position, depth, trace),
        Wire::Map => skip_map(bytes, position, depth, trace),
        Wire::Struct => skip_struct(bytes, position, depth, trace),
        Wire::Uuid => advance(bytes, position, 16),
    }
}

/// Returns the end of a field's value. Most types are handled inline here. Otherwise, the compiler would inline the
/// loop of [`skip_struct`] instead, and every field would cost a call.
#[inline(always)]
pub(super) fn skip_field(
    bytes: &[u8],
    position: usize,
    wire: Wire,
    depth: usize,
    trace: &mut impl SkipTrace,
) -> Result<usize, SkipError> {
    match wire {
        Wire::BooleanTrue | Wire::BooleanFalse => Ok(position),
        Wire::I16 | Wire::I32 | Wire::I64 => skip_varint(bytes, position, trace),
        Wire::Binary => skip_binary(bytes, position, trace),
        Wire::Struct => skip_struct(bytes, position, depth, trace),
        Wire::List | Wire::Set => skip_list(bytes, position, depth, trace),
        other => skip_value(bytes, position, other, depth, trace),
    }
}

/// Returns the end of a list element. In a list, a boolean takes one byte.
#[inline]
fn skip_element(
    bytes: &[u8],
    position: usize,
    wire: Wire,
    depth: usize,
    trace: &mut impl SkipTrace,
) -> Result<usize, SkipError> {
    match wire {
        Wire::BooleanTrue | Wire::BooleanFalse => advance(bytes, position, 1),
        wire => skip_value(bytes, position, wire, depth, trace),
    }
}

/// Returns the end of the struct. This is after its zero byte.
pub(super) fn skip_struct(
    bytes: &[u8],
    mut position: usize,
    depth: usize,
    trace: &mut impl SkipTrace,
) -> Result<usize, SkipError> {
    let depth = depth.checked_sub(1).ok_or(SkipError::DEPTH)?;
    loop {
        let header = *bytes.get(position).ok_or(SkipError::ENDS)?;
        trace.all_bits(position, position + 1);
        position += 1;
        if header == 0 {
            return Ok(position);
        }
        if header < 0x10 {
            position = skip_varint(bytes, position, trace)?;
        }
        let wire = Wire::from_id(header & 0x0f).ok_or(SkipError::WIRE)?;
        position = skip_field(bytes, position, wire, depth, trace)?;
    }
}

/// Returns the end of the list. Every element takes at least one byte, so the bytes bound the loop.
fn skip_list(
    bytes: &[u8],
    start: usize,
    depth: usize,
    trace: &mut impl SkipTrace,
) -> Result<usize, SkipError> {
    let depth = depth.checked_sub(1).ok_or(SkipError::DEPTH)?;
    let (wire, size, mut position) = list_header(bytes, start)?;
    trace.all_bits(start, position);
    let Some(wire) = wire else {
        return Ok(position);
    };
    match wire {
        Wire::BooleanTrue | Wire::BooleanFalse | Wire::I8 => advance(bytes, position, size),
        Wire::Double => advance(bytes, position, size.saturating_mul(8)),
        Wire::I16 | Wire::I32 | Wire::I64 => {
            for _ in 0..size {
                position = skip_varint(bytes, position, trace)?;
            }
            Ok(position)
        }
        Wire::Binary => {
            for _ in 0..size {
                position = skip_binary(bytes, position, trace)?;
            }
            Ok(position)
        }
        wire => {
            for _ in 0..size {
                position = skip_value(bytes, position, wire, depth, trace)?;
            }
            Ok(position)
        }
    }
}

/// Returns the type and number of list elements, and the offset of the first element. Note that an empty list can have
/// an invalid type.
#[inline]
pub(super) fn list_header(
    bytes: &[u8],
    position: usize,
) -> Result<(Option<Wire>, usize, usize), SkipError> {
    let header = *bytes.get(position).ok_or(SkipError::ENDS)?;
    let mut position = position + 1;
    let mut size = usize::from(header >> 4);
    if size == 15 {
        (size, position) = read_size(bytes, position)?;
    }
    if size == 0 {
        return Ok((None, 0, position));
    }
    let wire = Wire::from_id(header & 0x0f).ok_or(SkipError::WIRE)?;
    Ok((Some(wire), size, position))
}

fn skip_map(
    bytes: &[u8],
    start: usize,
    depth: usize,
    trace: &mut impl SkipTrace,
) -> Result<usize, SkipError> {
    let depth = depth.checked_sub(1).ok_or(SkipError::DEPTH)?;
    let (size, mut position) = read_size(bytes, start)?;
    if size == 0 {
        trace.all_bits(start, position);
        return Ok(position);
    }
    let types = *bytes.get(position).ok_or(SkipError::ENDS)?;
    position += 1;
    trace.all_bits(start, position);
    let key = Wire::from_id(types >> 4).ok_or(SkipError::WIRE)?;
    let value = Wire::from_id(types & 0x0f).ok_or(SkipError::WIRE)?;
    for _ in 0..size {
        position = skip_element(bytes, position, key, depth, trace)?;
        position = skip_element(bytes, position, value, depth, trace)?;
    }
    Ok(position)
}

/// Returns the end of the varint. Most varints have a single byte, and a well-predicted branch lets the processor
/// continue without waiting for that byte. For longer varints, such as offsets and sizes, we examine eight bytes at
/// once.
#[inline]
fn skip_varint(
    bytes: &[u8],
    position: usize,
    trace: &mut impl SkipTrace,
) -> Result<usize, SkipError> {
    let end = match bytes.get(position) {
        Some(&byte) if byte < 0x80 => position + 1,
        _ => skip_long_varint(bytes, position)?,
    };
    trace.high_bits(position, end);
    Ok(end)
}

#[inline]
fn skip_long_varint(bytes: &[u8], position: usize) -> Result<usize, SkipError> {
    if let Some(Some(word)) = bytes.get(position..).map(|rest| rest.first_chunk::<8>()) {
        let ends = !u64::from_le_bytes(*word) & 0x8080_8080_8080_8080;
        if ends != 0 {
            return Ok(position + (ends.trailing_zeros() / 8) as usize + 1);
        }
    }
    read_varint(bytes, position).map(|(_, end)| end)
}

#[inline]
fn skip_binary(bytes: &[u8], start: usize, trace: &mut impl SkipTrace) -> Result<usize, SkipError> {
    let (length, position) = read_varint(bytes, start)?;
    trace.all_bits(start, position);
    let length = usize::try_from(length).map_err(|_| SkipError::ENDS)?;
    advance(bytes, position, length)
}

#[inline]
pub(super) fn advance(bytes: &[u8], position: usize, count: usize) -> Result<usize, SkipError> {
    match position.checked_add(count) {
        Some(end) if end <= bytes.len() => Ok(end),
        _ => Err(SkipError::ENDS),
    }
}

/// Returns a varint and its end.
#[inline]
pub(super) fn read_varint(bytes: &[u8], position: usize) -> Result<(u64, usize), SkipError> {
    match bytes.get(position) {
        Some(&byte) if byte < 0x80 => Ok((u64::from(byte), position + 1)),
        Some(_) => read_long_varint(bytes, position),
        None => Err(SkipError::ENDS),
    }
}

fn read_long_varint(bytes: &[u8], position: usize) -> Result<(u64, usize), SkipError> {
    let rest = bytes.get(position..).unwrap_or_default();
    let mut value = 0;
    for (index, &byte) in rest.iter().take(10).enumerate() {
        value |= u64::from(byte & 0x7f) << (7 * index);
        if byte < 0x80 {
            return Ok((value, position + index + 1));
        }
    }
    Err(if rest.len() < 10 {
        SkipError::ENDS
    } else {
        SkipError::VARINT
    })
}

/// Returns the size of a list or map, and the end of that size.
fn read_size(bytes: &[u8], position: usize) -> Result<(usize, usize), SkipError> {
    let (size, position) = read_varint(bytes, position)?;
    match i32::try_from(size) {
        Ok(size) => Ok((size.unsigned_abs() as usize, position)),
        Err(_) => Err(SkipError::SIZE),
    }
}
