//! Making Snappy blocks.
//!
//! Plain bytes are taken in windows of 64 KiB, each for itself. A table has, for the hash of a few bytes, the last place where
//! they were; if they are there indeed, they become a copy, with all that follows and is the same. What lies between two copies
//! is a literal. Where none is found for long, the search goes in steps that grow.
//!
//! How many bytes have to be the same decides how large the block becomes, and how fast: four find the most copies. But of strings
//! that repeat each other in long parts they find many a short one that hides a long one, and of numbers that have four bytes in
//! common with any other, one that is far away. So a part of the bytes is compressed in two ways, and what made less of it is what
//! the others go on with.

/// Plain bytes that are searched together: a place has 16 bits.
const WINDOW: usize = 1 << 16;

/// In a block of so many windows two ways are compared,
const COMPARED_FROM: usize = 4;

/// by one byte of so many behind half of these: what a table learns first says little.
const PART_COMPARED: usize = 32;

/// Copies of so many bytes on average have the other way look for long ones.
const LONG_COPIES: usize = 9;

/// Places of the table, at most and at least.
const MOST_PLACES: u32 = 14;
const LEAST_PLACES: u32 = 8;

/// At the end of a window no copy begins: so many bytes may be loaded from each place that is looked at.
const MARGIN: usize = 16;

/// Bytes that the number of plain bytes takes at most.
const MOST_SIZE_BYTES: usize = 5;

/// Bytes that may be written behind elements: the tag of the last literal, or what is too much of a short one.
const SLACK: usize = 32;

/// A literal and the copy behind it take at most one byte in so many more than they stand for: a literal of 61 bytes two for its
/// length besides, where a copy of four saves one.
const PART_MORE: usize = 32;

/// The tag of a literal of at most 60 bytes has its length, those behind have it in one or two bytes of their own.
const IN_TAG: usize = 60;

const LONGEST_TAG: usize = 3;

/// A copy of at most 11 bytes from less than 2048 bytes back takes two bytes,
const NEAR: usize = 1 << 11;
const SHORT: usize = 11;

/// any other has at most 64.
const MOST_COPIED: usize = 64;

/// Behind so many places that had nothing the search goes on in steps of two, behind as many steps of these by three, and so on.
const STEP_AFTER: usize = 32;

/// The first places are looked at in a loop that is unrolled.
const FIRST: usize = 16;

/// What four bytes are multiplied by is the lower half: others use it as well, and it spreads what pages have.
const MULTIPLIER: u64 = 0x9e37_79b9_1e35_a7bd;

/// Makes blocks; keeps its table from one to the next.
#[derive(Debug, Default)]
pub struct Compressor {
    table: Vec<u16>,
}

/// What became of a window.
#[derive(Debug, Clone, Copy, Default)]
struct Copies {
    number: usize,
    bytes: usize,
}

/// More plain bytes than a block can say that it has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TooLong;

impl Compressor {
    /// Appends the block of `plain` to `out`. Where it goes on with bytes of another kind, at `cuts`, which ascend, nothing is
    /// looked for in what was before, and the steps of the search begin anew.
    ///
    /// # Errors
    /// [`TooLong`] from 4 GiB on; nothing is appended then.
    pub fn compress(
        &mut self,
        plain: &[u8],
        cuts: &[usize],
        out: &mut Vec<u8>,
    ) -> Result<(), TooLong> {
        let mut size = u32::try_from(plain.len()).map_err(|_| TooLong)?;
        // At once, so that nothing is copied when there are more windows; what is too much was never written to.
        out.reserve(MOST_SIZE_BYTES + room_for(plain.len()));
        while size >= 0x80 {
            out.push(size as u8 | 0x80);
            size >>= 7;
        }
        out.push(size as u8);
        self.table.resize(1 << MOST_PLACES, 0);
        let mut start = 0;
        for end in cuts.iter().copied().chain([plain.len()]) {
            if let Some(part) = plain.get(start..end) {
                self.part(part, out);
                start = end;
            }
        }
        Ok(())
    }

    /// Appends the elements of bytes of one kind.
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

    /// Bytes that the elements of `plain` take; `out` is as it was behind that.
    fn size_of(&mut self, least: u32, plain: &[u8], out: &mut Vec<u8>) -> usize {
        let start = out.len();
        self.windows(least, plain, out);
        let size = out.len() - start;
        out.truncate(start);
        size
    }

