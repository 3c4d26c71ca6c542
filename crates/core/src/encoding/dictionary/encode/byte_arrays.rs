//! Byte arrays that a dictionary knows, of any length or of one fixed length.

use herringbone_format::Result;

use super::hash;
use crate::encoding::length;

/// One place of the table: the index plus one, 0 where the place is free; a part of the hash; and where
/// the value lies in the dictionary page.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    code_plus_1: u32,
    tag: u32,
    start: u32,
    length: u32,
}

/// An open-addressing table with linear probing. The values are kept in the form
/// of the dictionary page.
#[derive(Debug)]
pub(super) struct ByteArrays {
    plain: Vec<u8>,
    /// Where each value ends in `plain`.
    ends: Vec<usize>,
    places: Vec<Place>,
    /// Bytes of the length in front of each value.
    prefix: usize,
    seed: u64,
}

/// Places of a table with its first value.
const FIRST_PLACES: usize = 256;

/// A table with fewer places becomes four times as large, and not twice: the more places are free, the more often the first one that
/// is looked at is the right one.
const MANY_PLACES: usize = 1 << 15;

/// One with fewer than these does so where a quarter is taken, and not the half.
const FEW_PLACES: usize = 1 << 12;

impl ByteArrays {
    /// No values; with a length in front of each, or all of the same length.
    pub(super) fn new(with_lengths: bool) -> Self {
        Self {
            plain: Vec::new(),
            ends: Vec::new(),
            places: Vec::new(),
            prefix: if with_lengths { size_of::<u32>() } else { 0 },
            seed: hash::seed(),
        }
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn plain(&self) -> &[u8] {
        &self.plain
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.plain.capacity()
            + size_of::<usize>() * self.ends.capacity()
            + size_of::<Place>() * self.places.capacity()
    }

    /// The value with an index; empty if there is none.
    #[inline]
    pub(super) fn get(&self, dictionary_index: u32) -> &[u8] {
        let dictionary_index = dictionary_index as usize;
        let start = match dictionary_index.checked_sub(1) {
            Some(before) => self.ends.get(before).copied(),
            None => Some(0),
        };
        let range = start.zip(self.ends.get(dictionary_index).copied());
        range
            .and_then(|(start, end)| self.plain.get(start + self.prefix..end))
            .unwrap_or_default()
    }

    /// Appends the indices of values.
    ///
    /// # Errors
    /// Limit where one is longer than the format allows.
    pub(super) fn append<'a>(
        &mut self,
        values: impl ExactSizeIterator<Item = &'a [u8]>,
        indices: &mut Vec<u32>,
    ) -> Result<()> {
        let start = indices.len();
        indices.resize(start + values.len(), 0);
        let indices = indices.get_mut(start..).unwrap_or_default();
        let mut pairs = values.zip(indices);
        while let Some((value, hash, dictionary_index)) = self.find_known(&mut pairs) {
            *dictionary_index = self.insert(value, hash)?;
        }
        Ok(())
    }

    /// Sets the indices of values as long as they are there already; the first that is not, its hash, and what is to become its
    /// index. Nothing of the dictionary changes meanwhile, so all of it stays in registers.
    #[inline(always)]
    fn find_known<'a, 'b>(
        &self,
        pairs: &mut impl Iterator<Item = (&'a [u8], &'b mut u32)>,
    ) -> Option<(&'a [u8], u64, &'b mut u32)> {
        pairs.find_map(|(value, dictionary_index)| match self.find(value) {
            Ok(known) => {
                *dictionary_index = known;
                None
            }
            Err(hash) => Some((value, hash, dictionary_index)),
        })
    }

    /// The index of a value, which is a new one if it was not there yet.
    ///
    /// # Errors
    /// As [`Self::append`].
    #[inline]
    pub(super) fn dictionary_index(&mut self, value: &[u8]) -> Result<u32> {
        self.find(value).or_else(|hash| self.insert(value, hash))
    }

    /// The index of a value, or its hash if it is not there yet.
    #[inline(always)]
    fn find(&self, value: &[u8]) -> Result<u32, u64> {
        let hash = hash::bytes(value, self.seed);
        let (mut at, tag) = place_and_tag(hash);
        let mask = self.places.len().wrapping_sub(1);
        // An empty table has no places at all.
        while let Some(place) = self.places.get(at & mask) {
            if place.code_plus_1 == 0 {
                break;
            }
            if place.tag == tag && place.length as usize == value.len() {
                let start = place.start as usize;
                let known = self.plain.get(start..start + value.len());
                if known.is_some_and(|known| hash::equal(known, value)) {
                    return Ok(place.code_plus_1 - 1);
                }
            }
            at += 1;
        }
        Err(hash)
    }

