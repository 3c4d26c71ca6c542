//! Sorts dictionary entries.

use std::cmp::Ordering;

use herringbone_format::Result;
use herringbone_schema::ColumnOrderKind;

use super::{ByteArrays, Dictionary, Entries, with_room};
use crate::encoding::plain::append_plain;

impl Dictionary {
    /// Returns the entries' indices in the column's ascending order, or `None` if there's no such order. For example,
    /// NaN has no order, and byte arrays are only sorted as unsigned bytes.
    pub fn sorted(&self, kind: ColumnOrderKind) -> Option<Vec<u32>> {
        let near = match (&self.entries, kind) {
            (Entries::Int32(entries), ColumnOrderKind::Signed) => entries.near_order(),
            (Entries::Int64(entries), ColumnOrderKind::Signed) => entries.near_order(),
            _ => None,
        };
        if near.is_some() {
            return near;
        }
        let mut order: Vec<u32> = (0..self.num_values() as u32).collect();
        match (&self.entries, kind) {
            (Entries::Int32(entries), ColumnOrderKind::Signed) => {
                sort_by(&mut order, entries.values(), |bits| bits.cast_signed());
            }
            (Entries::Int32(entries), ColumnOrderKind::Unsigned) => {
                sort_by(&mut order, entries.values(), |bits| bits);
            }
            (Entries::Int64(entries), ColumnOrderKind::Signed) => {
                sort_by(&mut order, entries.values(), |bits| bits.cast_signed());
            }
            (Entries::Int64(entries), ColumnOrderKind::Unsigned) => {
                sort_by(&mut order, entries.values(), |bits| bits);
            }
            (Entries::Float(entries), ColumnOrderKind::Float) => {
                let mut values = entries.values().iter();
                if values.any(|bits| f32::from_bits(*bits).is_nan()) {
                    return None;
                }
                // We flip some bits, because comparing the bits as integers would put negative numbers in reverse
                // order.
                sort_by(&mut order, entries.values(), |bits| match bits >> 31 {
                    0 => bits | 1 << 31,
                    _ => !bits,
                });
            }
            (Entries::Double(entries), ColumnOrderKind::Float) => {
                let mut values = entries.values().iter();
                if values.any(|bits| f64::from_bits(*bits).is_nan()) {
                    return None;
                }
                sort_by(&mut order, entries.values(), |bits| match bits >> 63 {
                    0 => bits | 1 << 63,
                    _ => !bits,
                });
            }
            (
                Entries::ByteArray(values) | Entries::Fixed { values, .. },
                ColumnOrderKind::UnsignedBytes,
            ) => sort_byte_arrays(&mut order, values),
            _ => return None,
        }
        Some(order)
    }

    /// Reorders the entries. The slice `order` must contain each index once.
    pub fn reorder(&mut self, order: &[u32]) {
        match &mut self.entries {
            Entries::Int32(entries) | Entries::Float(entries) => entries.reorder(order),
            Entries::Int64(entries) | Entries::Double(entries) => entries.reorder(order),
            Entries::ByteArray(entries)
            | Entries::Fixed {
                values: entries, ..
            } => entries.reorder(order),
        }
        if let Some(used) = &mut self.used {
            let old = std::mem::take(used);
            let is_used = |index: &u32| old.get(*index as usize) == Some(&true);
            *used = order.iter().map(is_used).collect();
        }
    }

    /// Returns some entries in PLAIN form.
    ///
    /// # Errors
    /// Fails with [Limit](herringbone_format::ErrorKind::Limit) if a byte array is longer than the format allows.
    pub fn plain_of(&self, indices: &[u32]) -> Result<Vec<u8>> {
        let mut plain = Vec::new();
        self.with_values(indices.iter().copied(), |values| {
            append_plain(values, &mut plain)
        })?;
        Ok(plain)
    }
}

/// Sorts numeric entries by sort key.
fn sort_by<T: Copy, K: Ord + Copy>(order: &mut Vec<u32>, values: &[T], key: impl Fn(T) -> K) {
    let key = |index: u32| values.get(index as usize).map(|value| key(*value));
    sort_by_key(order, key, |a, b| a.cmp(&b));
}

/// Sorts byte arrays. We skip the prefix common to all arrays and compare the next eight bytes as a number. Whole
/// arrays are only compared if these bytes are equal.
fn sort_byte_arrays(order: &mut Vec<u32>, values: &ByteArrays) {
    let first = order.first().map_or(&[][..], |index| values.get(*index));
    let same = |index: &u32| {
        let pairs = first.iter().zip(values.get(*index));
        pairs.take_while(|(a, b)| a == b).count()
    };
    let common = order.iter().map(same).min().unwrap_or(0);
    let key = |index: u32| {
        let rest = values.get(index).get(common..).unwrap_or_default();
        let bytes = rest.first_chunk().copied().unwrap_or_else(|| {
            let mut bytes = [0; 8];
            bytes
                .iter_mut()
                .zip(rest)
                .for_each(|(to, from)| *to = *from);
            bytes
        });
        Some(u64::from_be_bytes(bytes))
    };
    sort_by_key(order, key, |a, b| values.get(a).cmp(values.get(b)));
}

