//! Compresses Snappy blocks.
//!
//! We split the plain bytes into independent windows of 64 KiB. A table maps the hash of a few bytes to the last
//! position at which they occurred. If the bytes at that position really match, they become a copy, which we extend
//! over all following bytes that also match. The bytes between two copies form a literal. If we find no match for a
//! while, the search proceeds in growing steps.
//!
//! The minimum match length decides the block's size and the speed. With four bytes we find the most copies. But if
//! strings repeat in long parts, many short matches then hide a longer one, and if numbers share four bytes with many
//! others, the matches that we find are distant ones. So we compress a sample of the bytes in two ways, and use the way
//! with the smaller result for the rest.

/// The number of plain bytes that we search together, because a position has 16 bits.
const WINDOW: usize = 1 << 16;

/// The fewest windows for which we compare two ways of compressing.
const COMPARED_FROM: usize = 4;

/// The divisor for the size of the compared sample. It applies to the bytes beyond the first `COMPARED_FROM / 2`
/// windows, because the first matches that a table finds are not representative.
const PART_COMPARED: usize = 32;

/// The average copy length, in bytes, from which the alternative way looks for long matches.
const LONG_COPIES: usize = 9;

/// The binary logarithm of the largest table size.
const MAX_PLACES: u32 = 14;
/// The binary logarithm of the smallest table size.
const MIN_PLACES: u32 = 8;

/// The number of bytes that we may load from each searched position, so no copy begins closer to the end of a window.
const MARGIN: usize = 16;

/// The maximum size of the encoded plain size, in bytes.
const MAX_SIZE_BYTES: usize = 5;

/// The number of bytes that we may write past the elements, for the tag of the last literal or the excess of a short
/// literal.
const SLACK: usize = 32;

/// The divisor that bounds how much a block can grow. A literal and the copy after it exceed the plain bytes by at most
/// one byte per `PART_MORE` plain bytes. The worst case is a literal of 61 bytes, with two extra bytes for its length,
/// next to a copy of four bytes, which saves one.
const PART_MORE: usize = 32;

/// The length in bytes of the longest literal whose length fits into the tag. Longer literals have one or two length
/// bytes after the tag.
const IN_TAG: usize = 60;

/// The size of the longest literal tag, including its length bytes.
const LONGEST_TAG: usize = 3;

/// The offset below which a short copy takes two bytes.
const NEAR: usize = 1 << 11;
/// The length in bytes of the longest copy that takes two bytes.
const SHORT: usize = 11;

/// The length of the longest copy element, in bytes.
const MAX_COPIED: usize = 64;

/// The number of positions that we try without a match before the search step grows by one.
const STEP_AFTER: usize = 32;

/// The number of positions that we try first, in an unrolled loop.
const FIRST: usize = 16;

/// The hash multiplier. Four bytes are effectively multiplied by its lower half, which is a multiplier in common use
/// that spreads the contents of pages well.
const MULTIPLIER: u64 = 0x9e37_79b9_1e35_a7bd;

/// A compressor for blocks, which reuses its table from one block to the next.
#[derive(Debug, Default)]
pub struct Compressor {
    table: Vec<u16>,
}

/// The number of copies in a window, and of the bytes that they cover.
#[derive(Debug, Clone, Copy, Default)]
struct Copies {
    number: usize,
    bytes: usize,
}

/// An error for plain bytes that exceed the largest size that a block can record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLong;

impl Compressor {
    /// Appends the block for `plain` to `out`. The ascending positions in `section_starts` mark where bytes of another
    /// kind begin. In a new section, no copy refers to bytes before it, and the search starts over with small steps.
    ///
    /// # Errors
    /// Fails with [`TooLong`] from 4 GiB on. Nothing is appended in that case.
    pub fn compress(
        &mut self,
        plain: &[u8],
        section_starts: &[usize],
        out: &mut Vec<u8>,
    ) -> Result<(), TooLong> {
        let mut size = u32::try_from(plain.len()).map_err(|_| TooLong)?;
        // We reserve all at once, so that `out` is not reallocated for each window. Excess capacity is never written
        // to.
        out.reserve(MAX_SIZE_BYTES + room_for(plain.len()));
        while size >= 0x80 {
            out.push(size as u8 | 0x80);
            size >>= 7;
        }
        out.push(size as u8);
        self.table.resize(1 << MAX_PLACES, 0);
        let mut start = 0;
        for end in section_starts.iter().copied().chain([plain.len()]) {
            if let Some(part) = plain.get(start..end) {
                self.part(part, out);
                start = end;
            }
        }
        Ok(())
    }

