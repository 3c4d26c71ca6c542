//! Numbers in a dictionary.
//!
//! If the first numbers are close together, any numbers in their vicinity are looked up directly in a table indexed by
//! value. All other numbers are looked up by hash.

use herringbone_kernels::hash;

use super::index_table::IndexTable;
use super::with_room;

/// A number's bits.
pub(crate) trait Bits: Copy + Eq + Default {
    /// Returns the bits as a signed integer.
    fn signed(self) -> i64;
}

impl Bits for u32 {
    #[inline(always)]
    fn signed(self) -> i64 {
        self.cast_signed().into()
    }
}

impl Bits for u64 {
    #[inline(always)]
    fn signed(self) -> i64 {
        self.cast_signed()
    }
}

#[derive(Debug)]
pub(super) struct Numbers<T> {
    values: Vec<T>,
    /// The direct table: for each number from `base` on, its index plus one, or 0 if it has no index.
    near: Vec<u32>,
    base: i64,
    far: IndexTable,
    seed: u64,
}

/// The place to store a new number's index, so that later look-ups find it.
#[derive(Debug, Clone, Copy)]
enum FreePlace {
    Near(usize),
    Far { place: usize, hash: u64 },
}

/// The number of values in the first append for a direct table to be worth its memory.
const NEAR_AFTER: usize = 128;

/// The limit for the first numbers' range, relative to their count.
const NEAR_TIMES: u64 = 32;
/// The limit for the first numbers' range, regardless of their count.
const NEAR_RANGE: u64 = 1 << 15;

/// The maximum number of values to reserve memory for in the first append.
const FIRST_ROOM: usize = 256;

impl<T: Bits> Numbers<T> {
    pub(super) fn new() -> Self {
        Self {
            values: Vec::new(),
            near: Vec::new(),
            base: 0,
            far: IndexTable::default(),
            seed: hash::seed(),
        }
    }

    pub(super) fn values(&self) -> &[T] {
        &self.values
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.values.capacity() * size_of::<T>()
            + self.far.heap_bytes()
            + self.near.capacity() * size_of::<u32>()
    }

    /// Appends the values' indices, inserting any new values.
    pub(super) fn append(
        &mut self,
        values: impl ExactSizeIterator<Item = T> + Clone,
        indices: &mut Vec<u32>,
    ) {
        if self.values.is_empty() {
            self.values.reserve(values.len().min(FIRST_ROOM));
            if values.len() >= NEAR_AFTER {
                self.choose_near(values.clone());
            }
        }
        let start = indices.len();
        indices.resize(start + values.len(), 0);
        let indices = indices.get_mut(start..).unwrap_or_default();
        let mut pairs = values.zip(indices);
        while let Some((value, place, dictionary_index)) = self.find_known(&mut pairs) {
            *dictionary_index = self.insert(value, place);
        }
    }

    /// Sets the indices of known values, up to the first unknown one. Returns that value, its free place, and the slot
    /// for its index. The dictionary doesn't change in the meantime, so that it stays in registers.
    #[inline(always)]
    fn find_known<'a>(
        &self,
        pairs: &mut impl Iterator<Item = (T, &'a mut u32)>,
    ) -> Option<(T, FreePlace, &'a mut u32)> {
        // This loop is duplicated on purpose. A single loop that also checks the direct table would spill registers.
        if self.near.is_empty() {
            pairs.find_map(|pair| set_if_known(pair, |value| self.find_far(value)))
        } else {
            pairs.find_map(|pair| set_if_known(pair, |value| self.find(value)))
        }
    }

    /// Allocates the direct table for the first numbers' vicinity, if they are close together.
    fn choose_near(&mut self, values: impl ExactSizeIterator<Item = T>) {
        let farthest = NEAR_RANGE.min(NEAR_TIMES * values.len() as u64);
        let (min, max) = values.fold((i64::MAX, i64::MIN), |(min, max), value| {
            (min.min(value.signed()), max.max(value.signed()))
        });
        let range = max.wrapping_sub(min).cast_unsigned();
        if range < farthest {
            // We leave a margin, because later numbers might lie slightly outside.
            let margin = range / 2 + 32;
            self.base = min.saturating_sub_unsigned(margin);
            self.near = vec![0; (range + 2 * margin) as usize + 1];
        }
    }

