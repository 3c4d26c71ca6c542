//! Builds Arrow lists of any layout from offsets, values and validity.

use std::sync::Arc;

use herringbone_arrow::array::{
    Array as _, ArrayRef, FixedSizeListArray, GenericListArray, GenericListViewArray, MapArray,
    OffsetSizeTrait, StructArray, make_array,
};
use herringbone_arrow::buffer::{NullBuffer, OffsetBuffer, ScalarBuffer};
use herringbone_arrow::schema::{DataType, FieldRef};
use herringbone_format::{Error, Remedy, Result};

use super::invalid;
use crate::wrappers::padded_runs;
use herringbone_core::array::join::slots_of;
use herringbone_core::budget::Reservation;
use herringbone_core::cast::null_bytes;

/// The memory for padding null lists of a fixed size.
pub(super) struct Padding<'a> {
    pub(super) max_bytes: usize,
    pub(super) made: &'a mut Reservation,
}

impl Padding<'_> {
    /// Accounts for an array of padded elements.
    ///
    /// # Errors
    /// Fails with `Limit` if the array is too large, or if the budget has no room for it.
    fn count(self, bytes: usize) -> Result<()> {
        if bytes > self.max_bytes {
            let (asked, allowed) = (bytes as u64, self.max_bytes as u64);
            return Err(Error::limit("batch_column_bytes", asked, allowed));
        }
        self.made.add(bytes as u64)
    }
}

/// Returns `slots + 1` offsets starting at slot `from`, rebased to 0. If these are all of the offsets, they are moved
/// instead of copied.
pub(super) fn slice_offsets<O: OffsetSizeTrait>(
    offsets: &mut Vec<O>,
    from: usize,
    slots: usize,
) -> Vec<O> {
    if slots == 0 {
        // Several batches might take no slots, so the offsets must stay for the batch that takes some.
        return vec![O::usize_as(0)];
    }
    if from == 0 && offsets.len() == slots + 1 {
        return std::mem::take(offsets);
    }
    let slice = offsets.get(from..=from + slots).unwrap_or_default();
    let first = slice.first().copied().unwrap_or_default();
    slice.iter().map(|&offset| offset - first).collect()
}

/// Returns the number of elements in the lists with these offsets. The offsets start at 0.
pub(super) fn elements<O: OffsetSizeTrait>(offsets: &[O]) -> usize {
    offsets.last().map_or(0, |last| last.as_usize())
}

pub(super) fn list_array(
    data_type: &DataType,
    offsets: Vec<i32>,
    values: ArrayRef,
    nulls: Option<NullBuffer>,
    padding: Padding<'_>,
) -> Result<ArrayRef> {
    match data_type {
        DataType::List(element) => {
            let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
            let array = GenericListArray::<i32>::try_new(element.clone(), offsets, values, nulls);
            Ok(Arc::new(array.map_err(invalid)?))
        }
        DataType::ListView(element) => list_view_array(element, &offsets, values, nulls),
        DataType::Map(entries, ordered) => {
            let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
            let values = values.as_any().downcast_ref::<StructArray>().cloned();
            let values = values.ok_or_else(|| Error::argument("map entries are not a struct"))?;
            let array = MapArray::try_new(entries.clone(), offsets, values, nulls, *ordered);
            Ok(Arc::new(array.map_err(invalid)?))
        }
        DataType::FixedSizeList(element, size) => {
            fixed_size_list_array(element, *size, &offsets, values, nulls, padding)
        }
        other => Err(Error::argument(format!("{other} is not a list"))),
    }
}

pub(super) fn large_list_array(
    data_type: &DataType,
    offsets: Vec<i64>,
    values: ArrayRef,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef> {
    match data_type {
        DataType::LargeList(element) => {
            let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
            let array = GenericListArray::<i64>::try_new(element.clone(), offsets, values, nulls);
            Ok(Arc::new(array.map_err(invalid)?))
        }
        DataType::LargeListView(element) => list_view_array(element, &offsets, values, nulls),
        other => Err(Error::argument(format!("{other} is not a large list"))),
    }
}

fn list_view_array<O: OffsetSizeTrait>(
    element: &FieldRef,
    offsets: &[O],
    values: ArrayRef,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef> {
    let sizes: Vec<O> = offsets.windows(2).map(|pair| pair[1] - pair[0]).collect();
    let starts = ScalarBuffer::from(offsets[..sizes.len()].to_vec());
    let sizes = ScalarBuffer::from(sizes);
    let array = GenericListViewArray::<O>::try_new(element.clone(), starts, sizes, values, nulls);
    Ok(Arc::new(array.map_err(invalid)?))
}

/// Creates an array of lists with `size` elements each. In the file, null lists have no elements. But Arrow requires a
/// slot for each element, so we pad them.
fn fixed_size_list_array(
    element: &FieldRef,
    size: i32,
    offsets: &[i32],
    values: ArrayRef,
    nulls: Option<NullBuffer>,
    padding: Padding<'_>,
) -> Result<ArrayRef> {
    let width = usize::try_from(size).map_err(|_| Error::argument("negative list size"))?;
    let slots = offsets.len().saturating_sub(1);
    let is_valid = |slot: usize| nulls.as_ref().is_none_or(|nulls| nulls.is_valid(slot));
    for (slot, pair) in offsets.windows(2).enumerate() {
        let length = i64::from(pair[1]) - i64::from(pair[0]);
        if is_valid(slot) && length != i64::from(size) {
            return Err(Error::corrupt(format!(
                "a list has {length} elements, but the Arrow schema in the file declares {size}"
            ))
            .with_remedy(Remedy::IgnoreArrowSchema));
        }
    }
    let padded_len = slots.saturating_mul(width);
    let values = if values.len() == padded_len {
        values
    } else if let Some(padded) = padded_runs(&values, offsets, width)? {
        padded
    } else {
        // `size` comes from the file, and each null list takes room for that many elements. So we check the sum before
        // allocating.
        let element_bytes = (values.get_array_memory_size() / values.len().max(1))
            .max(null_bytes(values.data_type()));
        let padded_bytes = padded_len.saturating_mul(element_bytes);
        padding.count(padded_bytes)?;
        let data = values.to_data();
        let mut padded = slots_of(vec![&data], true, padded_len)?;
        for (slot, pair) in offsets.windows(2).enumerate() {
            if is_valid(slot) {
                padded
                    .try_extend(0, pair[0] as usize, pair[1] as usize)
                    .map_err(invalid)?;
            } else {
                padded.try_extend_nulls(width).map_err(invalid)?;
            }
        }
        make_array(padded.freeze())
    };
    let array =
        FixedSizeListArray::try_new_with_length(element.clone(), size, values, nulls, slots);
    Ok(Arc::new(array.map_err(invalid)?))
}

#[cfg(test)]
mod tests {
    use super::slice_offsets;

    #[test]
    fn no_lists_may_be_sliced_off_again_and_again() {
        let mut offsets = vec![0_i32];
        assert_eq!(slice_offsets(&mut offsets, 0, 0), [0]);
        assert_eq!(slice_offsets(&mut offsets, 0, 0), [0]);
        let mut offsets = vec![0_i64, 2, 5];
        assert_eq!(slice_offsets(&mut offsets, 0, 0), [0]);
        assert_eq!(slice_offsets(&mut offsets, 1, 1), [0, 3]);
        assert_eq!(slice_offsets(&mut offsets, 0, 2), [0, 2, 5]);
    }
}