    /// Appends the elements for bytes of one kind.
    fn part(&mut self, plain: &[u8], out: &mut Vec<u8>) {
        if plain.len() < COMPARED_FROM * WINDOW {
            self.windows(4, plain, out);
            return;
        }
        let (first, rest) = plain.split_at(WINDOW);
        let copies = self.windows(4, first, out);
        let other = match copies.bytes >= LONG_COPIES * copies.number {
            true => 8,
            false => 5,
        };
        let part = (plain.len() - COMPARED_FROM * WINDOW / 2) / PART_COMPARED;
        let (part, _) = rest.split_at(part.min(WINDOW));
        let is_less = self.size_of(other, part, out) < self.size_of(4, part, out);
        self.windows(if is_less { other } else { 4 }, rest, out);
    }

    /// Returns the number of bytes that the elements for `plain` take, and leaves `out` unchanged.
    fn size_of(&mut self, least: u32, plain: &[u8], out: &mut Vec<u8>) -> usize {
        let start = out.len();
        self.windows(least, plain, out);
        let size = out.len() - start;
        out.truncate(start);
        size
    }

    /// Appends the elements for `plain`, with copies of at least `least` bytes.
    fn windows(&mut self, least: u32, plain: &[u8], out: &mut Vec<u8>) -> Copies {
        let mut copies = Copies::default();
        for window in plain.chunks(WINDOW) {
            out.reserve(room_for(window.len()));
            let bits = window.len().next_power_of_two().trailing_zeros();
            let bits = bits.clamp(MIN_PLACES, MAX_PLACES);
            let table = self.table.get_mut(..1 << bits).unwrap_or_default();
            table.fill(0);
            let more = match least {
                4 => Window::<4>::compress(window, table, out),
                5 => Window::<5>::compress(window, table, out),
                _ => Window::<8>::compress(window, table, out),
            };
            copies.number += more.number;
            copies.bytes += more.bytes;
        }
        copies
    }
}

/// Returns the maximum size of the elements for `plain` bytes, including the bytes that we may write past them.
fn room_for(plain: usize) -> usize {
    plain + plain / PART_MORE + SLACK
}

/// A window, in which copies have at least `MIN_COPY` bytes (4 to 8).
struct Window<'a, const MIN_COPY: u32> {
    plain: &'a [u8],
    /// The last position of bytes with each hash, or 0.
    table: &'a mut [u16],
    /// The right shift that reduces a hash below the table's length.
    shift: u32,
}

