//! PLAIN byte arrays, which are `length: u32 LE, bytes`, one value after another.
//!
//! ```text
//! 03 00 00 00 'f' 'o' 'o' 00 00 00 00 02 00 00 00 'h' 'i'   →   offsets 0 3 3 5   data foohi
//! ```
//!
//! We only know where a value starts after we have read the previous length. A page is therefore one chain of loads,
//! which takes about six cycles per value, and everything else must run in parallel with that chain. So we copy the
//! bytes in the same pass, 32 at once ([`wild_copy`]). One comparison per value covers the end of the page, the end of
//! the buffer and the range of the offsets.
//!
//! If all values have the same length, we check eight lengths at a time, and nothing waits.

use std::hint::black_box;

use herringbone_arrow::array::OffsetSizeTrait;
use herringbone_arrow::buffer::BooleanBuffer;

use super::{ByteBuilder, ENDS_EARLY, OVERFLOW};
use crate::Malformed;
use crate::multiversion::multiversion;
use crate::prefetch;
use crate::wild_copy::{SLACK, wild_copy};

/// The size in bytes of the length before each value.
const PREFIX: usize = 4;

/// The number of values that we check together if they may all have the same length.
const SAME_LENGTH_VALUES: usize = 8;

/// The number of equally long values in a row after which the next values are likely to be alike, too.
const LONG: usize = 8 * SAME_LENGTH_VALUES;

/// The largest number of values of varying lengths between two attempts to find values of one length.
const BLOCK: usize = 4096;

impl<O: OffsetSizeTrait> ByteBuilder<O> {
    /// Appends `n` PLAIN values from `page`, starting at `position`. Returns the position after them.
    ///
    /// # Errors
    /// Fails with [`Malformed`] if values end early, if the offsets cannot address all bytes, or if a builder of
    /// strings gets invalid UTF-8.
    pub fn append_plain(
        &mut self,
        page: &[u8],
        position: usize,
        n: usize,
    ) -> Result<usize, Malformed> {
        self.append_plain_with(page, position, n, All)
    }

    /// Reads the next `wanted.len()` PLAIN values in `page`, starting at `position`, and appends the values whose bit
    /// is set. Returns the position after all of them.
    ///
    /// # Errors
    /// Fails as [`Self::append_plain`] describes, except that unselected values may contain any bytes.
    pub fn append_plain_wanted(
        &mut self,
        page: &[u8],
        position: usize,
        wanted: &BooleanBuffer,
    ) -> Result<usize, Malformed> {
        let words: Vec<u64> = wanted.bit_chunks().iter_padded().collect();
        self.append_plain_with(page, position, wanted.len(), Bits(&words))
    }

    fn append_plain_with(
        &mut self,
        page: &[u8],
        position: usize,
        n: usize,
        wanted: impl Wanted,
    ) -> Result<usize, Malformed> {
        let section = page.get(position..).ok_or(ENDS_EARLY)?;
        if n > section.len() / PREFIX {
            return Err(ENDS_EARLY);
        }
        self.reserve_values(n);
        let mark = self.mark();
        let outcome = self.copy_plain(page, position, n, wanted);
        self.seal(&mark, false, outcome)
    }

    fn copy_plain(
        &mut self,
        page: &[u8],
        start: usize,
        n: usize,
        wanted: impl Wanted,
    ) -> Result<usize, Malformed> {
        let mut walk = Walk {
            at: start,
            done: 0,
            n,
        };
        let mut block = SAME_LENGTH_VALUES;
        while walk.done < n {
            let before = walk.done;
            walk = copy_plain_same_length(self, page, walk, wanted);
            // If the lengths varied early, the next values are unlikely to have one length for long.
            block = match walk.done - before >= LONG {
                true => SAME_LENGTH_VALUES,
                false => BLOCK.min(8 * block),
            };
            let end = n.min(walk.done + block);
            let to_end = Walk { n: end, ..walk };
            walk = Walk {
                n,
                ..copy_plain_wide(self, page, to_end, wanted)
            };
            // The wide copies stopped because the page or the buffer ends too soon for them.
            if walk.done < end {
                walk.at = self.copy_plain_one(page, walk.at, wanted.value(walk.done) == 1)?;
                walk.done += 1;
                self.reserve_like(walk.at - start, n, n - walk.done);
            }
        }
        Ok(walk.at)
    }

