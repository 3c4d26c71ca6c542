//! Where the byte arrays of a dictionary under construction are: a hash table with open addressing and linear probing.
//!
//! ```text
//! place (16 bytes): tag | length + 1 | start | index        all 0 where the place is free
//! ```
//!
//! The arrays themselves lie in the bytes of the dictionary page, which the caller keeps. A place has a part of the hash, the
//! tag, so that hardly an array is compared but the right one. Tag and length are compared as one number.
//!
//! Portable code hashes an array by the words at both of its ends, with a branch for each class of lengths: where these follow
//! on each other in no order, most of the time are branches that were predicted wrongly. With AVX-512 an array is a vector, loaded
//! under a mask, and hashed by rounds of AES. Tables of one process all do the same; what indices come out is the same for both.
//!
//! **Shapes**: arrays in, an index each out, up to the first that is new. **Limits**: indices, starts and lengths have 32 bits.

#[cfg(target_arch = "x86_64")]
mod avx512;
mod scalar;
#[cfg(test)]
mod tests;

use crate::cpu::Vaes;
use crate::hash;

/// One place of the table.
#[derive(Debug, Clone, Copy, Default)]
struct Place {
    /// See [`key`]; 0 where the place is free.
    key: u64,
    start: u32,
    index: u32,
}

/// Which of the byte arrays of a dictionary page a value is.
#[derive(Debug)]
pub struct ByteArrayTable {
    /// A power of two, or none.
    places: Vec<Place>,
    num_arrays: usize,
    seed: u64,
    vaes: Option<Vaes>,
}

/// Places of a table with its first array.
const FIRST_PLACES: usize = 256;

/// A table with fewer places becomes four times as large, and not twice: the more places are free, the more often the first one
/// that is looked at is the right one.
const MANY_PLACES: usize = 1 << 15;

/// One with fewer than these does so where a quarter is taken, and not the half.
const FEW_PLACES: usize = 1 << 12;

impl Default for ByteArrayTable {
    fn default() -> Self {
        Self::with(Vaes::detect())
    }
}

impl ByteArrayTable {
    fn with(vaes: Option<Vaes>) -> Self {
        Self {
            places: Vec::new(),
            num_arrays: 0,
            seed: hash::seed(),
            vaes,
        }
    }

    /// Bytes held.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        size_of::<Place>() * self.places.capacity()
    }

    /// Sets the indices of values as long as they are in the table, whose arrays lie in `plain`; the first that is not, its hash,
    /// and what is to become its index. Nothing of the table changes meanwhile, so all of it stays in registers.
    #[inline]
    pub fn find_known<'a, 'b>(
        &self,
        plain: &[u8],
        values: &mut impl Iterator<Item = (&'a [u8], &'b mut u32)>,
    ) -> Option<(&'a [u8], u64, &'b mut u32)> {
        match self.vaes {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the token proves that the instructions are there.
            Some(_) => unsafe { avx512::find_known(&self.places, plain, self.seed, values) },
            _ => scalar::find_known(&self.places, plain, self.seed, values),
        }
    }

    /// The index of a value, or its hash if it is not in the table.
    ///
    /// # Errors
    /// The hash.
    #[inline]
    pub fn find(&self, plain: &[u8], value: &[u8]) -> Result<u32, u64> {
        let mut index = 0;
        let mut one = std::iter::once((value, &mut index));
        match self.find_known(plain, &mut one) {
            None => Ok(index),
            Some((_, hash, _)) => Err(hash),
        }
    }

    /// Takes the array of `length` bytes at the end of `plain`, whose hash is known, and gives it the next index. It must be
    /// new. Starts and lengths beyond 32 bits are the caller's to refuse.
    pub fn insert(&mut self, plain: &[u8], length: usize, hash: u64) {
        let place = Place {
            key: key(hash, length),
            start: plain.len().saturating_sub(length) as u32,
            index: self.num_arrays as u32,
        };
        self.num_arrays += 1;
        if self.num_arrays > self.room() {
            self.grow();
        }
        self.put(place);
    }

    /// Gives the arrays that the table has other indices: the order of their `ends` in `plain`, where each lies behind a prefix.
    /// What is more than they are is left out.
    pub fn rebuild(&mut self, plain: &[u8], ends: &[usize], prefix: usize) {
        self.places.fill(Place::default());
        let starts = std::iter::once(0).chain(ends.iter().copied());
        let arrays = starts.zip(ends).take(self.num_arrays);
        for ((start, end), index) in arrays.zip(0..) {
            let range = start + prefix..*end;
            let hash = self.hash(plain.get(range.clone()).unwrap_or_default());
            let place = Place {
                key: key(hash, range.len()),
                start: range.start as u32,
                index,
            };
            self.put(place);
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
        let more = (self.places.len() * times).max(FIRST_PLACES);
        let places = std::mem::replace(&mut self.places, vec![Place::default(); more]);
        let taken = places.into_iter().filter(|place| place.key != 0);
        taken.for_each(|place| self.put(place));
    }

    /// Puts an array to the first free place for its hash.
    fn put(&mut self, new: Place) {
        let mask = self.places.len().wrapping_sub(1);
        let mut at = first_place(new.key);
        while let Some(place) = self.places.get_mut(at & mask) {
            if place.key == 0 {
                *place = new;
                return;
            }
            at += 1;
        }
    }

    #[inline]
    fn hash(&self, value: &[u8]) -> u64 {
        match self.vaes {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the token proves that the instructions are there.
            Some(_) => unsafe { avx512::hash(value, self.seed) },
            _ => hash::bytes(value, self.seed),
        }
    }
}

impl Place {
    /// The array, which has this length, if it lies in `plain`.
    #[inline(always)]
    fn array(self, length: usize, plain: &[u8]) -> Option<&[u8]> {
        let start = self.start as usize;
        plain.get(start..start + length)
    }
}

/// Where the first place for a key lies in the table: by its part of the hash, so that a table grows without the arrays.
#[inline(always)]
fn first_place(key: u64) -> usize {
    key as u32 as usize
}

/// What tells arrays apart: the upper half of the hash, and the length, which is not that of a free place.
#[inline(always)]
fn key(hash: u64, length: usize) -> u64 {
    hash >> 32 | (length as u64 + 1) << 32
}
