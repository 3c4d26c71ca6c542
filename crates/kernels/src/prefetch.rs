//! Prefetches bytes that a kernel needs soon.
//!
//! We read a page in memory once, from front to end. The processor's prefetcher anticipates this, but not beyond 4 KiB
//! of address space, so the processor waits at each such boundary. Therefore kernels that do little work per value
//! prefetch the bytes themselves. Kernels whose loops are slower than memory gain nothing from it.

/// The prefetch distance in bytes. It is chosen to cover the memory's latency for the fastest of these loops.
const AHEAD: usize = 4096;

/// The size of a block in bytes, which is a multiple of the size of every value type.
const BLOCK: usize = 1024;

/// Prefetches the cache line [`AHEAD`] bytes after `at`, even if no memory is allocated there.
#[inline(always)]
pub(crate) fn ahead<T>(at: *const T) {
    let there = at.cast::<i8>().wrapping_add(AHEAD);
    #[cfg(target_arch = "x86_64")]
    {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: this is a hint that reads nothing, never faults and is part of base x86-64.
        #[allow(unused_unsafe, reason = "newer compilers know it to be safe")]
        unsafe {
            _mm_prefetch::<_MM_HINT_T0>(there);
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = there;
}

/// Returns the blocks of `bytes`. Before each block, this prefetches the bytes that lie [`AHEAD`] bytes after it. It
/// serves loops that the compiler only vectorises if they contain nothing else.
#[inline(always)]
pub(crate) fn blocks(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.chunks(BLOCK).inspect(|block| {
        for line in block.chunks(64) {
            ahead(line.as_ptr());
        }
    })
}
