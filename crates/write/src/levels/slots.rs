//! Bits and ranges of slots.

use std::ops::Range;

use herringbone_arrow::buffer::bit_chunk_iterator::BitChunks;
use herringbone_arrow::buffer::{BooleanBuffer, NullBuffer};

/// Each byte is 1.
const ONES: u64 = 0x0101_0101_0101_0101;

/// Appends a range, to the last one where that ends at its start.
pub(super) fn push(ranges: &mut Vec<Range<usize>>, start: usize, len: usize) {
    if len == 0 {
        return;
    }
    match ranges.last_mut() {
        Some(last) if last.end == start => last.end += len,
        _ => ranges.push(start..start + len),
    }
}

/// The bits `first..first + len`, 64 at a time, the last word filled up with zeros.
pub(super) fn words(bits: &BooleanBuffer, first: usize, len: usize) -> impl Iterator<Item = u64> {
    let words = BitChunks::new(bits.inner().as_slice(), bits.offset() + first, len);
    let last = words.remainder_bits();
    words.into_iter().chain(std::iter::once(last))
}

/// Adds `weight` to the levels whose bit is set; `levels[i]` has the bit `first + i`.
pub(super) fn add_bits(levels: &mut [u8], valid: &NullBuffer, first: usize, weight: u8) {
    let words = words(valid.inner(), first, levels.len());
    for (levels, word) in levels.chunks_mut(64).zip(words) {
        if word == u64::MAX {
            levels.iter_mut().for_each(|level| *level += weight);
            continue;
        }
        let (eights, rest) = levels.as_chunks_mut::<8>();
        let mut word = word;
        for eight in eights {
            let added = spread(word as u8) * u64::from(weight);
            *eight = u64::from_le_bytes(*eight).wrapping_add(added).to_le_bytes();
            // Eight times for a whole word, after which it is used up.
            word >>= 8;
        }
        for level in rest {
            *level += weight * (word & 1) as u8;
            word >>= 1;
        }
    }
}

/// Bit `i` as byte `i`.
fn spread(bits: u8) -> u64 {
    // Byte i keeps bit i alone; what is not zero then carries into the highest bit of its byte.
    let kept = (u64::from(bits) * ONES) & 0x8040_2010_0804_0201;
    ((kept + 0x7f * ONES) >> 7) & ONES
}

/// Sets the lengths of null lists to 0; true if one was not. The lengths are those of the slots in
/// `ranges`.
pub(super) fn clear_null(
    lengths: &mut [usize],
    valid: &NullBuffer,
    ranges: &[Range<usize>],
) -> bool {
    let mut cleared = 0;
    let mut lengths = lengths;
    for range in ranges {
        let (these, others) = lengths.split_at_mut(range.len());
        lengths = others;
        let words = words(valid.inner(), range.start, range.len());
        for (these, word) in these.chunks_mut(64).zip(words) {
            if word == u64::MAX {
                continue;
            }
            for (i, length) in these.iter_mut().enumerate() {
                let keep = 0_usize.wrapping_sub((word >> i & 1) as usize);
                cleared |= *length & !keep;
                *length &= keep;
            }
        }
    }
    cleared != 0
}

/// The slots at `positions[slot]` of the valid slots in `ranges`.
pub(super) fn at_positions(
    positions: &[usize],
    valid: Option<&NullBuffer>,
    ranges: &[Range<usize>],
    out: &mut Vec<Range<usize>>,
) {
    out.clear();
    for range in ranges {
        for (slot, &position) in range.clone().zip(&positions[range.clone()]) {
            if valid.is_none_or(|valid| valid.is_valid(slot)) {
                push(out, position, 1);
            }
        }
    }
}
