//! Decodes the elements far from both ends, in rounds of a literal and the copies after it.
//!
//! The speed depends on the chain of dependent steps from one tag to the next. A literal's length leads to a load of
//! the eight bytes after it. These contain a copy's tag, its offset and the tag that follows. A shift brings that tag
//! to the front, together with its offset if it is a copy again. We always move 16 bytes at a time, regardless of the
//! length, and the next element overwrites the excess. Each round checks once that there is room for this.

use super::Position;
use crate::Malformed;
#[cfg(target_arch = "x86_64")]
use crate::cpu::Avx2;

/// The number of bytes that a round may read from its start, which are a literal with its tag (61), two copies of 3
/// bytes, and 8 bytes in which we see the next tag.
const READS: usize = 61 + 2 * 3 + 8;

/// The number of bytes that a round may write from its start, which are a literal of 60 bytes, a copy of 64, and
/// another copy of 64 with up to 8 excess bytes.
const WRITES: usize = 60 + 64 + 64 + 8;

pub(super) const BEFORE_THE_START: Malformed = Malformed("a copy starts before the output");

/// A decoded tag, which copies `length` bytes. The offset is `high` plus the bytes after the tag under `mask`.
#[derive(Clone, Copy)]
struct Tag {
    length: u8,
    high: u16,
    mask: u32,
}

/// The decoded tags of copies. The entries for literals and for copies with a 4-byte offset stay empty.
static TAGS: [Tag; 256] = {
    let mut tags = [Tag {
        length: 0,
        high: 0,
        mask: 0,
    }; 256];
    let mut byte = 0;
    while byte < 256 {
        let upper = (byte >> 2) as u8;
        if byte & 3 == 1 {
            tags[byte] = Tag {
                length: 4 + (upper & 7),
                high: ((upper >> 3) as u16) << 8,
                mask: 0xff,
            };
        } else if byte & 3 == 2 {
            tags[byte] = Tag {
                length: upper + 1,
                high: 0,
                mask: 0xffff,
            };
        }
        byte += 1;
    }
    tags
};

/// Decodes elements from `position` on, while there is room for a round. Stops at the first element that is neither a
/// literal of at most 60 bytes nor a copy with a 1-byte or 2-byte offset.
pub(super) fn decode(
    input: &[u8],
    output: &mut [u8],
    position: &mut Position,
) -> Result<(), Malformed> {
    #[cfg(target_arch = "x86_64")]
    if Avx2::detect().is_some() {
        // SAFETY: the token proves that the instructions exist.
        return unsafe { decode_avx2(input, output, position) };
    }
    rounds(input, output, position)
}

/// Runs [`rounds`] with instructions that avoid register copies, and with shifts that do not touch the flags.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2")]
fn decode_avx2(input: &[u8], output: &mut [u8], position: &mut Position) -> Result<(), Malformed> {
    rounds(input, output, position)
}

#[inline(always)]
pub(super) fn rounds(
    input: &[u8],
    output: &mut [u8],
    position: &mut Position,
) -> Result<(), Malformed> {
    let ends = input
        .len()
        .checked_sub(READS)
        .zip(output.len().checked_sub(WRITES));
    let Some((last_read, last_written)) = ends else {
        return Ok(());
    };
    let Position {
        mut read,
        mut written,
    } = *position;
    if read > last_read {
        return Ok(());
    }
    let (from, to) = (input.as_ptr(), output.as_mut_ptr());
    // The lowest byte is always the one at `read`. If it is the tag of a copy, the other seven bytes are those
    // after it.
    // SAFETY: `READS` bytes, more than 8, are readable from `read` on.
    let mut word = unsafe { load(from.add(read)) };
    'rounds: while read <= last_read && written <= last_written {
        if word & 3 == 0 {
            let length = (word as u8 >> 2) as usize + 1;
            if length > 60 {
                break;
            }
            // SAFETY: the tag, 64 bytes, and the 8 bytes after a literal of at most 60 bytes lie within `READS`;
            // 64 bytes lie within `WRITES`. Input and output do not overlap.
            unsafe {
                let literal = from.add(read + 1);
                word = load(literal.add(length));
                copy_literal(literal, to.add(written), length);
            }
            read += 1 + length;
            written += length;
            if word & 3 == 0 {
                // There are two literals in a row, and the room for the second one has not been checked.
                continue;
            }
        }
        loop {
            // Two copies with offsets of at most 2 bytes lie in the first 6 bytes of `word`, and the tag that
            // follows lies in the 7th.
            for last in [false, true] {
                let kind = word as usize & 3;
                if kind == 3 {
                    // The offset may lie outside `word`, so the caller decodes this element.
                    break 'rounds;
                }
                let tag = TAGS[word as u8 as usize];
                let offset = ((word >> 8) as u32 & tag.mask) as usize + usize::from(tag.high);
                read += 1 + kind;
                word >>= 8 * (1 + kind);
                let next_is_literal = word & 3 == 0;
                if last && !next_is_literal {
                    // SAFETY: `READS` includes 8 bytes after the literal and two copies of a round.
                    word = unsafe { load(from.add(read)) };
                }
                // SAFETY: all of the output is initialised. Since the check for room, `written` has advanced by at
                // most a literal and a copy, so 72 bytes are left.
                unsafe { copy(to, written, offset, usize::from(tag.length))? };
                written += usize::from(tag.length);
                if next_is_literal {
                    continue 'rounds;
                }
            }
            if read > last_read || written > last_written {
                break 'rounds;
            }
        }
    }
    *position = Position { read, written };
    Ok(())
}

