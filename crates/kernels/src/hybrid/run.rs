//! Run headers.

use crate::Malformed;

/// Values of one run, or what is left of them.
#[derive(Debug, Clone, Copy)]
pub(super) enum Run {
    /// One value, `left` times.
    Repeated { value: u32, left: usize },
    /// The `left` bit-packed values from value `next` on, in the bytes from `start` on.
    Packed {
        start: usize,
        next: usize,
        left: usize,
    },
}

impl Run {
    /// No values.
    pub(super) const EMPTY: Self = Self::Repeated { value: 0, left: 0 };

    /// How many values there are.
    #[inline(always)]
    pub(super) fn left(&self) -> usize {
        match self {
            Self::Repeated { left, .. } | Self::Packed { left, .. } => *left,
        }
    }

    /// Takes at most `n` values off the beginning.
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

/// Reads the run at `position` of `data`, which moves behind it.
///
/// Some writers cut the padding off the last packed run: a packed run has the values that are there.
#[inline(always)]
pub(super) fn next(data: &[u8], position: &mut usize, width: u8) -> Result<Run, Malformed> {
    if width == 0 {
        return Ok(Run::Repeated {
            value: 0,
            left: usize::MAX,
        });
    }
    let header = header(data, position)?;
    let count = (header >> 1) as usize;
    if header & 1 == 0 {
        let value = repeated(data, position, width)?;
        return Ok(Run::Repeated { value, left: count });
    }
    let start = *position;
    let there = data.len().saturating_sub(start);
    // Fewer than 2^31 groups of at most 32 bytes.
    let bytes = count as u64 * u64::from(width);
    if bytes <= there as u64 {
        *position += bytes as usize;
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

/// Reads a run header: a varint of at most five bytes.
#[inline(always)]
fn header(data: &[u8], position: &mut usize) -> Result<u32, Malformed> {
    match data.get(*position) {
        Some(byte) if *byte < 0x80 => {
            *position += 1;
            Ok(u32::from(*byte))
        }
        Some(_) => {
            let (header, bytes) = long_header(&data[*position..])?;
            *position += bytes;
            Ok(header)
        }
        None => Err(Malformed("the runs end early")),
    }
}

/// Reads a run header of several bytes, and returns it with how many there are.
///
/// It takes no reference to the position, so that the caller can keep that in a register.
#[inline(never)]
fn long_header(data: &[u8]) -> Result<(u32, usize), Malformed> {
    let mut header = 0_u64;
    for (index, byte) in data.iter().take(5).enumerate() {
        header |= u64::from(byte & 0x7f) << (7 * index);
        if *byte < 0x80 {
            let header = u32::try_from(header).map_err(|_| Malformed("a run is too long"))?;
            return Ok((header, index + 1));
        }
    }
    Err(Malformed("a run header has no end"))
}

/// Reads the value of a run-length encoded run.
#[inline(always)]
fn repeated(data: &[u8], position: &mut usize, width: u8) -> Result<u32, Malformed> {
    let early = Malformed("the value of a run ends early");
    let rest = data.get(*position..).ok_or(early)?;
    let value = match (width.div_ceil(8), rest) {
        (1, [a, ..]) => u32::from(*a),
        (2, [a, b, ..]) => u32::from_le_bytes([*a, *b, 0, 0]),
        (3, [a, b, c, ..]) => u32::from_le_bytes([*a, *b, *c, 0]),
        (4, [a, b, c, d, ..]) => u32::from_le_bytes([*a, *b, *c, *d]),
        _ => return Err(early),
    };
    if u64::from(value) >> width != 0 {
        return Err(Malformed("the value of a run is wider than the bit width"));
    }
    *position += usize::from(width.div_ceil(8));
    Ok(value)
}
