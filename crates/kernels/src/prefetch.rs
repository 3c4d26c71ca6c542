//! Prefetching of bytes needed soon.
//!
//! A page in memory is read once, from front to end. The processor's prefetcher anticipates that, but not beyond 4
//! KiB of address space, and the processor waits at each such boundary. Kernels that do little work per value
//! prefetch the bytes themselves. Kernels whose loops are slower than memory gain nothing from it.

/// The prefetch distance in bytes, chosen to cover the latency of memory for the fastest of these loops.
const AHEAD: usize = 4096;

/// The size of a block in bytes, a multiple of the size of every value type.
const BLOCK: usize = 1024;

/// Prefetches the cache line [`AHEAD`] bytes after `at`, even if no memory is allocated there.
#[inline(always)]
pub(crate) fn ahead<T>(at: *const T) {
    let there = at.cast::<i8>().wrapping_add(AHEAD);
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: a hint that reads nothing, never faults and is part of base x86-64.
        #[allow(unused_unsafe, reason = "newer compilers know it to be safe")]
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(there);
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = there;
}

/// Returns the blocks of `bytes`. Before each block, prefetches the bytes that lie [`AHEAD`] bytes after it. For
/// loops that the compiler only vectorises if they contain nothing else.
#[inline(always)]
pub(crate) fn blocks(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.chunks(BLOCK).inspect(|block| {
        for line in block.chunks(64) {
            ahead(line.as_ptr());
        }
    })
}
