//! Copies the values that a filter left, so that their pages can be freed.

use herringbone_arrow::buffer::Buffer;

use super::view::is_long;
use super::{MAX_POSITION, ViewBuilder};

/// The byte count of buffers up to which we copy no value.
const SMALL: usize = 64 << 10;

/// The multiple of the values' byte count by which buffers may be larger before we copy.
const FACTOR: usize = 4;

impl ViewBuilder {
    /// Copies the long values into one buffer that replaces all others, if these are much larger.
    ///
    /// We do this because a page has up to a megabyte, and would be retained as long as an array with one of its
    /// values.
    pub(super) fn compact(&mut self) {
        let held: usize = self.buffers.iter().map(Buffer::len).sum();
        if held <= SMALL {
            return;
        }
        let long = |view: &u128| is_long(*view as u32).then_some(*view as u32 as usize);
        let wanted = self.views.iter().filter_map(long);
        // The sum saturates, because many views may have the same value, so that a sum of 32 bits could wrap.
        let wanted = wanted.fold(0, usize::saturating_add);
        if wanted > MAX_POSITION || wanted.saturating_mul(FACTOR) >= held - SMALL {
            return;
        }
        let mut values = Vec::with_capacity(wanted);
        for view in &self.views {
            let Some(length) = long(view) else {
                continue;
            };
            let (buffer, start) = ((*view >> 64) as u32 as usize, (*view >> 96) as usize);
            let buffer = self.buffers.get(buffer);
            let Some(value) = buffer.and_then(|buffer| buffer.get(start..start + length)) else {
                // We never get here, by the invariant of the type.
                return;
            };
            values.extend_from_slice(value);
        }
        let mut position = 0;
        for view in &mut self.views {
            if let Some(length) = long(view) {
                // The position has 31 bits, because `wanted` is at most `MAX_POSITION`. The buffer has the number 0.
                *view = *view & u128::from(u64::MAX) | (position as u128) << 96;
                position += length;
            }
        }
        self.buffers.clear();
        if !values.is_empty() {
            self.buffers.push(Buffer::from_vec(values));
        }
    }
}