impl<const MIN_COPY: u32> Window<'_, MIN_COPY> {
    /// Appends the elements for `plain`, which has at most [`WINDOW`] bytes. `out` must have room for them. The table's
    /// length must be a power of two, and all its entries must be 0.
    fn compress(plain: &[u8], table: &mut [u16], out: &mut Vec<u8>) -> Copies {
        assert!(plain.len() <= WINDOW && table.len().is_power_of_two() && table.len() > 1);
        let room = out.spare_capacity_mut();
        assert!(room.len() >= room_for(plain.len()));
        let start = room.as_mut_ptr().cast::<u8>();
        let shift = 64 - table.len().trailing_zeros();
        let mut window = Window::<MIN_COPY> {
            plain,
            table,
            shift,
        };
        // SAFETY: the assertion above guarantees the room, and `written` bytes of it were initialised.
        unsafe {
            let (end, copies) = window.elements(start);
            let written = end.offset_from_unsigned(start);
            debug_assert!(written + SLACK <= room_for(plain.len()) + LONGEST_TAG);
            out.set_len(out.len() + written);
            copies
        }
    }

    /// Writes the elements for all bytes to `out`, and returns the end of the written bytes.
    ///
    /// # Safety
    /// `room_for(self.plain.len())` bytes may be written.
    #[inline(always)]
    unsafe fn elements(&mut self, mut out: *mut u8) -> (*mut u8, Copies) {
        let mut copies = Copies::default();
        let Some(last) = self.plain.len().checked_sub(MARGIN) else {
            // SAFETY: the contract of this function.
            return (unsafe { long_literal(self.plain, out) }, copies);
        };
        let (mut at, mut literal) = (1, 0);
        // SAFETY: `search` begins after position 0, and returns a position up to `last` and an earlier one. From
        // both, `MARGIN` bytes may be loaded. Elements never take more bytes than `room_for` the plain bytes they
        // stand for.
        unsafe {
            while let Some((found, mut from)) = self.search(at, last) {
                at = found;
                out = self.literal(literal, at, out);
                loop {
                    let end = self.same_until(at, from);
                    copies.number += 1;
                    copies.bytes += end - at;
                    out = copy(at - from, end - at, out);
                    (at, literal) = (end, end);
                    if at > last {
                        return (long_literal(self.rest(literal), out), copies);
                    }
                    self.note(at - 1);
                    let (earlier, is_same) = self.look_up(at);
                    if !is_same {
                        break;
                    }
                    from = earlier;
                }
                at += 1;
            }
            (long_literal(self.rest(literal), out), copies)
        }
    }

    fn rest(&self, from: usize) -> &[u8] {
        self.plain.get(from..).unwrap_or_default()
    }

    /// Returns the first position from `at` to `last` whose bytes match an earlier position, together with that
    /// position.
    ///
    /// # Safety
    /// [`MARGIN`] bytes may be loaded from `last`; `at` is not 0.
    #[inline(always)]
    unsafe fn search(&mut self, mut at: usize, last: usize) -> Option<(usize, usize)> {
        let mut tried = STEP_AFTER;
        if at + FIRST <= last {
            for place in at..at + FIRST {
                // SAFETY: `place` lies before `last`.
                let (from, is_same) = unsafe { self.look_up(place) };
                if is_same {
                    return Some((place, from));
                }
            }
            at += FIRST;
            tried += FIRST;
        }
        while at <= last {
            // SAFETY: `at` is at most `last`.
            let (from, is_same) = unsafe { self.look_up(at) };
            if is_same {
                return Some((at, from));
            }
            let step = tried / STEP_AFTER;
            at += step;
            tried += step;
        }
        None
    }

    /// Returns the last position that is recorded for the hash of the bytes at `at`, and true if its bytes match. Then
    /// records `at` for that hash.
    ///
    /// # Safety
    /// [`MARGIN`] bytes may be loaded from `at`, which is not 0.
    #[inline(always)]
    unsafe fn look_up(&mut self, at: usize) -> (usize, bool) {
        // SAFETY: 8 bytes may be loaded from `at`, and from the recorded position, which is earlier or 0. A hash
        // is below the length of the table.
        unsafe {
            let bytes = self.load(at);
            let hash = self.hash(bytes);
            let place = self.table.get_unchecked_mut(hash);
            let earlier = usize::from(std::mem::replace(place, at as u16));
            (earlier, first::<MIN_COPY>(bytes ^ self.load(earlier)) == 0)
        }
    }

    /// Records a position in the table.
    ///
    /// # Safety
    /// 8 bytes may be loaded from `at`.
    #[inline(always)]
    unsafe fn note(&mut self, at: usize) {
        // SAFETY: the contract of this function. A hash is below the length of the table.
        unsafe {
            let hash = self.hash(self.load(at));
            *self.table.get_unchecked_mut(hash) = at as u16;
        }
    }

    /// Returns the hash of the first `MIN_COPY` of these bytes, which is below the table's length.
    #[inline(always)]
    fn hash(&self, bytes: u64) -> usize {
        (first::<MIN_COPY>(bytes).wrapping_mul(MULTIPLIER) >> self.shift) as usize
    }

    /// Loads the 8 bytes at `at`.
    ///
    /// # Safety
    /// 8 bytes may be loaded from `at`.
    #[inline(always)]
    unsafe fn load(&self, at: usize) -> u64 {
        debug_assert!(at + 8 <= self.plain.len());
        // SAFETY: the contract of this function.
        u64::from_le(unsafe { self.plain.as_ptr().add(at).cast::<u64>().read_unaligned() })
    }

    /// Returns the position at which the bytes from `at` on stop matching the bytes from `from` on. The first four
    /// bytes must match.
    ///
    /// # Safety
    /// [`MARGIN`] bytes may be loaded from `at`; `from` is before it.
    #[inline(always)]
    unsafe fn same_until(&self, at: usize, from: usize) -> usize {
        // SAFETY: 4 and 8 are fewer than `MARGIN`.
        let differ = unsafe { self.load(at + 4) ^ self.load(from + 4) };
        match differ {
            0 => same_until_far(self.plain, at + 12, from + 12),
            _ => at + 4 + differ.trailing_zeros() as usize / 8,
        }
    }

    /// Writes the bytes between two positions as a literal, and returns the literal's end.
    ///
    /// # Safety
    /// `start < end`. [`MARGIN`] bytes may be loaded from `end`, and `room_for(end - start)` bytes may be written.
    #[inline(always)]
    unsafe fn literal(&self, start: usize, end: usize, out: *mut u8) -> *mut u8 {
        let length = end - start;
        if length > 16 {
            let bytes = self.plain.get(start..end).unwrap_or_default();
            // SAFETY: the contract of this function.
            return unsafe { long_literal(bytes, out) };
        }
        // SAFETY: 16 bytes may be loaded from `start`, because `MARGIN` bytes may be loaded from `end`. Together
        // with the tag, they are fewer than `SLACK`.
        unsafe {
            out.write(tag(length));
            let bytes = self.plain.as_ptr().add(start).cast::<[u8; 16]>();
            out.add(1).cast::<[u8; 16]>().write(bytes.read());
            out.add(1 + length)
        }
    }
}

