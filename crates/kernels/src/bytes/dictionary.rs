//! A dictionary page of byte arrays, and lookups in it.
//!
//! We copy the page's values once into one dense block, and pad it with slack after the last value. A lookup is then
//! one load of `(start, length)` and one wide copy, and the last entry needs no special case.

use herringbone_arrow::array::OffsetSizeTrait;
use herringbone_arrow::buffer::BooleanBuffer;

use super::plain::value_at;
use super::{ByteBuilder, ENDS_EARLY, OVERFLOW};
use crate::filter::retain;
use crate::hybrid::HybridDecoder;
use crate::multiversion::multiversion;
use crate::wild_copy::{SLACK, wild_copy};
use crate::{Malformed, utf8};

/// The number of values that we look up at once, so that their entries stay in the L1 cache.
const BLOCK: usize = 1024;

/// The position of an entry in its dictionary's data, with the start in the low half and the length in the high half.
#[derive(Debug, Clone, Copy, Default)]
#[repr(transparent)]
pub(crate) struct Entry(u64);

impl Entry {
    #[inline(always)]
    fn start(self) -> usize {
        self.0 as u32 as usize
    }

    #[inline(always)]
    fn length(self) -> usize {
        (self.0 >> 32) as usize
    }
}

/// The entries of a dictionary page of byte arrays.
///
/// Invariants: each entry lies in `data`, and is followed by at least `SLACK` bytes. If `utf8` is set, each entry is
/// valid UTF-8.
#[derive(Debug, Clone, Default)]
pub struct ByteDictionary {
    entries: Vec<Entry>,
    data: Vec<u8>,
    longest: usize,
    utf8: bool,
}

impl ByteDictionary {
    /// Reads `n` PLAIN byte arrays, as strings if `utf8` is set.
    ///
    /// # Errors
    /// Fails with [`Malformed`] if values end early, are invalid UTF-8, or have more than `u32::MAX` bytes.
    pub fn plain(page: &[u8], n: usize, utf8: bool) -> Result<Self, Malformed> {
        let Some(bytes) = n.checked_mul(4).and_then(|all| page.len().checked_sub(all)) else {
            return Err(ENDS_EARLY);
        };
        let mut dictionary = Self::with_capacity(n, bytes, utf8)?;
        let mut at = 0;
        for _ in 0..n {
            let value = value_at(page, at).ok_or(ENDS_EARLY)?;
            dictionary.push(value);
            at += 4 + value.len();
        }
        if utf8 && !page.get(..at).is_some_and(utf8::is_valid_plain) {
            return Err(utf8::INVALID);
        }
        Ok(dictionary.sealed())
    }

    /// Reads `n` values of `width` bytes each, as strings if `utf8` is set.
    ///
    /// # Errors
    /// Fails with [`Malformed`] if values end early, have a width of 0, are invalid UTF-8, or have more than `u32::MAX`
    /// bytes.
    pub fn fixed(page: &[u8], width: usize, n: usize, utf8: bool) -> Result<Self, Malformed> {
        let bytes = n.checked_mul(width).and_then(|total| page.get(..total));
        let bytes = bytes.filter(|_| width > 0).ok_or(ENDS_EARLY)?;
        let mut dictionary = Self::with_capacity(n, bytes.len(), utf8)?;
        for value in bytes.chunks_exact(width) {
            if utf8 && !utf8::is_valid(value) {
                return Err(utf8::INVALID);
            }
            dictionary.push(value);
        }
        Ok(dictionary.sealed())
    }

    /// Returns the number of entries.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns true if there are no entries.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Returns the length of the longest entry, in bytes.
    #[must_use]
    pub fn longest(&self) -> usize {
        self.longest
    }

    /// Returns the bytes of entry `index`, if it exists.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&[u8]> {
        let entry = self.entries.get(index)?;
        self.data.get(entry.start()..)?.get(..entry.length())
    }

    /// Returns how many of the next `n` values in `runs` fit into `budget` bytes. Each value costs its own bytes plus
    /// `overhead`. Values past the end of the runs and indices out of range count as fitting, because a later read
    /// reports them as errors.
    #[must_use]
    pub fn fit(
        &self,
        indices: &HybridDecoder,
        runs: &[u8],
        n: usize,
        overhead: usize,
        budget: usize,
    ) -> usize {
        let (mut indices, mut found) = (indices.clone(), Vec::new());
        let (mut fitting, mut left) = (0, budget);
        while fitting < n {
            found.clear();
            let outcome = indices.gather(runs, BLOCK.min(n - fitting), &self.entries, &mut found);
            for entry in &found {
                let Some(rest) = left.checked_sub(entry.length().saturating_add(overhead)) else {
                    return fitting;
                };
                left = rest;
                fitting += 1;
            }
            if outcome.is_err() {
                return n;
            }
        }
        n
    }

    fn with_capacity(n: usize, bytes: usize, utf8: bool) -> Result<Self, Malformed> {
        if u32::try_from(bytes).is_err() {
            return Err(OVERFLOW);
        }
        Ok(Self {
            entries: Vec::with_capacity(n),
            data: Vec::with_capacity(bytes + SLACK),
            longest: 0,
            utf8,
        })
    }

    /// Adds an entry. The total length of all entries must fit into 32 bits, which [`Self::with_capacity`] has checked.
    fn push(&mut self, value: &[u8]) {
        let (start, length) = (self.data.len() as u64, value.len() as u64);
        self.entries.push(Entry(length << 32 | start));
        self.data.extend_from_slice(value);
        self.longest = self.longest.max(value.len());
    }

    /// Adds the slack after the last entry.
    fn sealed(mut self) -> Self {
        self.data.resize(self.data.len() + SLACK, 0);
        self
    }
}

