//! The elements far from both ends: rounds of a literal and the copies behind it.
//!
//! What decides the speed is the chain of dependent steps from one tag to the next. A literal's
//! length leads to a load of eight bytes behind it; those hold a copy's tag, its offset, and the tag
//! that follows, which a shift brings to the front: if it is a copy again, its offset as well. Bytes
//! are moved 16 at a time whatever the length says; what is too much is overwritten by the next
//! element. The room for that is what a round is checked for, once.

use super::Position;
use crate::Malformed;
#[cfg(target_arch = "x86_64")]
use crate::cpu::Avx2;

/// Bytes that a round may look at from where it starts: a literal with its tag (61), two copies of 3
/// bytes, and 8 bytes to see what follows.
const READS: usize = 61 + 2 * 3 + 8;

/// Bytes that a round may write from where it starts: a literal of 60 bytes, a copy of 64, and
/// another one of 64 with up to 8 too many.
const WRITES: usize = 60 + 64 + 64 + 8;

pub(super) const BEFORE_THE_START: Malformed = Malformed("a copy starts before the output");

/// What a tag says: `length` bytes are copied, from `high` plus `mask` of the bytes behind the tag.
#[derive(Clone, Copy)]
struct Tag {
    length: u8,
    high: u16,
    mask: u32,
}

/// Tags of copies; those of literals stay empty, as do those of copies with 4 bytes of offset.
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

/// Decodes elements from `position` on, as long as there is room for a round, and up to the first
/// element that is no literal of at most 60 bytes and no copy with 1 or 2 bytes of offset.
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

/// [`rounds`] with shifts that need no flags and moves that need no copy of a register.
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
    // The byte at the front is always that of `read`. If it is the tag of a copy, the other seven
    // are those behind it.
    // SAFETY: `READS` bytes, more than 8, are there from `read` on.
    let mut word = unsafe { load(from.add(read)) };
    'rounds: while read <= last_read && written <= last_written {
        if word & 3 == 0 {
            let length = (word as u8 >> 2) as usize + 1;
            if length > 60 {
                break;
            }
            // SAFETY: the tag, 64 bytes, and the 8 bytes behind the at most 60 of the literal lie
            // within `READS`; 64 bytes lie within `WRITES`. Input and output do not overlap.
            unsafe {
                let literal = from.add(read + 1);
                word = load(literal.add(length));
                copy_literal(literal, to.add(written), length);
            }
            read += 1 + length;
            written += length;
            if word & 3 == 0 {
                // Two literals in a row: nothing says that there is room for the second.
                continue;
            }
        }
        loop {
            // Two copies with at most 2 bytes of offset are in the first 6 bytes of `word`, and the
            // tag that follows is in the 7th.
            for last in [false, true] {
                let kind = word as usize & 3;
                if kind == 3 {
                    // Its offset may be outside of `word`; the caller decodes it.
                    break 'rounds;
                }
                let tag = TAGS[word as u8 as usize];
                let offset = ((word >> 8) as u32 & tag.mask) as usize + usize::from(tag.high);
                read += 1 + kind;
                word >>= 8 * (1 + kind);
                let next_is_literal = word & 3 == 0;
                if last && !next_is_literal {
                    // SAFETY: `READS` has 8 bytes behind the literal and two copies of a round.
                    word = unsafe { load(from.add(read)) };
                }
                // SAFETY: all of the output is initialised. `written` has moved by at most a literal
                // and a copy since there was room for a round, so that 72 bytes are left of it.
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

/// The 8 bytes at `at`, the first of them lowest.
///
/// # Safety
/// They must be readable.
#[inline(always)]
unsafe fn load(at: *const u8) -> u64 {
    // SAFETY: the contract of this function.
    u64::from_le(unsafe { at.cast::<u64>().read_unaligned() })
}

/// Copies `N` bytes.
///
/// # Safety
/// They must be readable and writable, and must not overlap.
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

/// Copies `length` bytes, at most 64, from `offset` bytes before `written` to there.
///
/// # Safety
/// Everything before `written` and the 72 bytes from there on must be initialised bytes of `output`.
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
        // SAFETY: 16 bytes before and from `written` are granted; halves 8 bytes apart do not
        // overlap, and the second half may read what the first wrote.
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
/// `offset` bytes and 72 more must be initialised from `from` on; `to` is `offset` bytes behind it.
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
            // As many bytes as whole periods have.
            let step = 8 - 8 % offset;
            for place in (0..length).step_by(step) {
                // SAFETY: `place` is less than `length`, at most 64, so that 8 bytes are granted.
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

/// The first `period` bytes of `bytes`, 1 to 7, again and again.
fn repeat(bytes: u64, period: usize) -> u64 {
    let mut known = 8 * period;
    let mut pattern = bytes & (u64::MAX >> (64 - known));
    while known < 64 {
        pattern |= pattern << known;
        known *= 2;
    }
    pattern
}