    /// Appends the elements of bytes, whose copies have so many at least.
    fn windows(&mut self, least: u32, plain: &[u8], out: &mut Vec<u8>) -> Copies {
        let mut copies = Copies::default();
        for window in plain.chunks(WINDOW) {
            out.reserve(room_for(window.len()));
            let bits = window.len().next_power_of_two().trailing_zeros();
            let bits = bits.clamp(LEAST_PLACES, MOST_PLACES);
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

/// Bytes that the elements of so many plain bytes may take, and be written over.
fn room_for(plain: usize) -> usize {
    plain + plain / PART_MORE + SLACK
}

/// A window, whose copies have at least `LEAST` bytes, 4 to 8.
struct Window<'a, const LEAST: u32> {
    plain: &'a [u8],
    /// By hash: the last place where bytes of it were, or 0.
    table: &'a mut [u16],
    /// What a hash is shifted by to be below the length of the table.
    shift: u32,
}

impl<const LEAST: u32> Window<'_, LEAST> {
    /// Appends the elements of `plain`, at most [`WINDOW`] bytes; `out` has the room for them. The table has as many places,
    /// all 0, as a power of two says.
    fn compress(plain: &[u8], table: &mut [u16], out: &mut Vec<u8>) -> Copies {
        assert!(plain.len() <= WINDOW && table.len().is_power_of_two() && table.len() > 1);
        let room = out.spare_capacity_mut();
        assert!(room.len() >= room_for(plain.len()));
        let start = room.as_mut_ptr().cast::<u8>();
        let shift = 64 - table.len().trailing_zeros();
        let mut window = Window::<LEAST> {
            plain,
            table,
            shift,
        };
        // SAFETY: the room was asserted, and so many bytes of it were written.
        unsafe {
            let (end, copies) = window.elements(start);
            let written = end.offset_from_unsigned(start);
            debug_assert!(written + SLACK <= room_for(plain.len()) + LONGEST_TAG);
            out.set_len(out.len() + written);
            copies
        }
    }

    /// Writes the elements of all bytes to `out`; where they end there.
    ///
    /// # Safety
    /// [`room_for`] as many bytes as there are plain ones may be written.
    #[inline(always)]
    unsafe fn elements(&mut self, mut out: *mut u8) -> (*mut u8, Copies) {
        let mut copies = Copies::default();
        let Some(last) = self.plain.len().checked_sub(MARGIN) else {
            // SAFETY: the contract of this function.
            return (unsafe { long_literal(self.plain, out) }, copies);
        };
        let (mut at, mut literal) = (1, 0);
        // SAFETY: `search` begins behind 0, and gives back a place up to `last` and an earlier one. From both, `MARGIN` bytes
        // may be loaded. What is written takes no more bytes than `room_for` what it stands for.
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

    /// The first place from `at` on, up to `last`, that has the bytes of an earlier one, and that one.
    ///
    /// # Safety
    /// [`MARGIN`] bytes may be loaded from `last`; `at` is not 0.
    #[inline(always)]
    unsafe fn search(&mut self, mut at: usize, last: usize) -> Option<(usize, usize)> {
        let mut tried = STEP_AFTER;
        if at + FIRST <= last {
            for place in at..at + FIRST {
                // SAFETY: it lies in front of `last`.
                let (from, is_same) = unsafe { self.look_up(place) };
                if is_same {
                    return Some((place, from));
                }
            }
            at += FIRST;
            tried += FIRST;
        }
        while at <= last {
            // SAFETY: it is not behind `last`.
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

    /// The last place with the hash of the bytes at `at`, which has that hash from now on; and whether it has these bytes.
    ///
    /// # Safety
    /// [`MARGIN`] bytes may be loaded from `at`, which is not 0.
    #[inline(always)]
    unsafe fn look_up(&mut self, at: usize) -> (usize, bool) {
        // SAFETY: 8 bytes may be loaded from `at`, and from where it was before, or from 0. The place of a hash is below the
        // length of the table.
        unsafe {
            let bytes = self.load(at);
            let hash = self.hash(bytes);
            let place = self.table.get_unchecked_mut(hash);
            let earlier = usize::from(std::mem::replace(place, at as u16));
            (earlier, first::<LEAST>(bytes ^ self.load(earlier)) == 0)
        }
    }

    /// Has the table know a place.
    ///
    /// # Safety
    /// 8 bytes may be loaded from there.
    #[inline(always)]
    unsafe fn note(&mut self, at: usize) {
        // SAFETY: the contract of this function. The place of a hash is below the length of the table.
        unsafe {
            let hash = self.hash(self.load(at));
            *self.table.get_unchecked_mut(hash) = at as u16;
        }
    }

    /// The place for the first bytes of these, below the length of the table.
    #[inline(always)]
    fn hash(&self, bytes: u64) -> usize {
        (first::<LEAST>(bytes).wrapping_mul(MULTIPLIER) >> self.shift) as usize
    }

    /// # Safety
    /// 8 bytes may be loaded from there.
    #[inline(always)]
    unsafe fn load(&self, at: usize) -> u64 {
        debug_assert!(at + 8 <= self.plain.len());
        // SAFETY: the contract of this function.
        u64::from_le(unsafe { self.plain.as_ptr().add(at).cast::<u64>().read_unaligned() })
    }

    /// Where the bytes from `at` on, of which the first four are those from `from` on, become others.
    ///
    /// # Safety
    /// [`MARGIN`] bytes may be loaded from `at`; `from` is in front of it.
    #[inline(always)]
    unsafe fn same_until(&self, at: usize, from: usize) -> usize {
        // SAFETY: 4 and 8 are fewer than `MARGIN`.
        let differ = unsafe { self.load(at + 4) ^ self.load(from + 4) };
        match differ {
            0 => same_until_far(self.plain, at + 12, from + 12),
            _ => at + 4 + differ.trailing_zeros() as usize / 8,
        }
    }

    /// Writes the bytes between two places as a literal; where it ends there.
    ///
    /// # Safety
    /// `start < end`, [`MARGIN`] bytes may be loaded from `end`, and [`room_for`] the bytes may be written.
    #[inline(always)]
    unsafe fn literal(&self, start: usize, end: usize, out: *mut u8) -> *mut u8 {
        let length = end - start;
        if length > 16 {
            let bytes = self.plain.get(start..end).unwrap_or_default();
            // SAFETY: the contract of this function.
            return unsafe { long_literal(bytes, out) };
        }
        // SAFETY: 16 bytes are there from `start` on, as `MARGIN` are from `end` on. They and the tag are fewer than `SLACK`.
        unsafe {
            out.write(tag(length));
            let bytes = self.plain.as_ptr().add(start).cast::<[u8; 16]>();
            out.add(1).cast::<[u8; 16]>().write(bytes.read());
            out.add(1 + length)
        }
    }
}

/// Where bytes from `at` on become others than those from `from` on, which is in front of it.
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

/// The first bytes of eight, behind zeros.
#[inline(always)]
fn first<const N: u32>(bytes: u64) -> u64 {
    bytes << (64 - 8 * N)
}

/// The tag of a literal of at most [`IN_TAG`] bytes.
#[inline(always)]
fn tag(length: usize) -> u8 {
    ((length - 1) << 2) as u8
}

/// Writes a literal of any number of bytes, none as well; where it ends.
///
/// # Safety
/// [`room_for`] the bytes may be written.
#[inline(never)]
unsafe fn long_literal(bytes: &[u8], mut out: *mut u8) -> *mut u8 {
    let Some(less_1) = bytes.len().checked_sub(1) else {
        return out;
    };
    // SAFETY: a tag of at most 3 bytes and the literal are written, into memory of its own.
    unsafe {
        if less_1 < IN_TAG {
            out.write(tag(bytes.len()));
            out = out.add(1);
        } else {
            // At most `WINDOW` bytes, so two say how many.
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

/// Writes copies of `length` bytes, 4 at least, from `offset` bytes back; where they end.
///
/// # Safety
/// As many bytes may be written as are copied.
#[inline(always)]
unsafe fn copy(offset: usize, length: usize, out: *mut u8) -> *mut u8 {
    // SAFETY: the contract of this function.
    unsafe {
        match length {
            ..=MOST_COPIED => one_copy(offset, length, out),
            _ => long_copy(offset, length, out),
        }
    }
}

/// The same for more bytes than one copy has; the last one has four at least again.
///
/// # Safety
/// As for [`copy`].
#[inline(never)]
unsafe fn long_copy(offset: usize, mut length: usize, mut out: *mut u8) -> *mut u8 {
    // SAFETY: each takes 3 bytes, less than it copies.
    unsafe {
        while length >= MOST_COPIED + 4 {
            out = one_copy(offset, MOST_COPIED, out);
            length -= MOST_COPIED;
        }
        if length > MOST_COPIED {
            out = one_copy(offset, MOST_COPIED - 4, out);
            length -= MOST_COPIED - 4;
        }
        one_copy(offset, length, out)
    }
}

/// Writes one copy of 4 to 64 bytes, from at most 65,535 bytes back, without a branch; where it ends.
///
/// # Safety
/// 4 bytes may be written.
#[inline(always)]
unsafe fn one_copy(offset: usize, length: usize, out: *mut u8) -> *mut u8 {
    let in_two = (offset < NEAR) & (length <= SHORT);
    // The upper three bits of the offset are in the tag.
    let two = 1 | (length - 4) << 2 | (offset >> 8) << 5 | (offset & 0xff) << 8;
    let three = 2 | (length - 1) << 2 | offset << 8;
    let element = if in_two { two } else { three };
    // SAFETY: the contract of this function.
    unsafe {
        out.cast::<[u8; 4]>().write((element as u32).to_le_bytes());
        out.add(3 - usize::from(in_two))
    }
}