    /// Appends the value at `at` if it is selected, with a copy that needs no slack.
    fn copy_plain_one(
        &mut self,
        page: &[u8],
        at: usize,
        is_wanted: bool,
    ) -> Result<usize, Malformed> {
        let value = value_at(page, at).ok_or(ENDS_EARLY)?;
        if is_wanted {
            if value.len() > self.data_room() {
                return Err(OVERFLOW);
            }
            self.data.extend_from_slice(value);
            self.offsets.push(O::usize_as(self.data.len()));
        }
        Ok(at + PREFIX + value.len())
    }

    /// Makes room for `left` more values that are like the `n - left` values before, which took `taken` bytes of the
    /// page.
    fn reserve_like(&mut self, taken: usize, n: usize, left: usize) {
        let average = taken / (n - left).max(1);
        // The reserved space must stay proportional to the bytes that we have seen, so we bound the estimate.
        let estimate = average.saturating_mul(left).min(16 * taken + 4096);
        if self.data.capacity() - self.data.len() < average + 2 * SLACK {
            self.data.reserve(estimate + 2 * SLACK);
        }
    }
}

/// A selection of the values that are appended.
trait Wanted: Copy {
    /// Returns 1 if value `index` is selected, else 0.
    fn value(self, index: usize) -> usize;
}

/// The selection of all values.
#[derive(Clone, Copy)]
struct All;

impl Wanted for All {
    #[inline(always)]
    fn value(self, _index: usize) -> usize {
        1
    }
}

/// The selection of the values whose bit is set.
#[derive(Clone, Copy)]
struct Bits<'a>(&'a [u64]);

impl Wanted for Bits<'_> {
    #[inline(always)]
    fn value(self, index: usize) -> usize {
        let word = self.0.get(index / 64).copied().unwrap_or_default();
        (word >> (index % 64) & 1) as usize
    }
}

/// The state of a walk over values.
#[derive(Clone, Copy)]
struct Walk {
    /// The position in the page.
    at: usize,
    /// The number of values that have been processed so far.
    done: usize,
    /// The total number of values in the walk.
    n: usize,
}

