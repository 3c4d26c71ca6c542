//! Decodes run headers.

use crate::Malformed;
use crate::bitmap::low_bits;

/// The greatest number of bytes in a run header.
const MAX_HEADER: usize = 5;

/// The values of a run, or the rest of them.
#[derive(Debug, Clone, Copy)]
pub(super) enum Run {
    /// A single value, repeated `left` times.
    Repeated { value: u32, left: usize },
    /// The `left` bit-packed values from value `next` on. The run's bytes begin at `start`.
    Packed {
        start: usize,
        next: usize,
        left: usize,
    },
}

impl Run {
    /// A run without values.
    pub(super) const EMPTY: Self = Self::Repeated { value: 0, left: 0 };

    /// Returns the number of values.
    #[inline(always)]
    pub(super) fn left(&self) -> usize {
        match self {
            Self::Repeated { left, .. } | Self::Packed { left, .. } => *left,
        }
    }

    /// Removes at most `n` values from the start of the run, and returns them as a run.
    #[inline(always)]
    pub(super) fn split(&mut self, n: usize) -> Self {
        let mut taken = *self;
        let whole = self.left();
        let n = n.min(whole);
        match self {
            Self::Repeated { left, .. } => *left -= n,
            Self::Packed { left, next, .. } => {
                *left -= n;
                *next += n;
            }
        }
        match &mut taken {
            Self::Repeated { left, .. } | Self::Packed { left, .. } => *left = n,
        }
        taken
    }
}

/// Reads the run at `position` of `data`, and moves `position` past it.
///
/// Some writers omit the padding of the last packed run. So a packed run consists of the values that are present.
pub(super) fn next(data: &[u8], position: &mut usize, width: u8) -> Result<Run, Malformed> {
    if width == 0 {
        return Ok(Run::Repeated {
            value: 0,
            left: usize::MAX,
        });
    }
    let (header, start) = header(data, *position)?;
    let count = (header >> 1) as usize;
    if header & 1 == 0 {
        let (value, end) = repeated(data, start, width)?;
        *position = end;
        return Ok(Run::Repeated { value, left: count });
    }
    let there = data.len().saturating_sub(start);
    // The product cannot overflow, because there are fewer than 2^31 groups of at most 32 bytes.
    let bytes = count as u64 * u64::from(width);
    if bytes <= there as u64 {
        *position = start + bytes as usize;
        return Ok(Run::Packed {
            start,
            next: 0,
            left: count * 8,
        });
    }
    *position = data.len();
    let left = there.saturating_mul(8) / usize::from(width);
    if left == 0 {
        return Err(Malformed("a bit-packed run has no values"));
    }
    Ok(Run::Packed {
        start,
        next: 0,
        left,
    })
}

/// Returns true if the data ends before the first value of the run at `position`.
pub(super) fn is_cut(data: &[u8], position: usize, width: u8) -> bool {
    match header(data, position) {
        Ok((_, start)) => data.len().saturating_sub(start) < usize::from(width.div_ceil(8)),
        Err(_) => data.len().saturating_sub(position) < MAX_HEADER,
    }
}

/// Reads a run header, which is a varint of at most five bytes. Returns it with the position after it.
#[inline(always)]
pub(super) fn header(data: &[u8], position: usize) -> Result<(u32, usize), Malformed> {
    match data.get(position) {
        Some(byte) if *byte < 0x80 => Ok((u32::from(*byte), position + 1)),
        _ => long_header(data, position),
    }
}

/// Reads a run header of several bytes.
///
/// We pass the position by value, so that the caller can keep it in a register.
#[inline(never)]
fn long_header(data: &[u8], position: usize) -> Result<(u32, usize), Malformed> {
    let rest = data.get(position..).unwrap_or_default();
    if rest.is_empty() {
        return Err(Malformed("the runs end early"));
    }
    let mut header = 0_u64;
    for (index, byte) in rest.iter().take(MAX_HEADER).enumerate() {
        header |= u64::from(byte & 0x7f) << (7 * index);
        if *byte < 0x80 {
            let header = u32::try_from(header).map_err(|_| Malformed("a run is too long"))?;
            return Ok((header, position + index + 1));
        }
    }
    Err(Malformed("a run header is not complete"))
}

/// Reads a run-length encoded run's value. Returns it with the position after it.
#[inline(always)]
pub(super) fn repeated(data: &[u8], position: usize, width: u8) -> Result<(u32, usize), Malformed> {
    let bytes = usize::from(width.div_ceil(8));
    let rest = data.get(position..).unwrap_or_default();
    let value = match rest.first_chunk::<4>() {
        // We mask the bytes after the value, because they do not belong to it.
        Some(word) => u64::from(u32::from_le_bytes(*word)) & low_bits(8 * bytes),
        None => last_repeated(rest, bytes)?,
    };
    if value >> width != 0 {
        return Err(Malformed("the value of a run is wider than the bit width"));
    }
    Ok((value as u32, position + bytes))
}

/// Reads a value of `bytes` bytes when fewer than four bytes are left.
#[inline(never)]
fn last_repeated(rest: &[u8], bytes: usize) -> Result<u64, Malformed> {
    let value = rest
        .get(..bytes)
        .ok_or(Malformed("the value of a run ends early"))?;
    Ok(value
        .iter()
        .rev()
        .fold(0, |value, byte| value << 8 | u64::from(*byte)))
}
