//! Builds arrays from selected slots of other arrays. Their values are valid because the source arrays' values are.

use std::sync::Arc;

use herringbone_arrow::array::types::{ArrowDictionaryKeyType, ByteArrayType, ByteViewType};
use herringbone_arrow::array::{
    Array, DictionaryArray, GenericByteArray, GenericByteViewArray, PrimitiveArray,
};
use herringbone_arrow::buffer::bit_iterator::BitSliceIterator;
use herringbone_arrow::buffer::{
    ArrowNativeType, BooleanBuffer, Buffer, NullBuffer, OffsetBuffer, ScalarBuffer,
};

use super::filter;
use crate::bitmap;

/// Returns the byte arrays whose bit is set, or `None` if there is not exactly one bit per slot.
#[must_use]
pub fn filter_bytes<T: ByteArrayType>(
    array: &GenericByteArray<T>,
    bits: &BooleanBuffer,
) -> Option<GenericByteArray<T>> {
    if bits.len() != array.len() {
        return None;
    }
    let (from, values) = (array.value_offsets(), array.value_data());
    let runs = || BitSliceIterator::new(bits.values(), bits.offset(), bits.len());
    let ends = |(first, last): (usize, usize)| {
        let start = from.get(first)?.as_usize();
        Some(start..from.get(last)?.as_usize())
    };
    let lengths = runs().filter_map(ends).map(|run| run.len());
    let mut selected = Vec::with_capacity(lengths.sum());
    let mut offsets = Vec::with_capacity(bits.count_set_bits() + 1);
    offsets.push(T::Offset::default());
    for (first, last) in runs() {
        let run = ends((first, last))?;
        // Values before this run may have been dropped, but none were added, so the difference is never negative.
        let moved = run.start - selected.len();
        selected.extend_from_slice(values.get(run)?);
        let behind = from.get(first + 1..=last)?.iter();
        offsets.extend(behind.map(|offset| T::Offset::usize_as(offset.as_usize() - moved)));
    }
    let nulls = filter_nulls(array.nulls(), bits);
    // SAFETY: the offsets start with 0. Within a run, they are offsets of the array, which ascend, minus a
    // constant. A run starts where the previous one ended. They are at most those of the array, so they fit.
    let offsets = unsafe { OffsetBuffer::new_unchecked(ScalarBuffer::from(offsets)) };
    // SAFETY: there is one more offset than slots, and the last one is the length of `selected`. Each value is one
    // of the array, which is valid. `nulls` has one bit per set bit of `bits`, and so does the list of values.
    Some(unsafe { GenericByteArray::new_unchecked(offsets, selected.into(), nulls) })
}

/// Returns the views whose bit is set, with the array's buffers, or `None` if there is not exactly one bit per slot.
#[must_use]
pub fn filter_views<T: ByteViewType>(
    array: &GenericByteViewArray<T>,
    bits: &BooleanBuffer,
) -> Option<GenericByteViewArray<T>> {
    if bits.len() != array.len() {
        return None;
    }
    let views = selected(array.views(), bits);
    let nulls = filter_nulls(array.nulls(), bits);
    let buffers: Arc<[Buffer]> = array.data_buffers().iter().cloned().collect();
    // SAFETY: each view is one of the array, and the buffers are those of the array. `nulls` has one bit per set
    // bit of `bits`, and so do the views.
    Some(unsafe { GenericByteViewArray::new_unchecked(views, buffers, nulls) })
}

/// Returns the keys whose bit is set, with the array's values, or `None` if there is not exactly one bit per slot.
#[must_use]
pub fn filter_dictionary<K: ArrowDictionaryKeyType>(
    array: &DictionaryArray<K>,
    bits: &BooleanBuffer,
) -> Option<DictionaryArray<K>> {
    if bits.len() != array.len() {
        return None;
    }
    let keys = selected(array.keys().values(), bits);
    let keys = PrimitiveArray::<K>::new(keys, filter_nulls(array.keys().nulls(), bits));
    let keys = keys.with_data_type(array.keys().data_type().clone());
    // SAFETY: each key is one of the array, and the values are those of the array.
    Some(unsafe { DictionaryArray::new_unchecked(keys, array.values().clone()) })
}

/// Returns the values whose bit is set.
pub fn selected<T: ArrowNativeType>(values: &[T], bits: &BooleanBuffer) -> ScalarBuffer<T> {
    let mut selected = Vec::with_capacity(bits.count_set_bits());
    filter(values, bits.values(), bits.offset(), &mut selected);
    ScalarBuffer::from(selected)
}

/// Returns the validity of the slots whose bit is set, or `None` if all of them are valid.
#[must_use]
pub fn filter_nulls(nulls: Option<&NullBuffer>, bits: &BooleanBuffer) -> Option<NullBuffer> {
    let (nulls, wanted) = (nulls?.inner().bit_chunks(), bits.bit_chunks());
    bitmap::selected(nulls.iter_padded().zip(wanted.iter_padded())).finish()
}

#[cfg(test)]
mod tests {
    use herringbone_arrow::array::types::{Int8Type, StringViewType, Utf8Type};
    use herringbone_arrow::array::{StringArray, StringViewArray};

    use super::*;

    const TEXT: [Option<&str>; 6] = [
        Some("a"),
        None,
        Some("a value that is too long for a view"),
        Some(""),
        None,
        Some("é"),
    ];

    /// Returns all masks of the slots, both for the whole arrays and without the first slot.
    fn masks() -> impl Iterator<Item = (usize, BooleanBuffer, Vec<Option<&'static str>>)> {
        (0..2).flat_map(|skip| {
            (0..1u32 << (6 - skip)).map(move |mask| {
                let bits = BooleanBuffer::collect_bool(6 - skip, |slot| mask >> slot & 1 == 1);
                let kept = TEXT[skip..].iter().zip(bits.iter());
                let kept = kept.filter(|(_, bit)| *bit).map(|(text, _)| *text);
                let kept: Vec<_> = kept.collect();
                (skip, bits, kept)
            })
        })
    }

    #[test]
    fn slots_are_those_that_are_chosen() {
        let (text, views) = (
            StringArray::from(TEXT.to_vec()),
            StringViewArray::from(TEXT.to_vec()),
        );
        let keys: DictionaryArray<Int8Type> = TEXT.into_iter().collect();
        for (skip, bits, kept) in masks() {
            let filtered_bytes =
                filter_bytes::<Utf8Type>(&text.slice(skip, 6 - skip), &bits).unwrap();
            filtered_bytes.to_data().validate_full().unwrap();
            assert_eq!(filtered_bytes, StringArray::from(kept.clone()), "{bits:?}");
            let filtered_views =
                filter_views::<StringViewType>(&views.slice(skip, 6 - skip), &bits).unwrap();
            filtered_views.to_data().validate_full().unwrap();
            assert_eq!(
                filtered_views,
                StringViewArray::from(kept.clone()),
                "{bits:?}"
            );
            let filtered_keys = filter_dictionary(&keys.slice(skip, 6 - skip), &bits).unwrap();
            filtered_keys.to_data().validate_full().unwrap();
            let filtered_keys: Vec<_> = filtered_keys
                .downcast_dict::<StringArray>()
                .unwrap()
                .into_iter()
                .collect();
            assert_eq!(filtered_keys, kept, "{bits:?}");
        }
        let wrong = BooleanBuffer::new_set(5);
        assert!(filter_bytes(&text, &wrong).is_none() && filter_views(&views, &wrong).is_none());
        assert!(filter_dictionary(&keys, &wrong).is_none());
    }
}
