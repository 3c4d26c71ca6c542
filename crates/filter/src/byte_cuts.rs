//! Tests byte arrays against the cuts of a set. In practice, the first eight bytes usually decide.

use std::cmp::Ordering;

use herringbone_arrow::array::types::{ByteArrayType, ByteViewType};
use herringbone_arrow::array::{Array as _, GenericByteArray, GenericByteViewArray};
use herringbone_arrow::buffer::BooleanBuffer;
use herringbone_arrow::data::MAX_INLINE_VIEW_LEN;
use herringbone_kernels::range_compare::{between, first_bytes, first_of};

use super::ranges::{Cut, Ranges};

/// The maximum number of cuts to compare with all values in turn. With more cuts, we locate each value by binary
/// search.
const MANY_CUTS: usize = 4;

/// The number of bytes returned by [`first_of`].
const FIRST_BYTES: usize = 8;

/// A set of byte arrays, with each cut's first bytes extracted so that testing many values is fast.
pub(super) struct ByteCuts<'a> {
    starts_inside: bool,
    /// The cuts in ascending order, each with its first bytes.
    cuts: Vec<(u64, &'a Cut<Vec<u8>>)>,
}

impl<'a> ByteCuts<'a> {
    pub(super) fn new(ranges: &'a Ranges<Vec<u8>>) -> Self {
        let cuts = ranges.cuts().iter();
        Self {
            starts_inside: ranges.starts_inside(),
            cuts: cuts.map(|cut| (first_of(&cut.key), cut)).collect(),
        }
    }

    /// Returns the slots of an array inside the set, with unspecified bits for null slots.
    pub(super) fn accepted<T: ByteArrayType>(&self, array: &GenericByteArray<T>) -> BooleanBuffer
    where
        T::Native: AsRef<[u8]>,
    {
        let firsts = || first_bytes(array.value_offsets(), array.value_data());
        self.accepted_of(array.len(), firsts, |slot| array.value(slot).as_ref())
    }

    /// Returns the slots of a view array with values inside the set. The bits of null slots are unspecified.
    pub(super) fn accepted_views<T: ByteViewType>(
        &self,
        array: &GenericByteViewArray<T>,
    ) -> BooleanBuffer
    where
        T::Native: AsRef<[u8]>,
    {
        let first = |(slot, view): (usize, &u128)| {
            let length = *view as u32;
            match length <= MAX_INLINE_VIEW_LEN {
                // In such a view, the value's first eight bytes follow its length.
                true => ((view >> 32) as u64).swap_bytes(),
                false => first_of(array.value(slot).as_ref()),
            }
        };
        let firsts = || array.views().iter().enumerate().map(first).collect();
        self.accepted_of(array.len(), firsts, |slot| array.value(slot).as_ref())
    }

    /// Returns the slots inside the set, for an array with these first bytes and values.
    fn accepted_of<'v>(
        &self,
        len: usize,
        firsts: impl Fn() -> Vec<u64>,
        value: impl Fn(usize) -> &'v [u8],
    ) -> BooleanBuffer {
        if self.cuts.len() > MANY_CUTS {
            return BooleanBuffer::collect_bool(len, |slot| self.contains(value(slot)));
        }
        let firsts = firsts();
        let words = len.div_ceil(64);
        let mut inside = vec![if self.starts_inside { u64::MAX } else { 0 }; words];
        for (first, cut) in &self.cuts {
            if let Some(next) = first.checked_add(1) {
                let passed = between(&firsts, (next, u64::MAX));
                let inside = inside.iter_mut().zip(passed);
                inside.for_each(|(inside, passed)| *inside ^= passed);
            }
            let ties = between(&firsts, (*first, *first));
            for (word, (inside, ties)) in inside.iter_mut().zip(ties).enumerate() {
                let mut left = ties;
                while left != 0 {
                    let bit = left.trailing_zeros();
                    let value = value(64 * word + bit as usize);
                    *inside ^= u64::from(is_after(cut, value)) << bit;
                    left &= left - 1;
                }
            }
        }
        BooleanBuffer::new(inside.into(), 0, len)
    }

    /// Returns true if a value is inside the set.
    #[inline]
    pub(super) fn contains(&self, value: &[u8]) -> bool {
        let first = first_of(value);
        let is_passed = |(of_cut, cut): &(u64, &Cut<Vec<u8>>)| match of_cut.cmp(&first) {
            Ordering::Equal => is_after(cut, value),
            different => different == Ordering::Less,
        };
        self.starts_inside != (self.cuts.partition_point(is_passed) % 2 == 1)
    }
}

/// Returns true if a value lies after a cut. Their first eight bytes must be equal, padding shorter ones with zeros.
fn is_after(cut: &Cut<Vec<u8>>, value: &[u8]) -> bool {
    let order = match (cut.key.get(FIRST_BYTES..), value.get(FIRST_BYTES..)) {
        (Some(key), Some(value)) => key.cmp(value),
        // At least one side has fewer than eight bytes, so the shorter side is a prefix of the other.
        _ => cut.key.len().cmp(&value.len()),
    };
    match order {
        Ordering::Equal => !cut.is_after,
        different => different == Ordering::Less,
    }
}

#[cfg(test)]
mod tests {
    use herringbone_arrow::array::{BinaryArray, BinaryViewArray};

    use super::*;

    #[test]
    fn the_same_as_one_comparison_after_the_other() {
        let values: Vec<Vec<u8>> = [
            "",
            "\0",
            "a",
            "a\0",
            "abcdefg",
            "abcdefg\0",
            "abcdefgh",
            "abcdefgh\0",
            "abcdefghi",
            "abcdefgi",
            "b",
            "b of thirteen",
            "b of thirtees",
            "\u{10ffff}",
        ]
        .map(|value| value.as_bytes().to_vec())
        .into();
        for key in &values {
            for is_after in [false, true] {
                let cut = |key: &Vec<u8>| Cut {
                    key: key.clone(),
                    is_after,
                };
                let sets = [
                    Ranges::below(cut(key)),
                    Ranges::below(cut(key)).complement(),
                    Ranges::points(vec![key.clone()]),
                    Ranges::between(cut(&values[2]), cut(key)),
                    Ranges::points(vec![key.clone(), values[4].clone(), values[6].clone()]),
                ];
                for set in sets {
                    let cuts = ByteCuts::new(&set);
                    let array = BinaryArray::from_iter_values(&values);
                    let accepted = cuts.accepted(&array);
                    let (sliced, whole) = (cuts.accepted(&array.slice(3, 7)), &accepted);
                    assert_eq!(sliced, whole.slice(3, 7));
                    assert_eq!(
                        cuts.accepted_views(&BinaryViewArray::from(&array)),
                        accepted
                    );
                    for (slot, value) in values.iter().enumerate() {
                        let expected = set.contains(|key| key.as_slice().cmp(value));
                        assert_eq!(cuts.contains(value), expected, "{set:?} {value:?}");
                        assert_eq!(accepted.value(slot), expected, "{set:?} {value:?}");
                    }
                }
            }
        }
    }
}
