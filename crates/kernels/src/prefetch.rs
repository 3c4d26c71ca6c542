//! Bytes that are wanted soon, asked for before they are.
//!
//! A page in memory is read once, from its front to its end. The processor foresees that, but not
//! beyond 4 KiB of address space, and it waits at each such border. Kernels that do little with a
//! value ask for the bytes themselves; those whose loops take longer than memory gain nothing by it.

/// How far ahead, in bytes: as far as memory is slower than the fastest of these loops.
const AHEAD: usize = 4096;

/// Bytes of a part, a multiple of the size of every value.
const BLOCK: usize = 1024;

/// Asks for the line of the cache [`AHEAD`] bytes behind `at`, whether there is memory or not.
#[inline(always)]
pub(crate) fn ahead<T>(at: *const T) {
    let there = at.cast::<i8>().wrapping_add(AHEAD);
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint that reads nothing, faults nowhere and is part of x86-64 itself.
        #[allow(unused_unsafe, reason = "newer compilers know it to be safe")]
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(there);
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = there;
}

/// Parts of `bytes`, before each of which those that lie [`AHEAD`] bytes behind it are asked for:
/// for loops that the compiler makes vectors of as long as nothing else is in them.
#[inline(always)]
pub(crate) fn blocks(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.chunks(BLOCK).inspect(|block| {
        for line in block.chunks(64) {
            ahead(line.as_ptr());
        }
    })
}
