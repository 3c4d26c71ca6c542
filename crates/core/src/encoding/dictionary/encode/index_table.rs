//! A hash table of indices: open addressing with linear probing.
//!
//! ```text
//! place (32 bits):  upper bits of the hash | index + 1        0 where the place is free
//! ```
//!
//! The values are elsewhere. A place is so small that the table of many values stays in a near cache, and has so much of the
//! hash that hardly a value is looked at but the right one. An index takes as many bits as places need to be numbered.

/// Places of a table with its first value.
const FIRST_PLACES: usize = 1024;

/// Places of a table that lies in a near cache all the same.
const SMALL_TABLE: usize = 1 << 16;

/// How many of so many places may be taken: the fewer, the more often the first one that is looked at is the right one. It is no
/// power of two: the lists of values and indices double where there are as many as that, and of a row group all columns do so
/// at once.
fn room(places: usize) -> usize {
    match places <= SMALL_TABLE {
        true => places / 16 * 3,
        false => places / 8 * 3,
    }
}

#[derive(Debug, Default)]
pub(super) struct IndexTable {
    places: Vec<u32>,
}

impl IndexTable {
    pub(super) fn heap_bytes(&self) -> usize {
        self.places.capacity() * size_of::<u32>()
    }

    /// Whether so many indices have room, of which all need not be in the table.
    #[inline]
    pub(super) fn has_room(&self, num_indices: usize) -> bool {
        num_indices <= room(self.places.len())
    }

    /// Forgets all indices, and makes room for so many.
    pub(super) fn clear(&mut self, num_indices: usize) {
        let mut places = FIRST_PLACES;
        while room(places) < num_indices {
            places *= 2;
        }
        self.places = vec![0; places];
    }

    /// The index with this hash of which `is_it` holds, or else the place that is free for it.
    #[inline(always)]
    pub(super) fn find(&self, hash: u64, is_it: impl Fn(u32) -> bool) -> Result<u32, usize> {
        let mask = self.places.len().wrapping_sub(1);
        let mut at = hash as usize;
        // An empty table has no places at all.
        while let Some(&place) = self.places.get(at & mask)
            && place != 0
        {
            let index = (place & mask as u32).wrapping_sub(1);
            if place ^ tag(hash) <= mask as u32 && is_it(index) {
                return Ok(index);
            }
            at += 1;
        }
        Err(at & mask)
    }

    /// Puts an index, which has room, to the place that was found for its hash.
    #[inline]
    pub(super) fn put(&mut self, place: usize, hash: u64, index: u32) {
        let mask = self.places.len().wrapping_sub(1) as u32;
        if let Some(place) = self.places.get_mut(place) {
            *place = tag(hash) & !mask | (index + 1);
        }
    }

    /// Puts an index, which has room, to the first free place for its hash.
    pub(super) fn put_new(&mut self, hash: u64, index: u32) {
        if let Err(place) = self.find(hash, |_| false) {
            self.put(place, hash, index);
        }
    }
}

/// The part of a hash of which a place has what the index leaves room for.
#[inline(always)]
fn tag(hash: u64) -> u32 {
    (hash >> 32) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_are_found_by_hash_and_value() {
        let mut table = IndexTable::default();
        assert!(table.find(7, |_| true).is_err());
        table.clear(10);
        // The same place and upper bits, another place, other upper bits.
        let hashes = [7, 7, 8 | 1 << 62, 7 | 1 << 63];
        for (index, hash) in (0..).zip(hashes) {
            table.put_new(hash, index);
        }
        for (index, hash) in (0..).zip(hashes) {
            assert_eq!(table.find(hash, |found| found == index), Ok(index));
        }
        // Only those with the hash are asked for.
        let asked = std::cell::RefCell::new(Vec::new());
        let found = table.find(7, |index| {
            asked.borrow_mut().push(index);
            false
        });
        assert!(found.is_err());
        assert_eq!(asked.into_inner(), [0, 1]);
    }

    #[test]
    fn tables_have_room_for_a_share_of_their_places() {
        let mut table = IndexTable::default();
        assert!(table.has_room(0) && !table.has_room(1));
        for (indices, room) in [
            (1, 192),
            (192, 192),
            (193, 384),
            (12_288, 12_288),
            (12_289, 49_152),
        ] {
            table.clear(indices);
            assert!(
                table.has_room(room) && !table.has_room(room + 1),
                "{indices}"
            );
        }
    }
}
