//! What is done with the values of packed runs, in portable Rust.

use std::mem::MaybeUninit;

use crate::Malformed;
use crate::bit_unpack::{self, Lane, Unpack};
use crate::bitmap::load_bits;
use crate::cpu::Scalar;

/// An index that is no index of the dictionary.
pub(super) const BEYOND: Malformed = Malformed("a dictionary index is beyond the dictionary");

/// Indices that are unpacked before they are looked up: they stay in the first-level cache.
const BLOCK: usize = 256;

/// Whether no level is above `max`.
pub(super) fn all_at_most(levels: &[u8], max: u8) -> bool {
    levels
        .iter()
        .fold(0, |greatest, level| greatest.max(*level))
        <= max
}

/// Set bits among the `n` from bit `first` on; bits behind the end of `data` are zero.
pub(super) fn count_ones(data: &[u8], first: usize, n: usize) -> usize {
    let bits = |done: usize| load_bits(data, first.saturating_add(done), (n - done).min(64));
    (0..n)
        .step_by(64)
        .map(|done| bits(done).count_ones() as usize)
        .sum()
}

/// Appends the dictionary entries of `n` packed indices from value `first` on.
pub(super) fn gather<T: Copy>(
    data: &[u8],
    first: usize,
    width: u8,
    n: usize,
    dictionary: &[T],
    out: &mut Vec<T>,
) -> Result<(), Malformed> {
    match width {
        0..=8 => gather_lanes::<u8, T>(data, first, width, n, dictionary, out),
        9..=16 => gather_lanes::<u16, T>(data, first, width, n, dictionary, out),
        _ => gather_lanes::<u32, T>(data, first, width, n, dictionary, out),
    }
}

/// [`gather`] with indices in lanes of the narrowest type.
fn gather_lanes<L: Lane, T: Copy>(
    data: &[u8],
    first: usize,
    width: u8,
    n: usize,
    dictionary: &[T],
    out: &mut Vec<T>,
) -> Result<(), Malformed> {
    bit_unpack::check::<L>(data, first, width, n)?;
    let mut indices = [MaybeUninit::<L>::uninit(); BLOCK];
    for done in (0..n).step_by(BLOCK) {
        let block = &mut indices[..(n - done).min(BLOCK)];
        Scalar.unpack(data, first + done, width, block);
        // SAFETY: `unpack` writes all lanes, and `MaybeUninit<L>` has the layout of `L`.
        let block = unsafe { &*(block as *const [MaybeUninit<L>] as *const [L]) };
        let greatest = block
            .iter()
            .fold(L::default(), |greatest, index| greatest.max(*index));
        if greatest.index() >= dictionary.len() {
            return Err(BEYOND);
        }
        // SAFETY: no index of the block is above `greatest`, which is inside of the dictionary.
        let entry = |index: &L| unsafe { *dictionary.get_unchecked(index.index()) };
        out.extend(block.iter().map(entry));
    }
    Ok(())
}