/// Returns the position at which the bytes from `at` on stop matching the bytes from `from` on. `from` is before `at`.
#[inline(never)]
fn same_until_far(plain: &[u8], at: usize, from: usize) -> usize {
    let (Some(bytes), Some(earlier)) = (plain.get(at..), plain.get(from..)) else {
        return at;
    };
    let (words, rest) = bytes.as_chunks::<8>();
    let (earlier_words, _) = earlier.as_chunks::<8>();
    for ((a, b), done) in words.iter().zip(earlier_words).zip(0..) {
        let differ = u64::from_le_bytes(*a) ^ u64::from_le_bytes(*b);
        if differ != 0 {
            return at + 8 * done + differ.trailing_zeros() as usize / 8;
        }
    }
    let same = 8 * words.len();
    let earlier_rest = earlier.get(same..).unwrap_or_default();
    let pairs = rest.iter().zip(earlier_rest);
    at + same + pairs.take_while(|(a, b)| a == b).count()
}

/// Returns the first `N` of eight bytes, shifted up so that zeros precede them.
#[inline(always)]
fn first<const N: u32>(bytes: u64) -> u64 {
    bytes << (64 - 8 * N)
}

/// Returns the tag for a literal of at most [`IN_TAG`] bytes.
#[inline(always)]
fn tag(length: usize) -> u8 {
    ((length - 1) << 2) as u8
}

/// Writes a literal of any length, including none, and returns the literal's end.
///
/// # Safety
/// `room_for(bytes.len())` bytes may be written.
#[inline(never)]
unsafe fn long_literal(bytes: &[u8], mut out: *mut u8) -> *mut u8 {
    let Some(less_1) = bytes.len().checked_sub(1) else {
        return out;
    };
    // SAFETY: a tag of at most 3 bytes and the literal are written, to memory that does not overlap `bytes`.
    unsafe {
        if less_1 < IN_TAG {
            out.write(tag(bytes.len()));
            out = out.add(1);
        } else {
            // The length fits into two bytes, because there are at most `WINDOW` bytes.
            let width = if less_1 < 1 << 8 { 1 } else { 2 };
            out.write(((IN_TAG + width - 1) << 2) as u8);
            let length = (less_1 as u16).to_le_bytes();
            out.add(1).cast::<[u8; 2]>().write(length);
            out = out.add(1 + width);
        }
        std::ptr::copy_nonoverlapping(bytes.as_ptr(), out, bytes.len());
        out.add(bytes.len())
    }
}

/// Writes copies of `length` bytes, which are at least 4, from `offset` bytes back. Returns the end of the copies.
///
/// # Safety
/// `length` bytes may be written.
#[inline(always)]
unsafe fn copy(offset: usize, length: usize, out: *mut u8) -> *mut u8 {
    // SAFETY: the contract of this function.
    unsafe {
        match length {
            ..=MAX_COPIED => one_copy(offset, length, out),
            _ => long_copy(offset, length, out),
        }
    }
}

/// Writes more bytes than one copy can hold, as copies that all have at least four bytes. Returns the end of the
/// copies.
///
/// # Safety
/// See [`copy`].
#[inline(never)]
unsafe fn long_copy(offset: usize, mut length: usize, mut out: *mut u8) -> *mut u8 {
    // SAFETY: each copy takes 3 bytes, less than it copies.
    unsafe {
        while length >= MAX_COPIED + 4 {
            out = one_copy(offset, MAX_COPIED, out);
            length -= MAX_COPIED;
        }
        if length > MAX_COPIED {
            out = one_copy(offset, MAX_COPIED - 4, out);
            length -= MAX_COPIED - 4;
        }
        one_copy(offset, length, out)
    }
}

/// Writes one copy of 4 to 64 bytes, from at most 65,535 bytes back, without a branch. Returns the end of the copy.
///
/// # Safety
/// 4 bytes may be written.
#[inline(always)]
unsafe fn one_copy(offset: usize, length: usize, out: *mut u8) -> *mut u8 {
    let in_two = (offset < NEAR) & (length <= SHORT);
    // The offset's upper three bits are in the tag.
    let two = 1 | (length - 4) << 2 | (offset >> 8) << 5 | (offset & 0xff) << 8;
    let three = 2 | (length - 1) << 2 | offset << 8;
    let element = if in_two { two } else { three };
    // SAFETY: the contract of this function.
    unsafe {
        out.cast::<[u8; 4]>().write((element as u32).to_le_bytes());
        out.add(3 - usize::from(in_two))
    }
}
