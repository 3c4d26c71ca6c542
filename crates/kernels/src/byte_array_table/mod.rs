//! Finds the positions of byte arrays in a dictionary under construction. This is a hash table with open addressing and
//! linear probing.
//!
//! ```text
//! place (16 bytes): tag | length + 1 | start | index        all 0 if the place is free
//! ```
//!
//! The arrays themselves lie in the bytes of the dictionary page, which the caller owns. A place contains a tag, which
//! is a part of the hash, so that we hardly compare any array except the right one. We compare tag and length as one
//! number.
//!
//! Portable code hashes an array by the words at both of its ends, with a branch for each class of lengths. If lengths
//! vary unpredictably, most of the time is spent on mispredicted branches. With AVX-512, we load an array under a mask
//! as one vector instead, and hash it by rounds of AES. All tables of a process use the same implementation, but the
//! resulting indices are the same for both.
//!
//! A table takes arrays and returns one index for each, up to the first new array. Indices, starts and lengths are
//! limited to 32 bits.

#[cfg(target_arch = "x86_64")]
mod avx512;
mod scalar;
#[cfg(test)]
mod tests;

use crate::cpu::Vaes;
use crate::hash;

/// One place in the table.
#[derive(Debug, Clone, Copy, Default)]
struct Bucket {
    /// The array's key (see [`key`]), or 0 if the place is free.
    key: u64,
    start: u32,
    index: u32,
}

/// A map from values to the indices of equal byte arrays in a dictionary page.
#[derive(Debug)]
pub struct ByteArrayTable {
    /// The table's places, whose number is a power of two, or zero.
    places: Vec<Bucket>,
    num_arrays: usize,
    seed: u64,
    vaes: Option<Vaes>,
}

/// The number of places that we allocate for the first array.
const FIRST_PLACES: usize = 256;

/// The number of places below which a table grows by a factor of four instead of two, because the more places are free,
/// the more often the first probed place is the right one.
const MANY_PLACES: usize = 1 << 15;

/// The number of places below which a table grows when a quarter of them is taken, instead of half.
const MIN_PLACES_TO_SEARCH: usize = 1 << 12;

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

    /// Returns the number of bytes allocated on the heap.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        size_of::<Bucket>() * self.places.capacity()
    }

    /// Sets the indices of values until the first value that is not in the table. Returns that value, its hash, and the
    /// reference to its index. `plain` contains the table's arrays. Note that the table does not change during this
    /// call, so all its fields can stay in registers.
    #[inline]
    pub fn find_known<'a, 'b>(
        &self,
        plain: &[u8],
        values: &mut impl Iterator<Item = (&'a [u8], &'b mut u32)>,
    ) -> Option<(&'a [u8], u64, &'b mut u32)> {
        match self.vaes {
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the token proves that the instructions are available.
            Some(_) => unsafe { avx512::find_known(&self.places, plain, self.seed, values) },
            _ => scalar::find_known(&self.places, plain, self.seed, values),
        }
    }

    /// Returns the index of a value.
    ///
    /// # Errors
    /// Fails with the value's hash if the value is not in the table, so that the caller can insert it.
    #[inline]
    pub fn find(&self, plain: &[u8], value: &[u8]) -> Result<u32, u64> {
        let mut index = 0;
        let mut one = std::iter::once((value, &mut index));
        match self.find_known(plain, &mut one) {
            None => Ok(index),
            Some((_, hash, _)) => Err(hash),
        }
    }

    /// Adds the array of `length` bytes at the end of `plain`, with its known hash, under the next index. The array
    /// must be new. The caller must reject starts and lengths that need more than 32 bits.
    pub fn insert(&mut self, plain: &[u8], length: usize, hash: u64) {
        let place = Bucket {
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

    /// Assigns new indices to the table's arrays, in the order of their `ends` in `plain`. Each array there follows a
    /// prefix of `prefix` bytes. Surplus ends are ignored.
    pub fn rebuild(&mut self, plain: &[u8], ends: &[usize], prefix: usize) {
        self.places.fill(Bucket::default());
        let starts = std::iter::once(0).chain(ends.iter().copied());
        let arrays = starts.zip(ends).take(self.num_arrays);
        for ((start, end), index) in arrays.zip(0..) {
            let range = start + prefix..*end;
            let hash = self.hash(plain.get(range.clone()).unwrap_or_default());
            let place = Bucket {
                key: key(hash, range.len()),
                start: range.start as u32,
                index,
            };
            self.put(place);
        }
    }

    /// Returns the number of places that may be taken.
    fn room(&self) -> usize {
        match self.places.len() < MIN_PLACES_TO_SEARCH {
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
        let places = std::mem::replace(&mut self.places, vec![Bucket::default(); more]);
        let taken = places.into_iter().filter(|place| place.key != 0);
        taken.for_each(|place| self.put(place));
    }

    /// Puts an array into the first place that is free for its hash.
    fn put(&mut self, new: Bucket) {
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
            // SAFETY: the token proves that the instructions are available.
            Some(_) => unsafe { avx512::hash(value, self.seed) },
            _ => hash::bytes(value, self.seed),
        }
    }
}

impl Bucket {
    /// Returns the array, which has this length, if it lies inside `plain`.
    #[inline(always)]
    fn array(self, length: usize, plain: &[u8]) -> Option<&[u8]> {
        let start = self.start as usize;
        plain.get(start..start + length)
    }
}

/// Returns the first place to probe for a key. This place depends only on the key's part of the hash, so a table can
/// grow without reading the arrays.
#[inline(always)]
fn first_place(key: u64) -> usize {
    key as u32 as usize
}

/// Returns the key by which we compare arrays: the upper half of the hash, and the length plus one. We add one so that
/// no key equals the 0 of a free place.
#[inline(always)]
fn key(hash: u64, length: usize) -> u64 {
    hash >> 32 | (length as u64 + 1) << 32
}