/// Sorts entries by key, storing the keys next to the indices during the sort. The closure `ties` compares entries with
/// equal keys.
fn sort_by_key<K: Ord + Copy>(
    order: &mut Vec<u32>,
    key: impl Fn(u32) -> Option<K>,
    ties: impl Fn(u32, u32) -> Ordering,
) {
    let keyed = order
        .iter()
        .filter_map(|index| Some((key(*index)?, *index)));
    let mut keyed: Vec<(K, u32)> = with_room(keyed);
    keyed.sort_unstable_by(|(a, a_index), (b, b_index)| {
        a.cmp(b).then_with(|| ties(*a_index, *b_index))
    });
    *order = keyed.into_iter().map(|(_, index)| index).collect();
}

/// Returns each entry's rank in this order.
pub fn ranks(order: &[u32]) -> Vec<u32> {
    let mut ranks = vec![0; order.len()];
    for (rank, index) in (0..).zip(order) {
        if let Some(place) = ranks.get_mut(*index as usize) {
            *place = rank;
        }
    }
    ranks
}

#[cfg(test)]
mod tests {
    use herringbone_format::Type;

    use super::*;
    use crate::encoding::physical_values::{Slots, Values};

    fn dictionary(physical_type: Type, values: Values<'_>) -> Dictionary {
        let mut dictionary = Dictionary::new(physical_type, 0).unwrap();
        dictionary
            .append(&Slots::Values(values), &mut Vec::new())
            .unwrap();
        dictionary
    }

    /// Covers any common prefix, and any number of bytes after it.
    #[test]
    fn byte_arrays_ascend_as_the_library_sorts_them() {
        for common in ["", "x", "a common beginning of more than eight bytes"] {
            let mut texts = Vec::new();
            for i in 0..300_u32 {
                texts.push(format!("{common}{}", i.wrapping_mul(0x9e37_79b1) % 1000));
                texts.push(format!("{common}the same in eight bytes {}", i * 7 % 300));
            }
            let ends = ["", "\0", "\0\0", "1\0", "\u{ff}", "\u{ff}\0"];
            texts.extend(ends.map(|end| format!("{common}{end}")));
            let mut values: Vec<&[u8]> = texts.iter().map(String::as_bytes).collect();
            let entries = dictionary(Type::ByteArray, Values::ByteArray(values.clone()));
            let order = entries.sorted(ColumnOrderKind::UnsignedBytes).unwrap();
            values.sort_unstable();
            values.dedup();
            entries.with_values(order.into_iter(), |sorted| match sorted {
                Values::ByteArray(sorted) => assert_eq!(*sorted, values),
                _ => panic!("{sorted:?}"),
            });
        }
    }

    #[test]
    fn entries_ascend_in_the_order_of_the_column() {
        use ColumnOrderKind::{Float, Signed, SignedBytes, Unsigned, UnsignedBytes};
        let ints = dictionary(Type::Int32, Values::Int32(&[3, -1, 2, 3]));
        assert_eq!(ints.sorted(Signed).unwrap(), [1, 2, 0]);
        assert_eq!(ints.sorted(Unsigned).unwrap(), [2, 0, 1]);
        let values = [0.5, -2.0, 0.0, -0.0, f64::INFINITY, -7.5];
        let doubles = dictionary(Type::Double, Values::Double(&values));
        assert_eq!(doubles.sorted(Float).unwrap(), [5, 1, 3, 2, 0, 4]);
        let nan = dictionary(Type::Double, Values::Double(&[1.0, f64::NAN]));
        assert_eq!(nan.sorted(Float), None);
        let texts = vec![b"b".as_slice(), b"", b"ab", b"\xff", b"a"];
        let texts = dictionary(Type::ByteArray, Values::ByteArray(texts));
        assert_eq!(texts.sorted(UnsignedBytes).unwrap(), [1, 4, 2, 0, 3]);
        assert_eq!(texts.sorted(SignedBytes), None);
    }

    #[test]
    fn entries_are_found_when_they_were_moved() {
        // The first numbers are close together, so they're looked up by value. The others go by hash.
        let near: Vec<i64> = (0..2000).map(|i| (i * 7) % 601).collect();
        let far = (0..300).map(|i| ((i * 37) % 300) << 40);
        let all: Vec<i64> = near.iter().copied().chain(far).collect();
        let mut numbers = Dictionary::new(Type::Int64, 0).unwrap();
        let mut indices = Vec::new();
        for part in [&near[..], &all[2000..]] {
            let slots = Slots::Values(Values::Int64(part));
            numbers.append(&slots, &mut indices).unwrap();
        }
        let texts: Vec<String> = all.iter().map(|value| format!("{value:o}")).collect();
        let texts: Vec<&[u8]> = texts.iter().map(|text| text.as_bytes()).collect();
        let mut strings = dictionary(Type::ByteArray, Values::ByteArray(texts.clone()));
        for (dictionary, kind, values) in [
            (&mut numbers, ColumnOrderKind::Signed, Values::Int64(&all)),
            (
                &mut strings,
                ColumnOrderKind::UnsignedBytes,
                Values::ByteArray(texts),
            ),
        ] {
            let order = dictionary.sorted(kind).unwrap();
            let expected = dictionary.plain_of(&order).unwrap();
            let len = dictionary.num_values();
            dictionary.reorder(&order);
            assert_eq!(dictionary.plain(), expected);
            assert!(dictionary.sorted(kind).unwrap().is_sorted());
            let mut indices = Vec::new();
            dictionary
                .append(&Slots::Values(values), &mut indices)
                .unwrap();
            assert_eq!(dictionary.num_values(), len);
            assert_eq!(indices.len(), all.len());
        }
    }
}
