//! Encodes dictionary indices and levels.

use super::{GROUP, Values, bit_pack};

macro_rules! numbers {
    ($number:ident, $pack:ident, |$group:ident| $is_equal:expr) => {
        #[allow(trivial_numeric_casts, reason = "the macro serves several integers")]
        impl Values for &[$number] {
            #[inline(always)]
            fn len(&self) -> usize {
                (**self).len()
            }

            #[inline(always)]
            fn value(&self, at: usize) -> u32 {
                self[at] as u32
            }

            #[inline(always)]
            fn next_equal_group(&self, from: usize) -> usize {
                let (groups, _) = self[from..].as_chunks::<GROUP>();
                let is_equal = |$group: &[$number; GROUP]| $is_equal;
                let found = groups.iter().position(is_equal);
                from + found.unwrap_or(groups.len()) * GROUP
            }

            #[inline(always)]
            fn end_of_run(&self, at: usize) -> usize {
                let value = self[at];
                let (blocks, _) = self[at..].as_chunks::<BLOCK>();
                let differs = |block: &[$number; BLOCK]| {
                    block.iter().fold(0, |bits, other| bits | (other ^ value)) != 0
                };
                let equal = blocks.iter().position(differs).unwrap_or(blocks.len()) * BLOCK;
                let rest = &self[at + equal..];
                let more = rest.iter().position(|other| *other != value);
                at + equal + more.unwrap_or(rest.len())
            }

            fn pack(&self, from: usize, to: usize, width: u8, out: &mut Vec<u8>) {
                bit_pack::$pack(&self[from..to], width, out);
            }
        }
    };
}

/// The number of values that we compare at once to find the end of a run.
const BLOCK: usize = 32;

numbers!(u32, pack_u32, |group| {
    group
        .iter()
        .fold(0, |bits, other| bits | (other ^ group[0]))
        == 0
});
numbers!(u8, pack_u8, |group| {
    let word = u64::from_le_bytes(*group);
    word == word.rotate_left(8)
});
