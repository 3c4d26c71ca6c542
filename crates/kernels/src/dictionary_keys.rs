//! Builds keys for Arrow's dictionary arrays, straight from the indices in dictionary-encoded pages.
//!
//! A [`KeyBuilder`] records the number of entries against which it has checked its keys. The finished array then does
//! not need to check the keys again, because it is enough that it has at least that many values.

use std::sync::Arc;

use herringbone_arrow::array::types::ArrowDictionaryKeyType;
use herringbone_arrow::array::{ArrayRef, DictionaryArray, PrimitiveArray};
use herringbone_arrow::buffer::{ArrowNativeType, BooleanBuffer, Buffer, NullBuffer, ScalarBuffer};

use crate::bitmap::Bitmap;
use crate::expand::expand_all;
use crate::filter::retain;
use crate::hybrid::HybridDecoder;
use crate::min_max::min_max_u32;
use crate::{Malformed, trim};

/// The keys of a dictionary array under construction.
///
/// Invariant: each appended key is below `bound`, and null slots are zero.
#[derive(Debug, Default)]
pub struct KeyBuilder {
    keys: Vec<u32>,
    bound: usize,
}

impl KeyBuilder {
    /// Returns the number of slots so far, nulls included.
    #[must_use]
    pub fn len(&self) -> usize {
        self.keys.len()
    }

    /// Returns true if there are no slots.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.keys.is_empty()
    }

    /// Returns the minimum number of values that the array needs.
    #[must_use]
    pub fn bound(&self) -> usize {
        self.bound
    }

    /// Appends the next `n` `indices` in `runs` as keys. They refer to a dictionary with `entries` entries, which
    /// starts at position `base` of the values.
    ///
    /// # Errors
    /// Fails with [`Malformed`] if runs end early, if an index is out of range, or if keys need more than 32 bits.
    pub fn append_indices(
        &mut self,
        indices: &mut HybridDecoder,
        runs: &[u8],
        n: usize,
        base: usize,
        entries: usize,
    ) -> Result<(), Malformed> {
        let bound = check_bound(base, entries)?;
        let start = self.keys.len();
        let outcome = indices.extend_u32(runs, n, &mut self.keys).and_then(|()| {
            let new = self.keys.get_mut(start..).unwrap_or_default();
            if min_max_u32(new).is_some_and(|(_, most)| most as usize >= entries) {
                return Err(Malformed(
                    "a dictionary index is not below the number of entries",
                ));
            }
            if base > 0 {
                // The sum fits into 32 bits, because `bound` does.
                new.iter_mut().for_each(|key| *key += base as u32);
            }
            Ok(())
        });
        if outcome.is_err() {
            self.keys.truncate(start);
        } else {
            self.bound = self.bound.max(bound);
        }
        outcome
    }

    /// Appends the keys for `n` consecutive values, which start at position `base` of the values.
    ///
    /// # Errors
    /// Fails with [`Malformed`] if keys need more than 32 bits.
    pub fn append_sequence(&mut self, base: usize, n: usize) -> Result<(), Malformed> {
        let bound = check_bound(base, n)?;
        self.keys.extend(base as u32..bound as u32);
        self.bound = self.bound.max(bound);
        Ok(())
    }

    /// Spreads the last keys over nulls. The slots `start..start + slots` are new, and the keys for their set bits in
    /// `validity` are the keys that were appended last. Null slots become zero.
    ///
    /// # Errors
    /// Fails with [`Malformed`] if the number of keys from `start` on is not the number of set bits.
    pub fn expand(
        &mut self,
        validity: &Bitmap,
        start: usize,
        slots: usize,
    ) -> Result<(), Malformed> {
        expand_all(&mut self.keys, validity, start, slots)
    }

    /// Drops the slots from `start` on whose bit is not set. Slot `start + i` belongs to bit `i`.
    pub fn retain(&mut self, start: usize, bits: &BooleanBuffer) {
        retain(&mut self.keys, start, bits);
    }

    /// Returns the array of all keys since the last call. The keys refer to `values`, and the array has `nulls` if
    /// present.
    ///
    /// # Errors
    /// Fails with [`Malformed`] if there are fewer values than the keys were checked against, if there are more values
    /// than `K` can represent, if `nulls` has another length, or if there are no values at all but some slots are
    /// valid.
    pub fn finish<K: ArrowDictionaryKeyType>(
        &mut self,
        values: ArrayRef,
        nulls: Option<NullBuffer>,
    ) -> Result<ArrayRef, Malformed> {
        if nulls
            .as_ref()
            .is_some_and(|nulls| nulls.len() != self.keys.len())
        {
            return Err(Malformed("keys and nulls do not agree"));
        }
        let largest = self.bound.saturating_sub(1);
        if values.len() < self.bound || K::Native::from_usize(largest).is_none() {
            return Err(Malformed("dictionary keys and values do not agree"));
        }
        let null_count = nulls.as_ref().map_or(0, NullBuffer::null_count);
        if self.bound == 0 && null_count < self.keys.len() {
            // A slot that was spread over nulls without any key is zero, but no value exists for it.
            return Err(Malformed("dictionary keys without values are not null"));
        }
        self.bound = 0;
        let mut keys = std::mem::take(&mut self.keys);
        trim(&mut keys);
        let keys = PrimitiveArray::<K>::new(native_keys::<K::Native>(keys), nulls);
        // SAFETY: by the invariant, each key is below `bound`, which is at most the number of values and fits into
        // `K`. The zeros of null slots are below it too, or all slots are null.
        let array = unsafe { DictionaryArray::new_unchecked(keys, values) };
        Ok(Arc::new(array))
    }
}

