//! Helpers for bits and slot ranges.

use std::ops::Range;

use herringbone_arrow::buffer::bit_chunk_iterator::BitChunks;
use herringbone_arrow::buffer::{BooleanBuffer, NullBuffer};

/// A word with each byte set to 1.
const ONES: u64 = 0x0101_0101_0101_0101;

/// Appends a range, merging it with the last one if they are adjacent.
pub(super) fn push(ranges: &mut Vec<Range<usize>>, start: usize, len: usize) {
    if len == 0 {
        return;
    }
    match ranges.last_mut() {
        Some(last) if last.end == start => last.end += len,
        _ => ranges.push(start..start + len),
    }
}

/// Returns the bits `first..first + len` in words of 64 bits. The last word is padded with zeros.
pub(super) fn words(bits: &BooleanBuffer, first: usize, len: usize) -> impl Iterator<Item = u64> {
    let words = BitChunks::new(bits.inner().as_slice(), bits.offset() + first, len);
    let last = words.remainder_bits();
    words.into_iter().chain(std::iter::once(last))
}

/// Adds `weight` to each level whose bit is set. `levels[i]` has bit `first + i`.
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
            // After eight of these shifts, the whole word has been consumed.
            word >>= 8;
        }
        for level in rest {
            *level += weight * (word & 1) as u8;
            word >>= 1;
        }
    }
}

/// Spreads the bits over a word, turning bit `i` into byte `i`.
fn spread(bits: u8) -> u64 {
    // Byte i keeps only bit i. Adding 0x7f to a nonzero byte then carries into its highest bit.
    let kept = (u64::from(bits) * ONES) & 0x8040_2010_0804_0201;
    ((kept + 0x7f * ONES) >> 7) & ONES
}

/// Sets null lists' lengths to 0. The lengths belong to the slots in `ranges`. Returns true if any of them was nonzero.
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

/// Fills `out` with the slots `positions[slot]` of all valid slots in `ranges`.
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