    /// Returns a number's index in the direct table. Distant numbers are out of bounds.
    #[inline(always)]
    fn near_index(&self, value: T) -> usize {
        value.signed().wrapping_sub(self.base).cast_unsigned() as usize
    }

    /// Returns a value's index, inserting the value if it's new.
    #[inline]
    pub(super) fn dictionary_index(&mut self, value: T) -> u32 {
        self.find(value)
            .unwrap_or_else(|place| self.insert(value, place))
    }

    /// Returns a value's index if it is present. Otherwise, the error is the free place for the value.
    #[inline(always)]
    fn find(&self, value: T) -> Result<u32, FreePlace> {
        let near = self.near_index(value);
        if let Some(known) = self.near.get(near) {
            return known.checked_sub(1).ok_or(FreePlace::Near(near));
        }
        self.find_far(value)
    }

    /// Returns the index of a value outside the direct table. If the value is not present, the error is its free place.
    #[inline(always)]
    fn find_far(&self, value: T) -> Result<u32, FreePlace> {
        let hash = self.hash(value);
        let is_it = |index: u32| self.values.get(index as usize) == Some(&value);
        let found = self.far.find(hash, is_it);
        found.map_err(|place| FreePlace::Far { place, hash })
    }

    #[inline(always)]
    fn hash(&self, value: T) -> u64 {
        hash::number(value.signed().cast_unsigned(), self.seed)
    }

    /// Stores a new value at the given place and returns its index.
    #[inline(never)]
    fn insert(&mut self, value: T, place: FreePlace) -> u32 {
        let dictionary_index = self.values.len() as u32;
        self.values.push(value);
        match place {
            FreePlace::Near(at) => {
                if let Some(place) = self.near.get_mut(at) {
                    *place = dictionary_index + 1;
                }
            }
            FreePlace::Far { place, hash } if self.far.has_room(self.values.len()) => {
                self.far.put(place, hash, dictionary_index);
            }
            FreePlace::Far { .. } => self.list_far(),
        }
        dictionary_index
    }

    /// Rebuilds the hash table with more places, from all values that lie outside the direct table.
    fn list_far(&mut self) {
        self.far.clear(self.values.len());
        for (&value, index) in self.values.iter().zip(0..) {
            if self.near.get(self.near_index(value)).is_none() {
                self.far.put_new(self.hash(value), index);
            }
        }
    }

    /// Returns the indices in ascending order of their values as signed integers. This only works if all values are in
    /// the direct table, because that's already in order. Returns `None` if the table extends past the greatest number,
    /// because it then wraps around to the least number.
    pub(super) fn near_order(&self) -> Option<Vec<u32>> {
        self.base.checked_add_unsigned(self.near.len() as u64)?;
        let order = self.near.iter().filter_map(|known| known.checked_sub(1));
        let order: Vec<u32> = order.collect();
        (order.len() == self.values.len()).then_some(order)
    }

    /// Reorders the values. The slice `order` must contain each index once.
    pub(super) fn reorder(&mut self, order: &[u32]) {
        self.values = self.gather(order.iter().copied(), |value| value);
        for (&value, index) in self.values.iter().zip(0..) {
            let near = self.near_index(value);
            if let Some(place) = self.near.get_mut(near) {
                *place = index + 1;
            }
        }
        if self.far.has_room(1) {
            self.list_far();
        }
    }

    /// Returns the values at these indices, each converted to another type.
    pub(super) fn gather<U>(
        &self,
        indices: impl Iterator<Item = u32>,
        with: impl Fn(T) -> U,
    ) -> Vec<U> {
        let value = |dictionary_index: u32| self.values.get(dictionary_index as usize).copied();
        with_room(indices.map(|dictionary_index| with(value(dictionary_index).unwrap_or_default())))
    }
}

