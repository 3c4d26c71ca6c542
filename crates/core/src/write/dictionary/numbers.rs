//! Numbers that a dictionary knows.

use super::hash;

/// Bits of a number.
pub(crate) trait Bits: Copy + Eq + Default {
    fn widen(self) -> u64;
}

impl Bits for u32 {
    #[inline(always)]
    fn widen(self) -> u64 {
        self.into()
    }
}

impl Bits for u64 {
    #[inline(always)]
    fn widen(self) -> u64 {
        self
    }
}

/// One place of the table: a number, and its code plus one; 0 where the place is free.
#[derive(Debug, Clone, Copy, Default)]
struct Place<T> {
    value: T,
    code_plus_1: u32,
}

/// An open-addressing table with linear probing, at most half full.
#[derive(Debug)]
pub(super) struct Numbers<T> {
    values: Vec<T>,
    places: Vec<Place<T>>,
    seed: u64,
}

/// Places of a table with its first value.
const FIRST_PLACES: usize = 64;

impl<T: Bits> Numbers<T> {
    pub(super) fn new() -> Self {
        Self {
            values: Vec::new(),
            places: Vec::new(),
            seed: hash::seed(),
        }
    }

    pub(super) fn values(&self) -> &[T] {
        &self.values
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.values.capacity() * size_of::<T>() + self.places.capacity() * size_of::<Place<T>>()
    }

    /// Appends the codes of values.
    pub(super) fn append(
        &mut self,
        values: impl ExactSizeIterator<Item = T>,
        codes: &mut Vec<u32>,
    ) {
        codes.reserve(values.len());
        for value in values {
            codes.push(self.code(value));
        }
    }

    /// The code of a value, which is a new one if it was not there yet.
    #[inline(always)]
    pub(super) fn code(&mut self, value: T) -> u32 {
        let mask = self.places.len().wrapping_sub(1);
        let mut at = hash::number(value.widen(), self.seed) as usize;
        // An empty table has no places at all.
        while let Some(place) = self.places.get(at & mask) {
            if place.code_plus_1 == 0 {
                break;
            }
            if place.value == value {
                return place.code_plus_1 - 1;
            }
            at += 1;
        }
        self.insert(value)
    }

    #[cold]
    fn insert(&mut self, value: T) -> u32 {
        let code = self.values.len() as u32;
        self.values.push(value);
        if self.values.len() * 2 > self.places.len() {
            self.grow();
        } else {
            self.put(value, code);
        }
        code
    }

    fn put(&mut self, value: T, code: u32) {
        let mask = self.places.len().wrapping_sub(1);
        let mut at = hash::number(value.widen(), self.seed) as usize;
        while let Some(place) = self.places.get_mut(at & mask) {
            if place.code_plus_1 == 0 {
                *place = Place {
                    value,
                    code_plus_1: code + 1,
                };
                return;
            }
            at += 1;
        }
    }

    fn grow(&mut self) {
        let places = (self.places.len() * 2).max(FIRST_PLACES);
        self.places = vec![Place::default(); places];
        for code in 0..self.values.len() {
            if let Some(value) = self.values.get(code) {
                self.put(*value, code as u32);
            }
        }
    }

    /// The values with these codes, each turned into another type.
    pub(super) fn gather<U>(
        &self,
        codes: impl Iterator<Item = u32>,
        with: impl Fn(T) -> U,
    ) -> Vec<U> {
        codes
            .filter_map(|code| self.values.get(code as usize))
            .map(|value| with(*value))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_get_codes_in_the_order_of_their_appearance() {
        let mut numbers = Numbers::<u64>::new();
        let mut codes = Vec::new();
        numbers.append([5, 7, 5, 0, 7, 0].into_iter(), &mut codes);
        assert_eq!(codes, [0, 1, 0, 2, 1, 2]);
        assert_eq!(numbers.values(), [5, 7, 0]);
    }

    #[test]
    fn tables_grow() {
        let mut numbers = Numbers::<u32>::new();
        let values: Vec<u32> = (0..5000).map(|i| (i % 3000) * 0x1000).collect();
        let mut codes = Vec::new();
        numbers.append(values.iter().copied(), &mut codes);
        assert_eq!(numbers.values().len(), 3000);
        assert!((0..5000).all(|i| codes[i] as usize == i % 3000));
        assert_eq!(numbers.gather(codes.into_iter(), |v| v), values);
    }
}
