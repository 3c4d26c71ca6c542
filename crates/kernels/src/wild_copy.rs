//! Copies short byte strings, and may write more bytes than needed.
//!
//! Most strings are shorter than 32 bytes. For such a string, the cost of a copy is not the bytes, but the branches on
//! the length. So we always copy 32 bytes, and the next value overwrites the excess. For this, both sides need
//! [`SLACK`] bytes after the value.

use std::mem::MaybeUninit;

/// The number of bytes after a value that [`wild_copy`] may read at its source and write at its destination.
pub(crate) const SLACK: usize = 32;

/// The length from which the standard library's copy is faster than steps of [`SLACK`] bytes.
const LONG: usize = 256;

/// Copies `length` bytes, and up to [`SLACK`] bytes after them.
///
/// # Safety
///
/// `length + SLACK` bytes are readable at `source` and writable at `target`, and the two ranges do
/// not overlap.
#[inline(always)]
pub(crate) unsafe fn wild_copy(source: *const u8, target: *mut u8, length: usize) {
    // SAFETY: the first 32 bytes lie within the `length + SLACK` that the caller grants on both sides.
    unsafe { copy_32(source, target) };
    if length > SLACK {
        // SAFETY: the caller's contract, unchanged.
        unsafe { wild_copy_rest(source, target, length) };
    }
}

/// Continues [`wild_copy`] for more than 32 bytes, after the first 32.
///
/// # Safety
///
/// See [`wild_copy`].
#[inline]
unsafe fn wild_copy_rest(source: *const u8, target: *mut u8, length: usize) {
    if length >= LONG {
        // SAFETY: `length` bytes are granted on both sides, without overlap.
        unsafe { std::ptr::copy_nonoverlapping(source, target, length) };
        return;
    }
    let mut done = SLACK;
    while done < length {
        // SAFETY: `done < length`, so the 32 bytes from `done` on end before `length + SLACK`.
        unsafe { copy_32(source.add(done), target.add(done)) };
        done += SLACK;
    }
}

/// Copies `length` bytes from an earlier position in a buffer to a later one, and up to [`SLACK`] bytes after them.
///
/// # Safety
///
/// `source` and `target` belong to the same allocation, `source + length <= target`, and
/// `length + SLACK` bytes are allocated at `target`, those before `target` initialised.
#[inline(always)]
pub(crate) unsafe fn wild_copy_within(source: *const u8, target: *mut u8, length: usize) {
    let mut done = 0;
    loop {
        // The 32 bytes are all loaded before they are stored, so the overlap after `target` is harmless: the bytes
        // read there lie beyond `length`. They may be uninitialised, hence the type.
        // SAFETY: `done` is 0 or less than `length`, so the 32 bytes from there lie within `length + SLACK`.
        unsafe {
            let block = source
                .add(done)
                .cast::<[MaybeUninit<u8>; 32]>()
                .read_unaligned();
            target
                .add(done)
                .cast::<[MaybeUninit<u8>; 32]>()
                .write_unaligned(block);
        }
        done += 32;
        if done >= length {
            return;
        }
    }
}

/// Copies 32 bytes.
///
/// # Safety
///
/// 32 bytes are readable at `source` and writable at `target`, without overlap.
#[inline(always)]
unsafe fn copy_32(source: *const u8, target: *mut u8) {
    // SAFETY: the caller grants 32 bytes on both sides.
    unsafe { std::ptr::copy_nonoverlapping(source, target, 32) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_at_least_the_length_and_at_most_the_slack_more() {
        let source: Vec<u8> = (0..1000u32).map(|i| (i * 7 + 1) as u8).collect();
        for length in (0..=300).chain([511, 512, 900]) {
            let mut target = vec![0u8; length + SLACK + 8];
            let from = &source[..length + SLACK];
            // SAFETY: both vectors hold `length + SLACK` bytes.
            unsafe { wild_copy(from.as_ptr(), target.as_mut_ptr(), length) };
            assert_eq!(target[..length], from[..length]);
            assert!(target[length + SLACK..].iter().all(|&b| b == 0));
        }
    }
}
