//! Looks up byte arrays in portable code.

use super::{Bucket, first_place, key};
use crate::hash;

/// Implements [`super::ByteArrayTable::find_known`].
#[inline(always)]
pub(super) fn find_known<'a, 'b>(
    places: &[Bucket],
    plain: &[u8],
    seed: u64,
    values: &mut impl Iterator<Item = (&'a [u8], &'b mut u32)>,
) -> Option<(&'a [u8], u64, &'b mut u32)> {
    for (value, index) in values {
        match find(places, plain, seed, value) {
            Ok(known) => *index = known,
            Err(hash) => return Some((value, hash, index)),
        }
    }
    None
}

/// Returns the index of `value`, or its hash as the error if it is not in the table.
#[inline(always)]
pub(super) fn find(places: &[Bucket], plain: &[u8], seed: u64, value: &[u8]) -> Result<u32, u64> {
    let hash = hash::bytes(value, seed);
    let key = key(hash, value.len());
    let mask = places.len().wrapping_sub(1);
    let mut at = first_place(key);
    // The loop also ends if the table is empty, because then it has no places.
    while let Some(place) = places.get(at & mask) {
        if place.key == key {
            let known = place.array(value.len(), plain);
            if known.is_some_and(|known| hash::equal(known, value)) {
                return Ok(place.index);
            }
        } else if place.key == 0 {
            break;
        }
        at += 1;
    }
    Err(hash)
}