/// Continues the walk while the slack of wide copies fits into page and buffer, and appends the selected values. We
/// copy every value, and let the next one overwrite it if it is not selected, so that no branch depends on the
/// selection.
fn copy_plain_wide<O: OffsetSizeTrait, W: Wanted>(
    builder: &mut ByteBuilder<O>,
    page: &[u8],
    walk: Walk,
    wanted: W,
) -> Walk {
    #[inline(always)]
    fn inner<O: OffsetSizeTrait, W: Wanted>(
        builder: &mut ByteBuilder<O>,
        page: &[u8],
        walk: Walk,
        wanted: W,
    ) -> Walk {
        // These are the last positions at which a value may start in the page and end in the data.
        let (Some(page_end), Some(data_end)) = (
            page.len().checked_sub(PREFIX + SLACK),
            builder.data.capacity().checked_sub(SLACK),
        ) else {
            return walk;
        };
        let data_end = data_end.min(ByteBuilder::<O>::max_data());
        let Walk {
            mut at,
            mut done,
            n,
        } = walk;
        // The loop takes no more values than there is room for offsets, whether they are selected or not.
        let room = builder.offsets.capacity() - builder.offsets.len();
        let end = n.min(done.saturating_add(room));
        let (source, data) = (page.as_ptr(), builder.data.as_mut_ptr());
        let offsets = builder
            .offsets
            .spare_capacity_mut()
            .as_mut_ptr()
            .cast::<O>();
        // The next length lies `prefix + length` bytes further on, and everything waits for it. So we add `prefix`
        // while the length is being loaded. If it were a constant, the compiler would add it after the length.
        let prefix = black_box(PREFIX);
        let (mut filled, mut appended) = (builder.data.len(), 0);
        while done < end && at <= page_end && filled <= data_end {
            prefetch::ahead(source.wrapping_add(at));
            // SAFETY: `at + PREFIX + SLACK <= page.len()`.
            let length = unsafe { source.add(at).cast::<[u8; PREFIX]>().read() };
            let length = u32::from_le_bytes(length) as usize;
            if length > (page_end - at).min(data_end - filled) {
                break;
            }
            // SAFETY: `at + PREFIX + length + SLACK <= page.len()`, and
            // `filled + length + SLACK <= data.capacity()`; page and data are different allocations.
            unsafe { wild_copy(source.add(at + PREFIX), data.add(filled), length) };
            at = at + prefix + length;
            let is_wanted = wanted.value(done);
            filled += length * is_wanted;
            // SAFETY: `appended <= done - walk.done`, which is less than the `room` for more offsets.
            unsafe { offsets.add(appended).write(O::usize_as(filled)) };
            appended += is_wanted;
            done += 1;
        }
        // SAFETY: the bytes up to `filled <= capacity` were copied from the page, in order.
        unsafe { builder.data.set_len(filled) };
        // SAFETY: `appended` offsets were written after the last one, rising up to `filled`, which is at most
        // `max_data`.
        unsafe { builder.offsets.set_len(builder.offsets.len() + appended) };
        Walk { at, done, n }
    }
    multiversion!(inner<O: OffsetSizeTrait, W: Wanted>(
        builder: &mut ByteBuilder<O>,
        page: &[u8],
        walk: Walk,
        wanted: W
    ) -> Walk)
}

/// Continues the walk like [`copy_plain_wide`], but over values of one length. It takes [`SAME_LENGTH_VALUES`] values
/// at a time, so that nothing waits for their lengths.
fn copy_plain_same_length<O: OffsetSizeTrait, W: Wanted>(
    builder: &mut ByteBuilder<O>,
    page: &[u8],
    walk: Walk,
    wanted: W,
) -> Walk {
    #[inline(always)]
    fn inner<O: OffsetSizeTrait, W: Wanted>(
        builder: &mut ByteBuilder<O>,
        page: &[u8],
        walk: Walk,
        wanted: W,
    ) -> Walk {
        let Walk {
            mut at,
            mut done,
            n,
        } = walk;
        let Some(length) = value_at(page, at).map(<[u8]>::len) else {
            return walk;
        };
        let stride = PREFIX + length;
        // These are the bytes that `SAME_LENGTH_VALUES` values take together, plus the slack after them.
        let in_page = SAME_LENGTH_VALUES
            .saturating_mul(stride)
            .saturating_add(SLACK);
        let in_data = SAME_LENGTH_VALUES
            .saturating_mul(length)
            .saturating_add(SLACK);
        while let Some(values) = page.get(at..).and_then(|rest| rest.get(..in_page)) {
            let filled = builder.data.len();
            let is_room = ByteBuilder::<O>::max_data().min(builder.data.capacity()) - filled
                >= in_data
                && builder.offsets.capacity() - builder.offsets.len() >= SAME_LENGTH_VALUES;
            if n - done < SAME_LENGTH_VALUES || !is_room {
                break;
            }
            if !have_same_length(page, at, length) {
                break;
            }
            let source = values.as_ptr();
            let (mut end, mut appended) = (filled, 0);
            let (data, offsets) = (
                builder.data.as_mut_ptr(),
                builder.offsets.spare_capacity_mut(),
            );
            let offsets = offsets.as_mut_ptr().cast::<O>();
            for value in 0..SAME_LENGTH_VALUES {
                prefetch::ahead(source.wrapping_add(value * stride));
                // SAFETY: `value * stride + PREFIX + length + SLACK` is at most `in_page`. `end` is at most
                // `filled + value * length`, after which there is room for `length + SLACK`. Page and data are
                // different allocations.
                unsafe { wild_copy(source.add(value * stride + PREFIX), data.add(end), length) };
                let is_wanted = wanted.value(done + value);
                end += length * is_wanted;
                // SAFETY: `appended <= value`, and there is room for `SAME_LENGTH_VALUES` offsets.
                unsafe { offsets.add(appended).write(O::usize_as(end)) };
                appended += is_wanted;
            }
            at += SAME_LENGTH_VALUES * stride;
            done += SAME_LENGTH_VALUES;
            // SAFETY: the bytes up to `end` were copied from the page, in order; that is at most `max_data`.
            unsafe { builder.data.set_len(end) };
            // SAFETY: `appended` offsets were written, rising up to `end`.
            unsafe { builder.offsets.set_len(builder.offsets.len() + appended) };
        }
        Walk { at, done, n }
    }
    multiversion!(inner<O: OffsetSizeTrait, W: Wanted>(
        builder: &mut ByteBuilder<O>,
        page: &[u8],
        walk: Walk,
        wanted: W
    ) -> Walk)
}