/// Returns the number of values that a dictionary with `entries` at `base` needs, if its keys fit into 32 bits.
fn check_bound(base: usize, entries: usize) -> Result<usize, Malformed> {
    base.checked_add(entries)
        .filter(|bound| u32::try_from(*bound).is_ok())
        .ok_or(Malformed("a dictionary has too many entries"))
}

/// Converts the keys to the width of their array, without copying 32-bit keys.
fn native_keys<N: ArrowNativeType>(keys: Vec<u32>) -> ScalarBuffer<N> {
    if size_of::<N>() == size_of::<u32>() {
        let len = keys.len();
        return ScalarBuffer::new(Buffer::from_vec(keys), 0, len);
    }
    keys.into_iter()
        .map(|key| N::usize_as(key as usize))
        .collect()
}

#[cfg(test)]
mod tests {
    use herringbone_arrow::array::cast::AsArray;
    use herringbone_arrow::array::types::{Int8Type, Int32Type, UInt64Type};
    use herringbone_arrow::array::{Array, StringArray};

    use super::*;
    use crate::bytes::tests::packed_run;

    fn values(n: usize) -> ArrayRef {
        Arc::new(StringArray::from_iter_values((0..n).map(|i| i.to_string())))
    }

    #[test]
    fn indices_become_keys_of_any_width() {
        let runs = packed_run(&[0, 2, 1, 2], 2);
        let mut builder = KeyBuilder::default();
        let mut validity = Bitmap::new();
        builder
            .append_indices(&mut HybridDecoder::new(2), &runs, 4, 0, 3)
            .unwrap();
        builder
            .append_indices(&mut HybridDecoder::new(2), &runs, 2, 3, 3)
            .unwrap();
        builder.append_sequence(6, 2).unwrap();
        validity.append_bits(0b1_1111_1011, 9);
        builder.expand(&validity, 0, 9).unwrap();
        assert_eq!(builder.bound(), 8);
        let array = builder
            .finish::<UInt64Type>(values(8), validity.finish())
            .unwrap();
        array.to_data().validate_full().unwrap();
        let array = array.as_dictionary::<UInt64Type>();
        let found: Vec<_> = array
            .downcast_dict::<StringArray>()
            .unwrap()
            .into_iter()
            .collect();
        let expected = ["0", "2", "", "1", "2", "3", "5", "6", "7"];
        assert_eq!(
            found,
            expected.map(|text| (!text.is_empty()).then_some(text))
        );
    }

    #[test]
    fn keys_without_their_value_are_errors() {
        let runs = packed_run(&[0, 2, 1, 2], 2);
        let mut builder = KeyBuilder::default();
        let indices = || HybridDecoder::new(2);
        assert!(
            builder
                .append_indices(&mut indices(), &runs, 4, 0, 2)
                .is_err()
        );
        assert!(
            builder
                .append_indices(&mut indices(), &runs, 1, 0, 0)
                .is_err()
        );
        assert!(
            builder
                .append_indices(&mut indices(), &runs, 99, 0, 3)
                .is_err()
        );
        assert!(
            builder
                .append_indices(&mut indices(), &runs, 4, u32::MAX as usize, 3)
                .is_err()
        );
        assert!(builder.append_sequence(usize::MAX, 1).is_err());
        assert!(builder.is_empty());
        builder.append_sequence(0, 200).unwrap();
        assert!(builder.finish::<Int32Type>(values(199), None).is_err());
        assert!(builder.finish::<Int8Type>(values(200), None).is_err());
        assert!(
            builder
                .finish::<Int32Type>(values(200), Some(NullBuffer::new_null(1)))
                .is_err()
        );
        assert!(builder.finish::<Int32Type>(values(200), None).is_ok());
    }

    #[test]
    fn all_null_needs_no_values() {
        let mut validity = Bitmap::new();
        validity.append_run(false, 3);
        let mut builder = KeyBuilder::default();
        builder.expand(&validity, 0, 3).unwrap();
        assert!(builder.finish::<Int32Type>(values(0), None).is_err());
        let array = builder
            .finish::<Int32Type>(values(0), validity.finish())
            .unwrap();
        assert_eq!((array.len(), array.null_count()), (3, 3));
    }
}
