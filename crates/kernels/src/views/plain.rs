//! Creates views of PLAIN byte arrays, into their page.
//!
//! The 16 bytes from a value's length on already have the layout of a short value's view: first the length, then the
//! value. We only have to mask out the bytes of the next value.
//!
//! ```text
//! page  | 02 00 00 00 'h' 'i' | 05 00 00 00 'w' 'o' …      view  | 02 00 00 00 'h' 'i' 00 00 00 … |
//! ```

use std::hint::black_box;

use herringbone_arrow::buffer::Buffer;

use super::view::{any_is_long, view, view_of};
use super::{MAX_POSITION, TOO_LARGE, ViewBuilder};
use crate::bytes::{ENDS_EARLY, value_at};
use crate::{Malformed, prefetch, utf8};

/// The size in bytes of the length before each value.
const PREFIX: usize = 4;

impl ViewBuilder {
    /// Appends views of `n` PLAIN values in `page`, starting at `position`. Returns the position after them.
    ///
    /// # Errors
    /// Fails with [`Malformed`] if values end early, if a builder of strings gets invalid UTF-8, or if the page exceeds
    /// 2 GiB.
    pub fn append_plain(
        &mut self,
        page: &Buffer,
        position: usize,
        n: usize,
    ) -> Result<usize, Malformed> {
        if page.len() > MAX_POSITION {
            return Err(TOO_LARGE);
        }
        let section = page.get(position..).ok_or(ENDS_EARLY)?;
        if n > section.len() / PREFIX {
            return Err(ENDS_EARLY);
        }
        let start = self.views.len();
        let index = self.index_of(page)?;
        let outcome = self.view_plain(page, index, position, n).and_then(|made| {
            let taken = page.get(position..made.end).unwrap_or_default();
            if self.utf8 && !utf8::is_valid_section(taken, made.lengths) {
                return Err(utf8::INVALID);
            }
            Ok(made)
        });
        match outcome {
            Ok(made) => {
                let views = self.views.get(start..).unwrap_or_default();
                if any_is_long(views, made.lengths) {
                    self.register(page, index);
                }
                self.referenced += made.end - position;
                Ok(made.end)
            }
            Err(error) => {
                self.views.truncate(start);
                Err(error)
            }
        }
    }

    /// Appends the views. The caller must register the page as `index` if one of them is long.
    fn view_plain(
        &mut self,
        page: &[u8],
        index: u32,
        start: usize,
        n: usize,
    ) -> Result<Made, Malformed> {
        self.reserve_values(n);
        let mut made = self.view_plain_wide(page, index, start, n);
        // Near the end of the page, we go value by value, because the 16 bytes from a length on would exceed it.
        for _ in made.values..n {
            let value = value_at(page, made.end).ok_or(ENDS_EARLY)?;
            // The position fits into 32 bits, because `append_plain` rejects pages beyond 2 GiB.
            let position = made.end + PREFIX;
            self.views.push(view_of(value, index, position as u32));
            made.count(position, value.len() as u32);
        }
        Ok(made)
    }

    /// Appends up to `n` views, as long as the 16 bytes from a value's end on lie within the page.
    fn view_plain_wide(&mut self, page: &[u8], index: u32, start: usize, n: usize) -> Made {
        let mut made = Made {
            values: 0,
            end: start,
            lengths: 0,
        };
        let Some(last) = page.len().checked_sub(16) else {
            return made;
        };
        if start > last {
            return made;
        }
        let n = n.min(self.views.capacity() - self.views.len());
        let views = self.views.spare_capacity_mut().as_mut_ptr().cast::<u128>();
        // The next length lies `prefix + length` bytes further on, and everything waits for it. So we add `prefix`
        // while the length is being loaded. If it were a constant, the compiler would add it after the length.
        let prefix = black_box(PREFIX);
        while made.values < n {
            // SAFETY: `made.end <= last`, so `made.end + 16 <= page.len()`.
            let raw = unsafe { page.as_ptr().add(made.end).cast::<u128>().read_unaligned() };
            prefetch::ahead(page.as_ptr().wrapping_add(made.end));
            let length = raw as u32;
            let value = made.end + prefix;
            // We compute this in 64 bits, because it cannot overflow there.
            if value as u64 + u64::from(length) > last as u64 {
                break;
            }
            let view = view(raw, length, index, value as u32);
            // SAFETY: `made.values < n`, and the views have capacity for `n` more.
            unsafe { views.add(made.values).write(view) };
            made.count(value, length);
        }
        // SAFETY: `made.values` views were written after the last one. Each was checked to lie within the page,
        // which the caller registers under the index in the views.
        unsafe { self.views.set_len(self.views.len() + made.values) };
        made
    }
}

/// The result of one pass over PLAIN values.
struct Made {
    values: usize,
    /// The position in the page after the last value.
    end: usize,
    /// The bitwise or of all lengths.
    lengths: u32,
}

impl Made {
    #[inline(always)]
    fn count(&mut self, value: usize, length: u32) {
        self.values += 1;
        self.end = value + length as usize;
        self.lengths |= length;
    }
}
