//! Fixed-width values under construction, either in a vector or as part of a page in place.
//!
//! An aligned PLAIN page without nulls is already the array we want, so we keep a part of it instead of copying. Once
//! anything else has to be appended or spread, the values move to a vector.

use herringbone_arrow::buffer::{ArrowNativeType, BooleanBuffer, Buffer};
use herringbone_kernels::bitmap::Bitmap;
use herringbone_kernels::expand::expand;
use herringbone_kernels::filter::{FILTER_ROOM, filter_plain, retain};
use herringbone_kernels::plain::Plain;
use herringbone_kernels::trim;

/// An array's values so far.
pub(super) struct FixedWidthBuffer<T> {
    owned: Vec<T>,
    /// Aligned page bytes, used in place as the values. If set, `owned` is empty.
    borrowed: Option<Buffer>,
    /// The peak number of values in the last finished array, used as an estimate for the next one.
    expected: usize,
    /// The peak number of values, before some were dropped.
    most: usize,
}

impl<T: ArrowNativeType> FixedWidthBuffer<T> {
    pub(super) fn new() -> Self {
        Self {
            owned: Vec::new(),
            borrowed: None,
            expected: 0,
            most: 0,
        }
    }

    /// Returns the number of values so far.
    pub(super) fn len(&self) -> usize {
        self.borrowed
            .as_ref()
            .map_or(self.owned.len(), |buffer| buffer.len() / size_of::<T>())
    }

    /// Returns the values' byte count.
    pub(super) fn bytes(&self) -> usize {
        self.len() * size_of::<T>()
    }

    /// Returns true if there are no values, so that part of a page can be retained in place.
    pub(super) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns true if the values are part of a page.
    pub(super) fn is_borrowed(&self) -> bool {
        self.borrowed.is_some()
    }

    /// Retains part of a page in place. The part must be aligned for `T`.
    pub(super) fn borrow(&mut self, buffer: Buffer) {
        debug_assert!(self.is_empty());
        self.borrowed = Some(buffer);
    }

    /// Returns the values as a vector with room for `n` more. Any values retained in place are copied to it.
    pub(super) fn vector(&mut self, n: usize) -> &mut Vec<T> {
        if let Some(buffer) = self.borrowed.take() {
            let values = buffer.typed_data::<T>();
            self.owned
                .reserve_exact((values.len() + n).max(self.expected));
            self.owned.extend_from_slice(values);
        } else if self.owned.is_empty() {
            self.owned.reserve_exact(n.max(self.expected));
        } else {
            self.owned.reserve(n);
        }
        &mut self.owned
    }

    /// Spreads the last appended values over the slots `start..start + slots` of `validity`. There are `width` elements
    /// for each set bit.
    pub(super) fn expand(&mut self, width: usize, validity: &Bitmap, start: usize, slots: usize) {
        let set = validity.set_in(start..start.saturating_add(slots));
        let base = self.len().saturating_sub(set * width);
        let values = self.vector((slots - set) * width);
        if width == 1 {
            expand(values, base, validity, start, slots);
        } else {
            expand_wide(values, width, base, validity, start, slots);
        }
    }

    /// Drops the unwanted slots from `start` on. Each slot has `width` elements, and bit `i` belongs to slot
    /// `start + i`.
    pub(super) fn retain(&mut self, width: usize, start: usize, wanted: &BooleanBuffer) {
        self.most = self.most.max(self.len());
        let values = self.vector(0);
        if width == 1 {
            retain(values, start, wanted);
        } else {
            retain_wide(values, width, start, wanted);
        }
    }

    /// Appends the wanted values of a PLAIN page.
    pub(super) fn filter_plain(&mut self, page: &[u8], wanted: &BooleanBuffer)
    where
        T: Plain,
    {
        let values = self.vector(wanted.count_set_bits() + FILTER_ROOM);
        filter_plain(page, wanted, values);
        self.most = self.most.max(self.len() + FILTER_ROOM);
    }

    /// Takes the values.
    pub(super) fn finish(&mut self) -> Buffer {
        self.expected = self.len().max(std::mem::take(&mut self.most));
        match self.borrowed.take() {
            Some(buffer) => buffer,
            None => {
                let mut owned = std::mem::take(&mut self.owned);
                trim(&mut owned);
                Buffer::from_vec(owned)
            }
        }
    }
}

/// Does what [`expand`] does, for values of `width` elements each.
fn expand_wide<T: Copy + Default>(
    out: &mut Vec<T>,
    width: usize,
    base: usize,
    validity: &Bitmap,
    start: usize,
    slots: usize,
) {
    let mut dense_end = out.len();
    out.resize(base + slots * width, T::default());
    // We go backwards from the last slot so that we don't overwrite a value before moving it.
    for slot in (0..slots).rev() {
        let to = base + slot * width;
        if validity.get(start + slot) {
            dense_end = dense_end.saturating_sub(width);
            if dense_end == to {
                // No null precedes this value, so the rest is in place already.
                return;
            }
            out.copy_within(dense_end..dense_end + width, to);
        } else if let Some(slot) = out.get_mut(to..to + width) {
            slot.fill(T::default());
        }
    }
}

/// Does what [`retain`] does, for values of `width` elements each.
fn retain_wide<T: Copy>(values: &mut Vec<T>, width: usize, start: usize, wanted: &BooleanBuffer) {
    let mut end = start * width;
    for (first, last) in wanted.set_slices() {
        let run = (start + first) * width..(start + last) * width;
        let length = run.len();
        values.copy_within(run, end);
        end += length;
    }
    values.truncate(end);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_values_move_to_their_slots() {
        let mut validity = Bitmap::new();
        for bit in [true, true, false, true, false, false, true] {
            validity.append_run(bit, 1);
        }
        let mut values = FixedWidthBuffer::<u8>::new();
        values.vector(0).extend(*b"...abcdefghi");
        values.expand(3, &validity, 1, 6);
        assert_eq!(values.owned, *b"...abc\0\0\0def\0\0\0\0\0\0ghi");
    }

    #[test]
    fn borrowed_values_become_a_vector_on_demand() {
        let page = Buffer::from_vec(vec![1i32, 2, 3]);
        let mut values = FixedWidthBuffer::<i32>::new();
        values.borrow(page.clone());
        assert_eq!((values.len(), values.bytes()), (3, 12));
        assert_eq!(values.finish().as_ptr(), page.as_ptr());
        values.borrow(page);
        values.vector(1).push(4);
        assert_eq!(values.finish().typed_data::<i32>(), [1, 2, 3, 4]);
    }
}