/// Returns the number of values for which we reserve space, out of `n` values that `runs` may or may not contain. We
/// cannot just reserve `n`, because one run of a few bytes can stand for any number of values.
pub(crate) fn likely_values(runs: &[u8], n: usize) -> usize {
    n.min(runs.len().saturating_mul(8).max(1 << 16))
}

impl<O: OffsetSizeTrait> ByteBuilder<O> {
    /// Appends the entries of `dictionary` at the next `n` `indices` in `runs`.
    ///
    /// # Errors
    /// Fails with [`Malformed`] if runs end early, if an index is out of range, or if the offsets cannot address all
    /// bytes.
    pub fn gather(
        &mut self,
        dictionary: &ByteDictionary,
        indices: &mut HybridDecoder,
        runs: &[u8],
        n: usize,
    ) -> Result<(), Malformed> {
        self.gather_with(dictionary, indices, runs, (n, None))
    }

    /// Reads the next `wanted.len()` `indices` in `runs`, and appends the entries of `dictionary` for the indices whose
    /// bit is set.
    ///
    /// # Errors
    /// Fails as [`Self::gather`] describes.
    pub fn gather_wanted(
        &mut self,
        dictionary: &ByteDictionary,
        indices: &mut HybridDecoder,
        runs: &[u8],
        wanted: &BooleanBuffer,
    ) -> Result<(), Malformed> {
        self.gather_with(dictionary, indices, runs, (wanted.len(), Some(wanted)))
    }

    fn gather_with(
        &mut self,
        dictionary: &ByteDictionary,
        indices: &mut HybridDecoder,
        runs: &[u8],
        (n, wanted): (usize, Option<&BooleanBuffer>),
    ) -> Result<(), Malformed> {
        let appended = wanted.map_or(n, BooleanBuffer::count_set_bits);
        self.reserve_values(likely_values(runs, appended));
        let mark = self.mark();
        let mut found = std::mem::take(&mut self.found);
        let mut outcome = Ok(());
        for first in (0..n).step_by(BLOCK) {
            let block = BLOCK.min(n - first);
            found.clear();
            outcome = indices.gather(runs, block, &dictionary.entries, &mut found);
            if let Some(wanted) = wanted {
                retain(&mut found, 0, &wanted.slice(first, block));
            }
            outcome = outcome.and_then(|()| self.copy_entries(dictionary, &found));
            if outcome.is_err() {
                break;
            }
        }
        self.found = found;
        // If the dictionary is UTF-8, its entries were checked when we built it, so `seal` skips the check.
        self.seal(&mark, dictionary.utf8, outcome)
    }

    /// Appends `found`, which are entries of `dictionary`.
    #[inline]
    fn copy_entries(
        &mut self,
        dictionary: &ByteDictionary,
        found: &[Entry],
    ) -> Result<(), Malformed> {
        // The sum cannot overflow, because it is at most `BLOCK` times 2^32 bytes.
        let total: u64 = found.iter().map(|entry| entry.0 >> 32).sum();
        let total = usize::try_from(total).map_err(|_| OVERFLOW)?;
        if total > self.data_room() {
            return Err(OVERFLOW);
        }
        self.data.reserve(total.checked_add(SLACK).ok_or(OVERFLOW)?);
        self.offsets.reserve(found.len());
        // SAFETY: `found` holds copies of elements of `dictionary.entries` (nothing else can make an `Entry`).
        // They have `total` bytes, for which room was reserved, followed by `SLACK` bytes.
        unsafe { append_entries(&dictionary.data, found, &mut self.data, &mut self.offsets) };
        Ok(())
    }
}

/// Appends the bytes of each entry in `found`, and the offset at which it ends.
///
/// # Safety
/// Each entry lies in `dictionary`, followed by at least `SLACK` bytes. `data` has room for the bytes of all
/// entries and `SLACK` more. `offsets` has room for one offset per entry.
unsafe fn append_entries<O: OffsetSizeTrait>(
    dictionary: &[u8],
    found: &[Entry],
    data: &mut Vec<u8>,
    offsets: &mut Vec<O>,
) {
    #[inline(always)]
    fn inner<O: OffsetSizeTrait>(
        dictionary: &[u8],
        found: &[Entry],
        data: &mut Vec<u8>,
        offsets: &mut Vec<O>,
    ) {
        let (source, target) = (dictionary.as_ptr(), data.as_mut_ptr());
        let ends = offsets.spare_capacity_mut().as_mut_ptr().cast::<O>();
        let mut filled = data.len();
        for (i, entry) in found.iter().enumerate() {
            // SAFETY: the caller promises that the entry and `SLACK` bytes lie in the dictionary, and that there
            // is room for `filled`, all remaining lengths and `SLACK` bytes.
            unsafe {
                wild_copy(
                    source.add(entry.start()),
                    target.add(filled),
                    entry.length(),
                )
            };
            filled += entry.length();
            // SAFETY: `offsets` has capacity for `found.len()` more.
            unsafe { ends.add(i).write(O::usize_as(filled)) };
        }
        // SAFETY: the bytes up to `filled` were copied, entry by entry.
        unsafe { data.set_len(filled) };
        // SAFETY: `found.len()` offsets were written.
        unsafe { offsets.set_len(offsets.len() + found.len()) };
    }
    multiversion!(inner<O: OffsetSizeTrait>(
        dictionary: &[u8],
        found: &[Entry],
        data: &mut Vec<u8>,
        offsets: &mut Vec<O>
    ))
}
