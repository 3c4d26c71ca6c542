//! What the allocator does with the memory of batches that were dropped.
//!
//! The C library of GNU/Linux maps large buffers one by one, and hands memory at the end of its heap
//! back to the system as soon as it is free. What is large, and how much may stay, are thresholds that
//! start at 128 KiB and rise to the largest mapped buffer that was ever freed. In a program that has
//! freed none, each batch takes a page fault for every 4 KiB, which may be longer than decoding them.

use std::hint::black_box;
use std::sync::Once;

/// Afterwards buffers of up to so many bytes come from the heap, whose free end may have twice as many:
/// more than the batches of a read are at a time.
const LARGE_BUFFER: usize = 4 << 20;

/// Has the thresholds rise, once a process. Allocators without such thresholds get a buffer back that
/// nothing was written to.
pub(crate) fn keep_memory() {
    static KEPT: Once = Once::new();
    KEPT.call_once(|| {
        let mut buffer = Vec::<u8>::new();
        // Where there is no room for it, things stay as they are.
        if buffer.try_reserve_exact(LARGE_BUFFER).is_ok() {
            drop(black_box(buffer));
        }
    });
}
