//! PLAIN byte arrays: `length: u32 LE, bytes` one behind the other.
//!
//! ```text
//! 03 00 00 00 'f' 'o' 'o' 00 00 00 00 02 00 00 00 'h' 'i'   →   offsets 0 3 3 5   data foohi
//! ```
//!
//! Where a value starts is known only when the length before it was read, so a page is one chain of
//! loads, some six cycles a value. Everything else must fit into the shadow of that chain: the bytes
//! are copied in the same pass, 32 at once ([`over_copy`]), and one comparison a value covers the end of
//! the page, the end of the buffer and the range of the offsets.
//! Where values are all of one length, eight of them are looked at together, and nothing waits.

use std::hint::black_box;

use herringbone_arrow::array::OffsetSizeTrait;
use herringbone_arrow::buffer::BooleanBuffer;

use super::{ByteBuilder, ENDS_EARLY, OVERFLOW};
use crate::Malformed;
use crate::multiversion::multiversion;
use crate::over_copy::{SLACK, over_copy};
use crate::prefetch;

/// Bytes of the length in front of each value.
const PREFIX: usize = 4;

/// Values that are looked at together where they may all be of one length.
const ALIKE: usize = 8;

/// Values of one length after which those behind the next few are likely to be alike too.
const LONG: usize = 8 * ALIKE;

/// Values of varying lengths after which it is asked again whether the next ones are all of one length.
const BLOCK: usize = 4096;

impl<O: OffsetSizeTrait> ByteBuilder<O> {
    /// Appends `n` PLAIN values of `page` from `position` on; returns the position behind them.
    ///
    /// **Errors**: values that end early, invalid UTF-8 in a builder of strings, more bytes than the
    /// offsets can address.
    pub fn append_plain(
        &mut self,
        page: &[u8],
        position: usize,
        n: usize,
    ) -> Result<usize, Malformed> {
        self.append_plain_with(page, position, n, All)
    }

    /// Appends those of the next `wanted.len()` PLAIN values of `page`, from `position` on, whose bit is set; returns the
    /// position behind all of them.
    ///
    /// **Errors**: as [`Self::append_plain`]; what is not wanted may be any bytes.
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
        let mut block = ALIKE;
        while walk.done < n {
            let before = walk.done;
            walk = copy_plain_alike(self, page, walk, wanted);
            // Lengths that vary soon will hardly be alike for long afterwards.
            block = match walk.done - before >= LONG {
                true => ALIKE,
                false => BLOCK.min(8 * block),
            };
            let end = n.min(walk.done + block);
            let to_end = Walk { n: end, ..walk };
            walk = Walk {
                n,
                ..copy_plain_wide(self, page, to_end, wanted)
            };
            // Where the page or the buffer ends too soon for wide copies.
            if walk.done < end {
                walk.at = self.copy_plain_one(page, walk.at, wanted.value(walk.done) == 1)?;
                walk.done += 1;
                self.reserve_like(walk.at - start, n, n - walk.done);
            }
        }
        Ok(walk.at)
    }

    /// Appends one value, if it is wanted, without any slack.
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

    /// Makes room for `left` more values like the `n - left` that took `taken` bytes of the page.
    fn reserve_like(&mut self, taken: usize, n: usize, left: usize) {
        let average = taken / (n - left).max(1);
        // What is there must stay proportional to the bytes seen: the estimate cannot run away.
        let estimate = average.saturating_mul(left).min(16 * taken + 4096);
        if self.data.capacity() - self.data.len() < average + 2 * SLACK {
            self.data.reserve(estimate + 2 * SLACK);
        }
    }
}

/// Which of some values are appended.
trait Wanted: Copy {
    /// 1 if value `index` is, else 0.
    fn value(self, index: usize) -> usize;
}

/// All of them.
#[derive(Clone, Copy)]
struct All;

impl Wanted for All {
    #[inline(always)]
    fn value(self, _index: usize) -> usize {
        1
    }
}

/// Those whose bit is set.
#[derive(Clone, Copy)]
struct Bits<'a>(&'a [u64]);

impl Wanted for Bits<'_> {
    #[inline(always)]
    fn value(self, index: usize) -> usize {
        let word = self.0.get(index / 64).copied().unwrap_or_default();
        (word >> (index % 64) & 1) as usize
    }
}

/// Where a walk over some values stands.
#[derive(Clone, Copy)]
struct Walk {
    /// Position in the page.
    at: usize,
    /// Values passed.
    done: usize,
    /// All values of the walk.
    n: usize,
}

