//! A hash table of indices, using open addressing with linear probing.
//!
//! ```text
//! place (32 bits):  upper bits of the hash | index + 1        0 if the place is free
//! ```
//!
//! The values are stored elsewhere. Places are small, so that even a table for many values stays in a near cache, but
//! they contain enough hash bits that we rarely compare with a wrong value. An index takes just enough bits to number
//! the places.

/// The number of places in a table once it has its first value.
const FIRST_PLACES: usize = 1024;

/// The maximum number of places in a small table. Such a table fits in a near cache, so we can afford to leave most
/// places free.
const SMALL_TABLE: usize = 1 << 16;

/// Returns the maximum number of occupied places in a table of `places` places. The lower the load, the more often the
/// first probe finds the right place.
///
/// The limit is deliberately not a power of two. The lists of values and indices double at powers of two, in all
/// columns of a row group at once, and the tables shouldn't grow at that same moment.
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

    /// Returns true if there is room for `num_indices` indices, including those already in the table.
    #[inline]
    pub(super) fn has_room(&self, num_indices: usize) -> bool {
        num_indices <= room(self.places.len())
    }

    /// Removes all indices and allocates room for `num_indices`.
    pub(super) fn clear(&mut self, num_indices: usize) {
        let mut places = FIRST_PLACES;
        while room(places) < num_indices {
            places *= 2;
        }
        self.places = vec![0; places];
    }

    /// Returns the index with this hash that satisfies `is_it`. Otherwise, the error is the free place for the new
    /// index.
    #[inline(always)]
    pub(super) fn find(&self, hash: u64, is_it: impl Fn(u32) -> bool) -> Result<u32, usize> {
        let mask = self.places.len().wrapping_sub(1);
        let mut at = hash as usize;
        // An empty table doesn't have any places, so we can't index it.
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

    /// Stores an index at the free place found for its hash. The table must have room.
    #[inline]
    pub(super) fn put(&mut self, place: usize, hash: u64, index: u32) {
        let mask = self.places.len().wrapping_sub(1) as u32;
        if let Some(place) = self.places.get_mut(place) {
            *place = tag(hash) & !mask | (index + 1);
        }
    }

    /// Stores an index at the first free place for its hash. The table must have room.
    pub(super) fn put_new(&mut self, hash: u64, index: u32) {
        if let Err(place) = self.find(hash, |_| false) {
            self.put(place, hash, index);
        }
    }
}

/// Returns a hash's upper 32 bits. A place stores as many of these bits as the index leaves free.
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
        // One pair has equal places and equal upper bits. Then follow another place, and other upper bits.
        let hashes = [7, 7, 8 | 1 << 62, 7 | 1 << 63];
        for (index, hash) in (0..).zip(hashes) {
            table.put_new(hash, index);
        }
        for (index, hash) in (0..).zip(hashes) {
            assert_eq!(table.find(hash, |found| found == index), Ok(index));
        }
        // The predicate is only called for indices with the given hash.
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