/// Returns the PLAIN value whose length starts at `at`.
pub(crate) fn value_at(page: &[u8], at: usize) -> Option<&[u8]> {
    let (prefix, rest) = page.get(at..)?.split_first_chunk::<PREFIX>()?;
    rest.get(..u32::from_le_bytes(*prefix) as usize)
}

/// Returns the position after `n` PLAIN values in `page` that start at `position`.
///
/// Values of varying lengths form a chain of loads. If eight values have the same length, we skip them with loads that
/// do not wait for each other.
///
/// # Errors
/// Fails with [`Malformed`] if values end early.
pub fn skip_plain(page: &[u8], position: usize, n: usize) -> Result<usize, Malformed> {
    let (mut at, mut left) = (position, n);
    let mut before = None;
    while left > 0 {
        let length = value_at(page, at).ok_or(ENDS_EARLY)?.len();
        at += PREFIX + length;
        left -= 1;
        // If the length has just changed, it is unlikely to stay the same for the next `SAME_LENGTH_VALUES` values.
        if before.replace(length) == Some(length) {
            while left >= SAME_LENGTH_VALUES && have_same_length(page, at, length) {
                at += SAME_LENGTH_VALUES * (PREFIX + length);
                left -= SAME_LENGTH_VALUES;
            }
        }
    }
    Ok(at)
}

/// Returns true if the next [`SAME_LENGTH_VALUES`] values in `page` from `at` on are complete, and have `length` bytes
/// each.
#[inline(always)]
fn have_same_length(page: &[u8], at: usize, length: usize) -> bool {
    let stride = PREFIX + length;
    let end = stride
        .checked_mul(SAME_LENGTH_VALUES)
        .and_then(|bytes| bytes.checked_add(at));
    let Some(values) = end.and_then(|end| page.get(at..end)) else {
        return false;
    };
    let mut differing = 0;
    for value in 0..SAME_LENGTH_VALUES {
        let prefix = values.get(value * stride..).and_then(<[u8]>::first_chunk);
        differing |= prefix.map_or(usize::MAX, |prefix| {
            u32::from_le_bytes(*prefix) as usize ^ length
        });
    }
    differing == 0
}

/// Returns how many of the `n` PLAIN values from `position` on fit into `budget` bytes. Each value costs its own bytes
/// plus `overhead`. Values past the end of the page and values that end early count as fitting, because a later read
/// reports them as errors.
#[must_use]
pub fn fit_plain(page: &[u8], position: usize, n: usize, overhead: usize, budget: usize) -> usize {
    let (mut at, mut left) = (position, budget);
    for fitting in 0..n {
        let Some(value) = value_at(page, at) else {
            return n;
        };
        let Some(rest) = left.checked_sub(value.len().saturating_add(overhead)) else {
            return fitting;
        };
        left = rest;
        at += PREFIX + value.len();
    }
    n
}