/// Goes on over the values, as long as the slack of wide copies fits into page and buffer, and appends those that are
/// wanted. Each is copied, and the next one over it if it was not wanted: no branch depends on that.
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
        // The last places where a value may start in the page and end in the data.
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
        // No more values than there is room for offsets, whether they are wanted or not.
        let room = builder.offsets.capacity() - builder.offsets.len();
        let end = n.min(done.saturating_add(room));
        let (source, data) = (page.as_ptr(), builder.data.as_mut_ptr());
        let offsets = builder
            .offsets
            .spare_capacity_mut()
            .as_mut_ptr()
            .cast::<O>();
        // The next length is `prefix + length` bytes on, and everything waits for it. So `prefix` is added
        // while the length is being loaded; as a constant, the compiler would add it behind the length.
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
            unsafe { over_copy(source.add(at + PREFIX), data.add(filled), length) };
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
        // SAFETY: `appended` offsets were written behind the last one, rising up to `filled`, which is
        // at most `max_data`.
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

/// [`copy_plain_wide`] of values that have the same length, [`ALIKE`] at a time: nothing waits for their lengths.
fn copy_plain_alike<O: OffsetSizeTrait, W: Wanted>(
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
        // Bytes that values take, together, with the slack behind them.
        let in_page = ALIKE.saturating_mul(stride).saturating_add(SLACK);
        let in_data = ALIKE.saturating_mul(length).saturating_add(SLACK);
        while let Some(values) = page.get(at..).and_then(|rest| rest.get(..in_page)) {
            let filled = builder.data.len();
            let is_room = ByteBuilder::<O>::max_data().min(builder.data.capacity()) - filled
                >= in_data
                && builder.offsets.capacity() - builder.offsets.len() >= ALIKE;
            if n - done < ALIKE || !is_room {
                break;
            }
            if !values_alike(page, at, length) {
                break;
            }
            let source = values.as_ptr();
            let (mut end, mut appended) = (filled, 0);
            let (data, offsets) = (
                builder.data.as_mut_ptr(),
                builder.offsets.spare_capacity_mut(),
            );
            let offsets = offsets.as_mut_ptr().cast::<O>();
            for value in 0..ALIKE {
                prefetch::ahead(source.wrapping_add(value * stride));
                // SAFETY: `value * stride + PREFIX + length + SLACK` is at most `in_page`; `end` is at most
                // `filled + value * length`, behind which there is room for `length + SLACK`; these are different allocations.
                unsafe { over_copy(source.add(value * stride + PREFIX), data.add(end), length) };
                let is_wanted = wanted.value(done + value);
                end += length * is_wanted;
                // SAFETY: `appended <= value`, and there is room for `ALIKE` offsets.
                unsafe { offsets.add(appended).write(O::usize_as(end)) };
                appended += is_wanted;
            }
            at += ALIKE * stride;
            done += ALIKE;
            // SAFETY: the bytes up to `end` were copied from the page, in order; that is at most `max_data`.
            unsafe { builder.data.set_len(end) };
            // SAFETY: so many offsets were written, rising up to `end`.
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

/// The PLAIN value whose length starts at `at`.
pub(crate) fn value_at(page: &[u8], at: usize) -> Option<&[u8]> {
    let (prefix, rest) = page.get(at..)?.split_first_chunk::<PREFIX>()?;
    rest.get(..u32::from_le_bytes(*prefix) as usize)
}

/// The position behind `n` PLAIN values of `page` that start at `position`.
///
/// Values of varying lengths are a chain of loads; eight values of one length are passed over by loads that don't wait
/// for each other.
///
/// **Errors**: values that end early.
pub fn skip_plain(page: &[u8], position: usize, n: usize) -> Result<usize, Malformed> {
    let (mut at, mut left) = (position, n);
    let mut before = None;
    while left > 0 {
        let length = value_at(page, at).ok_or(ENDS_EARLY)?.len();
        at += PREFIX + length;
        left -= 1;
        // Lengths that changed just now will hardly stay the same for so many values.
        if before.replace(length) == Some(length) {
            while left >= ALIKE && values_alike(page, at, length) {
                at += ALIKE * (PREFIX + length);
                left -= ALIKE;
            }
        }
    }
    Ok(at)
}

/// Whether the next [`ALIKE`] values of `page` from `at` on are all there and `length` bytes long.
#[inline(always)]
fn values_alike(page: &[u8], at: usize, length: usize) -> bool {
    let stride = PREFIX + length;
    let end = stride
        .checked_mul(ALIKE)
        .and_then(|bytes| bytes.checked_add(at));
    let Some(values) = end.and_then(|end| page.get(at..end)) else {
        return false;
    };
    let mut differing = 0;
    for value in 0..ALIKE {
        let prefix = values.get(value * stride..).and_then(<[u8]>::first_chunk);
        differing |= prefix.map_or(usize::MAX, |prefix| {
            u32::from_le_bytes(*prefix) as usize ^ length
        });
    }
    differing == 0
}

/// How many of the `n` PLAIN values from `position` on fit into `budget` bytes, where each value costs
/// its own bytes and `overhead`. Values behind the end of the page, or that end early, fit.
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
