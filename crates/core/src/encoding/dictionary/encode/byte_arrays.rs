//! Byte arrays in a dictionary, with variable or fixed length.

use herringbone_format::Result;
use herringbone_kernels::byte_array_table::ByteArrayTable;

use crate::encoding::length;

/// The maximum number of values to reserve memory for in the first append.
const FIRST_ROOM: usize = 64;
/// The number of bytes to reserve for each of the first values.
const FIRST_BYTES: usize = 16;

/// The values, already in the dictionary page's format so that the page needs no further encoding.
#[derive(Debug)]
pub(super) struct ByteArrays {
    plain: Vec<u8>,
    /// The end of each value in `plain`.
    ends: Vec<usize>,
    table: ByteArrayTable,
    /// The byte count of each value's length prefix.
    prefix: usize,
}

impl ByteArrays {
    /// Creates an empty dictionary. Values either have a length prefix or a common fixed length.
    pub(super) fn new(with_lengths: bool) -> Self {
        Self {
            plain: Vec::new(),
            ends: Vec::new(),
            table: ByteArrayTable::default(),
            prefix: if with_lengths { size_of::<u32>() } else { 0 },
        }
    }

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn plain(&self) -> &[u8] {
        &self.plain
    }

    pub(super) fn heap_bytes(&self) -> usize {
        self.plain.capacity() + size_of::<usize>() * self.ends.capacity() + self.table.heap_bytes()
    }

    /// Returns the value at an index, or an empty slice if there is none.
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

    /// Appends the values' indices, inserting any new values.
    ///
    /// # Errors
    /// Fails with Limit if a value is longer than the format allows.
    pub(super) fn append<'a>(
        &mut self,
        values: impl ExactSizeIterator<Item = &'a [u8]>,
        indices: &mut Vec<u32>,
    ) -> Result<()> {
        if self.ends.is_empty() {
            self.ends.reserve(values.len().min(FIRST_ROOM));
            self.plain
                .reserve(values.len().min(FIRST_ROOM) * FIRST_BYTES);
        }
        let start = indices.len();
        indices.resize(start + values.len(), 0);
        let indices = indices.get_mut(start..).unwrap_or_default();
        let mut pairs = values.zip(indices);
        while let Some((value, hash, dictionary_index)) =
            self.table.find_known(&self.plain, &mut pairs)
        {
            *dictionary_index = self.insert(value, hash)?;
        }
        Ok(())
    }

    /// Returns a value's index, inserting the value if it's new.
    ///
    /// # Errors
    /// Fails for the same reasons as [`Self::append`].
    #[inline]
    pub(super) fn dictionary_index(&mut self, value: &[u8]) -> Result<u32> {
        let found = self.table.find(&self.plain, value);
        found.or_else(|hash| self.insert(value, hash))
    }

    /// Inserts a new value and returns its index.
    ///
    /// # Errors
    /// Fails for the same reasons as [`Self::append`].
    #[inline(never)]
    fn insert(&mut self, value: &[u8], hash: u64) -> Result<u32> {
        let length = length(value.len())?;
        let dictionary_index = self.ends.len() as u32;
        if self.prefix > 0 {
            self.plain.extend_from_slice(&length.to_le_bytes());
        }
        self.plain.extend_from_slice(value);
        self.ends.push(self.plain.len());
        // Because of `MAX_DICTIONARY_BYTES`, the start of every value fits in 32 bits, except possibly the last one's.
        self.table.insert(&self.plain, value.len(), hash);
        Ok(dictionary_index)
    }

    /// Reorders the values. The slice `order` must contain each index once.
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
        self.table.rebuild(&self.plain, &self.ends, self.prefix);
    }
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
