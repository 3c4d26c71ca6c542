//! A leaf array's non-null slots as a slice. This is the layouts' input when writing.
//!
//! If an array contains no nulls and its values are stored unchanged, we borrow its buffer. Otherwise we copy the
//! non-null slots to scratch memory, converting them on the way. The scratch memory is reused between blocks.

use std::ops::Range;

use herringbone_arrow::array::ArrayRef;
use herringbone_arrow::array::cast::AsArray;
use herringbone_arrow::array::types::ArrowPrimitiveType;
use herringbone_arrow::buffer::NullBuffer;
use herringbone_format::{Error, Result};
use herringbone_kernels::filter::filter;

/// Scratch memory, reused for each block.
#[derive(Debug, Default)]
pub struct Scratch {
    pub(in crate::array) int32: Vec<i32>,
    pub(in crate::array) int64: Vec<i64>,
    pub(in crate::array) float: Vec<f32>,
    pub(in crate::array) double: Vec<f64>,
    pub(in crate::array) bytes: Vec<u8>,
}

impl Scratch {
    /// Returns the number of bytes held by this memory.
    pub fn heap_bytes(&self) -> usize {
        4 * (self.int32.capacity() + self.float.capacity())
            + 8 * (self.int64.capacity() + self.double.capacity())
            + self.bytes.capacity()
    }
}

/// Some slots of a leaf array.
#[derive(Clone, Copy)]
pub struct Selected<'a> {
    /// The array.
    pub array: &'a ArrayRef,
    /// The array's nulls.
    pub nulls: Option<&'a NullBuffer>,
    /// The selected slots in order, skipping null slots.
    pub ranges: &'a [Range<usize>],
}

impl<'a> Selected<'a> {
    /// Returns the elements of `values` at the selected non-null slots.
    fn dense<T: Copy + 'static>(&self, values: &'a [T], scratch: &'a mut Vec<T>) -> &'a [T] {
        if let (None, [range]) = (self.nulls, self.ranges) {
            return values.get(range.clone()).unwrap_or_default();
        }
        scratch.clear();
        for range in self.ranges {
            let values = values.get(range.clone()).unwrap_or_default();
            match self.nulls {
                None => scratch.extend_from_slice(values),
                Some(nulls) => filter(
                    values,
                    nulls.validity(),
                    nulls.offset() + range.start,
                    scratch,
                ),
            }
        }
        scratch
    }

    /// Returns a primitive array's values at the selected slots.
    pub(in crate::array) fn primitive<T: ArrowPrimitiveType>(
        &self,
        scratch: &'a mut Vec<T::Native>,
    ) -> &'a [T::Native] {
        self.dense(self.array.as_primitive::<T>().values(), scratch)
    }

    /// Fills `out` with a primitive array's values, each converted to another type.
    pub(in crate::array) fn mapped<T: ArrowPrimitiveType, U>(
        &self,
        out: &mut Vec<U>,
        with: impl Fn(T::Native) -> U,
    ) {
        let mut scratch = Vec::new();
        let values = self.dense_local(self.array.as_primitive::<T>().values(), &mut scratch);
        out.clear();
        out.extend(values.iter().map(|value| with(*value)));
    }

    /// Does the work of [`Self::dense`] for memory with a shorter lifetime.
    pub(in crate::array) fn dense_local<'b, T: Copy + 'static>(
        &self,
        values: &'b [T],
        scratch: &'b mut Vec<T>,
    ) -> &'b [T]
    where
        'a: 'b,
    {
        let this: Selected<'b> = *self;
        this.dense(values, scratch)
    }

    /// Fills `out` with a primitive array's values, each converted to another type if it fits.
    pub(in crate::array) fn checked<T: ArrowPrimitiveType, U>(
        &self,
        out: &mut Vec<U>,
        with: impl Fn(T::Native) -> Option<U>,
        out_of_range: impl Fn(T::Native) -> Error,
    ) -> Result<()> {
        let mut scratch = Vec::new();
        let values = self.dense_local(self.array.as_primitive::<T>().values(), &mut scratch);
        out.clear();
        out.reserve(values.len());
        for value in values {
            out.push(with(*value).ok_or_else(|| out_of_range(*value))?);
        }
        Ok(())
    }

    /// Fills `out` with a primitive array's values, each converted to bytes.
    pub(in crate::array) fn bytes_of<T: ArrowPrimitiveType, const N: usize>(
        &self,
        out: &mut Vec<u8>,
        with: impl Fn(T::Native) -> Option<[u8; N]>,
        out_of_range: impl Fn(T::Native) -> Error,
    ) -> Result<()> {
        let mut scratch = Vec::new();
        let values = self.dense_local(self.array.as_primitive::<T>().values(), &mut scratch);
        out.clear();
        out.reserve(values.len() * N);
        for value in values {
            out.extend_from_slice(&with(*value).ok_or_else(|| out_of_range(*value))?);
        }
        Ok(())
    }

    /// Calls `visit` with the ordinal of each selected non-null slot.
    pub(crate) fn for_each(&self, mut visit: impl FnMut(usize)) {
        for range in self.ranges {
            match self.nulls {
                None => range.clone().for_each(&mut visit),
                Some(nulls) => {
                    let part = nulls.slice(range.start, range.len());
                    part.valid_indices()
                        .for_each(|index| visit(range.start + index));
                }
            }
        }
    }

    /// Returns the number of selected slots, including nulls.
    pub(in crate::array) fn num_slots(&self) -> usize {
        self.ranges.iter().map(ExactSizeIterator::len).sum()
    }
}