/// Loads the 8 bytes at `at`, so that the first byte becomes the lowest.
///
/// # Safety
/// The 8 bytes must be readable.
#[inline(always)]
unsafe fn load(at: *const u8) -> u64 {
    // SAFETY: the contract of this function.
    u64::from_le(unsafe { at.cast::<u64>().read_unaligned() })
}

/// Copies `N` bytes.
///
/// # Safety
/// The bytes must be readable and writable, and must not overlap.
#[inline(always)]
unsafe fn move_bytes<const N: usize>(from: *const u8, to: *mut u8) {
    // SAFETY: the contract of this function.
    unsafe { std::ptr::copy_nonoverlapping(from, to, N) };
}

/// Copies a literal of at most 64 bytes.
///
/// # Safety
/// 64 bytes must be readable and writable, and must not overlap.
#[inline(always)]
unsafe fn copy_literal(from: *const u8, to: *mut u8, length: usize) {
    // SAFETY: the contract of this function.
    unsafe {
        move_bytes::<16>(from, to);
        if length > 16 {
            move_bytes::<48>(from.add(16), to.add(16));
        }
    }
}

/// Copies `length` bytes, which are at most 64, to `written`, from `offset` bytes before it.
///
/// # Safety
/// All bytes of `output` before `written`, and the 72 bytes from there on, must be initialised.
#[inline(always)]
unsafe fn copy(
    output: *mut u8,
    written: usize,
    offset: usize,
    length: usize,
) -> Result<(), Malformed> {
    let start = written.wrapping_sub(offset);
    if offset > written {
        return Err(BEFORE_THE_START);
    }
    if (offset >= 8) & (length <= 16) {
        // SAFETY: 16 bytes before `written` and 16 bytes from `written` on are granted. Each copy of 8 bytes has
        // source and target at least 8 bytes apart, so they do not overlap. The second copy may read bytes that
        // the first one wrote.
        unsafe {
            move_bytes::<8>(output.add(start), output.add(written));
            move_bytes::<8>(output.add(start + 8), output.add(written + 8));
        }
        return Ok(());
    }
    // SAFETY: the contract of this function, and `start` is not before the output.
    unsafe { copy_rare(output.add(start), output.add(written), offset, length) }
}

/// Copies more than 16 bytes, or bytes that repeat after fewer than 8.
///
/// # Safety
/// `offset` bytes and 72 more must be initialised from `from` on; `to` is `offset` bytes after it.
#[inline(never)]
unsafe fn copy_rare(
    from: *const u8,
    to: *mut u8,
    offset: usize,
    length: usize,
) -> Result<(), Malformed> {
    match offset {
        0 => return Err(BEFORE_THE_START),
        1..8 => {
            // SAFETY: 8 bytes are initialised at `from`.
            let pattern = repeat(unsafe { load(from) }, offset);
            // This is the number of bytes in whole periods.
            let step = 8 - 8 % offset;
            for place in (0..length).step_by(step) {
                // SAFETY: `place` is less than `length`, at most 64, so 8 bytes are granted there.
                unsafe { to.add(place).cast::<u64>().write_unaligned(pattern.to_le()) };
            }
        }
        8..16 => {
            for place in (0..64).step_by(8) {
                // SAFETY: 64 bytes are granted; source and target are at least 8 bytes apart.
                unsafe { move_bytes::<8>(from.add(place), to.add(place)) };
            }
        }
        _ => {
            for place in (0..64).step_by(16) {
                // SAFETY: 64 bytes are granted; source and target are at least 16 bytes apart.
                unsafe { move_bytes::<16>(from.add(place), to.add(place)) };
            }
        }
    }
    Ok(())
}

/// Returns the first `period` (1 to 7) bytes of `bytes`, repeated to fill a word.
fn repeat(bytes: u64, period: usize) -> u64 {
    let mut known = 8 * period;
    let mut pattern = bytes & (u64::MAX >> (64 - known));
    while known < 64 {
        pattern |= pattern << known;
        known *= 2;
    }
    pattern
}