/// Sets a value's index if `find` knows the value. Otherwise, this returns the pair and the value's free place.
#[inline(always)]
fn set_if_known<T: Copy>(
    (value, dictionary_index): (T, &mut u32),
    find: impl Fn(T) -> Result<u32, FreePlace>,
) -> Option<(T, FreePlace, &mut u32)> {
    match find(value) {
        Ok(known) => {
            *dictionary_index = known;
            None
        }
        Err(place) => Some((value, place, dictionary_index)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_get_codes_in_the_order_of_their_appearance() {
        let mut numbers = Numbers::<u64>::new();
        let mut indices = Vec::new();
        numbers.append([5, 7, 5, 0, 7, 0].into_iter(), &mut indices);
        assert_eq!(indices, [0, 1, 0, 2, 1, 2]);
        assert_eq!(numbers.values(), [5, 7, 0]);
    }

    #[test]
    fn tables_grow() {
        let mut numbers = Numbers::<u32>::new();
        let values: Vec<u32> = (0..5000).map(|i| (i % 3000) * 0x1000).collect();
        let mut indices = Vec::new();
        numbers.append(values.iter().copied(), &mut indices);
        assert_eq!(numbers.values().len(), 3000);
        assert!((0..5000).all(|i| indices[i] as usize == i % 3000));
        assert_eq!(numbers.gather(indices.into_iter(), |v| v), values);
    }

    /// A direct table has four bytes per number of the range, and each number is held once.
    #[test]
    fn heap_bytes_have_the_direct_table() {
        let mut numbers = Numbers::<u64>::new();
        assert_eq!(numbers.heap_bytes(), 0);
        numbers.append((0..600_u32).map(|i| u64::from(i % 300)), &mut Vec::new());
        let held = 4 * numbers.near.capacity() + 8 * numbers.values.capacity();
        assert!(numbers.near.len() >= 300 && numbers.values.len() == 300);
        assert_eq!(numbers.heap_bytes(), held + numbers.far.heap_bytes());
    }

    #[test]
    fn numbers_close_together_have_an_order() {
        let mut numbers = Numbers::<u64>::new();
        let values = (0..600_u32).map(|i| u64::from(i * 7 % 300).wrapping_sub(100));
        numbers.append(values, &mut Vec::new());
        let order = numbers.near_order().unwrap();
        let values: Vec<i64> = order
            .iter()
            .map(|&i| numbers.values()[i as usize].signed())
            .collect();
        assert_eq!(values, (-100..200).collect::<Vec<_>>());
        numbers.append([u64::MAX >> 1].into_iter(), &mut Vec::new());
        assert_eq!(numbers.near_order(), None);
        assert_eq!(Numbers::<u32>::new().near_order(), Some(Vec::new()));
        // In the direct table, the least number follows the greatest one.
        let mut numbers = Numbers::<u64>::new();
        numbers.append([i64::MAX as u64; 200].into_iter(), &mut Vec::new());
        numbers.append([i64::MIN as u64].into_iter(), &mut Vec::new());
        assert_eq!(
            (numbers.values().len(), numbers.far.has_room(1)),
            (2, false)
        );
        assert_eq!(numbers.near_order(), None);
    }

    #[test]
    fn numbers_close_together_and_far_away_have_one_code_each() {
        for base in [0, -200, i64::MIN, i64::MAX - 1000] {
            let mut numbers = Numbers::<u64>::new();
            let near = (0..2000).map(|i| base.wrapping_add(i % 1000));
            let far = (0..500).map(|i| base.wrapping_add((i % 250) << 40));
            let values: Vec<u64> = near.chain(far).map(i64::cast_unsigned).collect();
            let mut indices = Vec::new();
            for part in values.chunks(600) {
                numbers.append(part.iter().copied(), &mut indices);
            }
            // The first distant number is also a near number, so we store one value fewer.
            assert_eq!(numbers.values().len(), 1000 + 249);
            assert_eq!(numbers.gather(indices.into_iter(), |v| v), values);
        }
    }
}
