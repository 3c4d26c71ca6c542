//! Unpacks eight values at a time in portable Rust, with one copy of the loop for each width.
//!
//! Eight values start and end on byte boundaries. Since each copy knows its width at compile time, a value is a load, a
//! shift and a mask at fixed positions.

use std::mem::MaybeUninit;

use super::Lane;

/// The number of values that start and end on byte boundaries together, for every width.
const GROUP: usize = 8;

/// Writes all of `out` with the values in `data` from value `first` on. Values past the end of `data` are zero.
pub(super) fn unpack<L: Lane>(data: &[u8], first: usize, width: u8, out: &mut [MaybeUninit<L>]) {
    macro_rules! by_width {
        ($($width:literal)*) => {
            match width {
                $($width => groups::<$width, L>(data, first, out),)*
                _ => out.fill(MaybeUninit::new(L::default())),
            }
        };
    }
    // Widths that do not fit into `L` cannot occur here, so arms for them would only generate code.
    match L::BITS {
        8 => by_width!(1 2 3 4 5 6 7 8),
        _ => by_width!(1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28
            29 30 31 32),
    }
}

/// Implements [`unpack`] for one width, which takes the rest of a group, then whole groups, then the beginning of a
/// group.
fn groups<const WIDTH: usize, L: Lane>(data: &[u8], first: usize, mut out: &mut [MaybeUninit<L>]) {
    let rest = data
        .get((first / GROUP).saturating_mul(WIDTH)..)
        .unwrap_or_default();
    let mut bytes = rest.chunks(WIDTH);
    let inside = first % GROUP;
    if inside > 0 {
        let take = (GROUP - inside).min(out.len());
        let (head, tail) = std::mem::take(&mut out).split_at_mut(take);
        head.copy_from_slice(&padded::<WIDTH, L>(bytes.next())[inside..inside + take]);
        out = tail;
    }
    let (whole, tail) = out.as_chunks_mut::<GROUP>();
    for to in whole {
        *to = match bytes.next() {
            Some(from) if from.len() == WIDTH => group::<WIDTH, L>(from),
            from => padded::<WIDTH, L>(from),
        };
    }
    if !tail.is_empty() {
        tail.copy_from_slice(&padded::<WIDTH, L>(bytes.next())[..tail.len()]);
    }
}

/// Unpacks a group, in which missing bytes count as zero.
#[inline]
fn padded<const WIDTH: usize, L: Lane>(bytes: Option<&[u8]>) -> [MaybeUninit<L>; GROUP] {
    let mut group_bytes = [0; WIDTH];
    for (to, from) in group_bytes.iter_mut().zip(bytes.unwrap_or_default()) {
        *to = *from;
    }
    group::<WIDTH, L>(&group_bytes)
}

/// Unpacks a whole group of `WIDTH` bytes.
#[inline(always)]
fn group<const WIDTH: usize, L: Lane>(bytes: &[u8]) -> [MaybeUninit<L>; GROUP] {
    // We do not use `from_fn`, because its closure would not be compiled with the instructions that the function
    // enables.
    let mut group = [const { MaybeUninit::uninit() }; GROUP];
    for (value, slot) in group.iter_mut().enumerate() {
        let word = window(bytes, value * WIDTH) & (u64::MAX >> (64 - WIDTH));
        slot.write(L::truncate(word));
    }
    group
}

/// Returns a word that begins with the value at bit `bit`, which has up to 32 bits. The bits above it are unspecified.
#[inline(always)]
fn window(bytes: &[u8], bit: usize) -> u64 {
    if bytes.len() < 8 {
        let mut word = [0; 8];
        for (to, from) in word.iter_mut().zip(bytes) {
            *to = *from;
        }
        return u64::from_le_bytes(word) >> bit;
    }
    // The load starts no later than the last word, so that it stays inside. The value ends within the word in either
    // case, because it begins in the word's first byte and has at most 32 bits, or because it ends at the end of
    // `bytes`.
    let start = (bit / 8).min(bytes.len() - 8);
    bytes[start..]
        .first_chunk::<8>()
        .map_or(0, |word| u64::from_le_bytes(*word))
        >> (bit - start * 8)
}

/// Returns value `value`, which has `width` (up to 8) bits and is packed most significant bit first.
#[inline]
pub(super) fn value_msb(data: &[u8], value: usize, width: u8) -> u8 {
    let bit = value * usize::from(width);
    let byte = |index: usize| data.get(index).copied().unwrap_or_default();
    let both = u16::from_be_bytes([byte(bit / 8), byte(bit / 8 + 1)]);
    let aligned = both << (bit % 8);
    (u32::from(aligned) >> (16 - u32::from(width))) as u8
}