    /// Takes a new value; its index.
    ///
    /// # Errors
    /// As [`Self::append`].
    #[inline(never)]
    fn insert(&mut self, value: &[u8], hash: u64) -> Result<u32> {
        let length = length(value.len())?;
        let dictionary_index = self.ends.len() as u32;
        if self.prefix > 0 {
            self.plain.extend_from_slice(&length.to_le_bytes());
        }
        self.plain.extend_from_slice(value);
        self.ends.push(self.plain.len());
        if self.ends.len() > self.room() {
            self.grow();
        } else {
            self.put(hash, dictionary_index);
        }
        Ok(dictionary_index)
    }

    /// Puts the values into this order, which has each index once.
    pub(super) fn reorder(&mut self, order: &[u32]) {
        let mut plain = Vec::with_capacity(self.plain.len());
        let mut ends = Vec::with_capacity(order.len());
        for dictionary_index in order {
            let value = self.get(*dictionary_index);
            if self.prefix > 0 {
                plain.extend_from_slice(&(value.len() as u32).to_le_bytes());
            }
            plain.extend_from_slice(value);
            ends.push(plain.len());
        }
        (self.plain, self.ends) = (plain, ends);
        self.places.fill(Place::default());
        for dictionary_index in 0..self.ends.len() as u32 {
            let hash = hash::bytes(self.get(dictionary_index), self.seed);
            self.put(hash, dictionary_index);
        }
    }

    fn put(&mut self, hash: u64, dictionary_index: u32) {
        let length = self.get(dictionary_index).len();
        let end = self
            .ends
            .get(dictionary_index as usize)
            .copied()
            .unwrap_or(0);
        // `MAX_DICTIONARY_BYTES` sees to it that values in front of the last start within 32 bits.
        let (mut at, tag) = place_and_tag(hash);
        let new = Place {
            code_plus_1: dictionary_index + 1,
            tag,
            start: (end - length) as u32,
            length: length as u32,
        };
        let mask = self.places.len().wrapping_sub(1);
        while let Some(place) = self.places.get_mut(at & mask) {
            if place.code_plus_1 == 0 {
                *place = new;
                return;
            }
            at += 1;
        }
    }

    /// How many places may be taken.
    fn room(&self) -> usize {
        match self.places.len() < FEW_PLACES {
            true => self.places.len() / 4,
            false => self.places.len() / 2,
        }
    }

    fn grow(&mut self) {
        let times = match self.places.len() < MANY_PLACES {
            true => 4,
            false => 2,
        };
        let places = (self.places.len() * times).max(FIRST_PLACES);
        self.places = vec![Place::default(); places];
        for dictionary_index in 0..self.ends.len() as u32 {
            let hash = hash::bytes(self.get(dictionary_index), self.seed);
            self.put(hash, dictionary_index);
        }
    }
}

/// The first place for a hash, which lies in the table by its lower bits, and what is told from others by.
#[inline(always)]
fn place_and_tag(hash: u64) -> (usize, u32) {
    ((hash >> 32) as usize, hash as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_get_codes_in_the_order_of_their_appearance() {
        let mut arrays = ByteArrays::new(true);
        let mut indices = vec![7];
        let values = ["a", "", "bc", "a", "bc", ""].map(str::as_bytes);
        arrays.append(values.into_iter(), &mut indices).unwrap();
        assert_eq!(indices, [7, 0, 1, 2, 0, 2, 1]);
        assert_eq!(arrays.plain(), b"\x01\0\0\0a\0\0\0\0\x02\0\0\0bc");
        assert_eq!(arrays.get(2), b"bc");
        assert_eq!(arrays.get(3), b"");
    }

    #[test]
    fn all_lengths_are_told_apart() {
        let mut arrays = ByteArrays::new(true);
        let text = "x".repeat(100);
        for length in 0..=100 {
            assert_eq!(
                arrays.dictionary_index(&text.as_bytes()[..length]).unwrap(),
                length as u32
            );
        }
        let mut other = text.clone().into_bytes();
        for at in 0..100 {
            other[at] = b'y';
            assert_eq!(arrays.dictionary_index(&other).unwrap(), 101 + at as u32);
            other[at] = b'x';
        }
        assert_eq!(arrays.dictionary_index(text.as_bytes()).unwrap(), 100);
    }

    #[test]
    fn fixed_lengths_have_no_prefix() {
        let mut arrays = ByteArrays::new(false);
        assert_eq!(
            (
                arrays.dictionary_index(b"abcd").unwrap(),
                arrays.dictionary_index(b"efgh").unwrap()
            ),
            (0, 1)
        );
        assert_eq!(arrays.plain(), b"abcdefgh");
        assert_eq!(arrays.get(1), b"efgh");
    }
}
